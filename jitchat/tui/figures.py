"""Format the figures of a window and of a request: token counts, their accuracy, the cost."""

import re
from collections import Counter
from collections.abc import Iterator
from typing import NamedTuple

from rich.cells import cell_len, set_cell_size

from jitchat.providers.provider import Finished
from jitchat.replay import Replayed
from jitchat.store.reply_notes import ReplyNote
from jitchat.store.windows import Send
from jitchat.text.figures import Figure, Mark, about_cost, cost_of, mark_of, model_name, percent
from jitchat.text.sanitize import one_line, shorten, stand_ins
from jitchat.values import ASSUMED, Mode, Usage
from jitchat.why import parts_told
from jitchat.window.budget import Budget
from jitchat.window.cost import spent
from jitchat.window.window import ContextWindow, Excerpt, LedgerRow, Verdict

BESIDE = 3
"""Cells of a list row that are not text: a margin on either side and the scrollbar."""

_STOP_SHOWN = 60
"""Maximum characters of a stop reason; Sent windows shows all of it."""
_SHORT_HASH = 12


def cut(text: str, room: int) -> str:
    """Shorten a text to `room` cells; a `…` replaces the rest, and a number that would be cut."""
    drawn = stand_ins(text)
    if cell_len(drawn) <= room:
        return text
    fitting = set_cell_size(drawn, max(0, room - 1))
    whole = len(fitting) - (fitting != drawn[: len(fitting)])  # half a wide character is a blank
    if text[whole].isdigit() or text[whole] in ".,":
        number = _NUMBER.search(text[:whole])
        if number is not None:
            return f"{text[: number.start()]}…"
    return f"{text[:whole]}{fitting[whole:]}…"


_NUMBER = re.compile(r"[~<>$#]{0,2}(?<![\d.,])\d[\d.,]*+\Z")
"""A number at the end of a text, with its marks."""


WORKING = "…"
"""Marks figures that are about to change, because another window is being planned."""
PART_BARS = "▁▂▃▄▅▆▇█"


class Signs(NamedTuple):
    """How a part of the limit is drawn, so that it is recognised with and without colour."""

    pattern: str
    """The character that fills its part of a bar."""
    letter: str
    """Marks its rows in the wire; empty for what is not sent."""
    short: str
    """Its name in a short line."""
    hues: tuple[str, str]
    """Its colours on a dark and on a light background; that of the draft is the text's own."""
    of_terminal: tuple[str, str]
    """Its colours among the terminal's sixteen, likewise."""


SIGNS = {
    "system": Signs("█", "S", "sys", ("#56b4e9", "#0072b2"), ("bright_cyan", "blue")),
    "tools": Signs("▌", "L", "tls", ("#8da9ff", "#3d4fb8"), ("bright_blue", "magenta")),
    "standing": Signs("▀", "N", "std", ("#ff9d9d", "#c8102e"), ("bright_white", "bright_magenta")),
    "document": Signs("▄", "M", "doc", ("#4fd1c5", "#00707a"), ("bright_yellow", "red")),
    "observations": Signs("╪", "O", "obs", ("#b6d94c", "#557a00"), ("magenta", "red")),
    "pinned": Signs("▓", "P", "pin", ("#f0e442", "#7a6f00"), ("bright_red", "bright_red")),
    "recent": Signs("▚", "R", "rec", ("#2fae7c", "#007a50"), ("green", "bright_blue")),
    "files": Signs("▣", "E", "fil", ("#d9b38c", "#8a5a2b"), ("bright_green", "blue")),
    "facts": Signs("◆", "F", "fct", ("#9be7ff", "#3f6ea8"), ("red", "bright_magenta")),
    "documents": Signs("▤", "B", "docs", ("#ffb3e6", "#a3338f"), ("bright_blue", "bright_red")),
    "index": Signs("≡", "I", "idx", ("#d987b5", "#b0307f"), ("bright_magenta", "magenta")),
    "retrieved": Signs("▒", "T", "ret", ("#e69f00", "#c04a00"), ("yellow", "red")),
    "draft": Signs("▞", "D", "draft", ("#ffffff", "#000000"), ("default", "default")),
    "tool calls": Signs("▙", "C", "call", ("#b9c8ff", "#6a5acd"), ("bright_green", "blue")),
    "tool results": Signs("▜", "A", "res", ("#e8743b", "#a33c1f"), ("bright_yellow", "red")),
    "requested": Signs("░", "Q", "req", ("#c8a2ff", "#7a3fb5"), ("magenta", "magenta")),
    "free": Signs("·", "", "free", ("#808080", "#6a6a6a"), ("bright_black", "bright_black")),
    "reserve": Signs("╲", "", "rsv", ("#a0846c", "#7d6b5d"), ("cyan", "bright_magenta")),
}
"""By the name of a kind of segment, for the free part and for the reserve."""


