"""How long it takes to read a text. Pure."""

CHARACTERS_A_SECOND = 15
PAUSE = 1.5
"""Seconds to look at what the text is about."""


def reading_seconds(text: str, pace: float = 1.0) -> float:
    """Tell how long a text stays; `pace` 2 is twice as slow."""
    return pace * (PAUSE + len(text) / CHARACTERS_A_SECOND)
