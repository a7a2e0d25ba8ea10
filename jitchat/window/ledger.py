"""Writing the ledger: the cost, the verdict and the reason of every turn that was considered.

The turns that were never considered are one sum, computed as the remainder: computing it does not
take longer as the conversation grows.
"""

from collections.abc import Iterator, Sequence

from jitchat.text.figures import shown_part, shown_score
from jitchat.values import DATE, PLACE, Candidate
from jitchat.window import reasons
from jitchat.window.parts import Choice, Sources
from jitchat.window.recall import Recall
from jitchat.window.window import Kind, LedgerRow, NeverCandidates, Verdict, segment_of_turns


def ledger_rows(sources: Sources, choice: Choice) -> tuple[LedgerRow, ...]:
    """Write the shortlist by rank, then the turns that came with it, then those without room."""
    book = _Book(sources, choice)
    rows = {row.turn: book.candidate(row) for row in sources.retrieval.candidates}
    for turn, verdict, reason in (*book.companions(), *book.left_out()):
        if turn not in rows:
            rows[turn] = LedgerRow(turn, None, 0.0, (), book.tokens(turn), verdict, reason)
    return tuple(rows.values())


class _Book:
    def __init__(self, sources: Sources, choice: Choice) -> None:
        self._sources, self._choice, self._history = sources, choice, sources.history
        self._recalled = choice.recalled or Recall()
        self._sent = segment_of_turns(choice.segments[:-1])  # without the draft
        self._carrying = _carrying(choice)
        self._last = min(sources.retrieval.hits, key=lambda hit: hit.score, default=None)

    def candidate(self, row: Candidate) -> LedgerRow:
        segment = self._sent.get(row.turn)
        verdict = Verdict(segment.kind) if segment else Verdict.LEFT_OUT
        if segment and verdict is not Verdict.INDEX:
            is_recent = segment.reason == reasons.RECENT_BLOCK
            reason = reasons.ALREADY_RECENT if is_recent else segment.reason
        else:
            reason = self._carried(row.turn, self._why_not(row, has_line=segment is not None))
        tokens = self.tokens(row.turn)
        score = shown_score(row.score, self._sources.retrieval.floor or 0.0)
        parts = tuple((name, shown_part(part)) for name, part in row.parts)
        figures = row.turn, row.rank, score, parts, tokens
        return LedgerRow(*figures, verdict, reason, row.rank_before)

    def companions(self) -> Iterator[tuple[int, Verdict, str]]:
        """List the neighbours of hits and the latest decisions that were sent."""
        requested = self._sources.wanted
        for kind in (Kind.RETRIEVED, Kind.INDEX):
            for segment in self._choice.segments:
                turn, reason = segment.turn, segment.reason
                if segment.kind is kind and turn is not None:
                    if kind is Kind.INDEX and turn in requested:
                        reason = self._recalled.refused.get(turn, reason)
                    yield turn, Verdict(kind), reason

    def left_out(self) -> Iterator[tuple[int, Verdict, str]]:
        """List turns left out: by the user, requested in vain, squeezed turns, latest decisions."""
        sources, out = self._sources, Verdict.LEFT_OUT
        for turn in self._history.taken_out:
            yield turn, out, sources.without[turn]
        for turn in sorted(sources.wanted - self._sent.keys()):
            if self._history.find(turn) is not None:
                why = self._recalled.refused.get(turn, reasons.NOT_FETCHED)
                yield turn, out, self._carried(turn, why)
        squeezed = self._choice.squeezed.items()
        yield from ((turn, out, why) for turn, why in squeezed if turn not in self._sent)
        if self._choice.recalled is not None:
            for entry in sources.retrieval.decisions:
                if entry.turn not in self._sent:
                    why = f"{reasons.LATEST_DECISION}; {self._recalled.lines_full}"
                    yield entry.turn, out, self._carried(entry.turn, why)

    def _carried(self, turn: int, reason: str) -> str:
        """Say also that statements stand for a turn, unless the user keeps it out."""
        is_carried = 0 < turn <= self._choice.distilled_through
        if not is_carried or reason in reasons.KEPT_OUT:
            return reason
        return f"{self._carrying}; {reason}"

    def tokens(self, turn: int) -> int:
        segment = self._sent.get(turn)
        if segment and segment.kind is not Kind.INDEX and segment.is_whole:
            return segment.tokens
        index, history = self._history.find(turn), self._history
        return history.taken_out.get(turn, 0) if index is None else history.whole_cost(index)

    def _why_not(self, row: Candidate, *, has_line: bool) -> str:
        turn, requested = row.turn, self._sources.wanted
        if turn in self._history.taken_out:
            return self._sources.without[turn]
        if turn in self._choice.squeezed and turn not in requested:
            return self._choice.squeezed[turn]
        if self._choice.not_recalled:
            return reasons.NOT_FETCHED if turn in requested else self._choice.not_recalled
        if self._history.find(turn) is None:
            return reasons.NOT_SHOWABLE
        reason = self._recalled.refused.get(turn) or self._distance(row.score)
        if has_line:
            return reason
        is_needless = turn in self._recalled.needless
        full = self._recalled.lines_full
        return f"{reason}; {reasons.LINE_NEEDLESS if is_needless else full}"

    def _distance(self, score: float) -> str:
        """State by how much the score falls short, if the score decided."""
        retrieval, last = self._sources.retrieval, self._last
        is_picked = retrieval.picking is not None and not retrieval.picking.fallback
        if retrieval.picking is not None and is_picked and retrieval.is_in_doubt(score):
            return reasons.NOT_PICKED.format(model=retrieval.picking.model)
        floor = retrieval.floor
        if score < floor:
            return reasons.BELOW_FLOOR.format(distance=_short(floor, score), floor=floor)
        if last is not None and score < last.score:
            distance = _short(last.score, score)
            return reasons.BELOW_LAST_HIT.format(distance=distance, turn=last.turn)
        return reasons.AFTER_LAST_HIT


