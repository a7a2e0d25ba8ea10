"""The finished turns of a conversation's path, in memory, refreshed from the store.

Safe to use from several threads: values that belong together are read from one `snapshot`.
"""

import threading
from collections.abc import Collection, Sequence
from dataclasses import dataclass, field, replace
from itertools import takewhile

from jitchat.store.path import Path
from jitchat.store.replies import close_interrupted
from jitchat.store.store import ColdStore
from jitchat.turn_list import StoredTurns, TurnList, joined, positions_of, up_to
from jitchat.values import Status, Turn

_MOST_IN_MEMORY, _LATEST = 16_384, 4_096
"""Of a path with more than the first number, only the latest turns are held in memory; the others
are read when needed."""


@dataclass(frozen=True, slots=True)
class Snapshot:
    path: Path = field(default_factory=Path)
    turns: Sequence[Turn] = ()
    """The finished turns of the path, in order."""
    settled: int = 0
    """No turn up to this position changes any more. The last turn of the path can still change:
    it may turn out to be unanswered, and then be sent again."""
    unfinished: int | None = None
    """The first position at which a reply is still being written; None if there is none."""

    def is_reached(self, turn: Turn) -> bool:
        """Whether all turns before this one are finished."""
        return self.unfinished is None or turn.position < self.unfinished


class TurnCache:
    """The turns of one conversation; empty until the first `refresh`."""

    def __init__(self, store: ColdStore, conversation: str) -> None:
        self._store, self._conversation = store, conversation
        self.lock = threading.RLock()
        """Held while the snapshot is replaced, and by callers that store a turn and refresh."""
        self.snapshot = Snapshot()
        self._stored: StoredTurns | None = None

    def refresh(self) -> None:
        """Read the path, and the turns that were finished since, by any instance.

        A reply whose writer is gone is included as interrupted; a reply that is still being
        written is not. If the store fails, nothing changes.
        """
        with self.lock:
            known, path = self.snapshot, self._store.path(self._conversation)
            settled = min(known.settled, known.path.shared(path))
            kept = known.turns[: up_to(known.turns, settled)]
            if left := self._left_to_store(path, settled):
                kept, settled = self._extended(kept, path, settled, left), left
            stored = self._store.turns_of(self._conversation, path, settled)
            if any(turn.status is Status.STREAMING for turn in stored) and close_interrupted(
                self._store
            ):
                stored = self._store.turns_of(self._conversation, path, settled)
            writing = [turn for turn in stored if turn.status is Status.STREAMING]
            finished = tuple(turn for turn in stored if turn.status is not Status.STREAMING)
            turns = known.turns
            if finished != behind(turns, settled):
                turns = joined(kept, finished)
            fresh = Snapshot(path, turns, settled, writing[0].position if writing else None)
            for turn in takewhile(fresh.is_reached, finished[:-1]):
                settled = turn.position
            self.snapshot = replace(fresh, settled=settled)

    def _left_to_store(self, path: Path, after: int) -> int:
        """Return the position up to which turns are not held in memory; 0 if all are held."""
        if sum(last - first + 1 for first, last in path.behind(after)) <= _MOST_IN_MEMORY:
            return 0
        unfinished = self._store.first_unfinished(self._conversation, after)
        if unfinished is not None and close_interrupted(self._store):
            unfinished = self._store.first_unfinished(self._conversation, after)
        last = path.before_last(_LATEST)
        return last if unfinished is None or last < unfinished else 0

    def _extended(self, kept: Sequence[Turn], path: Path, after: int, last: int) -> TurnList:
        """Add the turns of a path after one position, up to another, to be read when needed."""
        positions = positions_of(kept)
        for first, end in path.behind(after):
            positions.extend(range(first, min(end, last) + 1))
        # a new object: cached neighbours may have changed before they were settled
        self._stored = StoredTurns(self._read, self._read_some)
        return TurnList(positions, self._stored)

    def _read(self, first: int, last: int) -> list[Turn]:
        return self._store.turns_of(self._conversation, Path(((first, last),)))

    def _read_some(self, positions: Sequence[int]) -> list[Turn]:
        return self._store.turns_at(self._conversation, positions)

    def read_ahead(self, positions: Collection[int]) -> None:
        """Read the turns at some positions, and their neighbours, if they are not in memory."""
        turns, stored = self.snapshot.turns, self._stored
        if isinstance(turns, TurnList) and stored is not None:
            last = turns.positions[-1]
            beside = {place + step for place in positions for step in (-1, 0, 1)}
            stored.read_ahead(place for place in beside if 0 < place <= last)

    def unsettle(self, turn: Turn) -> None:
        """Read the turn again at the next refresh, because it was changed."""
        with self.lock:
            settled = min(self.snapshot.settled, turn.position - 1)
            self.snapshot = replace(self.snapshot, settled=settled)


def behind(turns: Sequence[Turn], position: int) -> Sequence[Turn]:
    """Return the turns after a position, from turns in ascending order."""
    return turns[up_to(turns, position) :]
