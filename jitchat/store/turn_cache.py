"""The finished turns of a conversation's path, in memory, kept up with what anybody stores.

Not locked: its owner is.

So what led to a turn of another branch can be read, and planned with, without going there.
"""

from __future__ import annotations

from bisect import bisect_right
from copy import copy
from dataclasses import dataclass, replace
from itertools import takewhile

from jitchat.store.path import Path, Tree
from jitchat.store.replies import close_interrupted
from jitchat.store.store import ColdStore
from jitchat.values import Status, Turn


@dataclass(frozen=True, slots=True)
class Change:
    """How the path differs from what it was."""

    place: int
    """The first position at which anything is new or another, or was and is no longer."""
    turn: int | None
    """That of the first turn that is new or another; None where turns were only left."""


class FinishedTurns:
    """What is known of one conversation; empty until `take_in`."""

    def __init__(self, store: ColdStore, conversation: str) -> None:
        self._store, self._conversation = store, conversation
        self.path = Path()
        self.turns: list[Turn] = []
        """Those of the path, in order. Replaced, never changed in place."""
        self.settled = 0
        """No turn up to this position changes any more. The last one may: it can turn out to be
        unanswered, and an unanswered one can be sent again."""
        self._unfinished: int | None = None
        """The first position at which somebody is still writing."""

    def as_now(self) -> FinishedTurns:
        """What is known now, and stays that: for who reads it for long."""
        return copy(self)

    def take_in(self) -> Change | None:
        """Take in the path, and what was finished since; by whichever instance.

        The reply of a writer that is gone is taken in as interrupted; that of one still
        writing is not. None where all is as it was. If the store fails, nothing is taken in.
        """
        path = self._store.path(self._conversation)
        same = self.path.shared(path)
        is_left = same < self.path.head
        settled = min(self.settled, same) if is_left else self.settled
        found = self._stored(path, settled)
        finished = [turn for turn in found if turn.status is not Status.STREAMING]
        known = behind(self.turns, settled)
        before = {turn.position: turn for turn in known}
        changed = (turn.position for turn in finished if before.get(turn.position) != turn)
        first = next(changed, None)
        if finished != known:
            self.turns = [*self.turns[: len(self.turns) - len(known)], *finished]
        unfinished = (turn.position for turn in found if turn.status is Status.STREAMING)
        self.path, self.settled = path, settled
        self._unfinished = min(unfinished, default=None)
        for turn in takewhile(self.is_reached, finished[:-1]):
            self.settled = turn.position
        if is_left:
            return Change(same + 1 if first is None else min(first, same + 1), first)
        return None if first is None else Change(first, first)

    def unsettle(self, turn: Turn) -> None:
        """Look at the turn again the next time, for it was changed."""
        self.settled = min(self.settled, turn.position - 1)

    def is_reached(self, turn: Turn) -> bool:
        """Whether everything ahead of the turn is finished."""
        return self._unfinished is None or turn.position < self._unfinished

    def _stored(self, path: Path, after: int) -> list[Turn]:
        found = self._store.turns_of(self._conversation, path, after)
        if any(turn.status is Status.STREAMING for turn in found) and close_interrupted(
            self._store
        ):
            found = self._store.turns_of(self._conversation, path, after)
        return found


def behind(turns: list[Turn], position: int) -> list[Turn]:
    """Those of ascending turns that lie behind a position."""
    return turns[bisect_right(turns, position, key=_position) :]


def _position(turn: Turn) -> int:
    return turn.position


class StoreElsewhere(ColdStore):
    """The same store; nothing is to be appended through it."""

    def __init__(self, store: ColdStore, conversation: str, head: int) -> None:
        """`head` is the position of the turn that the conversation's path leads to here."""
        super().__init__(store.database, store.now)
        self._conversation, self._head = conversation, head

    def tree(self, conversation: str) -> Tree:
        """Read how the turns hang together, with the head here."""
        tree = super().tree(conversation)
        return replace(tree, head=self._head) if conversation == self._conversation else tree
