"""What a turn appends to its window: replies that call tools, and the results of the calls. Pure.

A window is extended, never re-planned: what was sent stays the same, byte for byte and token for
token, so that a prompt cache keeps all of it.
"""

from collections.abc import Iterable, Sequence
from dataclasses import replace

from jitchat.values import Role, Turn
from jitchat.window import reasons
from jitchat.window.calibration import Calibration
from jitchat.window.exchange import answering
from jitchat.window.plan import apportion
from jitchat.window.tokens import TokenCounter, message_tokens
from jitchat.window.window import (
    ContextWindow,
    HeldResult,
    Kind,
    LedgerRow,
    NeverCandidates,
    Requested,
    Segment,
    Verdict,
)


def call_segment(turn: Turn, counter: TokenCounter) -> Segment:
    """Make the segment of a reply that calls tools, including its text."""
    tokens = message_tokens(counter, turn.content, turn.use)
    known = turn.position, reasons.CALLED
    return Segment(Kind.TOOL_CALLS, Role.ASSISTANT, turn.content, tokens, *known, use=turn.use)


def result_segment(turn: Turn, text: str, reason: str, counter: TokenCounter) -> Segment:
    """Make the segment of a result, with `text`: all of the result, or its preview."""
    use = answering(turn.use)
    tokens = message_tokens(counter, text, use)
    return Segment(Kind.TOOL_RESULTS, Role.TOOL, text, tokens, turn.position, reason, use=use)


def requested_segments(
    turn: Turn, segments: Sequence[Segment], counter: TokenCounter
) -> list[Segment]:
    """Make the segments of a result's message; the first includes the message's overhead."""
    use = answering(turn.use)
    around = message_tokens(counter, "", use)
    made = [replace(segment, role=Role.TOOL, use=use) for segment in segments]
    if not made:
        return made
    made[0] = replace(made[0], tokens=made[0].tokens + around)
    return made


def room_left(window: ContextWindow, calibration: Calibration) -> int:
    """Return how many of the counter's tokens can still be appended; 0 or less if none."""
    return calibration.within(window.budget.budget) - window.counted


def extended(
    window: ContextWindow,
    segments: Sequence[Segment],
    calibration: Calibration,
    requests: Sequence[Requested] = (),
    held: Sequence[HeldResult] = (),
) -> ContextWindow:
    """Append segments, priced in the counter's tokens, with the requests and the held results.

    `full` would have called the same tools, so its tokens grow by the same sum.
    """
    own = sum(segment.tokens for segment in segments)
    counted = window.counted + own
    added = calibration.correct(counted) - calibration.correct(window.counted)
    costs = apportion(added, [segment.tokens for segment in segments])
    priced = [replace(each, tokens=cost) for each, cost in zip(segments, costs, strict=True)]
    requested = {
        each.turn: each for each in priced if each.kind is Kind.REQUESTED and each.turn is not None
    }
    rows = {row.turn: row for row in window.ledger}
    scores = {turn: score for request in requests for turn, score in request.given}
    new = [
        _row(segment, scores.get(turn, 0.0))
        for turn, segment in requested.items()
        if turn not in rows
    ]
    known = (_verdict(row, requested.get(row.turn)) for row in window.ledger)
    return replace(
        window,
        segments=(*window.segments, *priced),
        ledger=(*known, *new),
        never_candidates=_without(window.never_candidates, new),
        full_tokens=window.full_tokens + added,
        counted=counted,
        band=calibration.band(counted),
        requests=(*window.requests, *requests),
        held=(*window.held, *held),
    )


def _verdict(row: LedgerRow, segment: Segment | None) -> LedgerRow:
    if segment is None:
        return row
    return replace(row, verdict=Verdict.REQUESTED, reason=segment.reason)


def _row(segment: Segment, score: float) -> LedgerRow:
    turn = segment.turn or 0
    return LedgerRow(turn, None, score, (), segment.tokens, Verdict.REQUESTED, segment.reason)


def _without(never: NeverCandidates | None, rows: Iterable[LedgerRow]) -> NeverCandidates | None:
    """Subtract the turns that were requested since."""
    given = list(rows)
    if never is None or not given:
        return never
    turns = never.turns - len(given)
    tokens = max(0, never.tokens - sum(row.tokens for row in given))
    return replace(never, turns=turns, tokens=tokens) if turns > 0 else None
