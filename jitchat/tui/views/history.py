"""What was sent, send by send, under what `full` would have been, and what that saved."""

from collections.abc import Iterator, Sequence
from dataclasses import dataclass
from functools import partial

from textual.binding import Binding
from textual.content import Content

from jitchat.providers.catalogue.table import cache_life
from jitchat.replay import Money, Savings, savings
from jitchat.session import Session
from jitchat.store.windows import Send, WindowArchive
from jitchat.text.figures import dollars, plural
from jitchat.text.sanitize import one_line
from jitchat.tui.figures import send_sentence, tokens, usage_sentence
from jitchat.tui.views import history_chart as chart
from jitchat.tui.views.history_chart import HistoryChart, HistoryPointer
from jitchat.tui.views.sent_windows import SentWindowsView
from jitchat.tui.views.view import Body, GoTo, Note, Subject, View
from jitchat.tui.widgets.budget_bar import PATTERNS
from jitchat.values import ASSUMED, Usage
from jitchat.window.window import Kind


def saved_sentence(total: Savings, of: int, *, exact: bool) -> str:
    """`60 sends · ~71,204 tokens · full ~206,310 · saved ~135,106 (65 %)`.

    `of` is the number of all sends; `exact`, whether all counts are to be taken as they stand.
    """
    upto = total.sends + total.unanswered
    parts = [plural(upto, "send") if upto == of else f"sends 1 to {upto:,} of {of:,}"]
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
        full = f"~{dollars(money.uncached)}"
        if money.cached < money.uncached:
            full = f"~{dollars(money.cached)} behind a warm cache, {full} without one"
        saved = f"saved ~{dollars(money.saved)} ({money.saved / money.full * 100:.0f} %)"
        told = f"Input: {dollars(money.sent)} sent · full {full} · {saved}"
    without = total.sends - money.sends
    rest = f" · {plural(without, 'send')} without a known price not counted" if without else ""
    return f"{told}{rest}{' · what the picker took not counted' if picked else ''}"


def _dearer(money: Money) -> str:
    """Say what `full` would have cost where that is less than what was sent."""
    other, how = "", "without a cache"
    if money.cached < money.uncached:
        other, how = f"; ~{dollars(money.uncached)} without one", "behind a warm cache"
    full, sent = dollars(money.full), dollars(money.sent)
    return f"Input: full would have been cheaper, ~{full} {how}, not {sent} as sent{other}"


def parts_sentence(send: Send) -> str:
    """`system 96 + … + draft 28 + free 29,533 + reserve 2,048 = 32,768 limit`, and what full is."""
    sure = is_sure(send)
    sizes = ((kind, send.sizes.get(kind, 0)) for kind in Kind)
    parts = [f"{kind} {tokens(count, exact=sure)}" for kind, count in sizes if count]
    parts += [f"free {tokens(send.free, exact=sure)}", f"reserve {send.reserve:,}"]
    full = tokens(send.full_tokens, exact=sure)
    assumed = f" ({ASSUMED})" if send.budget.get("limit_source", "").startswith(ASSUMED) else ""
    return f"{' + '.join(parts)} = {send.limit:,} limit{assumed} · full would be {full}"


def send_lines(send: Send, number: int, of: int) -> tuple[str, str, str]:
    reported = "no answer came, and no usage"
    if send.reply is not None or send.usage is not None:
        reported = usage_sentence(send.usage, send.cost)
    return send_sentence(send, number, of), parts_sentence(send), one_line(reported)


def legend(columns: chart.Columns) -> Iterator[tuple[str, str]]:
    """Name what is drawn, and how many sends a column is; each part with what it shows."""
    for kind in Kind:
        yield f"{PATTERNS[kind.value]}", kind.value
        yield f" {kind.value}  ", ""
    yield chart.LID, "full"
    yield " full", ""
    if columns.per > 1:
        yield f"  each column is {columns.per:,} sends, the mean", ""


def table_lines(sends: Sequence[Send]) -> Iterator[str]:
    """Write all sends as a table, for copying; kinds, free and reserve add up to the limit."""
    names = (*(kind.value for kind in Kind), "free", "reserve", "limit", "full")
    yield f"{'send':>6} {'turn':>7} {'mode':<8}" + "".join(f"{name:>11}" for name in names)
    for number, send in enumerate(sends, start=1):
        sizes = (send.sizes.get(kind, 0) for kind in Kind)
        counts = (*sizes, send.free, send.reserve, send.limit, send.full_tokens)
        figures = "".join(f"{count:>11,}" for count in counts)
        yield f"{number:>6,} {f'#{send.said}':>7} {send.mode.value:<8}{figures}"


def is_sure(send: Send) -> bool:
    """Whether its counts are to be taken as they stand."""
    return send.exact and not send.band


