"""The first screen of the lab: start a new run, or open or resume a saved one."""

import asyncio
from collections.abc import Callable, Iterable, Mapping, Sequence
from contextlib import closing, suppress
from functools import partial
from itertools import chain

from textual import events, on, work
from textual.app import ComposeResult
from textual.binding import Binding
from textual.containers import Vertical
from textual.widgets import OptionList, Static

from jitchat.errors import JitchatError
from jitchat.lab.costs import Answerer, estimate_run, sentence
from jitchat.lab.experiment import PRESETS, RunWanted
from jitchat.lab.lab import Lab
from jitchat.lab.run_file import Run, RunFile
from jitchat.lab.service import LabService
from jitchat.lab.stats import Tally, count_results, percent, total
from jitchat.text.figures import enumerated, plural
from jitchat.text.sanitize import one_line
from jitchat.threads import to_the_end
from jitchat.tui.dialogs.dialog import Dialog, box
from jitchat.tui.drawing import Content
from jitchat.tui.figures import BESIDE, cut
from jitchat.tui.lab.lab_screen import LabScreen
from jitchat.tui.lab.run import RunScreen
from jitchat.tui.lab.run_state import OpenRun, RunState
from jitchat.tui.lab.setup import PlannedRun, SetupPane, answerer_line
from jitchat.tui.notices import reports_errors
from jitchat.tui.widgets.hint_line import KeyLine
from jitchat.tui.widgets.row_list import PointedList
from jitchat.values import USUAL_MODES, Mode

_STOPS = "Esc stops a run at any time; its answers are kept, and it can be resumed."
_GONE = "This deletes its conversations, windows and answers, and cannot be undone."


class ConfirmScreen(Dialog[bool]):
    """Describes an action; Enter confirms, Esc cancels."""

    CSS_PATH = [*Dialog.CSS_PATH, "lab.tcss"]  # noqa: RUF012  Textual's own shape
    BINDINGS = [  # noqa: RUF012  Textual's own shape
        Binding("enter", "dismiss(True)", "Send", id="rot_send"),
        Binding("escape,n", "dismiss(False)", "Don't send", id="rot_send_not"),
    ]

    def __init__(self, title: str, paragraphs: Sequence[str]) -> None:
        """Empty paragraphs are left out."""
        super().__init__()
        self._title = title
        self.paragraphs = [one_line(text) for text in paragraphs if text]

    def compose(self) -> ComposeResult:
        first, *rest = self.paragraphs
        with box(self._title).add_class("confirm"):
            yield Static(Content.assemble((first, "bold"), *(f"\n\n{text}" for text in rest)))
            yield KeyLine()


class DeleteScreen(ConfirmScreen):
    BINDINGS = [  # noqa: RUF012  Textual's own shape
        Binding("enter", "dismiss(True)", "Delete", id="rot_delete"),
        Binding("escape,n", "dismiss(False)", "Keep it", id="rot_delete_not"),
    ]


def confirm_send(plan: PlannedRun, answerer: Answerer, to_ask: int | None = None) -> ConfirmScreen:
    who, budget = answerer_line(answerer), sentence(estimate_run(plan.experiment, answerer))
    if to_ask is None:
        new = (who, plan.own_sentence, budget, plan.judge_sentence, _STOPS)
        return ConfirmScreen("Send this?", new)
    left = f"{to_ask:,} of {plural(plan.experiment.size, 'cell')} without an answer yet."
    judge = f"{plan.judge} judges; its cost is not included." if plan.judge else ""
    rest = (who, plan.own_sentence, left, f"The whole run: {budget}", judge, _STOPS)
    return ConfirmScreen("Send the rest?", rest)


_PRESET, _CELLS = 11, 11
_SHARE, _TOTAL = 7, 16
"""Columns of a mode's figure after the title, without and with its count; a longer mode name widens
them."""
_ROOMY = 120
"""Columns from which shares are shown with counts: `recency` may have more cells than `full`."""
_NARROW = 90
"""With fewer columns the preset is left out: the title has its lengths."""
_TITLE = 58
"""Maximum columns of a title: figures are hard to follow across a wider gap."""
_NO_RUNS = "None yet. Your runs are listed here to open or resume."


