"""Which turns answer a request to the store, in the order in which they are given."""

from collections.abc import Collection, Sequence
from dataclasses import dataclass, field

from jitchat.memory import Memory
from jitchat.tools.asking import Asked, Scope
from jitchat.values import Candidate, Retrieval, Turn
from jitchat.window.exchange import is_shown
from jitchat.window.steering import Hold

_DECISIONS = 64
"""The latest ones that are looked at where no query chooses among them."""


@dataclass(frozen=True, slots=True)
class Found:
    turns: tuple[int, ...] = ()
    """Positions, in the order in which they are given."""
    scores: tuple[float, ...] = ()
    """Of each; 0 where nothing ranked it."""
    retrieval: Retrieval = field(default_factory=Retrieval)
    """By what passages of long turns are chosen."""


def find(memory: Memory, asked: Asked, before: int, out: Collection[int]) -> Found:
    """Find the turns ahead of position `before`; those at the positions `out` are never given."""
    if asked.query:
        retrieval = memory.retrieve(asked.query, before, out)
        rows = [(row.turn, row.score) for row in _worth_giving(retrieval)]
    elif asked.days is not None:
        retrieval = Retrieval()
        rows = [(row.turn, 0.0) for row in memory.index.said_on(asked.days.span, before)]
    else:
        retrieval, decided = Retrieval(), memory.index.decisions(_DECISIONS, before)
        positions = {entry.turn for entry in decided} | memory.pins.keys()
        rows = [(turn, 0.0) for turn in sorted(positions)]
    if asked.scope is Scope.KNOWLEDGE:
        known = _known(memory, [turn for turn, _ in rows])
        rows = [row for row in rows if row[0] in known]
    rows = [row for row in rows if row[0] not in out and row[0] < before]
    rows = [row for row in rows if _may_be_given(memory.turn_at(row[0]), asked)]
    if asked.scope is Scope.TEMPORAL or not asked.query:
        rows.sort()
    return Found(tuple(turn for turn, _ in rows), tuple(score for _, score in rows), retrieval)


def _worth_giving(retrieval: Retrieval) -> Sequence[Candidate]:
    """Choose what was picked; where nothing was, what a picker would be shown."""
    picked = {hit.turn for hit in retrieval.hits}
    rows = sorted(retrieval.candidates, key=lambda row: row.rank)
    if picked:
        return [row for row in rows if row.turn in picked]
    return [row for row in rows if retrieval.is_in_doubt(row.score)]


def _known(memory: Memory, positions: Collection[int]) -> frozenset[int]:
    """Choose the turns that are pinned, or decide something."""
    pinned = {turn for turn, hold in memory.pins.items() if hold == Hold.PINNED}
    decided = {entry.turn for entry in memory.index.entries(positions) if entry.decision}
    return frozenset(pinned.intersection(positions) | decided)


def _may_be_given(turn: Turn | None, asked: Asked) -> bool:
    if turn is None or not is_shown(turn) or not turn.content.strip():
        return False
    said_on = turn.created_at.date() if turn.created_at else None
    return asked.days is None or (said_on is not None and said_on in asked.days)
