"""A window on paper: as JSON, and as one line a segment."""

from collections.abc import Iterator, Sequence
from typing import Any

from jitchat.cli.output import emit, fitted_columns, painted, say
from jitchat.providers.catalogue.table import Prices
from jitchat.text.figures import plural
from jitchat.text.sanitize import one_line, shorten
from jitchat.tui.figures import identity_sentence, limit_sentence, part_figure
from jitchat.window import record
from jitchat.window.cost import picking_sentences, window_cost
from jitchat.window.window import ContextWindow, Segment, Verdict

TEXT_WIDTH = 100
"""Characters of a segment's text on paper; in a terminal, what its width leaves."""
_HEADINGS = ("kind", "turn", "tokens", "why", "text")
_COLOURS = {
    "system": "magenta",
    "pinned": "yellow",
    "recent": "blue",
    "index": "cyan",
    "retrieved": "green",
}


def window_fields(
    window: ContextWindow, conversation: str, prices: Prices | None
) -> dict[str, Any]:
    """Turn the window into what JSON knows; `turn` is the #id on screen, cost in US dollars."""
    segments = [record.segment_fields(segment) for segment in window.segments]
    for fields in segments:
        del fields["text"]
    return {
        "conversation": conversation,
        "mode": window.mode.value,
        "model": window.model,
        "counter": {"name": window.counter, "exact": window.exact},
        "limit": window.budget.limit,
        "limit_source": window.limit_source,
        "reserve": window.budget.reserve,
        "budget": window.budget.budget,
        "used": window.used,
        "band": window.band,
        "counted": window.counted,
        "free": window.free,
        "full_tokens": window.full_tokens,
        "stable_tokens": window.stable_tokens,
        "cost": prices.of_input(window.used) if prices is not None else None,
        "price_source": prices.source if prices is not None else None,
        **record.picking_fields(window),
        "segments": segments,
        "ledger": [record.ledger_fields(row) for row in window.ledger],
        "never_candidates": record.never_candidates_fields(window),
        "messages": [
            {"role": message.role.value, "content": message.content}
            for message in window.messages()
        ],
    }


def print_window(window: ContextWindow, conversation: str, prices: Prices | None) -> None:
    """Print one line a segment, and the sum that the meter shows.

    `prices` are the model's; None where nobody knows them.
    """
    print_segments(window)
    for line in (*sums(window, conversation), _price_line(window, prices), *_not_there(window)):
        say(line)


def print_segments(window: ContextWindow) -> None:
    rows = [_HEADINGS, *(_row(segment, _sign(window)) for segment in window.segments)]
    for (kind, *_), line in zip(rows, fitted_columns(rows, right=(1, 2)), strict=True):
        emit(painted(line[: len(kind)], _COLOURS.get(kind)) + line[len(kind) :])


def _row(segment: Segment, sign: str) -> Sequence[str]:
    turn = f"#{segment.turn}" if segment.turn is not None else ""
    text = shorten(segment.text, TEXT_WIDTH)
    return segment.kind.value, turn, f"{sign}{segment.tokens:,}", one_line(segment.reason), text


def sums(window: ContextWindow, conversation: str) -> Iterator[str]:
    sign = _sign(window)
    yield f"{conversation} in {window.mode}: {identity_sentence(window)}"
    if window.limit_source:
        yield limit_sentence(window)
    corrected = f" as {window.counted:,}, corrected by what was reported" if window.band else ""
    yield (
        f"full would be {sign}{window.full_tokens:,}; counted by {window.counter}"
        f" for {window.model}{corrected}"
    )
    yield from picking_sentences(window)


def _price_line(window: ContextWindow, prices: Prices | None) -> str:
    stable = f"stable prefix {part_figure(window, window.stable_tokens)} tokens"
    if prices is None:
        return f"{stable}; cost unknown: no price of {window.model} is known"
    source = f" ({one_line(prices.source)})" if prices.source else ""
    return f"{stable}; to send it: {window_cost(window, prices.of_input)}{source}"


def _not_there(window: ContextWindow) -> Iterator[str]:
    left_out = sum(row.verdict in (Verdict.LEFT_OUT, Verdict.INDEX) for row in window.ledger)
    if left_out:
        are = "is" if left_out == 1 else "are"
        candidates = plural(left_out, "candidate")
        yield f"{candidates} {are} not there at full text; --json says why"
    if (never := window.never_candidates) is not None:
        yield f"{never.sentence} ({_sign(window)}{never.tokens:,} tokens)"


def _sign(window: ContextWindow) -> str:
    return "" if window.is_sure else "~"
