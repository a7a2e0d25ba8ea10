"""What Textual's reading of the keyboard lacks, added to its tables.

Alt+Enter as most terminals send it (ESC CR), which it takes for Enter; and bytes that are no
UTF-8, which end its input thread, and the app with it: they become U+FFFD.
"""

from __future__ import annotations

import codecs
import sys
from enum import Enum
from functools import partial
from typing import Any


class _Keys(Enum):
    ALT_ENTER = "alt+enter"


def widen_input() -> None:
    """Add them; may be done again."""
    from textual import _ansi_sequences  # noqa: PLC0415  importing this module does nothing

    table: dict[str, Any] = _ansi_sequences.ANSI_SEQUENCES_KEYS  # type: ignore[assignment]
    table["\x1b\r"] = (_Keys.ALT_ENTER,)
    if sys.platform != "win32":
        from textual.drivers import linux_driver  # noqa: PLC0415  not there on Windows

        linux_driver.getincrementaldecoder = _replacing  # type: ignore[assignment, attr-defined]


def _replacing(encoding: str) -> partial[codecs.IncrementalDecoder]:
    return partial(codecs.getincrementaldecoder(encoding), errors="replace")