def modes_of(runs: Iterable[Run]) -> tuple[Mode, ...]:
    """List the modes that have a column: the usual ones and those of the runs."""
    asked = chain(USUAL_MODES, *(run.experiment.modes for run in runs))
    return tuple(sorted(set(asked), key=list(Mode).index))


def runs_header(width: int, modes: Sequence[Mode] = USUAL_MODES) -> str:
    return _columns(("run", "preset", "cells", *modes), modes, width)


def run_line(
    run: Run,
    done: int,
    shares: Mapping[Mode, Tally] | None,
    width: int,
    modes: Sequence[Mode] = USUAL_MODES,
) -> Content:
    """Write `qwen3-8b, 2k to 32k, Tue 24 Nov 15:40  quick  210/420   91 %  34 %  97 %`.

    If there is room, `91 % of 70`. Shares are None while they are loaded.
    """
    size = run.experiment.size
    cells = f"{size:,}" if done >= size else f"{done:,}/{size:,}"
    figures, is_roomy = [], width >= _ROOMY and len(modes) <= len(USUAL_MODES)
    for mode in modes:
        tally = (shares or {}).get(mode)
        if tally is not None:
            figures.append(total(tally) if is_roomy else percent(tally.share))
        else:
            figures.append("…" if shares is None and mode in run.experiment.modes else "")
    row = (one_line(run.title), run.experiment.preset, cells, *figures)
    return Content(_columns(row, modes, width))


def _columns(row: Sequence[str], modes: Sequence[Mode], width: int) -> str:
    title, preset, cells, *shares = row
    least = _TOTAL if width >= _ROOMY and len(modes) <= len(USUAL_MODES) else _SHARE
    wides = (max(least, len(mode) + 2) for mode in modes)
    behind = f"  {cut(preset, _PRESET - 2):<{_PRESET - 2}}" if width >= _NARROW else ""
    behind += f"{cells:>{_CELLS}}"
    behind += "".join(f"{share:>{wide}}" for share, wide in zip(shares, wides, strict=True))
    room = max(10, min(_TITLE, width - len(behind)))
    return f"{cut(title, room):<{room}}{behind}"


class RunRows(PointedList):
    """The list of runs; above its first line are the presets."""

    BINDINGS = [  # noqa: RUF012  Textual's own shape
        Binding("enter", "select", "Open", id="rot_open"),
        Binding("r", "screen.go_on", "Resume", id="rot_resume"),
        Binding("tab", "app.focus_next", "What to run", id="rot_to_presets"),
        Binding("delete,backspace", "screen.forget", "Delete", id="rot_forget"),
    ]

    def action_cursor_up(self) -> None:
        if self.highlighted:
            super().action_cursor_up()
        else:
            self.screen.focus_previous()


class RunsList(Vertical):
    def __init__(self) -> None:
        super().__init__(id="runs-pane")
        self._header = Static(id="runs-header")
        self._none = Static(Content(_NO_RUNS), id="runs-none")
        self._list = RunRows(id="runs", compact=True)
        self._none.display = False
        self._runs: Sequence[tuple[Run, int]] = ()
        """The runs, each with its number of decided cells."""
        self._shares: dict[str, Mapping[Mode, Tally]] = {}
        """Tallies by run id, valid until the runs are listed again: a cell may be asked again, and
        an id may be reused after a deletion."""

    def compose(self) -> ComposeResult:
        yield self._header
        yield self._list
        yield self._none

    def on_resize(self) -> None:
        self._draw()

    def show(self, runs: Sequence[tuple[Run, int]]) -> None:
        self._runs = runs
        self._shares.clear()
        self._header.display = self._list.display = bool(runs)
        self._none.display = not runs
        self._draw()

    def sum_up(self, run: str, shares: Mapping[Mode, Tally]) -> None:
        self._shares[run] = shares
        self._draw()

    @property
    def chosen(self) -> Run | None:
        row = self._list.highlighted
        return self._runs[row][0] if row is not None and row < len(self._runs) else None

    def left_of(self, run: Run) -> int:
        """Count the cells of a run without an answer, as far as known."""
        done = {listed.id: number for listed, number in self._runs}.get(run.id, 0)
        failed = sum(tally.failed for tally in self._shares.get(run.id, {}).values())
        return run.experiment.size - done + failed

    def _draw(self) -> None:
        width = max(40, self.size.width - BESIDE - 1)
        modes = modes_of(run for run, _ in self._runs)
        self._header.update(Content(runs_header(width, modes)))
        lines = [
            run_line(run, done, self._shares.get(run.id), width, modes) for run, done in self._runs
        ]
        self._list.draw(lines, None)
        if lines and self._list.highlighted is None:
            self._list.highlighted = 0


