"""What the user decides about the window: lasting, and for one message only."""

from collections.abc import Mapping
from dataclasses import dataclass, replace
from enum import StrEnum

from jitchat.attachments import Attachment
from jitchat.values import Turn
from jitchat.window import reasons
from jitchat.window.budget import Budget


class Hold(StrEnum):
    PINNED = "pinned"
    """It is in every window of `jit`."""
    EXCLUDED = "excluded"
    """It is in no window."""


@dataclass(frozen=True, slots=True)
class Steering:
    pinned: frozenset[int] = frozenset()
    excluded: frozenset[int] = frozenset()

    def of(self, turn: int) -> Hold | None:
        if turn in self.pinned:
            return Hold.PINNED
        return Hold.EXCLUDED if turn in self.excluded else None

    @classmethod
    def from_words(cls, held: Mapping[int, str]) -> "Steering":
        """Make it of how each held turn is held, as the cold store has it."""
        pinned = (turn for turn, hold in held.items() if hold == Hold.PINNED)
        excluded = (turn for turn, hold in held.items() if hold == Hold.EXCLUDED)
        return cls(frozenset(pinned), frozenset(excluded))


@dataclass(frozen=True, slots=True)
class HoldChange:
    """A decision about a turn that was made, and can be taken back."""

    turn: int
    before: Hold | None
    after: Hold | None


@dataclass(frozen=True, slots=True)
class Once:
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
    form: str | None = None
    """What windows carry of the message in place of its whole text; None for the whole."""
    may_ask: bool | None = None
    """Whether the model can ask for what is kept; None as the settings say."""
    files: tuple[Attachment, ...] = ()
    """Go along with the message."""

    def toggled(self, turn: int, *, is_there: bool) -> "Once":
        """Take a turn out of this message or bring it in; again, and it is as it was.

        `is_there` tells whether the window has it at full text.
        """
        if turn in self.wanted or not (is_there or turn in self.dropped):
            return replace(self, wanted=self.wanted ^ {turn})
        return replace(self, dropped=self.dropped ^ {turn})

    def without(self, steering: Steering) -> dict[int, str]:
        """Tell which turns are to stay out, by position, and why."""
        lasting = dict.fromkeys(steering.excluded, reasons.EXCLUDED)
        return dict.fromkeys(self.dropped, reasons.DROPPED) | lasting


NO_MORE = Once()
"""A message like any other."""
