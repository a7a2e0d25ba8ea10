"""The questions before something is sent, or deleted."""

from collections.abc import Callable, Iterable, Mapping
from contextlib import suppress
from functools import partial
from typing import Any

from textual import on, work
from textual.app import ComposeResult
from textual.binding import Binding
from textual.containers import Vertical
from textual.content import Content
from textual.events import ScreenResume
from textual.message import Message
from textual.screen import ModalScreen
from textual.widget import Widget
from textual.widgets import Static
from textual.worker import get_current_worker

from jitchat.errors import JitchatError
from jitchat.lab.costs import Answerer, estimate_run, sentence
from jitchat.lab.experiment import PRESETS, RunWanted
from jitchat.lab.run_file import Run
from jitchat.lab.service import LabService
from jitchat.text.figures import plural
from jitchat.text.sanitize import one_line
from jitchat.tui.lab.compare import CompareScreen
from jitchat.tui.lab.frame import (
    AnswererTold,
    LabFrame,
    RunForgotten,
    RunReady,
    RunsCompared,
    RunsListed,
    RunSummed,
)
from jitchat.tui.lab.run import RunScreen
from jitchat.tui.lab.runner import Opened, compare, go_on, look_at, make, shares
from jitchat.tui.lab.runs_list import RunsList
from jitchat.tui.lab.setup import Sending, SetupPane, judge_told, own_told, who_told
from jitchat.tui.lab.shown_run import ShownRun
from jitchat.tui.widgets.hint_line import KeyLine

_STOPS = "Esc stops a run at any time; what came is kept, and it can be gone on with."
_GONE = "Its conversations, windows and answers are deleted. This cannot be taken back."


class AskingScreen(ModalScreen[bool]):
    """Tells what is going to happen; Enter does it, Esc does not."""

    CSS_PATH = ["../dialogs/dialog.tcss", "lab.tcss"]  # noqa: RUF012  Textual's own shape

    def __init__(self, title: str, told: tuple[str, ...]) -> None:
        super().__init__(classes="dialog")
        self._title, self._told = title, told

    def compose(self) -> ComposeResult:
        """A box with the question."""
        first, *rest = map(one_line, self._told)
        with Vertical(classes="box asking") as box:
            box.border_title = Content(self._title)
            yield Static(Content.assemble((first, "bold"), *(f"\n\n{each}" for each in rest)))
            yield KeyLine()

    def action_yes(self) -> None:
        """Do it."""
        self.dismiss(True)

    def action_no(self) -> None:
        """Leave all as it is."""
        self.dismiss(False)


class SendScreen(AskingScreen):
    """Whether questions are to be sent to a model."""

    BINDINGS = [  # noqa: RUF012  Textual's own shape
        Binding("enter", "yes", "Send", id="rot_send"),
        Binding("escape,n", "no", "Do not send", id="rot_send_not"),
    ]


class ForgetScreen(AskingScreen):
    """Whether a run is to be deleted."""

    BINDINGS = [  # noqa: RUF012  Textual's own shape
        Binding("enter", "yes", "Delete", id="rot_delete"),
        Binding("escape,n", "no", "Keep it", id="rot_delete_not"),
    ]


def ask_to_send(sending: Sending, answerer: Answerer) -> SendScreen:
    """Ask ahead of a new run, with all that it sends."""
    budget = sentence(estimate_run(sending.experiment, answerer))
    told = (who_told(answerer), own_told(sending), budget, judge_told(sending), _STOPS)
    return SendScreen("Send this?", tuple(filter(None, told)))


def ask_to_go_on(run: Run, to_ask: int, answerer: Answerer, title: str = "") -> SendScreen:
    """Ask ahead of the rest of a run; `title` is of the user's conversation, if it is known."""
    own = own_told(Sending(run.experiment, answerer, title=title))
    left = f"{plural(to_ask, 'cell')} of {run.experiment.size:,} have no answer yet."
    whole = f"The whole run: {sentence(estimate_run(run.experiment, answerer))}"
    judged = f"{run.judge} judges, whose cost is not counted here." if run.judge else ""
    told = (who_told(answerer), own, left, whole, judged, _STOPS)
    return SendScreen("Send the rest?", tuple(filter(None, told)))