NOTHING = "Nothing was sent here yet. Enter sends; every send then has its column here."


@dataclass(frozen=True, slots=True)
class History:
    sends: tuple[Send, ...]
    totals: tuple[Savings, ...]
    series: chart.Series
    exact: bool
    """Whether all counts are to be taken as they stand."""
    table: str
    """All sends in figures, for copying; of thousands, too slow to write at a key press."""
    first_picked: int | None
    """The place of the first send for which a small model chose; None where none did."""


def read_history(session: Session) -> History:
    """Read the sends of a conversation, and sum them up. Slow.

    Raises StoreUnreadable: a row is damaged.
    """
    memory, model = session.memory, session.provider.model
    sends = WindowArchive(memory.store.database).sends(memory.conversation.id)

    def price(send: Send, usage: Usage) -> float | None:
        """Only who answers now has a known price; of a reply that cost nothing, it is that."""
        if getattr(send, "cost", None) == 0:
            return 0.0
        asked = (send.provider or session.provider.name, send.model)
        return session.cost_of(usage) if asked == (session.provider.name, model) else None

    totals = savings(sends, price, cache_life(model))
    return History(
        sends=tuple(sends),
        totals=tuple(totals),
        series=chart.series_of(sends),
        exact=all(map(is_sure, sends)),
        table="\n".join(table_lines(sends)),
        first_picked=next((place for place, send in enumerate(sends) if send.picked), None),
    )


class HistoryView(View):
    CSS_PATH = ["view.tcss", "history.tcss"]  # noqa: RUF012  Textual's own shape
    NAME = "History"
    EXPLAINED = "Tokens of every send, by kind; the line: what full would have sent."
    BINDINGS = [  # noqa: RUF012  Textual's own shape
        Binding("left", "step(-1)", "Earlier", id="history_earlier"),
        Binding("right", "step(1)", "Later", id="history_later"),
        Binding("enter", "open", "Its window", id="history_open"),
        Binding("g", "go_to", "Turn", id="history_go_to"),
        Binding("z", "zoom", "Zoom", id="history_zoom"),
        Binding("home", "go(0)", show=False),
        Binding("end", "go(-1)", show=False),
        Binding("pageup", "step(-10)", show=False),
        Binding("pagedown", "step(10)", show=False),
    ]

    def __init__(self, subject: Subject) -> None:
        super().__init__(subject)
        self.history: History | None = None
        self.place = 0
        """The send that is pointed at, from 0."""
        self._chart, self._pointer = HistoryChart(), HistoryPointer()
        self._saved, self._legend = Note("history-saved"), Note("history-legend")
        self._send = Note("history-send")

    def body(self) -> Body:
        return (self._saved, self._chart, self._pointer, self._legend, self._send)

    def on_mount(self) -> None:
        self.box.display = False
        self.load(partial(read_history, self.subject.session), self._show)

    def _show(self, history: History) -> None:
        self.show_nothing("" if history.sends else NOTHING)
        if history.sends:
            self.history = history
            self._chart.series = self._pointer.series = history.series
            self._chart.focus()
            self.action_go(-1)
            self.call_after_refresh(self._show_legend)

    def on_resize(self) -> None:
        self.call_after_refresh(self._show_legend)

    def _show_legend(self) -> None:
        if self._chart.columns is not None:
            self._legend.update(chart.styled(legend(self._chart.columns)))

    def action_step(self, by: int) -> None:
        if self.history is not None:
            self.action_go(max(0, min(len(self.history.sends) - 1, self.place + by)))

    def action_go(self, place: int) -> None:
        """Go to a send; -1 is the last."""
        history = self.history
        if history is None:
            return
        of = len(history.sends)
        self.place = self._pointer.place = place = place % of
        send, *parts = send_lines(history.sends[place], place + 1, of)
        self._send.update(Content.assemble((send, "bold"), *(f"\n{part}" for part in parts)))
        picked = history.first_picked is not None and history.first_picked <= place
        model = self.subject.session.provider.model
        money = money_sentence(history.totals[place], model, picked=picked)
        saved = saved_sentence(history.totals[place], of, exact=history.exact)
        self._saved.update(Content.assemble((saved, "bold"), f"\n{money}" if money else ""))

    def action_zoom(self) -> None:
        self._chart.sent_only = not self._chart.sent_only

    def action_go_to(self) -> None:
        if self.history is not None:
            self.dismiss(GoTo(self.history.sends[self.place].said))

    def action_open(self) -> None:
        if self.history is not None:
            window_id = self.history.sends[self.place].window_id
            self.open_over(SentWindowsView(self.subject, window_id))

    def copyable(self) -> str:
        if self.history is None:
            return ""
        return f"{self._saved.content}\n{self._send.content}\n\n{self.history.table}"
