"""The path through a conversation's tree: which turns are looked at, from the first to the head.

A turn that follows the position before its own says nothing of it. So a conversation that was
never forked is one stretch of positions, and costs the same however long it is: only the forks
are read, and they are few. Parents lie ahead of their children, so a path ascends, with gaps.
"""

import json
from bisect import bisect_right
from collections.abc import Iterator, Mapping, Sequence
from dataclasses import dataclass, field
from operator import itemgetter

from jitchat.values import Turn

Stretch = tuple[int, int]
"""The first and the last of some positions without a gap."""

TREE_COLUMNS = """
    (SELECT COALESCE(MAX(position), 0) FROM turns WHERE conversation = c.id), c.head,
    (SELECT json_array(json_group_array(position), json_group_array(parent)) FROM turns
     WHERE conversation = c.id AND parent IS NOT NULL)
"""
"""Of the table `conversations` as c, as `tree_from` takes them: one statement, one moment."""


@dataclass(frozen=True, slots=True)
class Path:
    stretches: tuple[Stretch, ...] = ()
    """Ascending, with a gap between two."""

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
        """Give the positions behind one, up to another."""
        for first, end in self.behind(after):
            if first <= last:
                yield first, min(end, last)

    def before_last(self, count: int) -> int:
        """Find the position behind which the last `count` turns are; 0 where all of them are."""
        for first, last in reversed(self.stretches):
            count -= last - first + 1
            if count <= 0:
                return first - count - 1
        return 0

    def start(self, last: int) -> str:
        """Write down the path up to a position."""
        ahead = [(first, min(end, last)) for first, end in self.stretches if first <= last]
        return json.dumps(ahead)

    @classmethod
    def of_start(cls, written: str) -> "Path":
        """Read what `start` wrote; a ValueError or TypeError where it did not."""
        return cls(tuple((int(first), int(last)) for first, last in json.loads(written)))

    def count(self, last: int) -> int:
        """Count the positions up to one of them."""
        return sum(min(end, last) - first + 1 for first, end in self.stretches if first <= last)

    def shared(self, other: "Path") -> int:
        """Find the position up to which both are the same; 0 where they never are."""
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
    """The last position there is."""
    head: int = 0
    """The position of the leaf that is looked at; 0: ahead of the first turn."""
    forks: Mapping[int, int] = field(default_factory=dict)
    """Position of a turn that does not follow the one before it: its parent. Ascending."""

    def path(self) -> Path:
        """Go from the head to the root."""
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
        """Find the latest turn that came of the one at `position`; that one if none did."""
        forked = [*self.forks, self.last + 1]
        reached = [(position, forked[bisect_right(forked, position)] - 1)]
        for place in range(bisect_right(forked, position), len(self.forks)):
            if _holds(reached, self.forks[forked[place]]):
                reached.append((forked[place], forked[place + 1] - 1))
        return reached[-1][1]


def parent_of(turn: Turn) -> int:
    return turn.position - 1 if turn.parent is None else turn.parent


def tree_from(last: int, head: int | None, forks: str) -> Tree:
    """Make a tree of TREE_COLUMNS; a ValueError where a turn would follow a later one."""
    parents: dict[int, int] = dict(sorted(zip(*json.loads(forks), strict=True)))
    head = last if head is None else head
    if not 0 <= head <= last or any(not 0 <= up < child for child, up in parents.items()):
        raise ValueError("not a tree")
    return Tree(last, head, parents)


def _holds(stretches: Sequence[Stretch], position: int) -> bool:
    place = bisect_right(stretches, position, key=itemgetter(0))
    return place > 0 and position <= stretches[place - 1][1]
