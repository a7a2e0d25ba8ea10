"""What `jit` adds to the recent block: which turns at full text, which as index lines.

Turns are taken by value until their allowance is spent; the best hit may exceed it, for it is
what the question is about. Right behind the best hits come their neighbours, for an answer
needs its question. Index lines come last.
"""

from __future__ import annotations

from collections.abc import Collection, Mapping, Sequence
from dataclasses import dataclass, field, replace
from math import ceil

from jitchat.text.sentences import is_question
from jitchat.turn import Hit, Retrieval
from jitchat.window.history import History
from jitchat.window.listing import list_turns
from jitchat.window.segments import Piece, Price, quote_all

NEIGHBOURS_OF = 2
"""So many of the best hits bring the question that they answer, or the answer to them."""
_FENCE = "<recalled>\n</recalled>\n\n"


@dataclass(frozen=True, slots=True)
class Allowance:
    """What the tail may spend, in tokens."""

    room: int
    """What the rest of the window leaves."""
    retrieved: int
    """For turns at full text; the best hit is bound by `room` only."""
    index: int
    """For index lines."""
    slope: float = 1.0
    """What a token here is in tokens of the server, for what is told."""


@dataclass(frozen=True, slots=True)
class Recall:
    """The contents of the tail, each kind by value, and why the rest is not there."""

    turns: tuple[Piece, ...] = ()
    lines: tuple[Piece, ...] = ()
    refused: Mapping[int, str] = field(default_factory=dict)
    """Position of a hit that is not among `turns`: why."""
    needless: frozenset[int] = frozenset()
    """Positions of turns that a line would hardly be shorter than."""

    @property
    def empty(self) -> bool:
        """Whether there is nothing left to give up."""
        return not self.turns and not self.lines

    def smaller(self) -> Recall:
        """Give up the line of least value, or the turn when there are no lines."""
        if self.lines:
            return replace(self, lines=self.lines[:-1])
        refused = {**self.refused, self.turns[-1].turn: "no room left in the window"}
        return replace(self, turns=self.turns[:-1], refused=refused)


def recall(
    history: History,
    retrieval: Retrieval,
    taken: frozenset[int],
    allowance: Allowance,
    price: Price,
) -> Recall:
    """Choose what the tail holds; `taken` are the turns that are in the window already."""
    loading = _Loading(history, taken, allowance, price)
    loading.load_hits(retrieval)
    known = taken | loading.loaded.keys()
    room = min(allowance.index, allowance.room - loading.spent)
    listing = list_turns(history, retrieval, known, room, price)
    turns = tuple(loading.loaded.values())
    return Recall(turns, listing.lines, loading.refused, listing.needless)


class _Loading:
    """Spends the allowance on turns at full text."""

    def __init__(
        self, history: History, taken: frozenset[int], allowance: Allowance, price: Price
    ) -> None:
        self._history, self._taken, self._price = history, taken, price
        self._fence = price(_FENCE)
        self._room = allowance.room - self._fence
        self._retrieved, self._slope = allowance.retrieved, allowance.slope
        self._paid = 0
        self._texts: dict[int, str] = {}
        self.loaded: dict[int, Piece] = {}
        self.refused: dict[int, str] = {}

    @property
    def spent(self) -> int:
        """What the loaded turns cost with their fence."""
        return self._paid + self._fence if self.loaded else 0

    def load_hits(self, retrieval: Retrieval) -> None:
        """Load the hits, best first, as far as they can be paid.

        The turns beside the best ones come before the hits of less value: an answer needs its
        question.
        """
        best, rest = retrieval.hits[:NEIGHBOURS_OF], retrieval.hits[NEIGHBOURS_OF:]
        beside = {hit.turn: _beside(self._history, hit.turn) for hit in best}
        wanted = {hit.turn for hit in retrieval.hits}.union(*beside.values())
        self._texts = _quotations(self._history, wanted)
        self._load_each(best)
        for position, neighbours in beside.items():
            self._load_beside(position, neighbours)
        self._load_each(rest)

    def _load_each(self, hits: Sequence[Hit]) -> None:
        for hit in hits:
            if hit.turn in self._taken or hit.turn in self.loaded:
                continue
            if hit.turn not in self._texts:
                self.refused[hit.turn] = "not among the turns that a window may show"
            elif missing := self._load(hit.turn, hit.reason):
                more = ceil(missing * self._slope)
                self.refused[hit.turn] = f"would fit with {more:,} more tokens"

    def _load_beside(self, position: int, neighbours: Sequence[int]) -> None:
        if position in self.loaded:
            for beside in neighbours:
                if beside not in self._taken and beside not in self.loaded:
                    self._load(beside, f"neighbour of #{position}")

    @property
    def _left(self) -> int:
        return min(self._room, self._retrieved) - self._paid

    def _load(self, position: int, reason: str) -> int:
        """Load a turn if it can be paid; the tokens that are missing if not, else 0."""
        text = self._texts[position]
        cost, left = self._price(text), max(0, self._left if self.loaded else self._room)
        if cost > left:
            return cost - left
        self._paid += cost
        self.loaded[position] = Piece(position, text, reason)
        return 0


def _quotations(history: History, positions: Collection[int]) -> dict[int, str]:
    """Quote the turns at these positions, by position; unknown ones are left."""
    found = [history.find(place) for place in sorted(positions)]
    turns = [history.turns[index] for index in found if index is not None]
    return {turn.position: text for turn, text in zip(turns, quote_all(turns), strict=True)}


def _beside(history: History, position: int) -> list[int]:
    """Find the question that the turn at `position` answers, and the answer that it is given."""
    index = history.find(position)
    if index is None:
        return []
    turns = history.turns
    asked = [turns[index - 1]] if index and is_question(turns[index - 1].content) else []
    answers = turns[index + 1 : index + 2] if is_question(turns[index].content) else ()
    return [turn.position for turn in (*asked, *answers)]
