"""Looks to draw with, and what stands in drawn lines."""

from __future__ import annotations

import re
from functools import cache
from typing import TYPE_CHECKING

from textual.theme import BUILTIN_THEMES

from jitchat.text.sanitize import for_terminal
from jitchat.tui.drawing import palette
from jitchat.tui.render.wrap import Look, Theme
from tests.text.markdown.replies import letters

if TYPE_CHECKING:
    from collections.abc import Iterable, Sequence

    from jitchat.tui.render.wrap import Line

BULLETS = ("•", "◦", "▪")
THEMES = ("textual-dark", "textual-light", "ansi-dark", "ansi-light", "nocolor")


@cache
def theme(name: str) -> Theme:
    known = BUILTIN_THEMES["textual-dark" if name == "nocolor" else name]
    variables = {**known.to_color_system().generate(), **known.variables}
    variables.update(palette(known, variables, coloured=name != "nocolor"))
    return Theme(name, known.dark, known.ansi, variables)


def look(width: int = 80, name: str = "textual-dark", *, wraps_code: bool = True) -> Look:
    return Look(width, theme(name), wraps_code)


def on_screen(lines: Iterable[Line]) -> str:
    """What stands on the screen, without decoration, bullets and white space."""
    pieces = [piece for line in lines for piece in line if piece.span[0] < piece.span[1]]
    return letters("".join(piece.text for piece in pieces if piece.text not in BULLETS))


def rows(lines: Iterable[Line]) -> list[str]:
    return ["".join(piece.text for piece in line).rstrip() for line in lines]


def require_places(text: str, lines: Sequence[Line]) -> None:
    """Require that lines show each letter and digit of a text, at its own place, safely.

    What a link hides is there without being seen. A link definition in use is not there at all.
    """
    source = text.replace("\r\n", "  ")
    unseen = [*source, ""]
    for line in lines:
        for piece in line:
            start, end = piece.span
            assert 0 <= start <= end <= len(unseen)
            unseen[start:end] = [" "] * (end - start)
            assert for_terminal(piece.text).cells.replace("\n", "") == piece.text
            if piece.is_literal:
                shown = for_terminal(source[start:end]).cells
                assert letters(piece.text) == letters(shown), (piece, text)
    missing = re.findall(r"[^\W_].{0,20}", "".join(unseen))
    assert not missing or "]:" in text, missing


def require_order(lines: Sequence[Line]) -> None:
    """Require that what stands further down comes later in the text, table rows aside."""
    after = 0
    for line in lines:
        starts = [piece.span[0] for piece in line if piece.span[0] < piece.span[1]]
        assert starts == sorted(starts)
        assert not starts or starts[0] >= after
        after = starts[0] if starts else after
