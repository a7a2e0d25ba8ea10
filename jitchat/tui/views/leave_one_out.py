"""How the trials of a reply are drawn: bars of change, the answer without a turn. Pure."""

from collections.abc import Iterable, Mapping, Sequence
from contextlib import aclosing
from dataclasses import dataclass, field, replace

from textual import on, work
from textual.binding import Binding
from textual.containers import VerticalScroll
from textual.content import Content
from textual.message import Message
from textual.widget import Widget
from textual.widgets import OptionList, Static
from textual.worker import Worker

from jitchat.errors import JitchatError
from jitchat.small_models.leave_one_out import (
    Measure,
    Trial,
    TrialResult,
    cost_of_trials,
    leave_one_out,
    lost_lines,
    measure_of,
    trials_of,
)
from jitchat.text.figures import dollars
from jitchat.text.sanitize import for_terminal, one_line
from jitchat.tui.figures import BESIDE, cut
from jitchat.tui.palette import MUTED
from jitchat.tui.views.missing_turn import heading
from jitchat.tui.views.view import STREAMING, GoTo, Replied, Subject, View, replied, why_none
from jitchat.tui.widgets.row_list import PointedList
from jitchat.values import Status

_BAR = 12
_FULL, _HALF, _REST = "█", "▌", "·"
NO_WINDOW = (
    "No window of this reply is kept: it came from elsewhere, such as an import. Choose a reply"
    " that was answered here."
)
NOTHING_RETRIEVED = (
    "Nothing was retrieved for this reply: its window has the recent turns, and no older one that"
    " could be left out. A message about something older fills this."
)
CUT = (
    "This reply was broken off ({status}), so an answer that comes to its end differs from it"
    " whatever turn it goes without. Send the message again (F9, then R) and look at that reply."
)


@dataclass(frozen=True, slots=True)
class Sheet:
    """What is tried, and what came of it so far."""

    replied: Replied
    trials: tuple[Trial, ...]
    texts: Mapping[int, str]
    """What each of their turns says."""
    measure: str
    """By what answers are compared."""
    exact: bool
    """Whether the same window always brings the same answer."""
    tried: Mapping[int | None, TrialResult] = field(default_factory=dict)
    """By turn; None: of the unchanged window."""

    @property
    def rows(self) -> list[Trial]:
        """The unchanged window, then the turns, the one that mattered most first."""
        return sorted(self.trials, key=self._order)

    @property
    def chance(self) -> float | None:
        """How much the answer differs when nothing does; None where that is not known."""
        control = self.tried.get(None)
        return control.change if control is not None and control.error is None else None

    def _order(self, trial: Trial) -> tuple[bool, bool, float]:
        tried = self.tried.get(trial.turn)
        told = tried is not None and tried.error is None
        return trial.turn is not None, not told, -tried.change if tried is not None else 0.0


def row_line(sheet: Sheet, trial: Trial, width: int) -> Content:
    """`#9      ██████▌····· 0.54  Decision: the deploy …`: at most `width` cells."""
    tried = sheet.tried.get(trial.turn)
    name = f"#{trial.turn}" if trial.turn is not None else "none"
    text = "the same window again" if trial.turn is None else sheet.texts.get(trial.turn, "")
    if tried is None:
        line, style = f"{name:<7} {'…':<{_BAR}}       {one_line(text)}", MUTED
    elif tried.error is not None:
        line, style = f"{name:<7} {'failed':<{_BAR}}       {one_line(str(tried.error))}", ""
    else:
        is_more = tried.change > (sheet.chance or 0.0)
        line = f"{name:<7} {bar(tried.change)} {tried.change:.2f}  {one_line(text)}"
        style = "bold" if trial.turn is not None and is_more else ""
    return Content.assemble((cut(line, width), style))


def bar(change: float) -> str:
    """Draw 0 to 1; more than nothing is never an empty bar."""
    halves = min(2 * _BAR, max(round(change * 2 * _BAR), 1 if change > 0 else 0))
    return f"{_FULL * (halves // 2)}{_HALF * (halves % 2)}".ljust(_BAR, _REST)


def header() -> str:
    """Name the columns."""
    return f"{'without':<7} {'the answer changes':<{_BAR + 6}} what the turn says"


def question_of(sheet: Sheet, who: str, cost: float | None) -> str:
    """Ask whether the requests are to be sent."""
    turns = len(sheet.trials) - 1
    price = "which is free" if cost == 0 else "at an unknown price"
    if cost:
        price = f"for about {dollars(cost)}"
    return (
        f"{one_line(who)} would be asked {len(sheet.trials)} times, {price}: without each of"
        f" {turns} retrieved turn{'s' * (turns != 1)}, and once with the same window, to tell"
        " chance apart. Nothing is stored. Enter asks, Esc does not."
    )


