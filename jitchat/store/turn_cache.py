"""The finished turns of a conversation's path, in memory, kept up with what anybody stores.

Safe to use from several threads: what is read of it together is read from a `snapshot`.
"""

import threading
from bisect import bisect_right
from dataclasses import dataclass, field, replace
from itertools import takewhile

from jitchat.store.path import Path
from jitchat.store.replies import close_interrupted
from jitchat.store.store import ColdStore
from jitchat.values import Status, Turn


@dataclass(frozen=True, slots=True)
class Snapshot:
    path: Path = field(default_factory=Path)
    turns: tuple[Turn, ...] = ()
    """The finished turns of the path, in order."""
    settled: int = 0
    """No turn up to this position changes any more. The last one may: it can turn out to be
    unanswered, and an unanswered one can be sent again."""
    unfinished: int | None = None
    """The first position at which somebody is still writing."""

    def is_reached(self, turn: Turn) -> bool:
        """Whether everything ahead of the turn is finished."""
        return self.unfinished is None or turn.position < self.unfinished


class TurnCache:
    """The turns of one conversation; empty until the first `refresh`."""

    def __init__(self, store: ColdStore, conversation: str) -> None:
        self._store, self._conversation = store, conversation
        self.lock = threading.RLock()
        """Held while the snapshot is replaced, and by who stores a turn and then refreshes."""
        self.snapshot = Snapshot()

    def refresh(self) -> None:
        """Take in the path, and the turns that were finished since, by whichever instance.

        The reply of a writer that is gone is taken in as interrupted; that of one still
        writing is not. If the store fails, nothing is taken in.
        """
        with self.lock:
            known, path = self.snapshot, self._store.path(self._conversation)
            settled = min(known.settled, known.path.shared(path))
            stored = self._store.turns_of(self._conversation, path, settled)
            if any(turn.status is Status.STREAMING for turn in stored) and close_interrupted(
                self._store
            ):
                stored = self._store.turns_of(self._conversation, path, settled)
            writing = [turn for turn in stored if turn.status is Status.STREAMING]
            finished = tuple(turn for turn in stored if turn.status is not Status.STREAMING)
            before, turns = behind(known.turns, settled), known.turns
            if finished != before:
                turns = (*turns[: len(turns) - len(before)], *finished)
            fresh = Snapshot(path, turns, settled, writing[0].position if writing else None)
            for turn in takewhile(fresh.is_reached, finished[:-1]):
                settled = turn.position
            self.snapshot = replace(fresh, settled=settled)

    def unsettle(self, turn: Turn) -> None:
        """Look at the turn again the next time, for it was changed."""
        with self.lock:
            settled = min(self.snapshot.settled, turn.position - 1)
            self.snapshot = replace(self.snapshot, settled=settled)


def behind(turns: tuple[Turn, ...], position: int) -> tuple[Turn, ...]:
    """Choose of ascending turns those behind a position."""
    return turns[bisect_right(turns, position, key=lambda turn: turn.position) :]


def common_start(before: tuple[Turn, ...], after: tuple[Turn, ...]) -> int:
    """Count the turns at the start that are the same in both.

    Fast where they are the same objects, as in two snapshots of one conversation.
    """
    size = min(len(before), len(after))
    if before[:size] == after[:size]:
        return size
    return next(place for place in range(size) if before[place] != after[place])
