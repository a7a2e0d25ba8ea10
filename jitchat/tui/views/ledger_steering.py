"""Steering from the ledger: turns in and out of one message, pins, exclusions and their undoing."""

from collections.abc import Callable

from jitchat.tui.views.ledger_rows import Row
from jitchat.tui.views.view import Subject
from jitchat.window.steering import Hold, HoldChange

SENT = "This window was sent and stays as it is. Close the view to steer the next one."


class LedgerSteering:
    """What was decided in one view; pins and exclusions are the chat's own."""

    def __init__(self, subject: Subject) -> None:
        self._session, self._pins = subject.session, subject.pins
        self.once = subject.once
        self.is_changed = False

    def toggle_once(self, row: Row) -> str:
        """Take a turn out of this message or bring it in; why that cannot be, or nothing."""
        if row.turn in self._session.steering.excluded:
            return f"#{row.turn} is excluded: X takes that back."
        self.once = self.once.toggled(row.turn, is_there=row.is_there)
        self.is_changed = True
        return ""

    def hold(self, turn: int, hold: Hold) -> Callable[[], HoldChange | None]:
        """Pin or exclude a turn, or end that where it is so already.

        Returns the change, for a thread; it gives None where no finished turn is there.
        """
        self.is_changed = True
        return lambda: _unless_gone(lambda: self._pins.make(self._session, turn, hold))

    def undo(self) -> Callable[[], HoldChange | None] | None:
        """Undo the last pin or exclusion, made here or in the chat; None without any."""
        if not self._pins.changes:
            return None
        self.is_changed = True
        last = self._pins.changes.pop()
        return lambda: _unless_gone(
            lambda: self._pins.make(self._session, last.turn, last.before, undoes=True)
        )


def _unless_gone(change: Callable[[], HoldChange]) -> HoldChange | None:
    try:
        return change()
    except LookupError:
        return None
