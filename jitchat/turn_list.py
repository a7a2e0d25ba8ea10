"""The turns of a path too long to keep in memory: read from the store on demand.

Only turns that can no longer change are left in the store. Thread-safe.
"""

import threading
from array import array
from bisect import bisect_right
from collections.abc import Callable, Iterable, Iterator, Sequence
from itertools import compress
from typing import overload

from jitchat.values import Turn

Read = Callable[[int, int], Iterable[Turn]]
"""Reads the turns from the first to the last position, on any branch."""
ReadSome = Callable[[Sequence[int]], Iterable[Turn]]
"""Reads the turns at the given positions."""
_BLOCK, _REMEMBERED = 8, 16_384
"""Turns read at once when one is needed, and the size of the cache, in turns."""
_FEW = 1_024
"""Turns read at once when iterating."""


class TurnList(Sequence[Turn]):
    """Turns in order of position: stored ones, read on demand, then late ones in memory."""

    def __init__(
        self, positions: "array[int]", stored: "StoredTurns", late: tuple[Turn, ...] = ()
    ) -> None:
        self.positions, self.late = positions, late
        self._stored = stored

    def __len__(self) -> int:
        return len(self.positions) + len(self.late)

    @overload
    def __getitem__(self, place: int) -> Turn: ...

    @overload
    def __getitem__(self, place: slice) -> Sequence[Turn]: ...

    def __getitem__(self, place: int | slice) -> Turn | Sequence[Turn]:
        if isinstance(place, int):
            index = range(len(self))[place]
            stored = len(self.positions)
            if index >= stored:
                return self.late[index - stored]
            return self._stored.turn_at(self.positions[index])
        start, stop, step = place.indices(len(self))
        stored = len(self.positions)
        if step != 1 or stop - start <= _FEW or start >= stored:
            return tuple(self[index] for index in range(start, stop, step))
        late = self.late[: max(0, stop - stored)]
        return TurnList(self.positions[start : min(stop, stored)], self._stored, late)

    def __iter__(self) -> Iterator[Turn]:
        for start in range(0, len(self.positions), _FEW):
            yield from self._stored.turns_at(self.positions[start : start + _FEW])
        yield from self.late

    def __eq__(self, other: object) -> bool:
        if not isinstance(other, Sequence) or len(other) != len(self):
            return False
        return common_start(self, other) == len(self)

    def __hash__(self) -> int:
        return hash((len(self), self.late[-1:]))

    def followed_by(self, turns: Iterable[Turn]) -> "TurnList":
        return TurnList(self.positions, self._stored, (*self.late, *turns))

    def only(self, positions: "array[int]") -> "TurnList":
        """Keep the stored turns at the given positions, and no others."""
        return TurnList(positions, self._stored)


class StoredTurns:
    """A cache of stored turns that reads missing ones."""

    def __init__(self, read: Read, read_some: ReadSome) -> None:
        self._read, self._read_some, self._lock = read, read_some, threading.Lock()
        self._known: dict[int, Turn] = {}

    def turns_at(self, positions: Sequence[int]) -> list[Turn]:
        """Read turns at ascending positions. Raises LookupError if one is missing."""
        found = {turn.position: turn for turn in self._read(positions[0], positions[-1])}
        return [found[position] for position in positions]

    def turn_at(self, position: int) -> Turn:
        """Read one turn. Raises LookupError if it is missing."""
        known = self._known.get(position)
        if known is None:
            start = position - position % _BLOCK
            known = self._keep(self._read(start, start + _BLOCK - 1))[position]
        return known

    def read_ahead(self, positions: Iterable[int]) -> None:
        """Read in one query the turns that will be needed one by one."""
        missing = [position for position in positions if position not in self._known]
        if missing:
            self._keep(self._read_some(missing))

    def _keep(self, turns: Iterable[Turn]) -> dict[int, Turn]:
        read = {turn.position: turn for turn in turns}
        with self._lock:
            self._known |= read
            while len(self._known) > _REMEMBERED:
                del self._known[next(iter(self._known))]
        return read


def joined(turns: Sequence[Turn], others: Iterable[Turn]) -> Sequence[Turn]:
    return turns.followed_by(others) if isinstance(turns, TurnList) else (*turns, *others)


def chosen(turns: Sequence[Turn], are_wanted: Sequence[object]) -> Sequence[Turn]:
    """Keep the turns whose element in `are_wanted` is true."""
    if not isinstance(turns, TurnList):
        return tuple(compress(turns, are_wanted))
    stored = len(turns.positions)
    positions = array("I", compress(turns.positions, are_wanted))
    return turns.only(positions).followed_by(compress(turns.late, are_wanted[stored:]))


def replaced(turns: Sequence[Turn], place: int, turn: Turn) -> Sequence[Turn]:
    """Replace the turn at a place, which must be in memory."""
    if isinstance(turns, TurnList):
        late = place - len(turns.positions)
        return turns.only(turns.positions).followed_by(replaced(turns.late, late, turn))
    return (*turns[:place], turn, *turns[place + 1 :])


def positions_of(turns: Sequence[Turn]) -> "array[int]":
    if isinstance(turns, TurnList):
        return turns.positions + positions_of(turns.late)
    return array("I", [turn.position for turn in turns])


def position_at(turns: Sequence[Turn], place: int) -> int:
    """Return the position of the turn at a place, which is not read."""
    if not isinstance(turns, TurnList):
        return turns[place].position
    stored = len(turns.positions)
    return turns.positions[place] if place < stored else turns.late[place - stored].position


def in_memory(turns: Sequence[Turn]) -> Sequence[Turn]:
    """Return the last of the turns, which need not be read; all of them in most conversations."""
    return turns.late if isinstance(turns, TurnList) else turns


def up_to(turns: Sequence[Turn], position: int) -> int:
    """Count the turns up to a position; the turns must be ascending."""
    if isinstance(turns, TurnList):
        found = bisect_right(turns.positions, position)
        return found if found < len(turns.positions) else found + up_to(turns.late, position)
    return bisect_right(turns, position, key=lambda turn: turn.position)


def common_start(before: Sequence[Turn], after: Sequence[Turn]) -> int:
    """Count the leading turns that are equal in both.

    Fast if they are the same objects, as in two snapshots of one conversation. Stored turns never
    change, so equal positions mean equal turns.
    """
    start, size = 0, min(len(before), len(after))
    if not isinstance(before, TurnList) and not isinstance(after, TurnList):
        if before[:size] == after[:size]:
            return size
    elif isinstance(before, TurnList) and isinstance(after, TurnList):
        here, there = before.positions, after.positions
        start = min(len(here), len(there))
        if here is not there and here[:start] != there[:start]:
            return next(place for place in range(start) if here[place] != there[place])
        if len(here) == len(there):
            return start + common_start(before.late, after.late)
    return next((place for place in range(start, size) if before[place] != after[place]), size)
