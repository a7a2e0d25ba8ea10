"""Asks how to send a very long message that does not fit, or that would exceed a spending limit.

The whole message is stored in any case. Enter sends a part only if the user has typed which one.
"""

from dataclasses import dataclass
from enum import Enum, auto

from textual import on
from textual.app import ComposeResult
from textual.binding import Binding
from textual.containers import VerticalScroll
from textual.widgets import Input, Static

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


_CHOICES = (
    "You can go back, send its beginning and end (below), or type what to extract: Enter then sends"
    " the lines that have it."
)


class LargeMessageScreen(Dialog[Chosen | None]):
    BINDINGS = [  # noqa: RUF012  Textual's own shape
        Binding("ctrl+s", "all", "Send all", id="large_all", priority=True),
        Binding("ctrl+o", "preview", "Send the preview", id="large_preview", priority=True),
        Binding("escape", "dismiss(None)", "Back", id="large_back"),
    ]

    def __init__(self, tokens: int, why: str, preview: str, *, fits: bool) -> None:
        """`why` it is not sent as it is, in sentences; if it `fits`, all of it can be sent."""
        super().__init__()
        self._tokens, self._why, self._preview, self._fits = tokens, why, preview, fits

    def compose(self) -> ComposeResult:
        keys = "Enter back · Ctrl+O beginning and end"
        keys += " · Ctrl+S send all" if self._fits else ""
        with box(f"Message of {self._tokens:,} tokens", keys):
            yield Static(Content(f"{self._why} {_CHOICES}"), id="large-note")
            yield Input(placeholder="What to extract: errors, totals", id="large-wanted")
            with VerticalScroll():
                yield Static(Content(self._preview))

    @on(Input.Submitted)
    def _compact(self, message: Input.Submitted) -> None:
        wanted = message.value.strip()
        self.dismiss(Chosen(Choice.COMPACT, wanted) if wanted else None)

    def action_preview(self) -> None:
        self.dismiss(Chosen(Choice.PREVIEW))

    def action_all(self) -> None:
        if self._fits:
            self.dismiss(Chosen(Choice.ALL))
