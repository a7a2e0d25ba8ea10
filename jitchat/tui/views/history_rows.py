"""The lines of the history: what was saved, and one send in its figures. Pure."""

from __future__ import annotations

from collections.abc import Iterator, Sequence

from jitchat.memory.cold.sends import Send
from jitchat.text.counts import counted
from jitchat.text.money import dollars
from jitchat.text.safe import one_line
from jitchat.tui.figures import tokens, usage_sentence
from jitchat.tui.sent_figures import send_sentence
from jitchat.tui.views.history_chart import LID, Columns
from jitchat.tui.widgets.budget_bar import PATTERNS
from jitchat.turn import ASSUMED
from jitchat.window.savings import Money, Savings
from jitchat.window.window import Kind

_COLUMNS = (*(kind.value for kind in Kind), "free", "reserve", "limit", "full")


def saved_sentence(total: Savings, of: int, *, exact: bool) -> str:
    """`60 sends · ~71,204 tokens · full ~206,310 · saved ~135,106 (65 %)`.

    `of` is the number of all sends; `exact`, whether all counts are to be taken as they stand.
    """
    upto = total.sends + total.unanswered
    parts = [counted(upto, "send") if upto == of else f"sends 1 to {upto:,} of {of:,}"]
    parts.append(f"{tokens(total.sent, exact=exact)} tokens")
    parts.append(f"full {tokens(total.full, exact=exact)}")
    if total.saved < 0:
        parts.append(f"{tokens(-total.saved, exact=exact)} more than full")
    elif total.saved:
        parts.append(f"saved {tokens(total.saved, exact=exact)} ({total.share * 100:.0f} %)")
    else:
        parts.append("nothing saved")
    if total.unanswered:
        parts.append(f"{total.unanswered:,} without an answer not counted")
    return " · ".join(parts)


def money_sentence(total: Savings, model: str, *, picked: bool = False) -> str:
    """Say what that is in money, and plainly where `full` would have been cheaper.

    Empty where nothing was sent. `model` is the one whose price is looked for; `picked`, whether
    a small model chose for any of the sends.
    """
    money = total.money
    if not total.sends:
        return ""
    if not money.sends:
        who = one_line(model)
        return f"What that is in money is unknown: no price of {who} is known."
    if not money.uncached:
        told = "Nothing is charged"
    elif money.saved < 0:
        told = _dearer(money)
    else:
        told = (
            f"Input: {dollars(money.sent)} sent · full {_full(money)}"
            f" · saved ~{dollars(money.saved)} ({money.saved / money.full * 100:.0f} %)"
        )
    without = total.sends - money.sends
    rest = f" · {counted(without, 'send')} without a known price not counted" if without else ""
    return f"{told}{rest}{' · what the picker took not counted' if picked else ''}"


def _dearer(money: Money) -> str:
    """Say what `full` would have cost where that is less than what was sent."""
    other, how = "", "without a cache"
    if money.cached < money.uncached:
        other, how = f"; ~{dollars(money.uncached)} without one", "behind a warm cache"
    full, sent = dollars(money.full), dollars(money.sent)
    return f"Input: full would have been cheaper, ~{full} {how}, not {sent} as sent{other}"


def _full(money: Money) -> str:
    if money.cached < money.uncached:
        without = dollars(money.uncached)
        return f"~{dollars(money.cached)} behind a warm cache, ~{without} without one"
    return f"~{dollars(money.uncached)}"


def parts_sentence(send: Send) -> str:
    """`system 96 + … + draft 28 + free 29,533 + reserve 2,048 = 32,768 limit`, and what full is."""
    sure = is_sure(send)
    parts = [f"{kind} {tokens(count, exact=sure)}" for kind, count in _sizes(send) if count]
    parts += [f"free {tokens(send.free, exact=sure)}", f"reserve {send.reserve:,}"]
    full = tokens(send.full_tokens, exact=sure)
    assumed = f" ({ASSUMED})" if send.budget.get("limit_source", "").startswith(ASSUMED) else ""
    return f"{' + '.join(parts)} = {send.limit:,} limit{assumed} · full would be {full}"


def send_lines(send: Send, number: int, of: int) -> tuple[str, str, str]:
    """Say which send it is, what its window held, and what was reported and charged for it."""
    reported = usage_sentence(send.usage, send.cost)
    if send.reply is None and send.usage is None:
        reported = "no answer came, and no usage"
    return send_sentence(send, number, of), parts_sentence(send), one_line(reported)


def legend(columns: Columns) -> Iterator[tuple[str, str]]:
    """Name what is drawn, and how many sends a column is; each part with what it shows."""
    for kind in Kind:
        yield f"{PATTERNS[kind.value]}", kind.value
        yield f" {kind.value}  ", ""
    yield LID, "full"
    yield " full", ""
    if columns.per > 1:
        yield f"  each column is {columns.per:,} sends, the mean", ""


def table_lines(sends: Sequence[Send]) -> Iterator[str]:
    """Write all sends as a table, for copying; kinds, free and reserve add up to the limit."""
    yield _row("send", "turn", "mode", _COLUMNS)
    for number, send in enumerate(sends, start=1):
        counts = (*(count for _, count in _sizes(send)), send.free, send.reserve, send.limit)
        figures = [f"{count:,}" for count in (*counts, send.full_tokens)]
        yield _row(f"{number:,}", f"#{send.said}", send.mode.value, figures)


def is_sure(send: Send) -> bool:
    """Tell whether its counts are to be taken as they stand."""
    return send.exact and not send.band


def _sizes(send: Send) -> list[tuple[str, int]]:
    return [(kind.value, send.sizes.get(kind, 0)) for kind in Kind]


def _row(number: str, turn: str, mode: str, figures: Sequence[str]) -> str:
    return f"{number:>6} {turn:>7} {mode:<8}" + "".join(f"{each:>11}" for each in figures)
