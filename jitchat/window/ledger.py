"""Writing the ledger: for every candidate what it cost, what became of it, and why."""

from __future__ import annotations

from collections.abc import Sequence

from jitchat.turn import Candidate, Mode, Retrieval
from jitchat.window.history import History
from jitchat.window.recall import Recall
from jitchat.window.render import quoted
from jitchat.window.segments import Price
from jitchat.window.window import Kind, LedgerRow, Segment, Verdict

_VERDICTS = {
    Kind.PINNED: Verdict.PINNED,
    Kind.RECENT: Verdict.RECENT,
    Kind.INDEX: Verdict.INDEX,
    Kind.RETRIEVED: Verdict.RETRIEVED,
}


def ledger_rows(
    retrieval: Retrieval,
    segments: Sequence[Segment],
    recalled: Recall,
    history: History,
    mode: Mode,
    price: Price,
) -> tuple[LedgerRow, ...]:
    """The candidates by rank, then the neighbours that came along with them."""
    sent = _strongest(segments)
    rows = [
        _candidate_row(row, sent.get(row.turn), recalled, retrieval, mode, history, price)
        for row in retrieval.candidates
    ]
    known = {row.turn for row in rows}
    rows += [
        LedgerRow(turn, None, 0.0, (), price(text), Verdict.RETRIEVED, reason)
        for turn, text, reason in recalled.turns
        if turn not in known
    ]
    return tuple(rows)


def _strongest(segments: Sequence[Segment]) -> dict[int, Segment]:
    """For each turn its segment; full text wins over an index line."""
    found: dict[int, Segment] = {}
    for segment in segments:
        if segment.turn is not None and segment.kind in _VERDICTS:
            known = found.get(segment.turn)
            if known is None or known.kind is Kind.INDEX:
                found[segment.turn] = segment
    return found


def _candidate_row(
    row: Candidate,
    segment: Segment | None,
    recalled: Recall,
    retrieval: Retrieval,
    mode: Mode,
    history: History,
    price: Price,
) -> LedgerRow:
    verdict = _VERDICTS[segment.kind] if segment else Verdict.LEFT_OUT
    short = _why_not(row, recalled, retrieval, mode)
    reason = segment.reason if segment and verdict is not Verdict.INDEX else short
    index = history.find(row.turn)
    tokens = price(quoted(history.turns[index], "turn")) if index is not None else 0
    return LedgerRow(row.turn, row.rank, row.score, row.parts, tokens, verdict, reason)


def _why_not(row: Candidate, recalled: Recall, retrieval: Retrieval, mode: Mode) -> str:
    """Why a candidate is not there at full text."""
    if mode is Mode.RECENCY:
        return "said before the recent block"
    if row.turn in recalled.refused:
        return recalled.refused[row.turn]
    if row.score < retrieval.floor:
        return f"{retrieval.floor - row.score:.2f} below the floor"
    cut = min((hit.score for hit in retrieval.hits), default=retrieval.floor)
    return f"{max(0.0, cut - row.score):.2f} below the cut"
