"""The path through a conversation's tree: its current turns, from the first to the head.

A turn that follows the previous position stores no parent. A conversation without forks is
therefore one stretch of positions, and costs the same whatever its length: only the forks are
read, and they are few. Parents come before their children, so a path ascends, with gaps.
"""

import json
import sqlite3
from bisect import bisect_right
from collections.abc import Iterator, Mapping, Sequence
from dataclasses import dataclass, field
from operator import itemgetter

from jitchat.values import Turn

Stretch = tuple[int, int]
"""The first and last of consecutive positions."""

TREE_COLUMNS = """
    (SELECT COALESCE(MAX(position), 0) FROM turns WHERE conversation = c.id), c.head,
    (SELECT json_array(json_group_array(position), json_group_array(parent)) FROM turns
     WHERE conversation = c.id AND parent IS NOT NULL)
"""
"""Arguments of `tree_from`, from the table `conversations` as c, in one consistent statement."""


@dataclass(frozen=True, slots=True)
class Path:
    stretches: tuple[Stretch, ...] = ()
    """Ascending, with a gap between any two."""

    def __len__(self) -> int:
        return sum(last - first + 1 for first, last in self.stretches)

    def __contains__(self, position: int) -> bool:
        return _holds(self.stretches, position)

    @property
    def head(self) -> int:
        return self.stretches[-1][1] if self.stretches else 0

    def behind(self, position: int) -> Iterator[Stretch]:
        for first, last in self.stretches:
            if last > position:
                yield max(first, position + 1), last

    def between(self, after: int, last: int) -> Iterator[Stretch]:
        """Yield the positions after one, up to another."""
        for first, end in self.behind(after):
            if first <= last:
                yield first, min(end, last)

    def before_last(self, count: int) -> int:
        """Return the position after which the last `count` turns come; 0 if all of them do."""
        for first, last in reversed(self.stretches):
            count -= last - first + 1
            if count <= 0:
                return first - count - 1
        return 0

    def start(self, last: int) -> str:
        """Serialise the path up to a position."""
        stretches = [(first, min(end, last)) for first, end in self.stretches if first <= last]
        return json.dumps(stretches)

    @classmethod
    def of_start(cls, written: str) -> "Path":
        """Read the output of `start`. Raises ValueError or TypeError for anything else."""
        return cls(tuple((int(first), int(last)) for first, last in json.loads(written)))

    def count(self, last: int) -> int:
        """Count the positions up to one of them, inclusive."""
        return sum(min(end, last) - first + 1 for first, end in self.stretches if first <= last)

    def shared(self, other: "Path") -> int:
        """Return the last position up to which both paths are the same; 0 if there is none."""
        same = 0
        for (first, last), (begins, ends) in zip(self.stretches, other.stretches, strict=False):
            if first != begins:
                return same
            same = min(last, ends)
            if last != ends:
                return same
        return same


@dataclass(frozen=True, slots=True)
class Tree:
    last: int = 0
    """The last position in the tree."""
    head: int = 0
    """The position of the current leaf; 0 before the first turn."""
    forks: Mapping[int, int] = field(default_factory=dict)
    """Parents by position, of turns that do not follow the previous position. Ascending."""

    def path(self) -> Path:
        """Return the path from the root to the head."""
        forked, place, found = list(self.forks), self.head, list[Stretch]()
        while place:
            nearest = bisect_right(forked, place)
            first = forked[nearest - 1] if nearest else 1
            found.append((first, place))
            place = self.parent_of(first)
        return Path(tuple(reversed(found)))

    def parent_of(self, position: int) -> int:
        return self.forks.get(position, position - 1)

    def children(self, parents: set[int]) -> dict[int, list[int]]:
        found: dict[int, list[int]] = {parent: [] for parent in parents}
        for parent in parents:
            if parent < self.last and parent + 1 not in self.forks:
                found[parent].append(parent + 1)
        for position, parent in self.forks.items():
            if parent in found:
                found[parent].append(position)
        return found

    def leaf_below(self, position: int) -> int:
        """Return the latest descendant of the turn at `position`, or `position` if it has none."""
        forked = [*self.forks, self.last + 1]
        reached = [(position, forked[bisect_right(forked, position)] - 1)]
        for place in range(bisect_right(forked, position), len(self.forks)):
            if _holds(reached, self.forks[forked[place]]):
                reached.append((forked[place], forked[place + 1] - 1))
        return reached[-1][1]


def parent_of(turn: Turn) -> int:
    return turn.position - 1 if turn.parent is None else turn.parent


def tree_from(last: int, head: int | None, forks: str) -> Tree:
    """Build a tree from TREE_COLUMNS. Raises ValueError if a turn would follow a later one."""
    parents: dict[int, int] = dict(sorted(zip(*json.loads(forks), strict=True)))
    head = last if head is None else head
    if not 0 <= head <= last or any(not 0 <= up < child for child, up in parents.items()):
        raise ValueError("not a tree")
    return Tree(last, head, parents)


def tree_of(connection: sqlite3.Connection, conversation: str) -> Tree:
    """Read the tree of a conversation's turns; empty if the conversation does not exist."""
    query = f"SELECT {TREE_COLUMNS} FROM conversations c WHERE c.id = ?"  # noqa: S608  constants
    row = connection.execute(query, (conversation,)).fetchone()
    return tree_from(*row) if row else Tree()


def _holds(stretches: Sequence[Stretch], position: int) -> bool:
    place = bisect_right(stretches, position, key=itemgetter(0))
    return place > 0 and position <= stretches[place - 1][1]
