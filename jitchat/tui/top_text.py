"""What the first line says, in as many cells as there are.

What matters least gives way first: the title, the number of turns, the embedder's name, then the
middle of the model's. What a conversation cost, and whether its tokens are estimated, stay.
"""

from __future__ import annotations

from collections.abc import Callable
from dataclasses import dataclass, field, replace

from rich.cells import cell_len, set_cell_size

_LEAST_TITLE, _LEAST_EMBEDDER, _LEAST_MODEL = 8, 11, 16
"""Cells that are left of each at first, as long as others can give way."""
_FEWEST = 4
"""Fewer cells than these tell nothing."""
_BETWEEN = " · "


@dataclass(frozen=True, slots=True)
class Answering:
    """Who answers, and with what; each empty where it is not known."""

    provider: str = ""
    model: str = ""
    """Empty, too, where it is called as its provider is."""
    embedder: str = ""
    counter: str = ""
    """With `~` ahead of it where it estimates."""

    def __str__(self) -> str:
        """`openai gpt-5-mini · builtin-256 · o200k_base`."""
        name = f"{self.provider} {self.model}".strip()
        return _BETWEEN.join(filter(None, (name, self.embedder, self.counter)))


@dataclass(frozen=True, slots=True)
class TopText:
    """The parts of the first line."""

    title: str = ""
    size: str = ""
    cost: str = ""
    state: str = ""
    """What goes on, or is not yet as it should be; mostly empty."""
    who: Answering = field(default_factory=Answering)

    @property
    def figures(self) -> str:
        """What stands behind the title."""
        told = _BETWEEN.join(filter(None, (self.size, self.cost)))
        return f"{_BETWEEN}{told}" if told and self.title else told

    @property
    def status(self) -> str:
        """What stands on the right."""
        return _BETWEEN.join(filter(None, (self.state, str(self.who))))

    @property
    def width(self) -> int:
        """Cells that all of it takes."""
        return cell_len(f"{self.title}{self.figures}{self.status}")


def fitted(text: TopText, room: int) -> TopText:
    """Let parts give way until the text takes at most `room` cells, or nothing more can."""
    for give_way in _STEPS:
        excess = text.width - room
        if excess <= 0:
            break
        text = give_way(text, excess)
    return text


def cut_in_the_middle(text: str, width: int) -> str:
    """`gpt-5-mi…-preview`: both ends of a name of more than `width` cells."""
    if cell_len(text) <= width:
        return text
    behind = (width - 1) // 2
    tail = set_cell_size(text[::-1], behind)[::-1]
    return f"{set_cell_size(text, width - 1 - behind)}…{tail}"


def _cut(text: str, width: int) -> str:
    if cell_len(text) <= width:
        return text
    return f"{set_cell_size(text, width - 1).rstrip()}…" if width >= _FEWEST else ""


def _title(least: int) -> Callable[[TopText, int], TopText]:
    def shorten(text: TopText, excess: int) -> TopText:
        width = max(least, cell_len(text.title) - excess)
        return replace(text, title=_cut(text.title, width))

    return shorten


def _model(least: int) -> Callable[[TopText, int], TopText]:
    def shorten(text: TopText, excess: int) -> TopText:
        width = max(least, cell_len(text.who.model) - excess)
        return _with(text, model=cut_in_the_middle(text.who.model, width))

    return shorten


def _embedder(text: TopText, excess: int) -> TopText:
    width = max(_LEAST_EMBEDDER, cell_len(text.who.embedder) - excess)
    return _with(text, embedder=cut_in_the_middle(text.who.embedder, width))


def _state(text: TopText, excess: int) -> TopText:
    return replace(text, state=_cut(text.state, cell_len(text.state) - excess))


def _with(text: TopText, **changed: str) -> TopText:
    return replace(text, who=replace(text.who, **changed))


_STEPS: tuple[Callable[[TopText, int], TopText], ...] = (
    _title(_LEAST_TITLE),
    lambda text, _: replace(text, size=""),
    _embedder,
    _model(_LEAST_MODEL),
    _title(0),
    lambda text, _: _with(text, embedder=""),
    _model(2 * _FEWEST),
    _state,
    lambda text, _: _with(text, provider=""),
)
