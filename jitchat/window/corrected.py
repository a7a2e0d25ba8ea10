"""A planned window in the tokens that the server is expected to count.

Invariant: segments still add up to what is used, to the token; what is not sent is priced at the
same rate as what is.
"""

from __future__ import annotations

from collections.abc import Sequence
from dataclasses import replace

from jitchat.window.calibration import Calibration
from jitchat.window.window import ContextWindow, Kind, LedgerRow, NeverCandidates, Segment

_FULL = (Kind.PINNED, Kind.RECENT, Kind.RETRIEVED)
"""Kinds that carry a turn at full text; a verdict on it has the same name."""


def corrected(window: ContextWindow, calibration: Calibration) -> ContextWindow:
    """Correct every price in a window that was planned in the counter's own tokens."""
    if calibration.is_identity:
        return window
    own, total = window.used, calibration.correct(window.used)
    segments = _shared(window.segments, total)
    return replace(
        window,
        segments=segments,
        ledger=_priced(window.ledger, segments, total, own),
        never_candidates=_never(window.never_candidates, total, own),
        full_tokens=calibration.correct(window.full_tokens),
        band=calibration.band(own),
    )


def shared_out(total: int, weights: Sequence[int]) -> list[int]:
    """Divide `total` by weight into whole numbers that add up to it: by largest remainder.

    Nothing goes to what has no weight, as long as anything has.
    """
    whole = sum(weights)
    if not whole:
        return [*([0] * (len(weights) - 1)), total] if weights else []
    shares = [total * weight // whole for weight in weights]
    order = sorted(range(len(weights)), key=lambda place: -(total * weights[place] % whole))
    for place in order[: total - sum(shares)]:
        shares[place] += 1
    return shares


def _shared(segments: tuple[Segment, ...], total: int) -> tuple[Segment, ...]:
    costs = shared_out(total, [segment.tokens for segment in segments])
    return tuple(
        replace(segment, tokens=cost) for segment, cost in zip(segments, costs, strict=True)
    )


def _priced(
    rows: tuple[LedgerRow, ...], segments: Sequence[Segment], total: int, own: int
) -> tuple[LedgerRow, ...]:
    """Price a turn that is sent at full text as its segment, any other at the window's rate."""
    sent = {(each.turn, each.kind.value): each.tokens for each in segments if each.kind in _FULL}
    return tuple(
        replace(
            row,
            tokens=sent.get((row.turn, row.verdict.value), _at_rate(row.tokens, total, own)),
        )
        for row in rows
    )


def _never(never: NeverCandidates | None, total: int, own: int) -> NeverCandidates | None:
    return replace(never, tokens=_at_rate(never.tokens, total, own)) if never else None


def _at_rate(tokens: int, total: int, own: int) -> int:
    """Multiply by `total / own`, rounded to the nearest."""
    return (2 * tokens * total + own) // (2 * own) if own else tokens
