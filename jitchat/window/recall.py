"""What `jit` adds to the recent block: which turns at full text, which as index lines.

Turns are taken by value until their allowance is spent; the best hit may exceed it, for it is
what the question is about. Then the neighbours of the best hits, for an answer needs its
question. Index lines come last: latest decisions, then the shortlist by rank.
"""

from __future__ import annotations

from collections.abc import Callable, Mapping
from dataclasses import dataclass, field, replace

from jitchat.turn import IndexEntry, Retrieval
from jitchat.window.budget import Budget
from jitchat.window.history import History
from jitchat.window.render import free_tag, index_line, quoted
from jitchat.window.segments import Piece, Price

NEIGHBOURS_OF = 3
"""So many of the best hits bring the turns before and after them."""


@dataclass(frozen=True, slots=True)
class Recall:
    """The contents of the tail, in order of position, and why the rest is not there."""

    turns: tuple[Piece, ...] = ()
    lines: tuple[Piece, ...] = ()
    refused: Mapping[int, str] = field(default_factory=dict)
    """Position of a hit that did not fit: why."""

    @property
    def empty(self) -> bool:
        """Whether there is nothing left to give up."""
        return not self.turns and not self.lines

    def smaller(self) -> Recall:
        """Without one line, or without one turn when there are no lines."""
        if self.lines:
            return replace(self, lines=self.lines[1:])
        return replace(self, turns=self.turns[1:])


def recall(
    history: History,
    retrieval: Retrieval,
    taken: frozenset[int],
    budget: Budget,
    room: int,
    price: Price,
) -> Recall:
    """Spend at most `room` tokens; `taken` are the turns that are in the window already."""
    texts = _quotable(history, retrieval)
    purse = _Purse(room - price("<recalled>\n</recalled>\n\n"), budget.retrieved)
    loaded: dict[int, str] = {}
    refused: dict[int, str] = {}
    for hit in retrieval.hits:
        if hit.turn in taken or hit.turn not in texts:
            continue
        if purse.pay(cost := price(texts[hit.turn]), first=not loaded):
            loaded[hit.turn] = hit.reason
        else:
            refused[hit.turn] = f"costs {cost:,}, only {purse.left:,} left for retrieved turns"
    for position, reason in _neighbours(list(loaded), taken | loaded.keys()).items():
        if position in texts and purse.pay(price(texts[position]), first=False):
            loaded[position] = reason
    lines = _lines(history, retrieval, taken | loaded.keys(), price)
    kept = _affordable(lines, min(budget.index, room - purse.spent), price)
    turns = tuple((position, texts[position], loaded[position]) for position in sorted(loaded))
    return Recall(turns, tuple(sorted(kept)), refused)


class _Purse:
    """Tokens for retrieved turns."""

    def __init__(self, room: int, allowance: int) -> None:
        self._room, self._allowance = room, allowance
        self.spent = 0

    @property
    def left(self) -> int:
        return max(0, min(self._room, self._allowance) - self.spent)

    def pay(self, cost: int, *, first: bool) -> bool:
        if cost > (self._room if first else self.left):
            return False
        self.spent += cost
        return True


def _quotable(history: History, retrieval: Retrieval) -> dict[int, str]:
    """The quoted text of every hit and of its neighbours, by position."""
    wanted = {hit.turn + step for hit in retrieval.hits for step in (-1, 0, 1)}
    found = (history.find(position) for position in sorted(wanted))
    turns = [history.turns[index] for index in found if index is not None]
    tag = free_tag("turn", (turn.content for turn in turns))
    return {turn.position: quoted(turn, tag) for turn in turns}


def _neighbours(loaded: list[int], taken: frozenset[int] | set[int]) -> dict[int, str]:
    found: dict[int, str] = {}
    for position in loaded[:NEIGHBOURS_OF]:
        for beside in (position - 1, position + 1):
            if beside not in taken:
                found.setdefault(beside, f"neighbour of #{position}")
    return found


def _lines(
    history: History, retrieval: Retrieval, taken: frozenset[int] | set[int], price: Price
) -> list[tuple[Piece, int]]:
    """Index lines by value, each with its price."""
    ranked = [(row.entry, f"rank {row.rank}, index line only") for row in retrieval.candidates]
    wanted = [(entry, "a late decision") for entry in retrieval.decisions] + ranked
    make = _line_maker(history, price)
    return [made for entry, why in wanted if entry.turn not in taken and (made := make(entry, why))]


def _line_maker(
    history: History, price: Price
) -> Callable[[IndexEntry, str], tuple[Piece, int] | None]:
    def make(entry: IndexEntry, reason: str) -> tuple[Piece, int] | None:
        index = history.find(entry.turn)
        if index is None:
            return None
        text = index_line(entry, history.turns[index])
        return (entry.turn, text, reason), price(text)

    return make


def _affordable(lines: list[tuple[Piece, int]], room: int, price: Price) -> list[Piece]:
    left = room - price("<index>\n</index>\n")
    kept: list[Piece] = []
    for piece, cost in lines:
        if cost <= left:
            kept.append(piece)
            left -= cost
    return kept
