"""Writing the ledger: for every turn that was considered what it costs, what became of it, why.

What was never considered is one sum, reckoned from what is left over: its cost does not grow
with the conversation.
"""

from __future__ import annotations

from collections.abc import Iterator, Mapping, Sequence
from dataclasses import dataclass, field
from operator import itemgetter
from typing import TYPE_CHECKING

from jitchat.values import Candidate, Mode, Retrieval
from jitchat.window.recall import Recall
from jitchat.window.window import (
    RECENT_BLOCK,
    ContextWindow,
    Kind,
    LedgerRow,
    NeverCandidates,
    Segment,
    Verdict,
)

if TYPE_CHECKING:
    from jitchat.window.history import History


_VERDICTS = {
    Kind.PINNED: Verdict.PINNED,
    Kind.RECENT: Verdict.RECENT,
    Kind.INDEX: Verdict.INDEX,
    Kind.RETRIEVED: Verdict.RETRIEVED,
}


@dataclass(frozen=True, slots=True)
class Choice:
    """What a planner decided on: what is sent, and why other turns are not."""

    segments: tuple[Segment, ...]
    recalled: Recall = field(default_factory=Recall)
    squeezed: tuple[int, ...] = ()
    """Positions of turns that the recent block would hold if the window were larger."""
    without: Mapping[int, str] = field(default_factory=dict)
    """Positions of turns that the user keeps out, and how that is told."""
    asked: frozenset[int] = frozenset()
    """Positions of turns that the user asked for."""

    @property
    def tokens(self) -> int:
        """Tokens of all segments."""
        return sum(segment.tokens for segment in self.segments)


def ledger_rows(
    mode: Mode, retrieval: Retrieval, history: History, choice: Choice
) -> tuple[LedgerRow, ...]:
    """Write the shortlist by rank, then what came along with it, then what found no room."""
    book = _Book(mode, retrieval, history, choice)
    rows = {row.turn: book.candidate(row) for row in retrieval.candidates}
    extras = (book.companions(), book.kept_out(), book.asked(), book.decisions(), book.squeezed())
    for extra in extras:
        for row in extra:
            rows.setdefault(row.turn, row)
    return tuple(rows.values())


def never_candidates(
    mode: Mode,
    retrieval: Retrieval,
    history: History,
    choice: Choice,
    rows: Sequence[LedgerRow],
) -> NeverCandidates | None:
    """Sum up the turns ahead of the recent block that are neither sent nor in `rows`."""
    start = _block_start(history, choice.segments)
    pinned = (segment.turn for segment in choice.segments if segment.kind is Kind.PINNED)
    named = {turn for turn in (*pinned, *(row.turn for row in rows)) if turn is not None}
    found = (history.find(turn) for turn in named)
    told = [index for index in found if index is not None and index < start]
    if start == len(told):
        return None
    tokens = history.before[start] - sum(history.costs[index] for index in told)
    return NeverCandidates(start - len(told), tokens, _why_never(mode, retrieval, history, start))


def _block_start(history: History, segments: Sequence[Segment]) -> int:
    """Find the index at which the recent block starts; behind the last turn if there is none."""
    first = next((segment.turn for segment in segments if segment.kind is Kind.RECENT), None)
    index = history.find(first) if first is not None else None
    return len(history.turns) if index is None else index


def _why_never(mode: Mode, retrieval: Retrieval, history: History, start: int) -> str:
    """Say why of turns ahead of index `start`, at least one."""
    if mode is Mode.RECENCY:
        return _BEFORE
    if retrieval.searched is None:
        return "nothing was asked yet"
    if retrieval.searched < history.positions[start - 1]:
        return "not all of them are indexed yet"
    size = len(retrieval.candidates)
    return f"matched less than the shortlist of {size}, or not at all" if size else _NO_MATCH


