"""What the user decides about the window: lasting, and for one message only."""

from __future__ import annotations

from dataclasses import dataclass
from enum import StrEnum

from jitchat.turn import Turn
from jitchat.window.budget import Budget


class Hold(StrEnum):
    """What the user decided about a turn, until it is taken back."""

    PINNED = "pinned"
    """It is in every window of `jit`."""
    EXCLUDED = "excluded"
    """It is in no window."""


@dataclass(frozen=True, slots=True)
class Steering:
    """The lasting decisions of one conversation, as positions of turns."""

    pinned: frozenset[int] = frozenset()
    excluded: frozenset[int] = frozenset()

    def of(self, turn: int) -> Hold | None:
        """Tell what was decided about a turn; None for nothing."""
        if turn in self.pinned:
            return Hold.PINNED
        return Hold.EXCLUDED if turn in self.excluded else None


@dataclass(frozen=True, slots=True)
class Once:
    """What holds for one message only."""

    after: int | None = None
    """The position of the turn that it follows, 0 for none; None for the last one."""
    again: Turn | None = None
    """The user's turn that is answered once more: the reply that it has stays beside."""
    budget: Budget | None = None
    """In place of the session's."""
    wanted: frozenset[int] = frozenset()
    """Positions of turns that are to be there at full text."""
    dropped: frozenset[int] = frozenset()
    """Positions of turns that are to stay out."""


NO_MORE = Once()
"""A message like any other."""
