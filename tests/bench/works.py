"""Functions for a child process to call."""

from __future__ import annotations

import os
from collections.abc import Callable

from jitchat.errors import WindowOverflow

Report = Callable[[int], object]


def count(report: Report) -> int:
    for _ in range(3):
        report(2)
    return os.getpid()


def overflow(report: Report) -> int:
    raise WindowOverflow("It needs 9 tokens.", "Shorten it.", 9)


def stumble(report: Report) -> int:
    return 1 // len("")


def vanish(report: Report) -> int:
    os._exit(7)
