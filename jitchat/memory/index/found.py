"""From a draft in its place to what is found for it, in one hot index."""

from __future__ import annotations

from collections.abc import Collection, Iterable
from dataclasses import dataclass
from typing import TYPE_CHECKING

from jitchat.memory.index.picker import floor_of, pick
from jitchat.memory.index.query import Query, make_query
from jitchat.turn import Placed, Retrieval, Role, Turn

if TYPE_CHECKING:
    from datetime import date

    from jitchat.memory.index.search import HotIndex

LATE_DECISIONS = 2


@dataclass(frozen=True, slots=True)
class Asked:
    """What is looked for, and where."""

    draft: str
    context: str
    """What the user said before; a draft of few words borrows from it."""
    position: int
    """Only turns ahead of it are found."""
    today: date

    @classmethod
    def behind(cls, turns: Iterable[Turn], draft: str, position: int, today: date) -> Asked:
        """Ask as the turn at `position`, behind some of `turns`, the latest of which is first."""
        said = (turn for turn in turns if turn.position < position and turn.role is Role.USER)
        return cls(draft, next((turn.content for turn in said), ""), position, today)

    def query(self, index: HotIndex) -> Query:
        """Make what an index is searched by."""
        return make_query(self.draft, self.context, index.speakers, self.today)


def found_in(index: HotIndex, asked: Asked, seen: int, without: Collection[int] = ()) -> Retrieval:
    """Search an index that has the turns up to position `seen`.

    Turns `without` which windows are made may be on the shortlist, but are not picked.
    """
    candidates = index.search(asked.query(index), asked.position)
    listed = {row.turn for row in candidates}.union(without)
    late = index.decisions(LATE_DECISIONS, asked.position)
    unlisted = tuple(entry for entry in late if entry.turn not in listed)
    allowed = [row for row in candidates if row.turn not in without]
    return Retrieval(candidates, pick(allowed), unlisted, floor_of(allowed), searched=seen)


def placed_in(index: HotIndex, asked: Asked, turn: int) -> Placed | None:
    """Rank one turn among all that are searched; None where it is not among them."""
    return index.placed(asked.query(index), asked.position, turn)