_EXPLAINED = (
    f"Facts are planted in growing conversations; each is asked for in {enumerated(USUAL_MODES)}."
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
        Binding("m", "modes", "Modes", id="rot_modes", show=False),
    ]

    def __init__(
        self,
        service: LabService,
        wanted: RunWanted | None = None,
        *,
        begins: bool = False,
        titles: Mapping[str, str] | None = None,
    ) -> None:
        """`wanted` is selected initially and, with `begins`, started if it is free.

        `titles` are the user's conversations' titles by id, as far as known.
        """
        super().__init__()
        self._service, self._begins = service, begins
        self._setup, self._runs = SetupPane(wanted, titles or {}), RunsList()
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

    @on(events.ScreenResume)
    @work(exclusive=True, group="list")
    @reports_errors
    async def _list(self) -> None:
        """List the runs again, since the one just left has progressed, and then tally them."""

        def shares(run: str) -> Mapping[Mode, Tally]:
            with closing(self._service.runs.open(run)) as file:
                return count_results(file.results()).by_mode

        runs = await asyncio.to_thread(self._service.runs.all)
        self._runs.show(runs)
        for run, _ in runs:
            with suppress(JitchatError):  # deleted meanwhile; other errors appear when it is opened
                self._runs.sum_up(run.id, await asyncio.to_thread(shares, run.id))

    def action_preset(self, number: int) -> None:
        self._setup.choose(number)

    def action_modes(self) -> None:
        self._setup.next_modes()

    def action_parallel(self) -> None:
        self._setup.next_parallel()

    @on(OptionList.OptionSelected, "#presets")
    @work
    async def _chosen(self) -> None:
        plan = self._setup.plan
        if self.lacks_room():
            return
        if plan.answerer is None:
            self.notify("The model is not known yet.", markup=False)
        elif plan.is_free or await self.app.push_screen_wait(confirm_send(plan, plan.answerer)):
            await self._begin(plan)

    async def _begin(self, plan: PlannedRun) -> None:
        def begin() -> Lab:
            return self._service.begin(plan.experiment, plan.parallel, plan.judge)

        await self._open("preparing the run…", begin)

    @on(OptionList.OptionSelected, "#runs")
    @work
    async def _run_opened(self) -> None:
        run = self._runs.chosen
        if run is not None and not self.lacks_room():
            await self._open("opening the run…", lambda: self._service.runs.open(run.id))

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
        plan = self._setup.plan_of(run.experiment, run.judge)
        confirm = confirm_send(plan, answerer, to_ask)

        def resume() -> Lab:
            return self._service.resume(run.id, plan.parallel)

        if plan.is_free or await self.app.push_screen_wait(confirm):
            await self._open("opening the run…", resume)

    @reports_errors
    async def _open(self, waits_for: str, opening: Callable[[], Lab | RunFile]) -> None:
        """Prepare a run, one at a time, and show it; it may return to be resumed."""
        if self._waiting.display:
            self.notify(_WAITS, markup=False)
            return
        self._waiting.update(Content(waits_for))
        self._waiting.display = True
        opened: list[OpenRun] = []
        run = None
        try:
            await to_the_end(lambda: opened.append(OpenRun(opening())))
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
    async def action_forget(self) -> None:
        run = self._runs.chosen
        if run is None or self.lacks_room():
            return
        if await self.app.push_screen_wait(DeleteScreen("Delete this run?", (run.title, _GONE))):
            try:
                await asyncio.to_thread(self._service.runs.forget, run.id)
            finally:
                self._list()