def tokens(count: int, *, exact: bool, band: int = 0) -> str:
    """Format `1,187`; `~1,187` for an estimate; `1,187 ± 40` if the error band is known.

    `band` is half the width of the error band, in tokens; 0 if it is unknown.
    """
    return str(Figure(count, mark_of(exact=exact), band))


def reported(count: int) -> str:
    """Format `1,187 ✓`: a count that the provider reported."""
    return str(Figure(count, Mark.REPORTED))


def share_figure(window: ContextWindow) -> str:
    """Format `~0.6 % of 128,000`: the share of the model's limit that the window uses."""
    limit = window.budget.limit
    share = percent(window.used / limit if limit else 0.0)
    sign = "" if window.is_sure or share[0] in "<>" else "~"
    return f"{sign}{share} of {limit:,}"


PARTS = ("lexical", "dense", "context", "neighbour", "stretch", "date", "cue", "later")
"""Parts of a score, in the order of their bars; two letters of the name head each bar."""


def part_bars(parts: tuple[tuple[str, float], ...], largest: float) -> str:
    """Draw one bar per part of a score, scaled to the largest part on screen; a blank for zero."""
    return "".join(part_bar(value, largest) for _, value in parts)


def part_bar(value: float, largest: float) -> str:
    if value <= 0 or largest <= 0:
        return " "
    return PART_BARS[min(len(PART_BARS) - 1, int(value / largest * len(PART_BARS)))]


def ledger_note(row: LedgerRow, mark: Mark) -> str:
    """Format a turn's ledger row: the reason, the verdict, rank and tokens, the score's parts."""
    ranked = f"{row.ranking} · " if row.ranking else ""
    lines = [row.reason, f"{row.verdict} · {ranked}{Figure(row.tokens, mark)} tokens at full text"]
    if row.parts:
        parts = parts_told(row.parts)
        lines.append(f"score {row.score:.2f}" + (f" = {parts}" if parts else ""))
    return "\n".join(map(one_line, lines))


def passages_sentence(excerpt: Excerpt, mark: Mark) -> str:
    """Format `marked, in tokens: 120 on “budget, Falcon” · 9 heading, lead-in or code fence …`."""
    passages = (
        f"{Figure(passage.tokens, mark)} {one_line(passage.reason)}" for passage in excerpt.passages
    )
    return f"marked, in tokens: {' · '.join(passages)}"


def size_sentences(window: ContextWindow, usage: Usage | None = None) -> tuple[str, ...]:
    """Format `1,187 ± 40 of size 8,000 · full would be ~3,446`, and shorter variants.

    Windows of `full` have no size, but the budget. Next to a different count that the provider
    reported, it says that it was `counted` here.
    """
    full, used = window.figure(window.full_tokens), str(window.used_figure)
    if usage is not None and usage.input_tokens not in (None, window.used):
        used = f"counted {used}"
    is_full = window.mode is Mode.FULL
    most = f"budget {window.budget.budget:,}" if is_full else f"size {window.budget.most:,}"
    size = f"{used} of {most}"
    return f"{size} · full would be {full}", f"{size} · full {full}", size, used


def attached_files(window: ContextWindow) -> dict[str, str]:
    """Return the files sent with the draft by name: `in part ~61 of ~912`, `already sent`."""
    draft = window.draft.turn
    rows = [(row, row.file) for row in window.files if row.file is not None]
    whole = {file.digest for row, file in rows if row.verdict is Verdict.FILES}
    parts = Counter[str]()
    for row, file in rows:
        if row.verdict is Verdict.DOCUMENTS:
            parts[file.digest] += row.tokens
    named: dict[str, str] = {}
    for row, file in rows:
        if file.turn == draft and not file.locator:
            tokens = str(window.figure(row.tokens))
            if row.verdict is Verdict.FILES:
                named[file.name] = tokens
            elif file.digest in whole:
                named[file.name] = "already sent"
            elif file.digest in parts:
                sent = window.figure(parts[file.digest])
                named[file.name] = f"in part {sent} of {tokens}"
            else:
                named[file.name] = f"not sent {tokens}"
    return named