class _Book:
    """What the rows are read from."""

    def __init__(self, mode: Mode, retrieval: Retrieval, history: History, choice: Choice) -> None:
        self._mode, self._retrieval, self._history, self._choice = mode, retrieval, history, choice
        self._sent = _strongest(choice.segments)
        self._squeezed = frozenset(choice.squeezed)
        self._last = min(retrieval.hits, key=lambda hit: hit.score, default=None)

    def candidate(self, row: Candidate) -> LedgerRow:
        """Judge a row of the shortlist."""
        segment = self._sent.get(row.turn)
        verdict = _VERDICTS[segment.kind] if segment else Verdict.LEFT_OUT
        if segment and verdict is not Verdict.INDEX:
            reason = "already in recent" if segment.reason == RECENT_BLOCK else segment.reason
        else:
            reason = self._why_not(row, has_line=segment is not None)
        return LedgerRow(
            row.turn, row.rank, row.score, row.parts, self._tokens(row.turn), verdict, reason
        )

    def companions(self) -> Iterator[LedgerRow]:
        """Tell of neighbours of hits and of late decisions that were sent."""
        for kind, verdict in ((Kind.RETRIEVED, Verdict.RETRIEVED), (Kind.INDEX, Verdict.INDEX)):
            for segment in self._choice.segments:
                if segment.kind is kind and segment.turn is not None:
                    yield self._row(segment.turn, verdict, self._reason_of(segment))

    def _reason_of(self, segment: Segment) -> str:
        """Say why a turn is sent so; of a mere line, why what was asked for is not there."""
        is_refused = segment.kind is Kind.INDEX and segment.turn in self._choice.asked
        refused = self._choice.recalled.refused if is_refused else {}
        return refused.get(segment.turn or 0, segment.reason)

    def kept_out(self) -> Iterator[LedgerRow]:
        """Tell of turns that the user keeps out, so that they can be taken back in."""
        for position in self._history.taken_out:
            yield self._row(position, Verdict.LEFT_OUT, self._choice.without[position])

    def asked(self) -> Iterator[LedgerRow]:
        """Tell of turns that the user asked for and that are not sent."""
        for position in sorted(self._choice.asked - self._sent.keys()):
            if self._history.find(position) is not None:
                reason = self._choice.recalled.refused.get(position, _NOT_FETCHED)
                yield self._row(position, Verdict.LEFT_OUT, reason)

    def decisions(self) -> Iterator[LedgerRow]:
        """Tell of late decisions that were not."""
        for entry in self._retrieval.decisions if self._mode is Mode.JIT else ():
            if entry.turn not in self._sent:
                reason = "a late decision, the index lines are full"
                yield self._row(entry.turn, Verdict.LEFT_OUT, reason)

    def squeezed(self) -> Iterator[LedgerRow]:
        """Tell of turns that a full window squeezed out of the recent block."""
        for position in self._choice.squeezed:
            if position not in self._sent:
                yield self._row(position, Verdict.LEFT_OUT, _SQUEEZED)

    def _row(self, position: int, verdict: Verdict, reason: str) -> LedgerRow:
        return LedgerRow(position, None, 0.0, (), self._tokens(position), verdict, reason)

    def _tokens(self, position: int) -> int:
        segment = self._sent.get(position)
        if segment and segment.kind is not Kind.INDEX:
            return segment.tokens
        index = self._history.find(position)
        if index is None:
            return self._history.taken_out.get(position, 0)
        return self._history.costs[index]

    def _why_not(self, row: Candidate, *, has_line: bool) -> str:
        """Say why a candidate is not there at full text."""
        if row.turn in self._history.taken_out:
            return self._choice.without[row.turn]
        if row.turn in self._squeezed - self._choice.asked:
            return _SQUEEZED
        if self._mode is Mode.RECENCY:
            return _NOT_FETCHED if row.turn in self._choice.asked else _BEFORE
        if self._history.find(row.turn) is None:
            return "not among the turns that a window may show"
        refused = self._choice.recalled.refused.get(row.turn)
        reason = refused or self._distance(row.score)
        if has_line:
            return reason
        needless = row.turn in self._choice.recalled.needless
        return f"{reason}; {'a line would save little' if needless else 'the index lines are full'}"

    def _distance(self, score: float) -> str:
        """Say by how much the score falls short, where the score decided."""
        picking = self._retrieval.picking
        if picking is not None and not picking.fallback:
            return f"not picked by {picking.model}"
        floor = self._retrieval.floor
        if score < floor:
            return f"{_short(floor - score)} below the floor {floor:.2f}"
        if self._last is not None and score < self._last.score:
            return f"{_short(self._last.score - score)} below #{self._last.turn}"
        return "behind the last pick"


def _short(distance: float) -> str:
    return f"{distance:.2f}" if distance >= 0.005 else "just"


_NO_MATCH = "nothing in them matched"
_BEFORE = "said before the recent block"
_NOT_FETCHED = "asked for, but only jit fetches turns"
_SQUEEZED = "the recent block had no room for it"


def _strongest(segments: Sequence[Segment]) -> dict[int, Segment]:
    """Find each turn's segment; full text wins over an index line."""
    found: dict[int, Segment] = {}
    for segment in segments:
        if segment.turn is not None and segment.kind in _VERDICTS:
            known = found.get(segment.turn)
            if known is None or known.kind is Kind.INDEX:
                found[segment.turn] = segment
    return found


@dataclass(frozen=True, slots=True)
class Shortlist:
    """What was ranked for a window."""

    rows: tuple[LedgerRow, ...] = ()
    """By rank, the best first."""
    floor: float | None = None
    """The score below which nothing was picked; None where no score decided, or it is unknown."""

    @classmethod
    def of(cls, window: ContextWindow) -> Shortlist:
        """Read it from the ledger."""
        ranked = [(row.rank, row) for row in window.ledger if row.rank is not None]
        picking = window.picking
        is_heuristic = picking is None or bool(picking.fallback)
        rows = tuple(row for _, row in sorted(ranked, key=itemgetter(0)))
        return cls(rows, window.floor if is_heuristic else None)

    @property
    def cut(self) -> LedgerRow | None:
        """The last row that was picked and is there at full text; None where none is."""
        picked = (row for row in reversed(self.rows) if row.verdict is Verdict.RETRIEVED)
        return next((row for row in picked if row.score >= (self.floor or 0.0)), None)

    @property
    def end(self) -> LedgerRow | None:
        """The last row; None where nothing was found."""
        return self.rows[-1] if self.rows else None

    @property
    def above_floor(self) -> int:
        """How many rows have a score that is not below the floor."""
        return sum(row.score >= (self.floor or 0.0) for row in self.rows)
