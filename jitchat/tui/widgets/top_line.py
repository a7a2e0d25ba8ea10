"""The first line of the screen, fitted to its width.

The least important parts are shortened or dropped first: the number of turns, the end of a long
title, the embedder's name, the conversation's cost (which `jitchat usage` also shows), then the
middle of the model's name. The title stays as long as possible; the mark of estimated counts always
stays.
"""

from collections.abc import Callable
from dataclasses import dataclass, replace

from rich.cells import cell_len, set_cell_size
from textual import events, on
from textual.app import ComposeResult
from textual.containers import Horizontal
from textual.widgets import Static

from jitchat.text.figures import plural
from jitchat.text.sanitize import one_line
from jitchat.tui.drawing import MUTED, Content
from jitchat.values import DEFAULT_PROJECT, Conversation, Mode, Reach

_FEWEST = 4
"""Minimum cells for a part to be useful."""
_TITLE = 20
"""Cells that are enough to recognise a title."""
_BETWEEN = " · "


@dataclass(frozen=True, slots=True)
class TopText:
    """The parts of the line; unknown parts are empty."""

    provider: str = ""
    model: str = ""
    """Also empty if the model has the same name as its provider."""
    embedder: str = ""
    counter: str = ""
    """Prefixed with `~` if it estimates."""
    title: str = ""
    size: str = ""
    cost: str = ""
    state: str = ""
    """Work in progress, such as indexing; usually empty."""
    marks: str = ""
    """Properties of the conversation: temporary, its project, its persona …"""

    @property
    def figures(self) -> str:
        figures = _BETWEEN.join(filter(None, (self.size, self.cost)))
        return f"{_BETWEEN}{figures}" if figures and self.title else figures

    @property
    def status(self) -> str:
        """`openai gpt-5-mini · builtin-256 · o200k_base`, after the marks and the state."""
        name = f"{self.provider} {self.model}".strip()
        parts = (self.marks, self.state, name, self.embedder, self.counter)
        return _BETWEEN.join(filter(None, parts))

    @property
    def width(self) -> int:
        return cell_len(f"{self.title}{self.figures}{self.status}")


def fitted(text: TopText, room: int) -> TopText:
    """Shorten or drop parts until the text takes at most `room` cells, or nothing more can go.

    Cells left over after a whole part was dropped go to the title.
    """
    title = text.title
    for name, least, shorten in _STEPS:
        excess = text.width - room
        if excess <= 0:
            break
        part = getattr(text, name)
        left = shorten(part, max(least, cell_len(part) - excess)) if shorten else ""
        text = replace(text, **{name: left})
    spare = room - text.width
    return replace(text, title=_cut(title, cell_len(text.title) + spare)) if spare > 0 else text


def cut_in_the_middle(text: str, width: int) -> str:
    """Shorten a name to `width` cells, keeping both ends: `gpt-5-mi…-preview`."""
    if cell_len(text) <= width:
        return text
    tail_width = (width - 1) // 2
    tail = set_cell_size(text[::-1], tail_width)[::-1]
    return f"{set_cell_size(text, width - 1 - tail_width)}…{tail}"


def _cut(text: str, width: int) -> str:
    if cell_len(text) <= width:
        return text
    return f"{set_cell_size(text, width - 1).rstrip()}…" if width >= _FEWEST else ""


_STEPS: tuple[tuple[str, int, Callable[[str, int], str] | None], ...] = (
    ("size", 0, None),
    ("title", _TITLE, _cut),
    ("embedder", 11, cut_in_the_middle),
    ("embedder", 0, None),
    ("cost", 0, None),
    ("title", 3 * _FEWEST, _cut),
    ("model", 4 * _FEWEST, cut_in_the_middle),
    ("title", 0, _cut),
    ("model", 2 * _FEWEST, cut_in_the_middle),
    ("state", 0, _cut),
    ("provider", 0, None),
)
"""The steps in order: a part, the minimum cells to keep, how to shorten it; None drops it."""
_GAP = 2
"""Blank cells before the status."""


