"""The first line: which conversation, which mode, and who answers with what."""

from __future__ import annotations

from dataclasses import dataclass, replace

from textual import events, on
from textual.app import ComposeResult
from textual.containers import Horizontal
from textual.content import Content
from textual.message import Message
from textual.widgets import Static

from jitchat.text.counts import counted
from jitchat.text.safe import one_line
from jitchat.tui.palette import MUTED
from jitchat.tui.top_text import Answering, TopText, fitted
from jitchat.tui.widgets.model_fetch import ModelFetch
from jitchat.turn import Mode

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
        self._text = replace(self._text, title=one_line(title), size=counted(turns, "turn"))
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
