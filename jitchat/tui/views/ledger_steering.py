"""Steering from the ledger: turns in and out of one message, pins, exclusions and their undoing."""

from collections.abc import Callable

from jitchat.tui.views.ledger_rows import Row
from jitchat.tui.views.view import Subject
from jitchat.window.steering import Held, Hold

SENT = "This window was sent and stays as it is. Close the view to steer the next one."


class LedgerSteering:
    """What was decided in one view, beside what the chat knows of it already."""

    def __init__(self, subject: Subject) -> None:
        self._session, self._made = subject.session, subject.made
        self.once = subject.once
        self.is_changed = False

    def toggle_once(self, row: Row) -> str:
        """Take a turn out of this message or bring it in; why that cannot be, or nothing."""
        if row.turn in self._session.steering.excluded:
            return f"#{row.turn} is excluded: X takes that back."
        self.once = self.once.toggled(row.turn, is_there=row.is_there)
        self.is_changed = True
        return ""

    def hold(self, turn: int, hold: Hold) -> Callable[[], Held | None]:
        """Pin or exclude a turn until that is taken back; a second time takes it back.

        Returns the change, for a thread; it gives None where no finished turn is there.
        """
        self.is_changed = True
        return lambda: _unless_gone(lambda: self._session.toggle_hold(turn, hold))

    def undo(self) -> Callable[[], Held | None] | None:
        """Take the last pin or exclusion back, made here or in the chat; None without any."""
        if not self._made:
            return None
        self.is_changed = True
        last = self._made.pop()
        return lambda: _unless_gone(lambda: self._session.hold(last.turn, last.before))

    def add(self, held: Held) -> None:
        """Have a pin or an exclusion taken back by the next undo."""
        self._made.append(held)


def _unless_gone(change: Callable[[], Held]) -> Held | None:
    try:
        return change()
    except LookupError:
        return None