class ModeTab(Static):
    """The tab of a mode; in a narrow terminal, only the current mode's name is complete."""

    def __init__(self, mode: Mode) -> None:
        super().__init__(classes="mode")
        self.mode = mode
        self.cells = 0
        self._is_on = self._is_once = False

    def mark(self, *, is_on: bool, once: bool) -> None:
        self._is_on, self._is_once = is_on, once
        self.set_class(is_on, "-on")

    def draw(self, *, is_short: bool) -> None:
        name = f" {self.mode} "
        if self._is_on and self._is_once:
            name = f"{name}once "
        elif is_short and not self._is_on:
            name = f" {self.mode.short}"
        if str(self.content) != name:
            self.cells = len(name)
            self.update(Content(name))

    async def on_click(self) -> None:
        await self.run_action(f"screen.do('mode_named', '{self.mode}')")


def marks_of(conversation: Conversation, reach: Reach, persona: str = "") -> str:
    """Write a conversation's properties: `project work · persona reviewer · recall all`."""
    is_default = conversation.project == DEFAULT_PROJECT
    reaches = reach is not Reach.CONVERSATION and not conversation.is_temporary
    parts = (
        "temporary" if conversation.is_temporary else "",
        "" if is_default else f"project {one_line(conversation.project)}",
        f"persona {persona}" if persona else "",
        f"recall {reach}" if reaches else "",
    )
    return _BETWEEN.join(filter(None, parts))


class TopLine(Horizontal):
    def __init__(self) -> None:
        super().__init__(id="top-line")
        self._title = Static(id="title")
        self._status = Static(id="status")
        self._text = TopText()
        self._drawn = ""
        """The status as last drawn."""
        self._modes = [ModeTab(mode) for mode in Mode]

    def compose(self) -> ComposeResult:
        yield self._title
        yield from self._modes
        yield self._status

    @on(events.Click, "#status")
    async def _status_clicked(self) -> None:
        await self.run_action("screen.do('models')")

    def on_resize(self) -> None:
        self._draw()

    def show_conversation(self, conversation: Conversation, reach: Reach, persona: str) -> None:
        """Show a conversation's title, its size and its properties, of which most have none."""
        title = one_line(conversation.title)
        size = plural(conversation.turns, "turn")
        marks = marks_of(conversation, reach, persona)
        self._text = replace(self._text, title=title, size=size, marks=marks)
        self._draw()

    def show_cost(self, cost: str) -> None:
        self._text = replace(self._text, cost=cost)
        self._draw()

    def show_mode(self, mode: Mode, *, once: bool = False) -> None:
        for tab in self._modes:
            tab.mark(is_on=tab.mode is mode, once=once)
        self._draw()

    def show_status(
        self, state: str, provider: str = "", model: str = "", embedder: str = "", counter: str = ""
    ) -> None:
        """Show the state, the model and its parts; all are empty until a model is ready."""
        parts = {"state": state, "provider": provider, "model": model}
        parts |= {"embedder": embedder, "counter": counter}
        cleaned = {name: one_line(text) for name, text in parts.items()}
        self._text = replace(self._text, **cleaned)
        self._draw()

    def _draw(self) -> None:
        if not self.is_attached:  # a late update while the app is closing
            return
        width = self.content_size.width or self.app.size.width - 2
        for tab in self._modes:
            tab.draw(is_short=self.screen.has_class("-narrow"))
        modes = sum(tab.cells for tab in self._modes)
        # There is one more cell between the title and the modes.
        text = fitted(self._text, width - modes - _GAP - 1)
        title = Content.assemble((text.title, "bold"), (text.figures, MUTED))
        self._title.update(title, layout=False)
        if text.status != self._drawn:
            self._drawn = text.status
            self._status.update(Content(text.status))