def state_of(sheet: Sheet) -> str:
    """Say how far it is, and by what answers are compared."""
    done, of = len(sheet.tried), len(sheet.trials)
    told = f"{done} of {of} asked · compared {sheet.measure}"
    if sheet.chance is not None:
        told += f" · the same window again differs by {sheet.chance:.2f}"
    return told


def answer_of(sheet: Sheet, trial: Trial) -> str:
    """Show the answer without a turn, and what went with it."""
    tried = sheet.tried.get(trial.turn)
    name = f"Without #{trial.turn}" if trial.turn is not None else "With the same window"
    if tried is None:
        return f"{name}: not asked yet."
    if tried.error is not None:
        return f"{name}: {for_terminal(str(tried.error))}"
    if tried.answer.strip() == sheet.replied.reply.content.strip():
        return f"{name} the answer is the same."
    lost = lost_lines(sheet.replied.reply.content, tried.answer) if sheet.exact else ()
    went = f"\nWhat went: {one_line(' '.join(lost))}" if lost else ""
    return f"{name}: {for_terminal(tried.answer.strip()) or 'the answer is empty.'}{went}"


def plain(sheet: Sheet) -> Sequence[str]:
    """Write all of it as lines."""
    told = [state_of(sheet), header()]
    for trial in sheet.rows:
        told += [str(row_line(sheet, trial, 200)), f"  {answer_of(sheet, trial)}"]
    return told


_READER = "reader"


