"""The lines of the history: what was saved, and one send in its figures. Pure."""

from collections.abc import Iterable, Iterator, Sequence
from dataclasses import dataclass

from textual import on, work
from textual.binding import Binding
from textual.containers import Vertical
from textual.content import Content
from textual.message import Message
from textual.widget import Widget
from textual.widgets import Static

from jitchat.errors import JitchatError
from jitchat.providers.catalogue.table import cache_life
from jitchat.session import Session
from jitchat.store.windows import Send, Sends
from jitchat.text.figures import counted, dollars
from jitchat.text.sanitize import one_line
from jitchat.tui.figures import tokens
from jitchat.tui.send_figures import send_sentence, usage_sentence
from jitchat.tui.views.history_chart import (
    LID,
    Columns,
    HistoryChart,
    HistoryPointer,
    Series,
    series_of,
)
from jitchat.tui.views.sends import SendsView
from jitchat.tui.views.view import GoTo, Outcome, Subject, View
from jitchat.tui.widgets.budget_bar import PATTERNS
from jitchat.values import ASSUMED, Usage
from jitchat.window.savings import Money, Savings, Sent, savings
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


NOTHING = "Nothing was sent here yet. Enter sends; every send then has its column here."
_PAGE = 10
"""Sends that Page Up and Page Down go over."""


@dataclass(frozen=True, slots=True)
class Told:
    """All that is drawn."""

    sends: tuple[Send, ...]
    totals: tuple[Savings, ...]
    """After each send."""
    series: Series
    exact: bool
    """Whether all counts are to be taken as they stand."""
    table: str
    """All sends in figures, for copying; of thousands, too slow to write at a key press."""
    first_picked: int | None
    """The place of the first send for which a small model chose; None where none did."""


def read_history(session: Session) -> Told:
    """Read the sends of a conversation, and sum them up. Slow.

    Raises:
        StoreUnreadable: A row is damaged.

    """
    memory, model = session.memory, session.provider.model
    sends = Sends(memory.store.database).of(memory.conversation.id)

    def price(send: Sent, usage: Usage) -> float | None:
        """Only who answers now has a known price; of a reply that cost nothing, it is that."""
        if getattr(send, "cost", None) == 0:
            return 0.0
        asked = (send.provider or session.provider.name, send.model)
        return session.cost_of(usage) if asked == (session.provider.name, model) else None

    totals = savings(sends, price, cache_life(model))
    exact, table = all(map(is_sure, sends)), "\n".join(table_lines(sends))
    picked = next((place for place, send in enumerate(sends) if send.picked), None)
    return Told(tuple(sends), tuple(totals), series_of(sends), exact, table, picked)


class HistoryView(View):
    """Draws what was sent, send by send, under what `full` would have been."""

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
        Binding("pageup", f"step(-{_PAGE})", show=False),
        Binding("pagedown", f"step({_PAGE})", show=False),
    ]

    @dataclass
    class Read(Message):
        """All sends were read, or could not be."""

        outcome: Told | JitchatError

    def __init__(self, subject: Subject) -> None:
        super().__init__(subject)
        self.told: Told | None = None
        """What is on screen; None while nothing is."""
        self.place = 0
        """The send that is pointed at, from 0."""

    def body(self) -> Iterable[Widget]:
        """What was saved, the chart, its legend, and the send that is pointed at."""
        with Vertical(id="history") as history:
            history.display = False
            yield Static(id="history-saved")
            yield HistoryChart()
            yield HistoryPointer()
            yield Static(id="history-legend")
            yield Static(id="history-send")

    def on_mount(self) -> None:
        """Read while the frame is drawn."""
        self._read()

    @work(thread=True, exclusive=True)
    def _read(self) -> None:
        outcome: Told | JitchatError
        try:
            outcome = read_history(self.subject.session)
        except JitchatError as error:
            outcome = error
        self.post_message(self.Read(outcome))

    @on(Read)
    def _shown(self, message: Read) -> None:
        if isinstance(message.outcome, JitchatError):
            self.show_nothing(str(message.outcome))
        elif not message.outcome.sends:
            self.show_nothing(NOTHING)
        else:
            self.told = message.outcome
            self.query_one("#history").display = True
            for widget in (self.query_one(HistoryChart), self.query_one(HistoryPointer)):
                widget.series = message.outcome.series
            self.query_one(HistoryChart).focus()
            self._move(len(message.outcome.sends) - 1)
            self.call_after_refresh(self._name_columns)

    def on_resize(self) -> None:
        """Other columns, another legend."""
        self.call_after_refresh(self._name_columns)

    def _name_columns(self) -> None:
        chart = self.query_one(HistoryChart)
        if chart.columns is not None:
            line = chart.styled(legend(chart.columns))
            self.query_one("#history-legend", Static).update(line)

    @on(HistoryChart.Moved)
    def _moved(self, message: HistoryChart.Moved) -> None:
        self._move(message.place)

    def _move(self, place: int) -> None:
        """Point at a send: its figures, and the totals up to it."""
        if self.told is None:
            return
        self.place = place
        self.query_one(HistoryPointer).place = place
        first, *rest = self._send_lines(self.told)
        line = Content.assemble((first, "bold"), "\n", "\n".join(rest))
        self.query_one("#history-send", Static).update(line)
        tokens, money = self._total_lines(self.told)
        saved = Content.assemble((tokens, "bold"), f"\n{money}" if money else "")
        self.query_one("#history-saved", Static).update(saved)

    def _send_lines(self, told: Told) -> tuple[str, ...]:
        return send_lines(told.sends[self.place], self.place + 1, len(told.sends))

    def _total_lines(self, told: Told) -> tuple[str, str]:
        total, of = told.totals[self.place], len(told.sends)
        model = self.subject.session.provider.model
        picked = told.first_picked is not None and told.first_picked <= self.place
        money = money_sentence(total, model, picked=picked)
        return saved_sentence(total, of, exact=told.exact), money

    def action_step(self, by: int) -> None:
        """Go some sends on, or back."""
        if self.told is not None:
            self._move(max(0, min(len(self.told.sends) - 1, self.place + by)))

    def action_go(self, place: int) -> None:
        """Go to a send; -1 is the last."""
        if self.told is not None:
            self._move(place % len(self.told.sends))

    def action_zoom(self) -> None:
        """Scale to what was sent, or to `full` again."""
        chart = self.query_one(HistoryChart)
        chart.sent_only = not chart.sent_only

    def action_go_to(self) -> None:
        """Show its message in the transcript."""
        if self.told is not None:
            self.dismiss(GoTo(self.told.sends[self.place].said))

    def action_open(self) -> None:
        """Look at the window of the send."""
        if self.told is not None:
            view = SendsView(self.subject, self.told.sends[self.place].window_id)
            self.app.push_screen(view, self._followed)

    def _followed(self, outcome: Outcome | None) -> None:
        """What is chosen there is the chat's to follow."""
        if outcome is not None:
            self.dismiss(outcome)

    def copyable(self) -> str:
        """Write the totals, the send, and a table of all sends."""
        if self.told is None:
            return ""
        heads = (*filter(None, self._total_lines(self.told)), *self._send_lines(self.told))
        return "\n".join((*heads, "", self.told.table))
