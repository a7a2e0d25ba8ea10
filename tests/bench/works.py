"""Functions that another process can be told to call."""

from __future__ import annotations

import os
from collections.abc import Callable

from jitchat.errors import WindowOverflow

Tell = Callable[[int], object]


def count(tell: Tell) -> int:
    for _ in range(3):
        tell(2)
    return os.getpid()


def overflow(tell: Tell) -> int:
    raise WindowOverflow("It needs 9 tokens.", "Shorten it.", 9)


def stumble(tell: Tell) -> int:
    return 1 // len("")


def vanish(tell: Tell) -> int:
    os._exit(7)
