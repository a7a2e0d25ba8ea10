"""History: what every send took, what `full` would have taken, and what that saved so far."""

from __future__ import annotations

from collections.abc import Iterable
from dataclasses import dataclass

from textual import on, work
from textual.binding import Binding
from textual.containers import Vertical
from textual.content import Content
from textual.message import Message
from textual.widget import Widget
from textual.widgets import Static

from jitchat.errors import JitchatError
from jitchat.memory.cold.sends import Send, Sends
from jitchat.providers.catalogue.cache_life import cache_life
from jitchat.session import Session
from jitchat.tui.views.history_bars import HistoryChart, HistoryPointer
from jitchat.tui.views.history_chart import Series, series_of
from jitchat.tui.views.history_rows import (
    is_sure,
    legend,
    money_sentence,
    saved_sentence,
    send_lines,
    table_lines,
)
from jitchat.tui.views.sends import SendsView
from jitchat.tui.views.subject import GoTo, Outcome, Subject
from jitchat.tui.views.view import View
from jitchat.turn import Usage
from jitchat.window.savings import Savings, Sent, savings

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
