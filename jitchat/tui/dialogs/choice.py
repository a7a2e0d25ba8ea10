"""A list to choose one row from, with a line above it if a text may be typed instead."""

from collections.abc import Callable, Sequence
from dataclasses import dataclass
from typing import Generic, TypeVar

from textual import on
from textual.app import ComposeResult
from textual.binding import Binding
from textual.widgets import Input, OptionList
from textual.widgets.option_list import Option

from jitchat.tui.dialogs.dialog import Dialog, box
from jitchat.tui.drawing import Content
from jitchat.tui.palette import MUTED
from jitchat.tui.widgets.row_list import PointedList

Choice = TypeVar("Choice")


@dataclass(frozen=True, slots=True)
class Typed(Generic[Choice]):
    """What may be typed instead of choosing a row."""

    placeholder: str
    choice_of: Callable[[str], Choice]


class ChoiceScreen(Dialog[Choice | None]):
    """Returns the value of the chosen row, or what is made of the typed text; None for neither."""

    BINDINGS = [  # noqa: RUF012  Textual's own shape
        Binding("escape", "dismiss(None)", "Close", id="choice_close"),
        Binding("down", "move('cursor_down')", show=False),
        Binding("up", "move('cursor_up')", show=False),
    ]

    def __init__(
        self,
        title: str,
        keys: str,
        rows: Sequence[tuple[Content, Choice]],
        *,
        at: int = 0,
        typed: Typed[Choice] | None = None,
    ) -> None:
        """`at` is the row under the cursor; with `typed`, a text may be typed instead."""
        super().__init__()
        self._title, self._keys, self._rows = title, keys, rows
        self._at = at if rows else None
        self._typed = typed

    def compose(self) -> ComposeResult:
        with box(self._title, self._keys):
            if self._typed is not None:
                yield Input(placeholder=self._typed.placeholder, id="wanted")
            yield PointedList(*(Option(line) for line, _ in self._rows), id="choices")

    def on_mount(self) -> None:
        choices = self.query_one(PointedList)
        choices.highlighted = self._at
        if self._typed is None:
            choices.focus()

    @on(Input.Submitted)
    def _take_typed(self, message: Input.Submitted) -> None:
        text = message.value.strip()
        if text and self._typed is not None:
            self.dismiss(self._typed.choice_of(text))
        else:
            self._take_row()

    @on(OptionList.OptionSelected)
    def _take_row(self) -> None:
        index = self.query_one(PointedList).highlighted
        if index is not None:
            _, choice = self._rows[index]
            self.dismiss(choice)


def titled(title: str, about: str) -> Content:
    """Write a row: its title, then what there is to say about it."""
    return Content.assemble((title, "bold"), (f"  {about}", MUTED))
