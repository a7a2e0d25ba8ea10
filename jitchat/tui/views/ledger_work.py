"""What the ledger view has done in threads: planning, looking up, pinning. They post messages."""

from __future__ import annotations

import threading
from dataclasses import dataclass

from textual import work
from textual.message import Message

from jitchat.errors import JitchatError
from jitchat.tui.views.ledger_drawing import Marked
from jitchat.tui.views.ledger_table import Found
from jitchat.tui.views.subject import Subject
from jitchat.tui.views.view import View
from jitchat.why import Explained, why
from jitchat.window.steering import Held, Hold, Once
from jitchat.window.why import Why
from jitchat.window.window import ContextWindow


class LedgerWork(View):
    """A view whose work is done off the event loop; what is outdated is for it to drop."""

    @dataclass
    class Looked(Message):
        """A window with what belongs to it, or why there is none."""

        serial: int
        outcome: Found | JitchatError

    @dataclass
    class Answered(Message):
        """Why a turn is there or not."""

        serial: int
        outcome: Why | JitchatError
        line: str = ""
        """Its index line; empty where there is none."""

    @dataclass
    class HoldMade(Message):
        """A turn was pinned or excluded, or that was taken back; or it could not be."""

        outcome: Held | JitchatError | None
        """None where no finished turn is there."""
        undoes: bool

    def __init__(self, subject: Subject) -> None:
        super().__init__(subject)
        self._holding = threading.Lock()

    @work(thread=True, exclusive=True, group="ledger")
    def look(self, serial: int, once: Once, window: ContextWindow | None) -> None:
        """Plan, unless a window is given, and read the index lines of its ledger."""
        subject, session = self.subject, self.subject.session
        outcome: Found | JitchatError
        try:
            planned = window or session.preview(subject.draft, subject.mode, once)
            entries = session.memory.entries({row.turn for row in planned.ledger})
            lines = {entry.turn: entry.summary for entry in entries}
            outcome = Found(planned, lines, Marked(session.steering, once))
        except JitchatError as error:
            outcome = error
        self.post_message(self.Looked(serial, outcome))

    @work(thread=True, exclusive=True, group="why")
    def ask(self, serial: int, turn: int, found: Found) -> None:
        """Tell why a turn is in a window, or why not."""
        subject, session = self.subject, self.subject.session
        draft = subject.sent.content if subject.sent is not None else subject.draft
        kept_out = session.keeps_out(found.marked.once) if subject.sent is None else ()
        outcome: Why | JitchatError
        try:
            explained = Explained(found.window, draft, subject.sent, kept_out)
            outcome = why(session.memory, explained, turn)
            line = "".join(entry.summary for entry in session.memory.entries([turn]))
        except JitchatError as error:
            outcome, line = error, ""
        self.post_message(self.Answered(serial, outcome, line))

    @work(thread=True, group="hold")
    def hold(self, turn: int, hold: Hold | None, *, undoes: bool = False) -> None:
        """One after the other: the second press sees the first."""
        session = self.subject.session
        change = session.hold if undoes else session.toggle_hold
        outcome: Held | JitchatError | None
        with self._holding:
            try:
                outcome = change(turn, hold)
            except JitchatError as error:
                outcome = error
            except LookupError:
                outcome = None
        self.post_message(self.HoldMade(outcome, undoes))
