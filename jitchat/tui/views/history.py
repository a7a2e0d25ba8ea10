"""The tokens of every send compared with `full`, and what was saved.

One row per send: its figures, and a bar of its segments with a line to what `full` would have sent.
All bars have one scale.
"""

from collections.abc import Iterator, Sequence
from dataclasses import dataclass
from functools import cache, partial

from textual.binding import Binding

from jitchat.providers.catalogue.table import cache_life, cost_of
from jitchat.savings import Money, Savings, savings
from jitchat.session import Session
from jitchat.store.windows import Send, WindowArchive
from jitchat.text.figures import Figure, Mark, about_cost, dollars, enumerated, percent, plural
from jitchat.text.sanitize import one_line
from jitchat.tui.drawing import MUTED, Content
from jitchat.tui.figures import send_sentence, tokens, usage_sentence
from jitchat.tui.views.sent_window_page import (
    END,
    FULL,
    MOST_ROWS,
    Row,
    columns_of,
    is_sure,
)
from jitchat.tui.views.sent_windows import SentWindowsView
from jitchat.tui.views.table_view import TableView
from jitchat.tui.views.view import Body, GoTo, Note, Subject
from jitchat.tui.widgets import budget_bar
from jitchat.tui.widgets.turn_table import Line, TurnTable
from jitchat.values import ASSUMED, Usage
from jitchat.window.window import Kind


def legend(sends: Sequence[Send]) -> Content:
    """Name the kinds in the bars, and the line to `full`."""
    used = [kind for kind in Kind if is_named(kind, any(kind in send.sizes for send in sends))]
    return budget_bar.legend(used) + Content.styled(f"{FULL}{END} full", MUTED)


def rows_of(sends: Sequence[Send]) -> list[Row | Line]:
    """List the sends, the latest first, and how many earlier ones there are."""
    rows = [Row(at + 1, send) for at, send in enumerate(sends)][::-1]
    earlier = rows[MOST_ROWS:]
    if not earlier:
        return [*rows]
    count = plural(len(earlier), "earlier send")
    sentence = f"{count}, included in the totals and the copied table"
    return [*rows[:MOST_ROWS], Line(sentence, MUTED)]


def saved_sentence(total: Savings, of: int, *, exact: bool) -> str:
    """`60 sends · ~71,204 tokens · full ~206,310 · saved ~135,106 (65 %)`.

    `of` is the number of all sends; `exact` means that no count is an estimate.
    """
    upto = total.sends + total.unanswered
    parts = [plural(upto, "send") if upto == of else f"sends 1 to {upto:,} of {of:,}"]
    parts.append(f"{tokens(total.sent, exact=exact)} tokens")
    parts.append(f"full {tokens(total.full, exact=exact)}")
    if total.saved < 0:
        parts.append(f"{tokens(-total.saved, exact=exact)} more than full")
    elif total.saved:
        saved = percent(total.saved / total.full)
        parts.append(f"saved {tokens(total.saved, exact=exact)} ({saved})")
    else:
        parts.append("nothing saved")
    if total.unanswered:
        parts.append(f"{total.unanswered:,} unanswered not counted")
    return " · ".join(parts)


def money_sentence(total: Savings, *, picked: bool = False) -> str:
    """State the savings in money, and clearly if `full` would have been cheaper.

    Empty if nothing was sent. `picked` means that a small model chose for some sends.
    """
    money = total.money
    if not total.sends:
        return ""
    parts = [_input_sentence(money)] if money.sends else []
    without = total.sends - money.sends
    if without:
        who = enumerated([one_line(model) for model in total.unpriced])
        charged = f", charged {dollars(total.charged)} with answers" if total.charged else ""
        parts.append(f"{plural(without, 'send')} not compared{charged}: no price of {who} is known")
    if picked:
        parts.append("the picker is not counted")
    return " · ".join(parts)


_NOTHING = 1e-9
"""The share by which sums of floating-point numbers differ if nothing was saved."""


def _input_sentence(money: Money) -> str:
    """State what the input cost, and clearly if that of `full` would have been cheaper."""
    if not money.full and not money.sent:
        return "No charge"
    full = about_cost(money.full)
    if money.cached:
        full += f", {Figure(money.cached, Mark.ESTIMATED)} tokens of it cached"
    sent = f"{dollars(money.sent)} sent"
    if abs(money.saved) < _NOTHING * money.full:
        return f"Input: {sent} · full {full} · nothing saved"
    if money.saved < 0:
        return f"Input: {sent} · full would have been cheaper: {full}"
    saved = percent(money.saved / money.full)
    return f"Input: {sent} · full {full} · saved {about_cost(money.saved)} ({saved})"


def parts_sentence(send: Send) -> str:
    """Write `system 96 + … + draft 28 + free 29,533 + reserve 2,048 = 32,768 limit`, and `full`."""
    sure = is_sure(send)
    sizes = ((kind, send.sizes.get(kind, 0)) for kind in Kind)
    parts = [f"{kind} {tokens(count, exact=sure)}" for kind, count in sizes if count]
    parts += [f"free {tokens(send.free, exact=sure)}", f"reserve {send.reserve:,}"]
    full = tokens(send.full_tokens, exact=sure)
    assumed = f" ({ASSUMED})" if send.budget.get("limit_source", "").startswith(ASSUMED) else ""
    return f"{' + '.join(parts)} = {send.limit:,} limit{assumed} · full would be {full}"


