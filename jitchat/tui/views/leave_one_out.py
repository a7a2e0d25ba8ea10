"""Which turn mattered: how much the answer changes without each retrieved turn."""

from collections.abc import Mapping
from contextlib import aclosing
from dataclasses import dataclass, field, replace
from itertools import chain

from textual import work
from textual.binding import Binding
from textual.containers import VerticalScroll
from textual.worker import Worker

from jitchat.small_models import leave_one_out as experiment
from jitchat.store.requests import Purpose
from jitchat.text.figures import dollars, plural
from jitchat.text.sanitize import one_line
from jitchat.tui.drawing import MUTED
from jitchat.tui.views import view
from jitchat.tui.views.table_view import TableView
from jitchat.tui.widgets.turn_table import Column, TurnTable
from jitchat.values import Status

_BAR = 12
_FULL, _HALF, _REST = "█", "▌", "·"
_READER = "reader"
NO_WINDOW = (
    "No window is stored for this reply: it was not sent here, for example it was imported. Choose"
    " another reply."
)
NOTHING_RETRIEVED = (
    "Nothing was retrieved for this reply, so there is no turn to leave out. Ask about something"
    " older to see results here."
)
CUT = (
    "This reply is incomplete ({status}), so any complete answer would differ from it. Send the"
    " message again (/sends, then R) and look at that reply."
)


@dataclass(frozen=True, slots=True)
class Trials:
    """The trials for one reply, and the results so far."""

    exchange: view.Exchange
    trials: tuple[experiment.Trial, ...]
    texts: Mapping[int, str]
    """The texts of the turns left out."""
    measure: experiment.Measure
    """How answers are compared."""
    exact: bool
    """Whether the same window always gives the same answer."""
    cost: float | None = None
    """The cost of all requests in US dollars; None if unknown."""
    results: Mapping[int | None, experiment.TrialResult] = field(default_factory=dict)
    """Results by turn; None for the unchanged window."""

    @property
    def rows(self) -> list[experiment.Trial]:
        """The unchanged window, then the turns, most important first."""

        def order(trial: experiment.Trial) -> tuple[bool, bool, float]:
            tried = self.results.get(trial.turn)
            is_known = tried is not None and tried.error is None
            return trial.turn is not None, not is_known, -tried.change if tried is not None else 0.0

        return sorted(self.trials, key=order)

    @property
    def chance(self) -> float | None:
        """How much the answer differs with an unchanged window; None if unknown."""
        control = self.results.get(None)
        return control.change if control is not None and control.error is None else None

    def style(self, trial: experiment.Trial) -> str:
        tried = self.results.get(trial.turn)
        if tried is None:
            return MUTED
        is_more = tried.error is None and tried.change > (self.chance or 0.0)
        return "bold" if trial.turn is not None and is_more else ""

    def change_cell(self, trial: experiment.Trial) -> str:
        tried = self.results.get(trial.turn)
        if tried is None:
            return "…"
        return "failed" if tried.error is not None else f"{bar(tried.change)} {tried.change:.2f}"

    def text_cell(self, trial: experiment.Trial) -> str:
        tried = self.results.get(trial.turn)
        if tried is not None and tried.error is not None:
            return str(tried.error)
        return "same window again" if trial.turn is None else self.texts.get(trial.turn, "")

    @property
    def columns(self) -> tuple[Column[experiment.Trial], ...]:
        return (
            Column("without", lambda trial: "none" if trial.turn is None else f"#{trial.turn}", 7),
            Column("answer changes", self.change_cell, _BAR + 6),
            Column("turn", self.text_cell),
        )

    @property
    def state(self) -> str:
        state = f"{len(self.results)} of {len(self.trials)} asked · compared {self.measure.name}"
        if self.chance is not None:
            state += f" · the same window again differs by {self.chance:.2f}"
        return state

    def question(self, model: str) -> str:
        turns = len(self.trials) - 1
        price = "free" if self.cost == 0 else "at an unknown price"
        if self.cost:
            price = f"for about {dollars(self.cost)}"
        question = (
            f"{one_line(model)} would be asked {len(self.trials)} times, {price}: without each of"
            f" {plural(turns, 'retrieved turn')}, and once with the same window, to tell chance"
            " apart. Nothing is stored. Enter asks, Esc cancels."
        )
        window = self.exchange.window
        if window is not None and window.model != model:
            question += f" The reply is by {window.model}, so answers may differ anyway."
        return question

    def answer(self, trial: experiment.Trial) -> str:
        tried, reply = self.results.get(trial.turn), self.exchange.reply.content
        name = f"Without #{trial.turn}" if trial.turn is not None else "With the same window"
        if tried is None:
            return f"{name}: not asked yet."
        if tried.error is not None:
            return f"{name}: {tried.error}"
        if tried.answer.strip() == reply.strip():
            return f"{name} the answer is the same."
        lost = experiment.lost_lines(reply, tried.answer) if self.exact else ()
        went = f"\nMissing now: {one_line(' '.join(lost))}" if lost else ""
        return f"{name}: {tried.answer.strip() or 'the answer is empty.'}{went}"