class LeaveOneOutView(View):
    """How much the answer changes without each turn."""

    CSS_PATH = ["view.tcss", "leave_one_out.tcss"]  # noqa: RUF012  Textual's own shape
    NAME = "Which turn mattered"
    EXPLAINED = "Asked again without each retrieved turn: how much the answer changes."
    BINDINGS = [  # noqa: RUF012  Textual's own shape
        Binding("enter", "ask", "Ask", id="mattered_yes", priority=True),
        Binding("n", "refuse", "Do not ask", id="mattered_no"),
    ]

    @dataclass
    class Looked(Message):
        """What can be tried, or why nothing can."""

        outcome: Sheet | str | JitchatError
        measure: Measure | None = None
        cost: float | None = None
        """Of all requests, in US dollars; None where that is not known."""

    @dataclass
    class Heard(Message):
        """What came of one trial."""

        tried: TrialResult

    def __init__(self, subject: Subject) -> None:
        super().__init__(subject)
        self._sheet: Sheet | None = None
        self._measure: Measure | None = None
        self._asks = False
        self._asking: Worker[None] | None = None
        self._heading, self._state = Static(id="mattered-heading"), Static(id="mattered-state")
        self._header = Static(Content(header()), id="mattered-header")
        self._list = PointedList(id="mattered-list", compact=True)
        self._answer = Static(id="mattered-answer")
        self._below = VerticalScroll(self._answer, id="mattered-below")

    def body(self) -> Iterable[Widget]:
        """Message and reply, how far it is, a bar a turn, the answer without one."""
        yield self._heading
        yield self._state
        yield self._header
        yield self._list
        yield self._below

    def on_mount(self) -> None:
        """The window is read first; nothing is sent before it is known what that takes."""
        self._list.focus()
        self._look()

    def on_resize(self) -> None:
        """Rows are cut where the list ends."""
        self._fill()

    def copyable(self) -> str:
        """Write every bar and every answer."""
        return "\n".join(plain(self._sheet)) if self._sheet is not None else ""

    def check_action(
        self,
        action: str,
        parameters: tuple[object, ...],  # noqa: ARG002  Textual's own shape
    ) -> bool | None:
        """Enter asks where that is the question, and goes to the turn elsewhere."""
        return self._asks if action in ("ask", "refuse") else True

    def action_ask(self) -> None:
        """Agree to the requests."""
        self._start()

    def action_refuse(self) -> None:
        """Send nothing."""
        self.dismiss(None)

    def action_close(self) -> None:
        """Stop asking first, keeping what came; then leave."""
        if self._asking is not None and self._asking.is_running:
            self._asking.cancel()
            self.notify("Stopped. Esc closes the view.", markup=False)
        else:
            self.dismiss(None)

    @work(thread=True, group="leave_one_out")
    def _look(self) -> None:
        try:
            message = self._looked_up()
        except JitchatError as error:
            message = self.Looked(error)
        self.post_message(message)

    def _looked_up(self) -> Looked:
        session, found = self.subject.session, replied(self.subject)
        if found is None:
            return self.Looked(why_none(self.subject))
        if found.window is None or found.reply.status is not Status.COMPLETE:
            return self.Looked(_why_not(found))
        provider = session.provider
        exact = provider.name == _READER and found.window.model == provider.model
        trials = trials_of(found.window, control=not exact)
        if not trials:
            return self.Looked(NOTHING_RETRIEVED)
        wanted = {trial.turn for trial in trials}
        turns = (turn for turn in session.memory.turns if turn.position in wanted)
        texts = {turn.position: turn.content[:400] for turn in turns}
        measure = measure_of(session.memory.embedder, exact=exact)
        sheet = Sheet(found, trials, texts, measure.name, exact)
        identity = found.window_id
        ending = session.memory.archive.ending(identity) if identity is not None else None
        size = ending.usage.output_tokens if ending is not None and ending.usage else None
        return self.Looked(sheet, measure, cost_of_trials(trials, session.options.prices, size))

    @on(Looked)
    def _looked(self, message: Looked) -> None:
        outcome = message.outcome
        if isinstance(outcome, Sheet):
            self._sheet, self._measure = outcome, message.measure
            name = f"{self.NAME} for #{outcome.replied.reply.position}"
            self.query_one("#view-frame").border_title = name
            self._fill()
            if outcome.exact:
                self._start()
            else:
                self._ask(outcome, message.cost)
            return
        for part in (self._heading, self._state, self._header, self._list, self._below):
            part.display = False
        self.show_nothing(str(outcome))

    def _ask(self, sheet: Sheet, cost: float | None) -> None:
        """Say what it takes, and who answers if that is another model than then."""
        window, model = sheet.replied.window, self.subject.session.provider.model
        told = question_of(sheet, model, cost)
        if window is not None and window.model != model:
            told += f" The reply is by {window.model}: more than the turns may differ."
        self._asks = True
        self._state.update(Content(told))
        self.refresh_bindings()

    def _start(self) -> None:
        self._asks = False
        self.refresh_bindings()
        if self._sheet is not None:
            self._state.update(Content(state_of(self._sheet)))
            self._asking = self._run(self._sheet)

    @work(group="mattered-asking", exclusive=True)
    async def _run(self, sheet: Sheet) -> None:
        session, window = self.subject.session, sheet.replied.window
        if window is None or self._measure is None:
            return
        reply = sheet.replied.reply.content, self._measure
        options = session.request_options(window)
        trying = leave_one_out(session.provider, options, window, sheet.trials, reply)
        async with aclosing(trying) as found:
            async for tried in found:
                self.post_message(self.Heard(tried))

    @on(Heard)
    def _heard(self, message: Heard) -> None:
        if self._sheet is None:
            return
        here = self._turn_here()
        tried = {**self._sheet.tried, message.tried.trial.turn: message.tried}
        self._sheet = replace(self._sheet, tried=tried)
        self._state.update(Content(state_of(self._sheet)))
        self._fill(here)

    @on(OptionList.OptionSelected)
    def _go_to(self) -> None:
        turn = self._turn_here()
        if turn is not None:
            self.dismiss(GoTo(turn))

    @on(OptionList.OptionHighlighted)
    def _show_answer(self) -> None:
        place, sheet = self._list.highlighted, self._sheet
        if sheet is not None and place is not None:
            self._answer.update(Content(answer_of(sheet, sheet.rows[place])))

    def _turn_here(self) -> int | None:
        """The turn under the cursor; None on the unchanged window, or without rows."""
        place, sheet = self._list.highlighted, self._sheet
        return sheet.rows[place].turn if sheet is not None and place is not None else None

    def _fill(self, here: int | None = None) -> None:
        """Draw the rows, with the cursor on its turn; else on the one that mattered most."""
        sheet = self._sheet
        if sheet is None:
            return
        width, rows = max(20, self._list.size.width - BESIDE), sheet.rows
        self._heading.update(Content(heading(sheet.replied, width)))
        places = {trial.turn: place for place, trial in enumerate(rows)}
        here = self._turn_here() if here is None else here
        self._list.set_options([row_line(sheet, trial, width) for trial in rows])
        self._list.highlighted = places.get(here, 0) if here is not None else 0
        self._show_answer()


def _why_not(found: Replied) -> str:
    """Say why no answer can be compared with a reply."""
    if found.window is None:
        return NO_WINDOW
    status = found.reply.status
    return STREAMING if status is Status.STREAMING else CUT.format(status=status)