def send_lines(send: Send, number: int, of: int) -> tuple[str, str, str]:
    reported = "no reply and no usage"
    if send.reply is not None or send.usage is not None:
        reported = usage_sentence(send.usage, send.cost)
    return send_sentence(send, number, of), parts_sentence(send), one_line(reported)


def is_named(kind: Kind, there: bool) -> bool:
    """Whether the legend names a kind; a rare one only if it occurs."""
    return there or kind not in budget_bar.SELDOM or kind is Kind.PINNED


def table_lines(sends: Sequence[Send]) -> Iterator[str]:
    """Write all sends as a table to copy; kinds, free and reserve add up to the limit."""
    kinds = [kind for kind in Kind if is_named(kind, any(kind in each.sizes for each in sends))]
    names = (*(kind.value for kind in kinds), "free", "reserve", "limit", "full")
    yield f"{'send':>6} {'turn':>7} {'mode':<8}" + "".join(f"{name:>14}" for name in names)
    for number, send in enumerate(sends, start=1):
        sizes = (send.sizes.get(kind, 0) for kind in kinds)
        counts = (*sizes, send.free, send.reserve, send.limit, send.full_tokens)
        figures = "".join(f"{count:>14,}" for count in counts)
        yield f"{number:>6,} {f'#{send.said}':>7} {send.mode.value:<8}{figures}"


NOTHING = "Nothing has been sent yet. Each send will have a bar here."


@dataclass(frozen=True, slots=True)
class History:
    sends: tuple[Send, ...]
    totals: tuple[Savings, ...]
    exact: bool
    """Whether all counts are exact, not estimates."""
    table: str
    """All sends as a table to copy; prepared in advance, since thousands take too long."""
    first_picked: int | None
    """The index of the first send for which a small model chose; None if there is none."""


def read_history(session: Session) -> History:
    """Read and sum up the sends of a conversation. Slow.

    Raises StoreUnreadable if a row is damaged.
    """
    memory, model = session.memory, session.provider.model
    sends = WindowArchive(memory.store.database).sends(memory.conversation.id)
    prices_of = cache(session.prices_of)

    def price(send: Send, usage: Usage) -> float | None:
        """Price usage; a free reply stays free."""
        if send.cost == 0:
            return 0.0
        return cost_of(usage, prices_of(send.provider or session.provider.name, send.model))

    totals = savings(sends, price, cache_life(model))
    return History(
        sends=tuple(sends),
        totals=tuple(totals),
        exact=all(map(is_sure, sends)),
        table="\n".join(table_lines(sends)),
        first_picked=next((place for place, send in enumerate(sends) if send.picked), None),
    )


class HistoryView(TableView[Row]):
    EXPLAINED = "Tokens of every send by kind; the line ends at what full would have sent."
    BINDINGS = [  # noqa: RUF012  Textual's own shape
        Binding("enter", "on_row('open_row')", "Its window", id="history_open", priority=True),
        Binding("g", "on_row('go_to')", "Turn", id="history_go_to"),
    ]

    def __init__(self, subject: Subject) -> None:
        table = TurnTable[Row]((), id="history-sends", key=lambda row: row.number)
        super().__init__(subject, table, "history")
        self.history: History | None = None
        self._saved = Note("history-saved")
        self._legend = Note("history-legend")

    def body(self) -> Body:
        return (self._saved, self.table, self._legend, self.note)

    def read(self) -> None:
        self.box.display = False
        self.load(lambda: read_history(self.subject.session), self._show)

    def _show(self, history: History) -> None:
        self.show_nothing("" if history.sends else NOTHING)
        if history.sends:
            self.history = history
            self._legend.update(legend(history.sends))
            self.table.show(rows_of(history.sends), columns=partial(columns_of, history.sends))
            self.table.list.focus()

    def show_note(self) -> None:
        history, row = self.history, self.table.row
        if history is None or row is None:
            return
        of = len(history.sends)
        send, *parts = send_lines(row.send, row.number, of)
        self.note.update(Content.assemble((send, "bold"), *(f"\n{part}" for part in parts)))
        picked = history.first_picked is not None and history.first_picked < row.number
        total = history.totals[row.number - 1]
        money = money_sentence(total, picked=picked)
        saved = saved_sentence(total, of, exact=history.exact)
        self._saved.update(Content.assemble((saved, "bold"), f"\n{money}" if money else ""))

    def go_to(self, row: Row) -> None:
        self.dismiss(GoTo(row.send.said))

    def open_row(self, row: Row) -> None:
        self.open_over(SentWindowsView(self.subject, row.send.window_id))

    def copyable(self) -> str:
        if self.history is None:
            return ""
        return f"{self._saved.content}\n{self.note.content}\n\n{self.history.table}"