def _carrying(choice: Choice) -> str:
    """Say which statements stand for the turns that are not sent."""
    is_observed = any(each.kind is Kind.OBSERVATIONS for each in choice.segments)
    return reasons.OBSERVED if is_observed else reasons.IN_DOCUMENT


def _short(of: float, score: float) -> str:
    """Write by how much a score falls short, as a difference of the numbers shown."""
    distance = round(of, 2) - round(score, 2)
    return f"{distance:.2f}" if distance >= 0.005 else "just"


def never_candidates(
    sources: Sources, choice: Choice, rows: Sequence[LedgerRow]
) -> NeverCandidates | None:
    """Sum up the turns before the recent block that are neither sent nor in `rows`."""
    history = sources.history
    first = next((each.turn for each in choice.segments if each.kind is Kind.RECENT), None)
    index = history.find(first) if first is not None else None
    start = len(history.turns) if index is None else index
    pinned = (segment.turn for segment in choice.segments if segment.kind is Kind.PINNED)
    named = {turn for turn in (*pinned, *(row.turn for row in rows)) if turn is not None}
    found = (history.find(turn) for turn in named)
    known = [index for index in found if index is not None and index < start]
    if start == len(known):
        return None
    tokens = history.before[start] + history.held_back(start)
    tokens -= sum(map(history.whole_cost, known))
    why = _why_never(sources, choice, start)
    if through := choice.distilled_through:
        why = f"{_carrying(choice)} up to #{through}; {why}"
    return NeverCandidates(start - len(known), tokens, why)


def _why_never(sources: Sources, choice: Choice, start: int) -> str:
    """State why the turns before index `start`, at least one, were never candidates."""
    retrieval = sources.retrieval
    if choice.not_recalled:
        return choice.not_recalled
    if retrieval.searched is None:
        return reasons.NOTHING_ASKED
    if retrieval.searched < sources.history.positions[start - 1]:
        return reasons.NOT_INDEXED
    if retrieval.needless:
        return reasons.NEEDLESS.format(kind=retrieval.needless)
    if any(name in (DATE, PLACE) for row in retrieval.candidates[:1] for name, _ in row.parts[:1]):
        return reasons.OTHER_TIME
    size = len(retrieval.candidates)
    return reasons.BEYOND_SHORTLIST.format(size=size) if size else reasons.NO_MATCH
