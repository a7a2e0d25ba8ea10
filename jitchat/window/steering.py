"""What the user decides about windows: permanently, or for one message only."""

from collections.abc import Mapping
from dataclasses import dataclass, replace
from enum import StrEnum
from typing import TYPE_CHECKING

from jitchat.attachments import Attachment
from jitchat.values import Turn
from jitchat.window import reasons
from jitchat.window.budget import Budget

if TYPE_CHECKING:
    from jitchat.files.named import Named


class Hold(StrEnum):
    PINNED = "pinned"
    """The turn is in every `jit` window."""
    EXCLUDED = "excluded"
    """The turn is in no window."""


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
        """Read the steering from the cold store's words, by position of a turn."""
        pinned = (turn for turn, hold in held.items() if hold == Hold.PINNED)
        excluded = (turn for turn, hold in held.items() if hold == Hold.EXCLUDED)
        return cls(frozenset(pinned), frozenset(excluded))


@dataclass(frozen=True, slots=True)
class HoldChange:
    """A decision about a turn, which can be undone."""

    turn: int
    before: Hold | None
    after: Hold | None


@dataclass(frozen=True, slots=True)
class Once:
    """Choices for one message."""

    after: int | None = None
    """The position of the turn that the message follows, 0 for none; None for the last one."""
    again: Turn | None = None
    """The user's turn to answer again; its existing reply is kept as another version."""
    budget: Budget | None = None
    """Replaces the session's budget; None to use that one."""
    wanted: frozenset[int] = frozenset()
    """Positions of turns to send at full text."""
    dropped: frozenset[int] = frozenset()
    """Positions of turns to leave out."""
    form: str | None = None
    """What windows carry instead of the message's whole text; None for the whole."""
    may_ask: bool | None = None
    """Whether the model can request turns that are not shown; None to follow the settings."""
    files: tuple[Attachment, ...] = ()
    """Sent with the message; of an earlier message's files, the content is read from the store."""
    mentions: tuple[str, ...] = ()
    """What the user typed after each `@`: files that are read and sent with the message."""
    named: "tuple[Named, ...] | None" = None
    """What the mentions name; None if it was not looked for yet."""

    def toggled(self, turn: int, *, is_there: bool) -> "Once":
        """Drop a turn from this message's window or request it; a second time undoes that.

        `is_there` is whether the window has the turn at full text.
        """
        if turn in self.wanted or not (is_there or turn in self.dropped):
            return replace(self, wanted=self.wanted ^ {turn})
        return replace(self, dropped=self.dropped ^ {turn})

    def without(self, steering: Steering) -> dict[int, str]:
        """Map the positions of the turns to leave out to the reasons."""
        lasting = dict.fromkeys(steering.excluded, reasons.EXCLUDED)
        return dict.fromkeys(self.dropped, reasons.DROPPED) | lasting


NO_MORE = Once()
"""A message without any choices of its own."""
