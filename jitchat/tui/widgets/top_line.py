"""The first line: which conversation, which mode, and who answers with what."""

from __future__ import annotations

from dataclasses import dataclass

from textual.app import ComposeResult
from textual.containers import Horizontal
from textual.content import Content
from textual.message import Message
from textual.widgets import Static

from jitchat.text.counts import counted
from jitchat.text.safe import one_line
from jitchat.tui.widgets.model_fetch import ModelFetch
from jitchat.turn import Mode


class ModeTab(Static):
    """One mode's name; a click chooses it."""

    @dataclass
    class Chosen(Message):
        """The user wants this mode."""

        mode: Mode

    def __init__(self, mode: Mode) -> None:
        super().__init__(Content(f" {mode.value} "), classes="mode")
        self.mode = mode

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
        self._told = Content()
        self._cost = ""
        self._modes = [ModeTab(mode) for mode in Mode]

    def compose(self) -> ComposeResult:
        """Title on the left, status on the right."""
        yield self._title
        yield from self._modes
        yield self._fetch
        yield self._status

    def show_title(self, title: str, turns: int) -> None:
        """The conversation's title and size."""
        size = f" · {counted(turns, 'turn')}"
        self._told = Content.assemble((one_line(title), "bold"), (size, "dim"))
        self._draw_title()

    def show_cost(self, cost: str) -> None:
        """What the conversation cost so far; empty where nothing was charged."""
        self._cost = f" · {cost}" if cost else ""
        self._draw_title()

    def _draw_title(self) -> None:
        self._title.update(Content.assemble(self._told, (self._cost, "dim")), layout=False)

    def show_mode(self, mode: Mode) -> None:
        """Which mode is in use."""
        for tab in self._modes:
            tab.set_class(tab.mode is mode, "-on")

    def show_status(self, status: str) -> None:
        """Provider, model, embedder and counter."""
        self._status.update(Content(one_line(status)))
