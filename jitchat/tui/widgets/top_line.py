"""What the first line says, in as many cells as there are.

What matters least gives way first: the title, the number of turns, the embedder's name, then the
middle of the model's. What a conversation cost, and whether its tokens are estimated, stay.
"""

from collections.abc import Callable
from dataclasses import dataclass, field, replace

from rich.cells import cell_len, set_cell_size
from textual import events, on
from textual.app import ComposeResult
from textual.containers import Horizontal
from textual.content import Content
from textual.message import Message
from textual.widgets import Static

from jitchat.text.figures import plural
from jitchat.text.sanitize import one_line
from jitchat.tui.palette import MUTED
from jitchat.tui.widgets.model_fetch import ModelFetch
from jitchat.values import Mode

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


_AHEAD = 2
"""Blank cells ahead of the status."""


class ModeTab(Static):
    """One mode's name; a click chooses it."""

    @dataclass
    class Chosen(Message):
        """The user wants this mode."""

        mode: Mode

    def __init__(self, mode: Mode) -> None:
        told = Content(f" {mode.value} ")
        super().__init__(told, classes="mode")
        self.cells = told.cell_length
        self.mode = mode
        self._once = False

    def mark(self, *, is_on: bool, once: bool) -> None:
        """Whether it is in use, and whether for one message only."""
        self.set_class(is_on, "-on")
        if self._once != (is_on and once):
            self._once = is_on and once
            told = Content(f" {self.mode.value}{' once' * self._once} ")
            self.cells = told.cell_length
            self.update(told)

    def on_click(self) -> None:
        """Choose this mode."""
        self.post_message(self.Chosen(self.mode))


class TopLine(Horizontal):
    """Title, modes, status."""

    def __init__(self, fetch: ModelFetch) -> None:
        super().__init__(id="top-line")
        self._fetch = fetch
        self._title = Static(id="title")
        self._status = Static(id="status")
        self._text = TopText()
        self._drawn = ""
        """The status that is drawn."""
        self._modes = [ModeTab(mode) for mode in Mode]

    def compose(self) -> ComposeResult:
        """Title on the left, status on the right."""
        yield self._title
        yield from self._modes
        yield self._fetch
        yield self._status

    @on(events.Click, "#status")
    async def _who_clicked(self) -> None:
        """Pick who answers."""
        await self.run_action("screen.models")

    def on_resize(self) -> None:
        """There is more room, or less."""
        self._fetch.be_brief(brief=self.screen.has_class("-narrow"))
        self._draw()

    def on_model_fetch_moved(self) -> None:
        """The download takes more room, or less."""
        self._draw()

    def show_title(self, title: str, turns: int) -> None:
        """The conversation's title and size."""
        self._text = replace(self._text, title=one_line(title), size=plural(turns, "turn"))
        self._draw()

    def show_cost(self, cost: str) -> None:
        """What the conversation cost so far; empty where nothing was charged."""
        self._text = replace(self._text, cost=cost)
        self._draw()

    def show_mode(self, mode: Mode, *, once: bool = False) -> None:
        """Which mode is in use; `once` for the next message only."""
        for tab in self._modes:
            tab.mark(is_on=tab.mode is mode, once=once)
        self._draw()

    def show_status(self, state: str, who: Answering | None = None) -> None:
        """What goes on, if anything, and who answers; None where nobody does yet."""
        who = who or Answering()
        said = Answering(
            *map(one_line, (who.provider, who.model, who.embedder, who.counter)),
        )
        self._text = replace(self._text, state=one_line(state), who=said)
        self._draw()

    def _draw(self) -> None:
        """All of it, or what matters most, as far as there is room."""
        text = fitted(self._text, self._room())
        told = Content.assemble((text.title, "bold"), (text.figures, MUTED))
        self._title.update(told, layout=False)
        if text.status != self._drawn:
            self._drawn = text.status
            self._status.update(Content(text.status))

    def _room(self) -> int:
        """Cells for title and status together, and one between title and modes."""
        width = self.content_size.width or self.app.size.width - 2
        modes = sum(tab.cells for tab in self._modes)
        return width - modes - self._fetch.cells - _AHEAD - 1
