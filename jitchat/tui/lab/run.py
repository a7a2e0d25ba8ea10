"""What stands above a run: who answered what, how far it is, and what the lab waits for."""

import asyncio
from collections.abc import Iterable, Sequence
from pathlib import Path
from time import monotonic

from textual import on, work
from textual.binding import Binding
from textual.containers import Container, Vertical
from textual.content import Content
from textual.reactive import reactive
from textual.style import Style
from textual.timer import Timer
from textual.widget import Widget
from textual.widgets import Static

from jitchat.errors import JitchatError
from jitchat.lab.experiment import Result
from jitchat.lab.export.files import FORMATS, exported
from jitchat.lab.report import READER_CAVEAT
from jitchat.lab.run_file import Run
from jitchat.text.sanitize import for_terminal, one_line, shorten
from jitchat.tui.dialogs.exact import ExactScreen
from jitchat.tui.lab.cell_window import CellWindow
from jitchat.tui.lab.cells import SquarePane, whole
from jitchat.tui.lab.curve import CurvePlot, SpentTable
from jitchat.tui.lab.frame import LabEnded, LabFrame, LabReported
from jitchat.tui.lab.heatmap import Grid, HeatMaps
from jitchat.tui.lab.runner import LabRunner
from jitchat.tui.lab.setup import Page, planned
from jitchat.tui.lab.shown_run import Progress, ShownRun, kinds_told
from jitchat.tui.palette import MUTED
from jitchat.tui.widgets.save_line import SaveLine, save

_STOPPING = "stopping; what came is kept"
_BAR = 28
"""Cells of the bar, where the line is long enough."""