def identity_sentence(window: ContextWindow) -> str:
    """Format `1,187 ± 40 used + ~29,533 free + 2,048 reserve = 32,768 limit`."""
    budget, free = window.budget, window.figure(window.free)
    return (
        f"{window.used_figure} used + {free} free + {budget.reserve:,} reserve"
        f" = {budget.limit:,} limit{assumed_mark(budget)}"
    )


def assumed_mark(budget: Budget) -> str:
    """Return ` (assumed)` for a limit that is not known; else an empty string."""
    return f" ({ASSUMED})" if budget.is_assumed else ""


def budget_sentence(budget: Budget, mode: Mode) -> str:
    """Format `size 8,000 (usual for the model) · limit 32,768 (loaded in the server)`.

    No brackets if the source is unknown. Windows of `full` have no size.
    """
    sizes = [] if mode is Mode.FULL else [("size", budget.most, budget.size_source)]
    sizes.append(("limit", budget.limit, budget.limit_source))
    named = (
        f"{name} {tokens:,}" + (f" ({one_line(source)})" if source else "")
        for name, tokens, source in sizes
    )
    return " · ".join(named)


def send_sentences(window: ContextWindow, cost: str = "") -> tuple[str, ...]:
    """Format the window as `in 3,412 ± 40 · reserve 2,048 · free 27,308 · stable prefix 71 % · …`.

    The longest variant, which ends with the picker's tokens, comes first. The others successively
    omit what the bar also shows or what is least important, for small terminals.
    `cost` comes from `Comparison.cost`; empty if nothing is charged.
    """
    sure = window.is_sure
    took, picking = spent(window), window.picking
    used, share = f"in {window.used_figure}", percent(window.stable_tokens / (window.used or 1))
    room = f"reserve {window.budget.reserve:,}", f"free {tokens(window.free, exact=sure)}"
    saved = f"saves {percent(window.saving)}" if window.saving > 0 else ""
    picker = f"picker {tokens(took, exact=picking.exact)}" if picking and took else ""
    forms = (
        (used, *room, f"stable prefix {share}", cost, saved, picker),
        (used, *room, f"stable prefix {share}", cost, saved),
        (used, *room, f"stable {share}", cost),
        (used, room[1], f"stable {share}", cost),
        (used, room[1], cost),
    )
    return tuple(dict.fromkeys(" · ".join(filter(None, form)) for form in forms))


def stable_sentence(window: ContextWindow, usage: Usage | None = None) -> str:
    """Format `stable prefix ~508 tokens`; with usage, `stable prefix cached 480 ✓ of ~508`.

    More than the stable prefix can be cached: if a request is sent again, all of it.
    """
    stable = window.figure(window.stable_tokens)
    if usage is None or usage.input_tokens is None:
        return f"stable prefix {stable} tokens"
    cached, sent = usage.cached_tokens, usage.input_tokens
    if not cached:
        return f"stable prefix {stable} tokens, none reported as cached"
    if cached <= window.stable_tokens + window.band:
        return f"stable prefix cached {reported(cached)} of {stable}"
    return f"stable prefix {stable}, cached {reported(cached)} of {sent:,} sent"


def exact_sentence(window: ContextWindow, count: int) -> str:
    """Format `exactly 3,398 ✓ (own count 3,412 ± 40)`: the provider's count before sending."""
    return f"exactly {reported(count)} (own count {window.used_figure})"


