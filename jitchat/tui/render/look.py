"""Pieces of lines, and how a reply looks: its width, the styles of a theme, long lines of code."""

from collections.abc import Iterable, Mapping, Sequence
from dataclasses import dataclass, field, replace
from functools import cache
from typing import NamedTuple

from textual.markup import parse_style
from textual.style import Style

from jitchat.text.expressions import packaged


class Piece(NamedTuple):
    """Cells in one style."""

    text: str
    style: Style
    span: tuple[int, int] = (0, 0)
    """What it stands for in the source; empty for what only decorates."""
    link: str = ""
    """Address and title of the link that it belongs to."""
    copied: str | None = None
    """What is copied for it, if it is not its text."""

    @property
    def is_literal(self) -> bool:
        """Whether each of its characters stands for one of the source."""
        start, end = self.span
        return self.copied is None and len(self.text) == end - start


Line = Sequence[Piece]
Parts = list[tuple[int, list[Line]]]
"""The lines of items or rows, each with its start in the text."""


class Layout(NamedTuple):
    """What the items of a list or the rows of a table have in common."""

    sizes: Sequence[tuple[int, int]]
    """Of each column, the cells of its longest word and line."""
    widths: Sequence[int] | None
    """Of columns or markers; None for records."""
    is_spread: bool
    """Whether something is between any two parts."""

    @property
    def shape(self) -> tuple[object, ...]:
        """What the lines of each part depend on."""
        return self.widths, self.is_spread, len(self.sizes)


@dataclass(frozen=True, slots=True)
class Theme:
    name: str
    is_dark: bool
    is_ansi: bool
    variables: Mapping[str, str] = field(repr=False, hash=False)


_STYLES = "styles.toml"


def tokens() -> Iterable[tuple[str, str]]:
    """Yield kinds of tokens in code, as Pygments names them, with their styles."""
    styles: dict[str, str] = packaged(__package__, _STYLES)["tokens"]
    return styles.items()


@cache
def _style(theme: Theme, names: tuple[str, ...]) -> Style:
    styles, differing = packaged(__package__, _STYLES), "terminal" if theme.is_ansi else "light"
    changed = {} if theme.is_dark and not theme.is_ansi else styles[differing]
    written = (changed.get(name, styles.get(name, name)) for name in names)
    parsed = [parse_style(style, dict(theme.variables)) for style in written]
    return sum(parsed, start=Style())


@dataclass(frozen=True, slots=True)
class Look:
    width: int
    """Cells."""
    theme: Theme
    wraps_code: bool = True
    """Whether lines of code that are too long go on in the next line, or end with `…`."""
    depth: int = 0
    """Of lists around what is drawn."""

    def style(self, *names: str) -> Style:
        """Combine styles named in `styles.toml`, or written as Textual writes styles."""
        return _style(self.theme, names)

    def narrower(self, cells: int, deeper: int = 0) -> "Look":
        return replace(self, width=max(1, self.width - cells), depth=self.depth + deeper)

    def decoration(self, text: str, *names: str) -> Piece:
        return Piece(text, self.style(*names))
