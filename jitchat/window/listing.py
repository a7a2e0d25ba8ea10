"""Which turns get an index line in the tail: latest decisions, then the shortlist by rank.

A line says that a turn exists and what it is about, so that the model can ask for it.
"""

from __future__ import annotations

from collections.abc import Iterator
from dataclasses import dataclass

from jitchat.turn import IndexEntry, Retrieval
from jitchat.window.history import History
from jitchat.window.render import index_line
from jitchat.window.segments import Piece, Price

_FENCE = "<index>\n</index>\n"


@dataclass(frozen=True, slots=True)
class Listing:
    """Index lines, the most valuable first."""

    lines: tuple[Piece, ...] = ()
    needless: frozenset[int] = frozenset()
    """Positions of turns whose line costs more than half of what the turn does."""


def list_turns(
    history: History, retrieval: Retrieval, known: frozenset[int], room: int, price: Price
) -> Listing:
    """Write lines for turns that are not `known`, as many as `room` tokens pay for."""
    left = room - price(_FENCE)
    lines, needless = [], set()
    for entry, reason, is_late in _entries(retrieval):
        index = history.find(entry.turn)
        if left <= 0:
            break
        if index is None or entry.turn in known:
            continue
        line = index_line(entry, history.turns[index])
        cost = price(line)
        if not is_late and 2 * cost > history.costs[index]:
            needless.add(entry.turn)
        elif cost <= left:
            left -= cost
            lines.append(Piece(entry.turn, line, reason))
    return Listing(tuple(lines), frozenset(needless))


def _entries(retrieval: Retrieval) -> Iterator[tuple[IndexEntry, str, bool]]:
    """Each turn that may be listed, once, with a reason, and whether it is a late decision."""
    late = [(entry, "a late decision", True) for entry in retrieval.decisions]
    ranked = [
        (row.entry, f"rank {row.rank}, index line only", False) for row in retrieval.candidates
    ]
    told: set[int] = set()
    for each in (*late, *ranked):
        if each[0].turn not in told:
            told.add(each[0].turn)
            yield each
