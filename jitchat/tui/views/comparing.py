"""What the views have in common that compare a message's windows in all modes."""

from __future__ import annotations

from dataclasses import dataclass

from textual import on, work
from textual.content import Content
from textual.message import Message
from textual.worker import get_current_worker

from jitchat.errors import JitchatError
from jitchat.text.safe import shortened
from jitchat.tui.views.subject import asked_of
from jitchat.tui.views.view import View
from jitchat.tui.views.what_if_rows import Comparison, compare

_TITLE = 48
"""Characters of the message in the title, at most."""


class ComparingView(View):
    """A view of one message; its windows are planned in a thread."""

    @dataclass
    class Compared(Message):
        """The windows were planned, or cannot be."""

        outcome: Comparison | JitchatError

    def name_message(self, draft: str) -> None:
        """Have the message in the title."""
        title = f"{self.NAME}: {shortened(draft, _TITLE)}" if draft.strip() else self.NAME
        self.query_one("#view-frame").border_title = Content(title)

    @work(thread=True, exclusive=True, group="compare")
    def compare(self) -> None:
        """Plan; `show_comparison` follows, or why there is nothing to show."""
        outcome: Comparison | JitchatError
        try:
            outcome = compare(self.subject.session, *asked_of(self.subject))
        except JitchatError as error:
            outcome = error
        if not get_current_worker().is_cancelled:
            self.post_message(self.Compared(outcome))

    def show_comparison(self, comparison: Comparison) -> None:
        """Draw what was planned."""
        raise NotImplementedError

    @on(Compared)
    def _compared(self, message: Compared) -> None:
        if isinstance(message.outcome, JitchatError):
            self.show_nothing(str(message.outcome))
        else:
            self.show_comparison(message.outcome)
