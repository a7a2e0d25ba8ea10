"""What Textual's reading of the keyboard lacks, added to its tables.

Alt+Enter as most terminals send it (ESC CR), which it takes for Enter; bytes that are no UTF-8,
which end its input thread, and the app with it: they become U+FFFD; an Esc inside of a paste,
which it takes for a key, and what follows for others: it becomes a visible ␛; and a shorter wait
for what may follow Esc, which stops a reply.
"""

from __future__ import annotations

import codecs
import os
from enum import Enum
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


_PASTE, _PASTE_END = "\x1b[200~", "\x1b[201~"


class InputReader:
    """Decodes what a terminal sends, piece by piece."""

    def __init__(self) -> None:
        self._decode = codecs.getincrementaldecoder("utf-8")(errors="replace").decode
        self._is_paste = False
        self._before = ""
        """Of what was typed, the end that may begin a paste's mark."""
        self._held = ""
        """Of what was pasted, the end that may begin the mark of its end."""

    def decode(self, data: bytes, final: bool = False) -> str:
        """Decode as many of the bytes as are whole characters."""
        rest, made = self._held + self._decode(data, final), ""
        self._held = ""
        while rest:
            part, rest = self._pasted(rest, final=final) if self._is_paste else self._typed(rest)
            made += part
        return made

    def _typed(self, text: str) -> tuple[str, str]:
        """Split behind a paste's mark; nothing is held back, for Esc is a key."""
        found = (self._before + text).find(_PASTE)
        self._is_paste = found >= 0
        end = found + len(_PASTE) - len(self._before) if self._is_paste else len(text)
        self._before = "" if self._is_paste else (self._before + text)[1 - len(_PASTE) :]
        return text[:end], text[end:]

    def _pasted(self, text: str, *, final: bool) -> tuple[str, str]:
        """Split behind the mark of its end; what may be the first half of that waits."""
        inside, mark, rest = text.partition(_PASTE_END)
        self._is_paste = not mark
        if not mark and not final:
            halves = (_PASTE_END[:size] for size in range(len(_PASTE_END) - 1, 0, -1))
            self._held = next((half for half in halves if inside.endswith(half)), "")
            inside = inside.removesuffix(self._held)
        return inside.replace("\x1b", "␛") + mark, rest
