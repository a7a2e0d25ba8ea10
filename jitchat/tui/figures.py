"""How figures look on screen, everywhere the same."""

from __future__ import annotations

from typing import TYPE_CHECKING

from jitchat.providers.provider import Finished
from jitchat.text.safe import one_line
from jitchat.turn import Usage
from jitchat.window.spending import spent
from jitchat.window.window import ContextWindow, LedgerRow

if TYPE_CHECKING:  # the first frame does not wait for the indexer's imports
    from jitchat.memory.backlog import Progress
    from jitchat.memory.reply_notes import ReplyNote

_LEAST_TOLD = 0.005
"""Less is 0.00 in figures."""
PART_BARS = "▁▂▃▄▅▆▇█"


def tokens(count: int, *, exact: bool) -> str:
    """`1,187`, or `~1,187` where it was estimated."""
    return f"{count:,}" if exact else f"~{count:,}"


def part_bars(parts: tuple[tuple[str, float], ...], largest: float) -> str:
    """One bar a part of a score, scaled to the largest part on screen; a blank for none."""
    return "".join(_bar(value, largest) for _, value in parts)


def _bar(value: float, largest: float) -> str:
    if value <= 0 or largest <= 0:
        return " "
    return PART_BARS[min(len(PART_BARS) - 1, int(value / largest * len(PART_BARS)))]


def ledger_note(row: LedgerRow) -> str:
    """All that the ledger says of a turn: why, its rank and price, the parts of its score."""
    ranked = f"rank {row.rank} · " if row.rank is not None else ""
    lines = [row.reason, f"{row.verdict} · {ranked}{row.tokens:,} tokens at full text"]
    if row.parts:
        told = (part for part in row.parts if abs(part[1]) >= _LEAST_TOLD)
        parts = " + ".join(f"{name} {value:.2f}" for name, value in told).replace("+ -", "− ")
        lines.append(f"score {row.score:.2f}" + (f" = {parts}" if parts else ""))
    return "\n".join(map(one_line, lines))


def size_sentence(window: ContextWindow) -> str:
    """`1,187 of 30,720 · full would be 3,446`."""
    used = tokens(window.used, exact=window.exact)
    full = tokens(window.full_tokens, exact=window.exact)
    return f"{used} of {window.budget.budget:,} · full would be {full}"


def send_sentence(window: ContextWindow) -> str:
    """`in 1,187 · saves 66 % · stable 508`; what choosing took stands beside it."""
    used = tokens(window.used, exact=window.exact)
    saved = f" · saves {window.saving * 100:.0f} %" if window.saving > 0 else ""
    took, picking = spent(window), window.picking
    picker = f" · picker {tokens(took, exact=picking.exact)}" if picking and took else ""
    stable = tokens(window.stable_tokens, exact=window.exact)
    return f"in {used}{saved} · stable {stable}{picker}"


def indexing_sentence(progress: Progress) -> str:
    """`indexing 1,240 of 5,882`: turns."""
    return f"indexing {progress.done:,} of {progress.of:,}"


def usage_sentence(usage: Usage) -> str:
    """`sent 1,187 ✓ · cached 0 · answer 210 ✓`; what the provider does not tell is left out."""
    sent = f"sent {usage.input_tokens:,} ✓ · " if usage.input_tokens is not None else ""
    answered = f" · answer {usage.output_tokens:,} ✓" if usage.output_tokens is not None else ""
    return f"{sent}cached {usage.cached_tokens:,}{answered}"


def note_sentence(note: ReplyNote | None) -> str:
    """`gpt-5-mini · in 1,187 · cached 900 · out 210 · $0.0012`, and why it ended if not by itself.

    Empty where nothing is known of who answered.
    """
    if note is None or not note.model:
        return ""
    parts = [note.model, *_used(note.usage)]
    if note.cost is not None:
        parts.append(money(note.cost))
    if note.stop and not Finished(note.stop).is_whole:
        goes_on = " — c goes on" if Finished(note.stop).is_by_length else ""
        parts.append(f"stopped: {note.stop}{goes_on}")
    return one_line(" · ".join(parts))


def _used(usage: Usage | None) -> list[str]:
    if usage is None:
        return []
    told = (
        ("in", usage.input_tokens),
        ("cached", usage.cached_tokens or None),
        ("out", usage.output_tokens),
    )
    return [f"{name} {count:,}" for name, count in told if count is not None]


def money(dollars: float) -> str:
    """`$0.0012`, or `$1.25` from a dollar on."""
    return f"${dollars:,.2f}" if dollars >= 1 else f"${dollars:.4f}"
