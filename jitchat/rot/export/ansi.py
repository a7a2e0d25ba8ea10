"""Colours of a terminal, as escape sequences that every terminal with 24-bit colours knows."""

from __future__ import annotations

from jitchat.rot.colours import parts_of

_PLAIN = "\x1b[0m"


def on(ground: str, ink: str, text: str) -> str:
    """Write our own text in a colour on another; both are `#rrggbb`."""
    return f"\x1b[48;2;{_told(ground)}m{inked(ink, text)}"


def inked(ink: str, text: str) -> str:
    """Write our own text in a colour."""
    return f"\x1b[38;2;{_told(ink)}m{text}{_PLAIN}"


def _told(colour: str) -> str:
    return ";".join(map(str, parts_of(colour)))
