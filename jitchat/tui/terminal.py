"""What Textual's reading of the keyboard lacks, added to its tables.

Alt+Enter as most terminals send it (ESC CR), which it takes for Enter; bytes that are no UTF-8,
which end its input thread, and the app with it: they become U+FFFD; and a shorter wait for what
may follow Esc, which stops a reply.
"""

from __future__ import annotations

import codecs
import os
import sys
from enum import Enum
from functools import partial
from typing import Any

ESCAPE_SECONDS = 0.025
"""What follows Esc in one key is sent with it; for a slow line, ESCDELAY sets milliseconds."""


class _Keys(Enum):
    ALT_ENTER = "alt+enter"


def widen_input() -> None:
    """Add them; may be done again."""
    from textual import _ansi_sequences, constants  # noqa: PLC0415  importing does nothing

    table: dict[str, Any] = _ansi_sequences.ANSI_SEQUENCES_KEYS  # type: ignore[assignment]
    table["\x1b\r"] = (_Keys.ALT_ENTER,)
    if "ESCDELAY" not in os.environ:
        constants.ESCAPE_DELAY = ESCAPE_SECONDS  # type: ignore[misc]
    if sys.platform != "win32":
        from textual.drivers import linux_driver  # noqa: PLC0415  not there on Windows

        linux_driver.getincrementaldecoder = _replacing  # type: ignore[assignment, attr-defined]


def _replacing(encoding: str) -> partial[codecs.IncrementalDecoder]:
    return partial(codecs.getincrementaldecoder(encoding), errors="replace")