class RunHead(Static):
    """Two lines."""

    def __init__(self) -> None:
        super().__init__(id="run-head")

    def show(self, shown: ShownRun, progress: Progress, *, is_stopping: bool) -> None:
        """Tell of a moment of a run."""
        bar = min(_BAR, max(8, self.size.width // 7))
        done, left = progress.bar(bar)
        does = _STOPPING if is_stopping else one_line(shown.notice)
        notice = f" · {does}" if does else ""
        at_once = f" · {shown.parallel} at once" if shown.parallel and progress.is_running else ""
        room = self.size.width - 2 - bar - 2 - len(notice)
        cost = f" · {shown.cost}" if shown.cost else ""
        counts = f"{progress.count}{cost}"
        told = f"{progress.sentence}{cost}"
        forms = (f"{told}{at_once}", told, counts, progress.count)
        line = Content.assemble(
            (done, "$primary"),
            (left, MUTED),
            f"  {next((each for each in forms if len(each) <= room), forms[-1])}",
            (notice, "$text-warning"),
        )
        self.update(Content("\n").join([run_line(shown), line]), layout=False)


def run_line(shown: ShownRun) -> Content:
    """Write who answered, within which limit, and which kinds are counted."""
    run = shown.run
    kinds = kinds_told(shown.kinds, run.experiment.kinds)
    return Content.assemble(
        (one_line(run.model), "bold"),
        " · counted: ",
        (kinds, "bold"),
        f" · {one_line(rest_of(run))}",
    )


def rest_of(run: Run) -> str:
    """Write `standard · limit 32,768, reserve 2,048 · builtin-256 · seed 1`."""
    name = "own grid" if run.experiment.preset == "own" else run.experiment.preset
    judged = f" · judged by {run.judge}" if run.judge else ""
    return (
        f"{name} · limit {run.limit:,}, reserve {run.reserve:,} · {run.embedder}"
        f" · seed {run.experiment.seed}{judged}"
    )


class PageTabs(Static):
    """Names of panes; one is on."""

    names: reactive[tuple[str, ...]] = reactive(())
    page: reactive[str] = reactive("")
    """The one that is on."""

    def __init__(self, names: tuple[str, ...]) -> None:
        super().__init__(id="lab-tabs")
        self.set_reactive(PageTabs.names, names)
        self.set_reactive(PageTabs.page, names[0])

    def render(self) -> Content:
        """Draw them in a line."""
        parts: list[tuple[str, Style | str]] = []
        for name in self.names:
            click = Style.from_meta({"@click": f"screen.page('{name}')"})
            look = Style.parse("bold reverse") if name == self.page else Style()
            parts += [(f" {name} ", click + look), (" ", "")]
        return Content.assemble(*parts)

    @property
    def after(self) -> str:
        """The one behind it; behind the last comes the first."""
        return self.names[(self.names.index(self.page) + 1) % len(self.names)]


_ENDINGS = f".{', .'.join([*FORMATS][:-1])} or .{[*FORMATS][-1]}"
_ASKED = f"Write this run to a file that ends in {_ENDINGS}; a folder gets all of them."


class ExportLine(SaveLine):
    """Hidden until a run is to be written."""

    def __init__(self) -> None:
        super().__init__()
        self._run: tuple[Run, Sequence[Result]] | None = None

    def ask_to_write(self, run: Run, results: Sequence[Result]) -> None:
        """Ask where to write a run with these results."""
        self._run = run, results
        self.ask_for(_ASKED, f"rot-{run.id}.svg")

    def write(self, name: str, *, over: bool) -> Path:
        """Write it to a file, or in every format to a folder."""
        if self._run is None:
            raise JitchatError("There is no run to write.")
        ending = Path(name).suffix.removeprefix(".").lower()
        if ending in FORMATS:
            return save(name, exported(ending, *self._run), over=over)
        folder = _folder(name)
        for each in FORMATS:
            file = folder / f"rot-{self._run[0].id}.{each}"
            save(str(file), exported(each, *self._run), over=over)
        return folder.absolute()


def _folder(name: str) -> Path:
    """Find a folder, or make it.

    Raises:
        JitchatError: It is no folder, and cannot be one.

    """
    folder = Path(name).expanduser()
    if folder.suffix and not folder.is_dir():
        what = f"{shorten(name, 60)} is no folder, and in no format that there is."
        raise JitchatError(what, f"End the name in {_ENDINGS}.")
    try:
        folder.mkdir(parents=True, exist_ok=True)
    except OSError as error:
        what = f"{shorten(name, 60)} cannot be made: {error.strerror}."
        raise JitchatError(what, "Name another folder.") from None
    return folder


_EVERY = 0.5
"""Seconds from one drawing of curve and figures to the next."""
_PAGES = (Page.CELLS, Page.CURVE, Page.FIGURES)


class RunScreen(LabFrame):
    """Watches a run, or shows one that is kept."""

    CSS_PATH = ["lab.tcss", "run.tcss"]  # noqa: RUF012  Textual's own shape
    BINDINGS = [  # noqa: RUF012  Textual's own shape
        Binding("escape,q", "stop", "Stop", id="rot_stop"),
        Binding("escape,q", "close", "Close", id="rot_leave"),
        Binding("r", "go_on", "Resume", id="rot_go_on"),
        Binding("enter", "into_cells", show=False),
        Binding("k", "kinds", "Kinds", id="rot_kinds"),
        Binding("a", "answer", "Answer", id="rot_answer"),
        Binding("v", "page", "Pane", id="rot_page"),
        Binding("e", "export", "Export", id="rot_export"),
    ]

    def __init__(self, runner: LabRunner, shown: ShownRun) -> None:
        super().__init__()
        self._runner, self.shown = runner, shown
        self._grid = Grid.of(shown.run.experiment)
        self._maps = HeatMaps(self._grid)
        self._head, self._square = RunHead(), SquarePane()
        self._why = Static(id="run-why")
        self._curve, self._spent = CurvePlot(self._grid), SpentTable(self._grid.modes)
        self._caveat = READER_CAVEAT if shown.run.is_reader else ""
        self._tabs, self._export = PageTabs(_PAGES), ExportLine()
        self.is_asked = runner.lab is not None
        """Whether it is being asked."""
        self._clock: Timer | None = None
        """Ticks meanwhile."""
        self._begun_at = monotonic()
        self._is_stopping = False
        self._seconds = 0.0
        """That were spent on asking here."""

    def body(self) -> Iterable[Widget]:
        """Make the maps, and what they are looked at with."""
        yield self._head
        yield self._why
        yield self._maps
        yield Static(Content(self._caveat), id="lab-caveat")
        yield self._tabs
        with Container(id="lab-panes"):
            with Vertical(id="curve-side"):
                yield self._curve
                yield self._spent
            yield self._square
        yield self._export

    def on_mount(self) -> None:
        """Ask, if there is a lab."""
        self.entitle(self.shown.run.title)
        self._maps.focus()
        if self._runner.lab is not None:
            self._begun_at = monotonic()
            self._clock = self.set_interval(_EVERY, self._draw_figures)
            self._ask()

    async def on_unmount(self) -> None:
        """Stop asking, and give the file back."""
        await asyncio.to_thread(self._runner.leave)

    def fit(self) -> None:
        """Give each part its rows; the caveat is a page where it has none."""
        page = Page(self._tabs.page)
        plan = planned(*self.room, self._grid, self._caveat, page)
        self._maps.styles.height = plan.maps
        is_page = bool(self._caveat) and not plan.has_caveat
        self._tabs.names = (*_PAGES, Page.CAVEAT) if is_page else _PAGES
        self.set_class(plan.is_beside, "-beside")
        self.set_class(plan.is_tight, "-tight")
        self.set_class(plan.has_caveat, "-caveat")
        for each in Page:
            self.set_class(each == page, f"-page-{each.name.lower()}")
        if page not in self._tabs.names:
            self.action_page(Page.CELLS)
        self.call_after_refresh(self._draw)

    @property
    def progress(self) -> Progress:
        """How far it is."""
        if self.is_asked:
            self._seconds = monotonic() - self._begun_at
        return self.shown.progress(self._seconds, is_running=self.is_asked)

    @work(thread=True, group="lab")
    def _ask(self) -> None:
        error: JitchatError | None = None
        try:
            self._runner.run(lambda events: self.post_message(LabReported(events)))
        except JitchatError as failed:
            error = failed
        self.post_message(LabEnded(self._runner.kept, error))

    @on(LabReported)
    def _reported(self, message: LabReported) -> None:
        self.shown.take(message.events)
        self._draw_squares()

    @on(LabEnded)
    def _ended(self, message: LabEnded) -> None:
        """Say why, unless all is well."""
        self._seconds = monotonic() - self._begun_at
        self.is_asked = self._is_stopping = False
        if self._clock is not None:
            self._clock.stop()
        self.shown.keep(message.kept)
        self.shown.stop(str(message.error) if message.error is not None else "")
        self._why.update(Content(for_terminal(self.shown.why)))
        self._why.display = bool(self.shown.why)
        self._draw()
        self.refresh_bindings()

    def _draw(self) -> None:
        """Show all that is known by now."""
        self._draw_squares()
        self._draw_figures()

    def _draw_squares(self) -> None:
        """Show what comes of each cell, as it does."""
        self._maps.show(self.shown.heat)
        self._square.look_at(self.shown, self._maps.cursor)
        self._tell()

    def _draw_figures(self) -> None:
        """Show what it comes to: that moves little from cell to cell, and costs more to draw."""
        tallies = self.shown.tallies
        self._curve.by_length, self._spent.tallies = tallies.by_length, tallies
        self._tell()

    def _tell(self) -> None:
        self._head.show(self.shown, self.progress, is_stopping=self._is_stopping)

    @on(HeatMaps.Moved)
    def _moved(self, message: HeatMaps.Moved) -> None:
        self._square.look_at(self.shown, message.place)

    @on(SquarePane.Opened)
    def _opened(self, message: SquarePane.Opened) -> None:
        if message.result.window_id is None:
            self.notify("No window was sent for this cell.", markup=False)
        else:
            self.app.push_screen(CellWindow(self._runner.file, message.result))

    def check_action(
        self,
        action: str,
        parameters: tuple[object, ...],  # noqa: ARG002  Textual's own shape
    ) -> bool | None:
        """Esc stops what is being asked; what is stopped, or stopping, is left."""
        if action in ("stop", "close"):
            goes_on = self.is_asked and not self._is_stopping
            return goes_on == (action == "stop")
        if action == "go_on":
            return not self.is_asked and not self.shown.is_whole
        return not self.has_class("-beside") if action == "page" else True

    def action_stop(self) -> None:
        """Ask no more; what came is kept."""
        if self._export.display:
            self._export.leave()
        else:
            self._is_stopping = True
            self._runner.stop()
            self._tell()
            self.refresh_bindings()

    def action_close(self) -> None:
        """Back to the list of runs."""
        if self._export.display:
            self._export.leave()
        else:
            super().action_close()

    async def action_go_on(self) -> None:
        """Back to the list of runs, to ask what has no answer; the file is given back first."""
        await asyncio.to_thread(self._runner.leave)
        self.dismiss(True)

    def action_export(self) -> None:
        """Ask where to write what is known by now."""
        self._export.ask_to_write(self._runner.file.run, list(self.shown.results.values()))

    @on(ExportLine.Ended)
    def _export_ended(self, message: ExportLine.Ended) -> None:
        self._maps.focus()
        if message.saved is not None:
            self.notify(f"Written: {message.saved}", markup=False)

    def action_into_cells(self) -> None:
        """Go to the cells of the square."""
        self.action_page(Page.CELLS)
        self._square.focus_list()

    def action_kinds(self) -> None:
        """Count the next kind alone, or all of them again."""
        self.shown.next_kinds()
        self._draw()

    def action_page(self, name: str = "") -> None:
        """Show another pane, where they take turns."""
        page = self._tabs.page = name or self._tabs.after
        self.fit()
        if page != Page.CELLS and not self.has_class("-beside"):
            self._maps.focus()

    def action_answer(self) -> None:
        """Read all of an answer."""
        result = self._square.result
        if result is None:
            self.notify("Nothing is known of this cell yet.", markup=False)
        else:
            cell = result.cell
            title = f"{cell.kind} in {cell.mode} · {result.verdict}"
            self.app.push_screen(ExactScreen(title, whole(result)))
