"""What a turn appends to its window: replies that call tools, and the results of the calls. Pure.

A window is extended, never re-planned: what was sent stays the same, byte for byte, so that a
prompt cache keeps all of it. Its tokens follow what the server reported for it.
"""

from collections.abc import Iterable, Sequence
from dataclasses import dataclass, replace

from jitchat.values import REQUEST_CONTEXT, Form, Role, Turn
from jitchat.window import reasons
from jitchat.window.calibration import Calibration, others_of
from jitchat.window.exchange import answering
from jitchat.window.plan import corrected, counted, expected
from jitchat.window.tokens import TokenCounter
from jitchat.window.window import (
    ContextWindow,
    HeldResult,
    Kind,
    LedgerRow,
    NeverCandidates,
    Requested,
    Segment,
    Verdict,
    segment_of_turns,
    tokens_of,
)
from jitchat.window.written import TurnPricing, has_guesses, written


def call_segment(turn: Turn, price: TurnPricing) -> Segment:
    """Make the segment of a reply that calls tools, including its text."""
    tokens = price(turn.content, turn.use)
    known = turn.position, reasons.CALLED
    return Segment(Kind.TOOL_CALLS, Role.ASSISTANT, turn.content, tokens, *known, use=turn.use)


def result_segment(turn: Turn, text: str, reason: str, price: TurnPricing) -> Segment:
    """Make the segment of a result, with `text`: all of the result, or what is shown of it."""
    use = answering(turn.use)
    tokens = price(text, use)
    return Segment(Kind.TOOL_RESULTS, Role.TOOL, text, tokens, turn.position, reason, use=use)


def requested_segments(
    turn: Turn, segments: Sequence[Segment], price: TurnPricing
) -> list[Segment]:
    """Make the segments of a result's message; the first includes the message's overhead."""
    use = answering(turn.use)
    around = price("", use)
    requested = [replace(segment, role=Role.TOOL, use=use) for segment in segments]
    if not requested:
        return requested
    requested[0] = replace(requested[0], tokens=requested[0].tokens + around)
    return requested


def room_left(window: ContextWindow, calibration: Calibration) -> int:
    """Return how many of the counter's tokens can still be appended; 0 or less if none."""
    return calibration.within(window.budget.budget, others_of(window.pieces)) - window.counted


@dataclass(frozen=True, slots=True)
class Appended:
    """A reply with calls and the results, as planned."""

    segments: tuple[Segment, ...]
    requests: tuple[Requested, ...] = ()
    held: tuple[HeldResult, ...] = ()


def extended(
    window: ContextWindow,
    appended: Appended,
    counter: TokenCounter,
    calibration: Calibration,
) -> ContextWindow:
    """Append what a step brought.

    `full` would have called the same tools, so its tokens grow by the same sum, and by what the
    gate held back; but it asks for no context, because it has all of it.
    """
    planned = (*window.planned, *appended.segments)
    first = len(window.segments)
    new = written(planned, counter, window.rules)[first:]
    segments = corrected((*window.segments, *new), calibration)
    priced = [
        replace(segment, reason=window.extent(segment) + segment.reason)
        for segment in segments[first:]
    ]
    segments = (*segments[:first], *priced)
    in_full = [segment for segment in priced if not _asks(segment)]
    held_back = sum(each.whole - each.tokens for each in in_full if each.form in _GATED)
    full = window.full_tokens + tokens_of(in_full) + held_back
    if window.used == window.full_tokens and in_full == priced:
        full = tokens_of(segments) + held_back
    requested = {
        each.turn: each for each in priced if each.kind is Kind.REQUESTED and each.turn is not None
    }
    rows = {row.turn: row for row in window.ledger}
    sent = segment_of_turns(window.segments)
    scores = {turn: score for asked in appended.requests for turn, score in asked.given}
    rows_added = [
        _row(segment, scores.get(turn, 0.0))
        for turn, segment in requested.items()
        if turn not in rows
    ]
    names = {name for asked in appended.requests for name in asked.elsewhere}
    others = (
        replace(row, verdict=Verdict.REQUESTED, reason=reasons.REQUESTED_BY_MODEL)
        if row.name in names and not row.is_sent
        else row
        for row in window.others
    )
    known = (_verdict(row, requested.get(row.turn)) for row in window.ledger)
    return replace(
        window,
        exact=window.exact and not has_guesses(priced),
        segments=segments,
        planned=planned,
        ledger=(*known, *rows_added),
        never_candidates=_without(
            window.never_candidates, [row for row in rows_added if row.turn not in sent]
        ),
        others=tuple(others),
        full_tokens=full,
        counted=counted(segments),
        band=expected(segments, calibration)[1],
        requests=(*window.requests, *appended.requests),
        held=(*window.held, *(_repriced(result, priced) for result in appended.held)),
    )


_GATED = (Form.PREVIEW, Form.HELD)


def _repriced(held: HeldResult, segments: Sequence[Segment]) -> HeldResult:
    """Let a held result cost what its segment does."""
    own = segment_of_turns(segments)[held.turn]
    return replace(held, whole=own.whole, tokens=own.tokens)


def _asks(segment: Segment) -> bool:
    """Whether a segment asks for context or has what was asked for."""
    use = segment.use
    names = {call.name for call in (*use.calls, *filter(None, [use.answers]))}
    return names == {REQUEST_CONTEXT}


def _verdict(row: LedgerRow, segment: Segment | None) -> LedgerRow:
    if segment is None:
        return row
    tokens = segment.at_full_text
    return replace(row, verdict=Verdict.REQUESTED, tokens=tokens, reason=segment.reason)


def _row(segment: Segment, score: float) -> LedgerRow:
    turn = segment.turn or 0
    known = segment.at_full_text, Verdict.REQUESTED, segment.reason
    return LedgerRow(turn, None, score, (), *known)


def _without(never: NeverCandidates | None, rows: Iterable[LedgerRow]) -> NeverCandidates | None:
    """Subtract the turns that were requested since."""
    given = list(rows)
    if never is None or not given:
        return never
    turns = never.turns - len(given)
    tokens = max(0, never.tokens - sum(row.tokens for row in given))
    return replace(never, turns=turns, tokens=tokens) if turns > 0 else None
