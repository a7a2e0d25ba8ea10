"""Every character of a text can be typed.

Textual takes only what `str.isprintable` accepts. That leaves out the blank of Japanese input, the
no-break and thin blanks, the joiners of Persian and of emoji, direction marks, and all characters
that are newer than this Python.
"""

import unicodedata

from textual import events


def accept_all_text() -> None:
    """Let keys insert every character of a text; can be called more than once."""
    events.Key.is_printable = property(_is_text)  # type: ignore[method-assign,assignment]


def _is_text(key: events.Key) -> bool:
    categories = {unicodedata.category(each) for each in key.character or "\0"}
    return categories.isdisjoint(("Cc", "Cs"))  # control characters and surrogates
