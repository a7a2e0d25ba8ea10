"""The first screen of the lab: a new run is chosen and begun, a saved one opened or resumed."""

import asyncio
from collections.abc import Callable, Mapping, Sequence
from contextlib import closing, suppress
from functools import partial
from typing import Literal

from textual import on, work
from textual.app import ComposeResult
from textual.binding import Binding
from textual.containers import Vertical
from textual.content import Content
from textual.events import ScreenResume
from textual.screen import ModalScreen
from textual.widgets import Static

from jitchat.errors import JitchatError
from jitchat.lab.costs import Answerer, estimate_run, sentence
from jitchat.lab.experiment import PRESETS, RunWanted
from jitchat.lab.run_file import Run
from jitchat.lab.service import LabService
from jitchat.lab.stats import Tally, count_results
from jitchat.text.figures import plural
from jitchat.text.sanitize import one_line
from jitchat.threads import to_the_end
from jitchat.tui.lab.compare import CompareScreen, compare_runs
from jitchat.tui.lab.lab_screen import LabScreen
from jitchat.tui.lab.run import RunScreen
from jitchat.tui.lab.run_state import OpenRun, RunState
from jitchat.tui.lab.runs_list import RunsList
from jitchat.tui.lab.setup import PlannedRun, SetupPane, answerer_line
from jitchat.tui.notices import reports_errors
from jitchat.tui.widgets.hint_line import KeyLine
from jitchat.values import Mode

_STOPS = "Esc stops a run at any time; what was answered is kept, and the run can be resumed."
_GONE = "Its conversations, windows and answers are deleted. This cannot be undone."


class ConfirmScreen(ModalScreen[bool]):
    """Says what is going to happen; Enter does it, Esc does not."""

    CSS_PATH = ["../dialogs/dialog.tcss", "lab.tcss"]  # noqa: RUF012  Textual's own shape
    BINDINGS = [  # noqa: RUF012  Textual's own shape
        Binding("enter", "answer(True, 'send')", "Send", id="rot_send"),
        Binding("escape,n", "answer(False, 'send')", "Do not send", id="rot_send_not"),
        Binding("enter", "answer(True, 'delete')", "Delete", id="rot_delete"),
        Binding("escape,n", "answer(False, 'delete')", "Keep it", id="rot_delete_not"),
    ]

    def __init__(
        self, title: str, paragraphs: Sequence[str], verb: Literal["send", "delete"] = "send"
    ) -> None:
        """`verb` says which of the keys there are; an empty paragraph is left out."""
        super().__init__(classes="dialog")
        self._title, self._verb = title, verb
        self.paragraphs = [one_line(text) for text in paragraphs if text]

    def compose(self) -> ComposeResult:
        first, *rest = self.paragraphs
        with Vertical(classes="box confirm") as box:
            box.border_title = Content(self._title)
            yield Static(Content.assemble((first, "bold"), *(f"\n\n{text}" for text in rest)))
            yield KeyLine()

    def check_action(self, action: str, parameters: tuple[object, ...]) -> bool | None:
        return action != "answer" or parameters[1] == self._verb

    def action_answer(self, is_wanted: bool, verb: str) -> None:  # noqa: ARG002  see check_action
        self.dismiss(is_wanted)


def confirm_send(plan: PlannedRun, answerer: Answerer, to_ask: int | None = None) -> ConfirmScreen:
    who, budget = answerer_line(answerer), sentence(estimate_run(plan.experiment, answerer))
    if to_ask is None:
        new = (who, plan.own_sentence, budget, plan.judge_sentence, _STOPS)
        return ConfirmScreen("Send this?", new)
    left = f"{plural(to_ask, 'cell')} of {plan.experiment.size:,} have no answer yet."
    judge = f"{plan.judge} judges, whose cost is not counted here." if plan.judge else ""
    rest = (who, plan.own_sentence, left, f"The whole run: {budget}", judge, _STOPS)
    return ConfirmScreen("Send the rest?", rest)


_EXPLAINED = (
    "Facts are planted in conversations that grow; each is asked for in"
    f" {', '.join([*Mode][:-1])} and {[*Mode][-1]}."
)
_WAITS = "Another run is still being prepared."


