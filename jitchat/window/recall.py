"""What `jit` adds to the recent block: which turns at full text, which as index lines.

Turns are taken by value until their allowance is spent; the first may exceed it, for it is
what the question is about. Right behind the best hits come their neighbours, for an answer
needs its question. Index lines come last.

What was said later may correct what was said before. So the newest of the turns that match as
well as the best is loaded before it, and of turns with the same text the newest stands. Turns
whose texts differ, in however little, are never taken for the same.

A line says that a turn exists and what it is about, so that the model can ask for it.
"""

from __future__ import annotations

from collections.abc import Collection, Iterator, Mapping, Sequence
from dataclasses import dataclass, field, replace
from math import ceil
from typing import TYPE_CHECKING

from jitchat.text.sentences import is_question
from jitchat.values import Candidate, Hit, IndexEntry, Retrieval
from jitchat.window.render import index_line
from jitchat.window.window import Piece, Price, quote_all

if TYPE_CHECKING:
    from jitchat.window.history import History


NEIGHBOURS_OF = 2
"""So many of the best hits bring the question that they answer, or the answer to them."""
_AS_WELL = 0.8
"""A turn with this share of the best score and all of its words matches as well."""
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
    asked: frozenset[int] = frozenset()
    """Positions of turns that the user asked for: on top of what is found and before it, they are
    bound by `room` only."""


@dataclass(frozen=True, slots=True)
class Recall:
    """The contents of the tail, each kind by value, and why the rest is not there."""

    turns: tuple[Piece, ...] = ()
    lines: tuple[Piece, ...] = ()
    refused: Mapping[int, str] = field(default_factory=dict)
    """Position of a hit that is not among `turns`: why."""
    needless: frozenset[int] = frozenset()
    """Positions of turns that a line would hardly be shorter than."""
    asked: frozenset[int] = frozenset()
    """Positions of turns that the user asked for: they come first among `turns`."""

    @property
    def empty(self) -> bool:
        """Whether there is nothing left to give up."""
        return not self.turns and not self.lines

    def smaller(self, missing: int) -> Recall:
        """Give up the line of least value, or the turn when there are no lines.

        `missing` is how many tokens the window is short of, as they are told.
        """
        if self.lines:
            return replace(self, lines=self.lines[:-1])
        last = self.turns[-1].turn
        why = _asked_for(missing) if last in self.asked else "no room left in the window"
        return replace(self, turns=self.turns[:-1], refused={**self.refused, last: why})


def recall(
    history: History,
    retrieval: Retrieval,
    taken: frozenset[int],
    allowance: Allowance,
    price: Price,
) -> Recall:
    """Choose what the tail holds; `taken` are the turns that are in the window already."""
    loading = _Loading(history, taken, allowance, price)
    loading.load(retrieval, sorted(allowance.asked - taken))
    known = taken | loading.loaded.keys()
    room = min(allowance.index, allowance.room - loading.spent)
    listing = list_turns(history, retrieval, known, room, price)
    turns = tuple(loading.loaded.values())
    return Recall(turns, listing.lines, loading.refused, listing.needless, allowance.asked)


