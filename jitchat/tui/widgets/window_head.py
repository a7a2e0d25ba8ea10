"""What stands above a window's rows: which window it is, and a note on it."""

from __future__ import annotations

from typing import Any

from textual.content import Content
from textual.style import Style
from textual.widgets import Static

from jitchat.tui.figures import WORKING

_SWITCH = Style.from_meta({"@click": "screen.switch_window"})


class WindowTitle(Static):
    """Which window it is, and its size or why there is none."""

    def __init__(self, name: str) -> None:
        super().__init__(id=name)
        self._which = self._told = ""
        self._working = self._switches = False

    def show(self, which: str = "", told: str = "") -> None:
        """Another window; nothing for none."""
        self._which, self._told = which, told
        self._draw()

    def offer_switch(self, offered: bool) -> None:
        """Whether a click shows the other window, the one sent or the next."""
        if offered != self._switches:
            self._switches = offered
            self._draw()

    def show_working(self, working: bool) -> None:
        """Say whether another window is being worked out."""
        self._working = working
        self._draw()

    def _draw(self) -> None:
        mark = WORKING if self._working else " "
        which = (f" {self._which}{mark}", "reverse bold") if self._which else ""
        parts: list[Any] = [which]
        if self._which and self._switches:
            is_next = self._which.startswith("next")
            parts.insert(0 if is_next else 1, (" sent " if is_next else " next ", _SWITCH))
        self.update(Content.assemble(*parts, f" {self._told}"), layout=False)


class WindowNote(Static):
    """On the limit and who picked, or on why nothing can be sent; often there is none."""

    def __init__(self, name: str) -> None:
        super().__init__(id=name)
        self._noted = "", False

    def show(self, note: str, *, is_refusal: bool = False) -> None:
        """Another note, if it is another one: all of the screen is laid out for it."""
        if (note, is_refusal) != self._noted:
            self._noted = note, is_refusal
            self.update(Content(note))
            self.set_class(is_refusal, "-refusal")
            self.display = bool(note)