def usage_sentence(
    usage: Usage | None,
    cost: float | None = 0.0,
    window: ContextWindow | None = None,
    *,
    is_broken_off: bool = False,
) -> str:
    """Format `sent 3,398 ✓ (2,900 cached, 498 new) · answer 210 ✓ (120 reasoning) · $0.0041`.

    `cost` is in US dollars: None if the price is unknown, 0 if nothing is charged. If the provider
    reports no input, the count of `window` is shown as an estimate. If a reply `is_broken_off`, it
    ended before the provider could report usage.
    """
    parts = [_input_figure(usage, window, is_broken_off=is_broken_off)]
    if usage is not None and usage.output_tokens is not None:
        thought = f" ({usage.reasoning_tokens:,} reasoning)" if usage.reasoning_tokens else ""
        parts.append(f"answer {reported(usage.output_tokens)}{thought}")
    if cost != 0:
        parts.append(cost_figure(cost, usage))
    return " · ".join(parts)


def cost_figure(cost: float | None, usage: Usage | None) -> str:
    """Format `$0.0041`; `$0.0041 ✓` if the provider reported the cost.

    `~$0.0041` if the provider did not report all usage, so that the own counts were used.
    """
    if usage is not None and usage.cost is not None:
        return f"{cost_of(cost)} ✓"
    is_whole = usage is not None and None not in (usage.input_tokens, usage.output_tokens)
    return cost_of(cost) if is_whole else about_cost(cost)


def _input_figure(usage: Usage | None, window: ContextWindow | None, *, is_broken_off: bool) -> str:
    if usage is None or usage.input_tokens is None:
        own = f"{window.used_figure}, " if window is not None else ""
        if is_broken_off:
            return f"{own}it ended before usage was reported"
        what = "input" if usage is not None and usage.output_tokens is not None else "usage"
        return f"{own}the provider reports no {what}"
    cached, sent = usage.cached_tokens, usage.input_tokens
    parts = f" ({cached:,} cached, {max(0, sent - cached):,} new)" if cached else ""
    return f"sent {reported(sent)}{parts}"


def note_sentence(note: ReplyNote | None) -> str:
    """Format `gpt-5-mini · in 1,187 · cached 900 · out 210 · $0.0012`, and why it was cut off.

    Empty if the model is unknown.
    """
    if note is None or not note.model:
        return ""
    parts, usage = [model_name(note.model)], note.usage or Usage(None, None)
    if usage.input_tokens is not None:
        parts.append(f"in {reported(usage.input_tokens)}")
    if usage.cached_tokens:
        parts.append(f"cached {reported(usage.cached_tokens)}")
    if usage.output_tokens is not None:
        parts.append(f"out {reported(usage.output_tokens)}")
    if note.cost:
        parts.append(cost_figure(note.cost, usage))
    if note.stop and not Finished(note.stop).is_whole:
        remedy = " — /continue resumes it" if Finished(note.stop).is_by_length else ""
        parts.append(f"stopped: {shorten(note.stop, _STOP_SHOWN)}{remedy}")
    return one_line(" · ".join(parts))


def send_sentence(send: Send, number: int, of: int) -> str:
    """Format `send 2 of 5 · #61 · 2026-11-03 09:30 · jit · gpt-5-mini (openai)`."""
    when = f"{send.sent_at:%Y-%m-%d %H:%M}" if send.sent_at is not None else ""
    model = model_name(send.model)
    who = model if send.provider in ("", send.model) else f"{model} ({send.provider})"
    parts = (f"send {number:,} of {of:,}", f"#{send.said}", when, send.mode.value, who)
    return one_line(" · ".join(filter(None, parts)))


def hash_sentence(replayed: Replayed, *, whole: bool = False) -> str:
    """Format `window 3f2a91c04b77… as sent`, or report that the stored window is damaged.

    The hash is shown completely if `whole`, else its beginning.
    """
    sent = replayed.send.digest
    shown = one_line(sent if whole else f"{sent[:_SHORT_HASH]}…")
    if replayed.is_as_sent:
        return f"window {shown} as sent"
    now = replayed.digest if whole else f"{replayed.digest[:_SHORT_HASH]}…"
    return f"window {now}, but {shown} was sent: the stored window is damaged"


def ending_sentences(replayed: Replayed) -> Iterator[str]:
    send, reply = replayed.send, replayed.reply
    yield usage_sentence(send.usage, send.cost, replayed.window)
    if reply is None:
        yield "no reply"
        return
    is_early = send.stop and not Finished(send.stop).is_whole
    stopped = f" · stopped: {one_line(send.stop or '')}" if is_early else ""
    yield f"reply #{reply.position} ({reply.status}){stopped}"
