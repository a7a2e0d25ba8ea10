"""Figures of a window as text: what it holds, how sure that is, and what it is measured by."""

from rich.cells import cell_len, set_cell_size

from jitchat.text.sanitize import one_line
from jitchat.values import ASSUMED, Usage
from jitchat.why import parts_told
from jitchat.window.budget import Budget
from jitchat.window.cost import spent
from jitchat.window.window import ContextWindow, LedgerRow

BESIDE = 3
"""Cells of a line of a list that are not its text: a margin on either side, the scrollbar."""


def cut(text: str, room: int) -> str:
    """Shorten a text to so many cells; a `…` stands for the rest."""
    return text if cell_len(text) <= room else f"{set_cell_size(text, max(0, room - 1))}…"


WORKING = "…"
"""Marks what is about to change: another window is being worked out."""
PART_BARS = "▁▂▃▄▅▆▇█"


def tokens(count: int, *, exact: bool, band: int = 0) -> str:
    """`1,187`; `~1,187` where it was estimated; `1,187 ± 40` where the model taught how sure it is.

    `band` is half the width of what the count lies in, in tokens; 0 where nothing was learnt.
    """
    if band:
        return f"{count:,} ± {band:,}"
    return f"{count:,}" if exact else f"~{count:,}"


def reported(count: int) -> str:
    """`1,187 ✓`: the provider's own figure."""
    return f"{count:,} ✓"


def used_figure(window: ContextWindow) -> str:
    """`1,187 ± 40`: what the window holds, and how sure that is."""
    return tokens(window.used, exact=window.exact, band=window.band)


def part_figure(window: ContextWindow, count: int) -> str:
    """`412` or `~412`: a part of the window, or another size beside it; the band is not its own."""
    return tokens(count, exact=window.is_sure)


def part_bars(parts: tuple[tuple[str, float], ...], largest: float) -> str:
    """One bar a part of a score, scaled to the largest part on screen; a blank for none."""
    return "".join(part_bar(value, largest) for _, value in parts)


def part_bar(value: float, largest: float) -> str:
    if value <= 0 or largest <= 0:
        return " "
    return PART_BARS[min(len(PART_BARS) - 1, int(value / largest * len(PART_BARS)))]


def ledger_note(row: LedgerRow) -> str:
    """All that the ledger says of a turn: why, its rank and price, the parts of its score."""
    ranked = f"rank {row.rank} · " if row.rank is not None else ""
    lines = [row.reason, f"{row.verdict} · {ranked}{row.tokens:,} tokens at full text"]
    if row.parts:
        parts = parts_told(row.parts)
        lines.append(f"score {row.score:.2f}" + (f" = {parts}" if parts else ""))
    return "\n".join(map(one_line, lines))


def size_sentence(window: ContextWindow) -> str:
    """`1,187 ± 40 of 30,720 · full would be ~3,446`."""
    full = part_figure(window, window.full_tokens)
    return f"{used_figure(window)} of {window.budget.budget:,} · full would be {full}"


def identity_sentence(window: ContextWindow) -> str:
    """`1,187 ± 40 used + ~29,533 free + 2,048 reserve = 32,768 limit`."""
    budget, free = window.budget, part_figure(window, window.free)
    return (
        f"{used_figure(window)} used + {free} free + {budget.reserve:,} reserve"
        f" = {budget.limit:,} limit{assumed_mark(budget)}"
    )


def assumed_mark(budget: Budget) -> str:
    """` (assumed)` behind a limit that nobody told; else nothing."""
    return f" ({ASSUMED})" if budget.is_assumed else ""


def limit_sentence(window: ContextWindow) -> str:
    """`limit 32,768 (loaded in the server)`; without the brackets where nobody said."""
    source = f" ({one_line(window.limit_source)})" if window.limit_source else ""
    return f"limit {window.budget.limit:,}{source}"


def send_sentences(window: ContextWindow, cost: str = "") -> tuple[str, ...]:
    """`in 3,412 ± 40 · reserve 2,048 · free 27,308 · stable prefix 71 % · ~$0.0041 · saves 66 %`.

    The longest form first; the others leave out, one after the other, what the bar tells too or
    what can be missed, for small terminals. What choosing took stands at the end of the first.
    `cost` is what `window_cost` tells; empty where nothing is charged.
    """
    sure = window.is_sure
    took, picking = spent(window), window.picking
    used, share = f"in {used_figure(window)}", f"{window.stable_share * 100:.0f} %"
    room = f"reserve {window.budget.reserve:,}", f"free {tokens(window.free, exact=sure)}"
    saved = f"saves {window.saving * 100:.0f} %" if window.saving > 0 else ""
    picker = f"picker {tokens(took, exact=picking.exact)}" if picking and took else ""
    forms = (
        (used, *room, f"stable prefix {share}", cost, saved, picker),
        (used, *room, f"stable prefix {share}", cost, saved),
        (used, *room, f"stable {share}", cost, saved),
        (used, *room, f"stable {share}", cost),
        (used, room[1], f"stable {share}", cost),
        (used, room[1], cost),
    )
    return tuple(dict.fromkeys(" · ".join(filter(None, form)) for form in forms))


def stable_sentence(window: ContextWindow, usage: Usage | None = None) -> str:
    """`stable prefix ~508 tokens`; with usage, what the provider had of it: `cached 480 ✓ of ~508`.

    A cache can hold more than that: of a request that is sent again, all of it.
    """
    stable = part_figure(window, window.stable_tokens)
    if usage is None or usage.input_tokens is None:
        return f"stable prefix {stable} tokens"
    cached, sent = usage.cached_tokens, usage.input_tokens
    if not cached:
        return f"stable prefix {stable} tokens, none reported as cached"
    if cached <= window.stable_tokens + window.band:
        return f"stable prefix cached {reported(cached)} of {stable}"
    return f"stable prefix {stable}, cached {reported(cached)} of {sent:,} sent"


def exact_sentence(window: ContextWindow, count: int) -> str:
    """`exactly 3,398 ✓ (own count 3,412 ± 40)`: what the provider counted without answering."""
    return f"exactly {reported(count)} (own count {used_figure(window)})"
