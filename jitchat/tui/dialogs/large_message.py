"""Asks which part of a very long message to send. The whole message is stored in any case."""

from dataclasses import dataclass
from enum import Enum, auto

from textual import on
from textual.app import ComposeResult
from textual.binding import Binding
from textual.containers import VerticalScroll
from textual.widgets import Input, Static

from jitchat.text.figures import plural
from jitchat.tui.dialogs.dialog import Dialog, box
from jitchat.tui.drawing import Content


class Choice(Enum):
    COMPACT = auto()
    PREVIEW = auto()
    ALL = auto()


@dataclass(frozen=True, slots=True)
class Chosen:
    choice: Choice
    instruction: str = ""
    """What to extract, for `COMPACT`."""


class LargeMessageScreen(Dialog[Chosen | None]):
    BINDINGS = [  # noqa: RUF012  Textual's own shape
        Binding("ctrl+s", "all", "Send all", id="large_all", priority=True),
        Binding("ctrl+o", "preview", "Send the preview", id="large_preview", priority=True),
        Binding("escape", "dismiss(None)", "Back", id="large_back"),
    ]

    def __init__(self, tokens: int, over: int, preview: str) -> None:
        """`over` is how far the message exceeds the budget, in tokens; 0 or less if it fits."""
        super().__init__()
        self._tokens, self._over, self._preview = tokens, over, preview

    def compose(self) -> ComposeResult:
        keys = "Enter compact · Ctrl+O preview only"
        keys += " · Ctrl+S send all" if self._over <= 0 else ""
        with box(f"Message of {self._tokens:,} tokens", f"{keys} · Esc back"):
            yield Static(Content(self._note()), id="large-note")
            yield Input(placeholder="What to extract: A, B, C", id="large-wanted")
            with VerticalScroll():
                yield Static(Content(self._preview))

    def _note(self) -> str:
        note = "The whole message is stored. Choose what to send."
        if self._over <= 0:
            return note
        return f"{note} All of it would exceed the budget by {plural(self._over, 'token')}."

    @on(Input.Submitted)
    def _compact(self, message: Input.Submitted) -> None:
        self.dismiss(Chosen(Choice.COMPACT, message.value.strip()))

    def action_preview(self) -> None:
        self.dismiss(Chosen(Choice.PREVIEW))

    def action_all(self) -> None:
        if self._over <= 0:
            self.dismiss(Chosen(Choice.ALL))