def bar(change: float) -> str:
    """Draw a share from 0 to 1; anything above 0 is visible."""
    halves = min(2 * _BAR, max(round(change * 2 * _BAR), 1 if change > 0 else 0))
    return f"{_FULL * (halves // 2)}{_HALF * (halves % 2)}".ljust(_BAR, _REST)


def read_trials(subject: view.Subject) -> Trials | str:
    """Return the trials for a reply, or why there are none. Slow.

    Raises StoreError if the store or the window is unreadable.
    """
    session, exchange = subject.session, subject.exchange()
    if exchange is None:
        return subject.why_no_exchange
    window, status = exchange.window, exchange.reply.status
    if window is None:
        return NO_WINDOW
    if status is not Status.COMPLETE:
        is_streaming = status is Status.STREAMING
        return view.STREAMING if is_streaming else CUT.format(status=status)
    exact = session.provider.name == _READER and window.model == session.provider.model
    trials = experiment.trials_of(window, control=not exact)
    if not trials:
        return NOTHING_RETRIEVED
    wanted = {trial.turn for trial in trials}
    turns = (turn for turn in session.memory.turns if turn.position in wanted)
    window_id = exchange.window_id
    ending = session.memory.archive.ending(window_id) if window_id is not None else None
    size = ending.usage.output_tokens if ending is not None and ending.usage else None
    return Trials(
        exchange,
        trials,
        {turn.position: turn.content[:400] for turn in turns},
        experiment.measure_of(session.memory.index.embedder, exact=exact),
        exact,
        experiment.cost_of_trials(trials, session.options.prices, size),
    )


class LeaveOneOutView(TableView[experiment.Trial]):
    EXPLAINED = "Asks again without each retrieved turn: how much does the answer change?"
    BINDINGS = [  # noqa: RUF012  Textual's own shape
        Binding("enter", "ask", "Ask", id="mattered_yes", priority=True),
        Binding("n", "decline", "Don't ask", id="mattered_no"),
    ]

    def __init__(self, subject: view.Subject) -> None:
        table = TurnTable[experiment.Trial]((), id="mattered-table", key=lambda trial: trial.turn)
        super().__init__(subject, table, "mattered")
        self._trials: Trials | None = None
        self._asking: Worker[None] | None = None
        self._heading = view.Note("mattered-heading", "exchange")
        self._state = view.Note("mattered-state")

    def body(self) -> view.Body:
        below = VerticalScroll(self.note, id="mattered-below")
        return (self._heading, self._state, self.table, below)

    def read(self) -> None:
        self.load(lambda: read_trials(self.subject), self._show)

    def copyable(self) -> str:
        trials = self._trials
        if trials is None:
            return ""
        head, *rows = self.table.text()
        answers = (f"  {trials.answer(trial)}" for trial in trials.rows)
        return "\n".join([trials.state, head, *chain(*zip(rows, answers, strict=True))])

    def action_close(self) -> None:
        """Stop asking first, keeping the results; then close."""
        if self._asking is not None and self._asking.is_running:
            self._asking.cancel()
            self.say("Stopped. Esc closes the view.")
        else:
            self.dismiss(None)

    def _show(self, trials: Trials | str) -> None:
        if isinstance(trials, str):
            self.show_nothing(trials)
            return
        self._trials = trials
        self.frame.border_title = f"{self.NAME} for #{trials.exchange.reply.position}"
        self._heading.update(view.exchange_text(trials.exchange))
        self._fill(trials)
        if trials.exact:
            self.action_ask()
        else:
            self.confirms = True
            self._state.update(trials.question(self.subject.session.provider.model))

    def action_ask(self) -> None:
        self.confirms = False
        if self._trials is not None:
            self._state.update(self._trials.state)
            self._asking = self._ask(self._trials)

    @work(group="mattered-asking", exclusive=True)
    async def _ask(self, trials: Trials) -> None:
        session, window = self.subject.session, trials.exchange.window
        if window is None:
            return
        reply = trials.exchange.reply.content, trials.measure
        options = session.request_options(window)
        asked = session.metered(Purpose.LEAVE_ONE_OUT)
        trying = experiment.leave_one_out(asked, options, window, trials.trials, reply)
        async with aclosing(trying) as results:
            async for tried in results:
                trials = replace(trials, results={**trials.results, tried.trial.turn: tried})
                self._trials = trials
                self._state.update(trials.state)
                self._fill(trials)

    def _fill(self, trials: Trials) -> None:
        self.table.show(trials.rows, columns=trials.columns, style=trials.style)
        self.show_note()

    def open_row(self, trial: experiment.Trial) -> None:
        if trial.turn is not None:
            self.dismiss(view.GoTo(trial.turn))

    def about(self, trial: experiment.Trial) -> str:
        return self._trials.answer(trial) if self._trials is not None else ""