class StartScreen(LabScreen):
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
        service: LabService,
        wanted: RunWanted | None = None,
        *,
        begins: bool = False,
        titles: Mapping[str, str] | None = None,
    ) -> None:
        """`wanted` is chosen at first, and with `begins` begun if it costs nothing.

        `titles` are those of the user's conversations, by id, as far as they are known.
        """
        super().__init__()
        self._service, self._begins = service, begins
        self._titles = titles or {}
        self._setup, self._runs = SetupPane(wanted, self._titles), RunsList()
        self._waiting = Static(id="lab-waiting")

    def body(self) -> ComposeResult:
        yield Static(Content(_EXPLAINED), id="lab-explained")
        yield Static("What to run", classes="lab-heading")
        yield self._setup
        yield self._waiting
        yield Static("Saved runs", classes="lab-heading")
        yield self._runs

    def on_mount(self) -> None:
        self._waiting.display = False
        self._look_up_answerer()

    @work
    @reports_errors
    async def _look_up_answerer(self) -> None:
        self._setup.show(await asyncio.to_thread(self._service.answerer))
        if self._begins and self._setup.plan.is_free and not self.lacks_room():
            await self._begin(self._setup.plan)

    @on(ScreenResume)
    @work(exclusive=True, group="list")
    @reports_errors
    async def _list(self) -> None:
        """List the runs: one that was left is further than it was listed. Then sum them up."""

        def shares(run: str) -> Mapping[Mode, Tally]:
            with closing(self._service.runs.open(run)) as file:
                return count_results(file.results()).by_mode

        runs = await asyncio.to_thread(self._service.runs.all)
        self._runs.show(runs)
        for run, _ in runs:
            with suppress(JitchatError):  # it was deleted meanwhile, or is told when it is opened
                self._runs.sum_up(run.id, await asyncio.to_thread(shares, run.id))

    def action_preset(self, number: int) -> None:
        self._setup.choose(number)

    def action_parallel(self) -> None:
        self._setup.next_parallel()

    @on(SetupPane.Chosen)
    @work
    async def _chosen(self, message: SetupPane.Chosen) -> None:
        plan = message.plan
        if self.lacks_room():
            return
        if plan.answerer is None:
            self.notify("It is not known yet who answers.", markup=False)
        elif plan.is_free or await self.app.push_screen_wait(confirm_send(plan, plan.answerer)):
            await self._begin(plan)

    async def _begin(self, plan: PlannedRun) -> None:
        await self._open(
            "preparing the run…",
            lambda: OpenRun.to_ask(self._service.begin(plan.experiment, plan.parallel, plan.judge)),
        )

    @on(RunsList.Opened)
    @work
    async def _run_opened(self, message: RunsList.Opened) -> None:
        run = message.run.id
        if not self.lacks_room():
            await self._open("opening the run…", lambda: OpenRun(self._service.runs.open(run)))

    @work
    async def action_go_on(self) -> None:
        run = self._runs.chosen
        if run is not None:
            await self._resume(run, self._runs.left_of(run))

    async def _resume(self, run: Run, to_ask: int) -> None:
        answerer = self._setup.answerer
        if answerer is None or self.lacks_room():
            return
        if not to_ask:
            self.notify("Every cell of this run has an answer. Enter opens it.", markup=False)
            return
        parallel = self._setup.parallel
        title = self._titles.get(run.experiment.conversation or "", "")
        plan = PlannedRun(run.experiment, answerer, parallel, run.judge, title)
        confirm = confirm_send(plan, answerer, to_ask)
        if plan.is_free or await self.app.push_screen_wait(confirm):
            await self._open(
                "opening the run…", lambda: OpenRun.to_ask(self._service.resume(run.id, parallel))
            )

    @reports_errors
    async def _open(self, waits_for: str, opening: Callable[[], OpenRun]) -> None:
        """Have a run prepared, one at a time, and show it; it may be left to be resumed."""
        if self._waiting.display:
            self.notify(_WAITS, markup=False)
            return
        self._waiting.update(Content(waits_for))
        self._waiting.display = True
        opened: list[OpenRun] = []
        run = None
        try:
            await to_the_end(lambda: opened.append(opening()))
            if self.is_current:
                run = opened.pop()
        finally:
            self._waiting.display = False
            for unwanted in opened:
                unwanted.file.close()
        if run is not None:
            self.app.push_screen(RunScreen(run), partial(self._run_left, run.state))

    def _run_left(self, state: RunState, is_resumed: bool | None) -> None:
        if is_resumed:
            self.run_worker(self._resume(state.run, len(state.to_ask)))

    @work
    @reports_errors
    async def action_compare(self) -> None:
        self._runs.mark()
        marked = self._runs.marked
        if len(marked) < 2:
            return
        try:
            comparison = await asyncio.to_thread(compare_runs, self._service.runs, marked)
        finally:
            self._runs.unmark()
        self.app.push_screen(CompareScreen(comparison))

    @work
    @reports_errors
    async def action_forget(self) -> None:
        run = self._runs.chosen
        if run is None or self.lacks_room():
            return
        if await self.app.push_screen_wait(
            ConfirmScreen("Delete this run?", (run.title, _GONE), "delete")
        ):
            try:
                await asyncio.to_thread(self._service.runs.forget, run.id)
            finally:
                self._list()