class _Loading:
    """Spends the allowance on turns at full text."""

    def __init__(
        self, history: History, taken: frozenset[int], allowance: Allowance, price: Price
    ) -> None:
        self._history, self._taken, self._price = history, taken, price
        self._fence = price(_FENCE)
        self._room = allowance.room - self._fence
        self._retrieved, self._slope = allowance.retrieved, allowance.slope
        self._paid = self._paid_for_hits = 0
        self._texts: dict[int, str] = {}
        self._repeated: Mapping[int, int] = {}
        self.loaded: dict[int, Piece] = {}
        self.refused: dict[int, str] = {}

    @property
    def spent(self) -> int:
        """What the loaded turns cost with their fence."""
        return self._paid + self._fence if self.loaded else 0

    def load(self, retrieval: Retrieval, asked: Sequence[int]) -> None:
        """Load what was asked for, then the hits, best first, as far as they can be paid.

        The turns beside the best ones come before the hits of less value: an answer needs its
        question.
        """
        hits = _newest_first(retrieval)
        best, rest = hits[:NEIGHBOURS_OF], hits[NEIGHBOURS_OF:]
        beside = {hit.turn: _beside(self._history, hit.turn) for hit in best}
        wanted = {hit.turn for hit in retrieval.hits}.union(asked, *beside.values())
        self._texts = _quotations(self._history, wanted)
        self._repeated = _repeated(self._history, retrieval)
        self._load_asked(asked)
        self._load_each(best)
        for position, neighbours in beside.items():
            self._load_beside(position, neighbours)
        self._load_each(rest)

    def _load_asked(self, positions: Sequence[int]) -> None:
        for position in positions:
            if position in self._texts:
                left = self._room - self._paid
                if missing := self._pay(position, f"you asked for #{position}", left):
                    self.refused[position] = _asked_for(self._told(missing))

    def _load_each(self, hits: Sequence[Hit]) -> None:
        for hit in hits:
            if hit.turn in self._taken or hit.turn in self.loaded:
                continue
            if hit.turn not in self._texts:
                self.refused[hit.turn] = "not among the turns that a window may show"
            elif hit.turn in self._repeated:
                self.refused.setdefault(hit.turn, f"says what #{self._repeated[hit.turn]} says")
            elif missing := self._load(hit.turn, hit.reason):
                more = f"recalled turns would need {self._told(missing):,} more tokens"
                self.refused.setdefault(hit.turn, more)

    def _load_beside(self, position: int, neighbours: Sequence[int]) -> None:
        if position in self.loaded:
            for beside in neighbours:
                if beside not in self._taken and beside not in self.loaded:
                    self._load(beside, f"neighbour of #{position}")

    def _load(self, position: int, reason: str) -> int:
        """Load a turn that was found; the best is bound by the room only."""
        left, before = self._room - self._paid, self._paid
        if self._paid_for_hits:
            left = min(left, self._retrieved - self._paid_for_hits)
        missing = self._pay(position, reason, left)
        self._paid_for_hits += self._paid - before
        return missing

    def _pay(self, position: int, reason: str, left: int) -> int:
        """Load a turn if it can be paid; the tokens that are missing if not, else 0."""
        text = self._texts[position]
        cost, left = self._price(text), max(0, left)
        if cost > left:
            return cost - left
        self._paid += cost
        self.loaded[position] = Piece(position, text, reason)
        return 0

    def _told(self, tokens: int) -> int:
        """Tell tokens of one's own as the server counts them."""
        return ceil(tokens * self._slope)


def _asked_for(missing: int) -> str:
    return f"asked for, but would need {missing:,} more tokens"


def _quotations(history: History, positions: Collection[int]) -> dict[int, str]:
    """Quote the turns at these positions, by position; unknown ones are left."""
    found = [history.find(place) for place in sorted(positions)]
    turns = [history.turns[index] for index in found if index is not None]
    return {turn.position: text for turn, text in zip(turns, quote_all(turns), strict=True)}


def _newest_first(retrieval: Retrieval) -> tuple[Hit, ...]:
    """Put the newest of the hits that match as well as the best one before it."""
    rows = {row.turn: row for row in retrieval.candidates}
    known = [(hit, rows[hit.turn]) for hit in retrieval.hits if hit.turn in rows]
    if not known:
        return retrieval.hits
    best = known[0][1]
    newest = max(
        (hit for hit, row in known if _matches_as_well(row, best)), key=lambda hit: hit.turn
    )
    return (newest, *(hit for hit in retrieval.hits if hit is not newest))


def _matches_as_well(row: Candidate, best: Candidate) -> bool:
    return row.score >= _AS_WELL * best.score and set(row.matched) >= set(best.matched)


def _repeated(history: History, retrieval: Retrieval) -> dict[int, int]:
    """Find the hits whose text a later hit has too, each with the last of these.

    The best one is none of them: what ranks first is never left out for what ranks behind it.
    """
    latest: dict[str, int] = {}
    texts: dict[int, str] = {}
    for turn in sorted(hit.turn for hit in retrieval.hits):
        index = history.find(turn)
        if index is not None:
            texts[turn] = " ".join(history.turns[index].content.split())
            latest[texts[turn]] = turn
    best = min(retrieval.candidates, key=lambda row: row.rank, default=None)
    return {
        turn: latest[text]
        for turn, text in texts.items()
        if turn != latest[text] and (best is None or turn != best.turn)
    }


def _beside(history: History, position: int) -> list[int]:
    """Find the question that the turn at `position` answers, and the answer that it is given."""
    index = history.find(position)
    if index is None:
        return []
    turns = history.turns
    asked = [turns[index - 1]] if index and is_question(turns[index - 1].content) else []
    answers = turns[index + 1 : index + 2] if is_question(turns[index].content) else ()
    return [turn.position for turn in (*asked, *answers)]


_INDEX_FENCE = "<index>\n</index>\n"


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
    left = room - price(_INDEX_FENCE)
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