def ask_to_forget(run: Run) -> ForgetScreen:
    """Ask ahead of deleting a run."""
    return ForgetScreen("Delete this run?", (run.title, _GONE))


_EXPLAINED = (
    "Facts are planted in conversations that grow; each is asked for in full, recency and jit."
)
_WAITS = "The last one is still being made ready."


class StartScreen(LabFrame):
    """Chooses a run: a new one, or one that is kept."""

    CSS_PATH = ["lab.tcss", "start.tcss"]  # noqa: RUF012  Textual's own shape
    BINDINGS = [  # noqa: RUF012  Textual's own shape
        *(
            Binding(str(number + 1), f"preset({number})", name, id=f"rot_{name}", show=False)
            for number, name in enumerate((*PRESETS, "own"))
        ),
        Binding("p", "parallel", "At once", id="rot_parallel", show=False),
    ]

    def __init__(
        self,
        desk: LabService,
        wanted: RunWanted | None = None,
        *,
        begins: bool = False,
        titles: Mapping[str, str] | None = None,
    ) -> None:
        """`wanted` is chosen at first, and with `begins` begun if it costs nothing.

        `titles` are those of the user's conversations, by id, as far as they are known.
        """
        super().__init__()
        self._desk, self._begins = desk, begins
        self._titles = titles or {}
        self._setup, self._runs = SetupPane(wanted, self._titles), RunsList()
        self._is_waiting = False
        """Whether a run is being made ready."""

    def body(self) -> Iterable[Widget]:
        """Make the presets, and the runs."""
        yield Static(Content(_EXPLAINED), id="lab-explained")
        yield Static("What to run", classes="lab-heading")
        yield self._setup
        yield Static(id="lab-waiting")
        yield Static("Runs that are kept", classes="lab-heading")
        yield self._runs

    def on_mount(self) -> None:
        """Look who answers: that does not change here."""
        self.query_one("#lab-waiting").display = False
        self._do(self._desk.answerer, AnswererTold)

    @on(ScreenResume)
    def _list(self) -> None:
        """Look which runs there are: one that was left is further than it was listed."""
        self._do(self._desk.runs.all, RunsListed)

    @work(thread=True)
    def _do(self, job: Callable[[], Any], report: Callable[[Any], Message]) -> None:
        """Have something done that is slow, and say what came of it."""
        outcome: Any
        try:
            outcome = job()
        except JitchatError as error:
            outcome = error
        if not get_current_worker().is_cancelled:
            self.post_message(report(outcome))
        elif isinstance(outcome, Opened):
            outcome.runner.leave()

    @on(AnswererTold)
    def _answerer_told(self, message: AnswererTold) -> None:
        if isinstance(message.outcome, JitchatError):
            self.tell(message.outcome)
        else:
            self._setup.show(message.outcome)
            if self._begins and self._setup.sending.is_free and not self.lacks_room():
                self._make(self._setup.sending)
            self._begins = False

    @on(RunsListed)
    def _runs_listed(self, message: RunsListed) -> None:
        if isinstance(message.outcome, JitchatError):
            self.tell(message.outcome)
            return
        self._runs.show(message.outcome)
        self._sum_up(self._runs.unsummed)

    @work(thread=True, exclusive=True, group="sums")
    def _sum_up(self, runs: Iterable[Run]) -> None:
        worker = get_current_worker()
        for run in runs:
            with suppress(JitchatError):  # it was deleted meanwhile, or is told when it is opened
                summed = RunSummed(run.id, shares(self._desk.runs, run.id))
                if worker.is_cancelled:
                    return
                self.post_message(summed)

    @on(RunSummed)
    def _run_summed(self, message: RunSummed) -> None:
        self._runs.sum_up(message.run, message.modes)

    def action_preset(self, number: int) -> None:
        """Choose a preset."""
        self._setup.choose(number)

    def action_parallel(self) -> None:
        """Send more at once, or less."""
        self._setup.next_parallel()

    @on(SetupPane.Chosen)
    def _chosen(self, message: SetupPane.Chosen) -> None:
        """Run it; a model that may cost something is asked for first."""
        sending = message.sending
        if self.lacks_room():
            return
        if sending.answerer is None:
            self.notify("It is not known yet who answers.", markup=False)
        elif sending.is_free:
            self._make(sending)
        else:
            asked = ask_to_send(sending, sending.answerer)
            self.app.push_screen(asked, partial(self._make_if, sending))

    def _make_if(self, sending: Sending, is_wanted: bool | None) -> None:
        if is_wanted:
            self._make(sending)

    def _make(self, sending: Sending) -> None:
        self._open("making the run ready…", partial(make, self._desk, sending))

    @on(RunsList.Opened)
    def _run_opened(self, message: RunsList.Opened) -> None:
        if not self.lacks_room():
            self._open("opening the run…", partial(look_at, self._desk.runs, message.run.id))

    def action_go_on(self) -> None:
        """Ask what has no answer yet in the run under the cursor."""
        run = self._runs.chosen
        if run is not None:
            self._resume(run, self._runs.left_of(run))

    def _resume(self, run: Run, to_ask: int) -> None:
        """Ask so many cells; of a model that may cost something, once that is agreed to."""
        answerer = self._setup.answerer
        if answerer is None or self.lacks_room():
            return
        if not to_ask:
            self.notify("Every cell of this run has an answer. Enter opens it.", markup=False)
        elif Sending(run.experiment, answerer, judge=run.judge).is_free:
            self._go_on(run)
        else:
            title = self._titles.get(run.experiment.conversation or "", "")
            asked = ask_to_go_on(run, to_ask, answerer, title)
            self.app.push_screen(asked, partial(self._go_on_if, run))

    def _go_on_if(self, run: Run, is_wanted: bool | None) -> None:
        if is_wanted:
            self._go_on(run)

    def _go_on(self, run: Run) -> None:
        self._open("opening the run…", partial(go_on, self._desk, run.id, self._setup.parallel))

    def _open(self, told: str, job: Callable[[], Opened]) -> None:
        """Have a run made ready, one at a time."""
        if self._is_waiting:
            self.notify(_WAITS, markup=False)
            return
        self._wait_for(told)
        self._do(job, RunReady)

    @on(RunReady)
    def _run_ready(self, message: RunReady) -> None:
        self._wait_for("")
        if isinstance(message.outcome, JitchatError):
            self.tell(message.outcome)
        elif not self.is_current:
            self._leave(message.outcome)
        else:
            shown = message.outcome.shown
            screen = RunScreen(message.outcome.runner, shown)
            self.app.push_screen(screen, partial(self._resume_if, shown))

    def _resume_if(self, shown: ShownRun, is_wanted: bool | None) -> None:
        if is_wanted:
            self._resume(shown.run, len(shown.to_ask))

    @work(thread=True)
    def _leave(self, opened: Opened) -> None:
        """Give back the file of a run that nobody waits for any more."""
        opened.runner.leave()

    def action_compare(self) -> None:
        """Mark the run under the cursor; two that are marked are compared."""
        self._runs.mark()
        if len(self._runs.marked) == 2:
            first, other = self._runs.marked
            self._do(partial(compare, self._desk.runs, (first, other)), RunsCompared)

    @on(RunsCompared)
    def _compared(self, message: RunsCompared) -> None:
        self._runs.unmark()
        if isinstance(message.outcome, JitchatError):
            self.tell(message.outcome)
        else:
            self.app.push_screen(CompareScreen(message.outcome))

    def action_forget(self) -> None:
        """Delete the run under the cursor, once that is confirmed."""
        run = self._runs.chosen
        if run is not None and not self.lacks_room():
            self.app.push_screen(ask_to_forget(run), partial(self._forget_if, run))

    def _forget_if(self, run: Run, is_wanted: bool | None) -> None:
        if is_wanted:
            self._do(partial(self._desk.runs.forget, run.id), RunForgotten)

    @on(RunForgotten)
    def _forgotten(self, message: RunForgotten) -> None:
        if message.outcome is not None:
            self.tell(message.outcome)
        self._list()

    def _wait_for(self, told: str) -> None:
        self._is_waiting = bool(told)
        waiting = self.query_one("#lab-waiting", Static)
        waiting.update(Content(told))
        waiting.display = bool(told)
