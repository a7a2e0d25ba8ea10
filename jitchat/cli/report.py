"""A window on paper: as JSON, and as a table for a terminal."""

from __future__ import annotations

from typing import TYPE_CHECKING, Any

from rich.console import Console
from rich.table import Table
from rich.text import Text

from jitchat.text.safe import one_line
from jitchat.window.record import ledger_fields, segment_fields

if TYPE_CHECKING:
    from jitchat.window.window import ContextWindow


def window_fields(window: ContextWindow, conversation: str) -> dict[str, Any]:
    """The window as JSON knows it; `turn` is the #id on screen."""
    segments = [segment_fields(segment) for segment in window.segments]
    for fields in segments:
        del fields["text"]
    return {
        "conversation": conversation,
        "mode": window.mode.value,
        "model": window.model,
        "counter": {"name": window.counter, "exact": window.exact},
        "limit": window.budget.limit,
        "reserve": window.budget.reserve,
        "budget": window.budget.budget,
        "used": window.used,
        "free": window.free,
        "full_tokens": window.full_tokens,
        "segments": segments,
        "ledger": [ledger_fields(row) for row in window.ledger],
        "messages": [
            {"role": message.role.value, "content": message.content}
            for message in window.messages()
        ],
    }


def print_window(window: ContextWindow, conversation: str) -> None:
    """One line a segment, and the sum that the meter shows."""
    console = Console(highlight=False, soft_wrap=True)
    sign = "" if window.exact else "~"
    table = Table("kind", "turn", "tokens", "why", "text", box=None, pad_edge=False)
    table.columns[2].justify = "right"
    for segment in window.segments:
        table.add_row(
            segment.kind.value,
            f"#{segment.turn}" if segment.turn is not None else "",
            f"{segment.tokens:,}",
            Text(segment.reason),
            Text(one_line(segment.text)[:60]),
        )
    console.print(table)
    console.print(
        Text(
            f"{conversation} in {window.mode}: {sign}{window.used:,} used + {window.free:,} free"
            f" + {window.budget.reserve:,} reserve = {window.budget.limit:,}; full would be"
            f" {sign}{window.full_tokens:,}; counted by {window.counter}"
        )
    )
