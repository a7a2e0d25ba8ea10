"""A run on screen: its model, its progress, its results, and what the lab is waiting for."""

import textwrap
from collections.abc import Sequence
from enum import StrEnum
from pathlib import Path
from time import monotonic

from textual import on, work
from textual.app import ComposeResult
from textual.binding import Binding
from textual.containers import Container, Vertical
from textual.style import Style
from textual.timer import Timer
from textual.widgets import OptionList, Static

from jitchat.errors import JitchatError
from jitchat.lab.experiment import Experiment, Result
from jitchat.lab.report import FORMATS, caveats, exported
from jitchat.lab.run_file import Run
from jitchat.lab.stats import axes_of
from jitchat.text.sanitize import one_line, shorten
from jitchat.tui.dialogs.exact import ExactScreen
from jitchat.tui.drawing import MUTED, Content
from jitchat.tui.lab import curve
from jitchat.tui.lab.cells import SquareCells, SquarePane, WindowScreen, whole
from jitchat.tui.lab.curve import DifferenceLines, EvidenceTable
from jitchat.tui.lab.heatmap import HEAD, HIGH, HeatMaps
from jitchat.tui.lab.lab_screen import LabScreen
from jitchat.tui.lab.run_state import OpenRun, Progress, RunState
from jitchat.tui.widgets.input_lines import SaveLine, save

_BORDER, _SIDES = 2, 4
"""Rows of the frame; columns of the frame and its padding."""
_FIXED = 4
"""Rows for the model, the progress, a blank line, and the keys."""
_BESIDE = (96, 13)
"""Columns and rows from which curve, figures and cells are shown side by side."""
_ROOMY = 18
"""Rows reserved for these before squares are made taller."""


class Page(StrEnum):
    """The pages below the maps, of which one is shown if there is no room for all."""

    CELLS = "cells"
    CURVE = "curve"
    FIGURES = "figures"
    EVIDENCE = "evidence"
    CAVEAT = "no language model"


_ROWS = {Page.CELLS: 7, Page.CURVE: 2 + curve.LEAST, Page.FIGURES: 10, Page.EVIDENCE: 9}
"""Rows of each page before the maps are scrolled, including its title line."""


def run_layout(
    width: int, height: int, asked: Experiment, caveat: str, page: Page
) -> tuple[int, set[str]]:
    """Divide the rows of a frame while a page is shown; an empty `caveat` needs none.

    Returns the rows of the maps, and CSS classes: `-beside` if curve, figures and cells are all
    shown, `-tight` if there is no room for blank rows, `-caveat` if the caveat has rows of its own
    instead of a page.
    """
    inside, rows = width - _SIDES, height - _BORDER - _FIXED
    caveat_rows = len(textwrap.wrap(caveat, inside - 2)) + 1 if caveat else 0
    flat, high = (HEAD + rows_each * len(asked.depths) for rows_each in (1, HIGH))
    left = rows - caveat_rows - flat
    is_beside = inside >= _BESIDE[0] and left >= _BESIDE[1]
    has_caveat = bool(caveat) and (is_beside or left >= _ROWS[Page.CELLS])
    free = rows - (caveat_rows if has_caveat else 0)
    maps = min(flat, max(HEAD + 1, free - _ROWS.get(page, caveat_rows)))
    if free - high >= _ROOMY or (not is_beside and free - high >= 2 * _ROWS[Page.CELLS]):
        maps = high
    classes = {"-beside": is_beside, "-tight": free - maps < _ROOMY, "-caveat": has_caveat}
    return maps, {name for name, is_on in classes.items() if is_on}


_STOPPING = "stopping; what was answered is kept"
_BAR = 28
"""Columns of the bar, if the line is long enough."""
_DRAW_EVERY, _FIGURES_EVERY = 1 / 8, 0.5
"""Seconds between redraws of the squares, and of the curve and figures."""
_PAGES: tuple[Page, ...] = (Page.CELLS, Page.CURVE, Page.FIGURES, Page.EVIDENCE)
_BESIDE_PAGES = (Page.CELLS, Page.EVIDENCE)
"""The pages of the side-by-side layout; the first shows curve, figures and cells."""
_CLASSES = ("-beside", "-tight", "-caveat", *(f"-page-{page.name.lower()}" for page in Page))


def run_line(state: RunState) -> Content:
    run, asked = state.run, state.run.experiment
    name = "own grid" if asked.preset == "own" else asked.preset
    judged = f" · judged by {run.judge}" if run.judge else ""
    limits = f"limit {run.limit:,}, reserve {run.reserve:,}"
    rest = one_line(f"{name} · {limits} · {run.embedder} · seed {asked.seed}{judged}")
    model, kinds = (one_line(run.model), "bold"), (state.kinds_line, "bold")
    return Content.assemble(model, " · counted: ", kinds, f" · {rest}")


def progress_line(state: RunState, progress: Progress, width: int, notice: str) -> Content:
    """Draw a progress bar with the longest text that fits."""
    bar = min(_BAR, max(8, width // 7))
    done, left = progress.bar(bar)
    notice = f" · {notice}" if notice else ""
    parallel = f" · {state.parallel} at once" if state.parallel and progress.is_running else ""
    cost = f" · {state.cost}" if state.cost else ""
    text = f"{progress.sentence}{cost}"
    forms = (f"{text}{parallel}", text, f"{progress.count}{cost}", progress.count)
    room = width - 2 - bar - 2 - len(notice)
    fitting = next((form for form in forms if len(form) <= room), forms[-1])
    bars = (done, "$primary"), (left, MUTED)
    return Content.assemble(*bars, f"  {fitting}", (notice, "$text-warning"))


def page_tabs(pages: Sequence[Page], shown: Page) -> Content:
    parts: list[tuple[str, Style | str]] = []
    for page in pages:
        click = Style.from_meta({"@click": f"screen.page('{page}')"})
        look = Style.parse("bold reverse") if page is shown else Style()
        parts += [(f" {page} ", click + look), (" ", "")]
    return Content.assemble(*parts)


_ENDINGS = " or ".join(f".{ending}" for ending in FORMATS)
_ASKS = f"Write this run to a file ending in {_ENDINGS}."


class ExportLine(SaveLine):
    _run: Run
    _results: Sequence[Result]

    def ask_to_write(self, run: Run, results: Sequence[Result]) -> None:
        self._run, self._results = run, results
        self.ask_for(_ASKS, f"rot-{run.id}.html")

    def write(self, name: str, *, over: bool) -> Path:
        ending = Path(name).suffix.removeprefix(".").lower()
        if ending not in FORMATS:
            what = f"{shorten(name, 60)} has no supported format."
            raise JitchatError(what, f"Use a name ending in {_ENDINGS}.")
        return save(name, exported(ending, self._run, self._results), over=over)


class RunScreen(LabScreen):
    """Asks a run and shows its progress, or shows a saved one. Dismissed with True to resume it."""

    CSS_PATH = ["lab.tcss", "run.tcss"]  # noqa: RUF012  Textual's own shape
    BINDINGS = [  # noqa: RUF012  Textual's own shape
        Binding("escape,q", "stop", "Stop", id="rot_stop"),
        Binding("escape,q", "close", "Close", id="rot_leave"),
        Binding("r", "go_on", "Resume", id="rot_go_on"),
        Binding("enter", "into_cells", show=False),
        Binding("k", "kinds", "Kinds", id="rot_kinds"),
        Binding("a", "answer", "Answer", id="rot_answer"),
        Binding("v", "page", "Pane", id="rot_page"),
        Binding("x", "axis", "Axis", id="rot_axis"),
        Binding("e", "export", "Export", id="rot_export"),
    ]

    def __init__(self, run: OpenRun) -> None:
        super().__init__()
        self._run, self.state = run, run.state
        known, asked = run.file.run, run.file.run.experiment
        self._maps = HeatMaps(asked)
        self._square = SquarePane(self.state, self._maps.cursor)
        self._head, self._why = Static(id="run-head"), Static(id="run-why")
        self._curve, self._spent = curve.CurvePlot(asked), curve.SpentTable(asked.modes)
        self._evidence, self._differences = EvidenceTable(), DifferenceLines()
        self._caveat = " ".join(caveats(known))
        self._tabs, self._export = Static(id="lab-tabs"), ExportLine()
        self.page, self._pages = Page.CELLS, _PAGES
        self.is_asking = run.lab is not None
        self._redraw: Timer | None = None
        """Draws what was reported since the last redraw."""
        self._begun_at = monotonic()
        self._seconds = 0.0

    def body(self) -> ComposeResult:
        yield self._head
        yield self._why
        yield self._maps
        yield Static(Content(self._caveat), id="lab-caveat")
        yield self._tabs
        with Container(id="lab-panes"):
            with Vertical(id="curve-side"):
                yield self._curve
                yield self._spent
                yield self._evidence
                yield self._differences
            yield self._square
        yield self._export

    def on_mount(self) -> None:
        self.entitle(self.state.run.title)
        self._maps.focus()
        self.watch(self._maps, "cursor", self._square.look_at, init=False)
        if self.is_asking:
            self._ask()

    async def on_unmount(self) -> None:
        await self._run.close()

    def fit(self) -> None:
        """Lay out the parts; the caveat becomes a page if it has no rows of its own."""
        asked = self.state.run.experiment
        maps, classes = run_layout(*self.room, asked, self._caveat, self.page)
        self._maps.styles.height = maps
        is_page = bool(self._caveat) and "-caveat" not in classes
        self._pages = _BESIDE_PAGES if "-beside" in classes else _PAGES
        self._pages += (Page.CAVEAT,) if is_page else ()
        before = self.classes
        self.remove_class(*_CLASSES, update=False)
        self.add_class(*classes, f"-page-{self.page.name.lower()}", update=False)
        if self.classes != before:  # update styles once
            self.update_node_styles()
        if self.page in self._pages:
            self._tabs.update(page_tabs(self._pages, self.page))
            self.call_after_refresh(self._draw)
        else:
            self.action_page(Page.CELLS)

    @property
    def progress(self) -> Progress:
        if self.is_asking:
            self._seconds = monotonic() - self._begun_at
        return self.state.progress(self._seconds, is_running=self.is_asking)

    @work
    async def _ask(self) -> None:
        clock = self.set_interval(_FIGURES_EVERY, self._draw_figures)
        error = ""
        try:
            await self._run.ask(self._draw_soon)
        except JitchatError as broken:
            error = str(broken)
        self._seconds = monotonic() - self._begun_at
        self.is_asking = False
        clock.stop()
        self.state.stop(error)
        self._why.update(Content(self.state.why))
        self._why.display = bool(self.state.why)
        self._draw()
        self.refresh_bindings()

    def _draw_soon(self) -> None:
        """Schedule a redraw of the squares, so that fast results are drawn together."""
        if self._redraw is None:
            self._redraw = self.set_timer(_DRAW_EVERY, self._draw_squares)

    def _draw(self) -> None:
        self._draw_squares()
        self._draw_figures()

    def _draw_squares(self) -> None:
        self._redraw = None
        self._maps.show(self.state.tallies, self.state.pending_places)
        self._square.look_at(self._maps.cursor)
        self._draw_head()

    def _draw_figures(self) -> None:
        """Update the aggregate figures, which change slowly and cost more to draw."""
        for each in (self._curve, self._spent, self._evidence, self._differences):
            each.tallies = self.state.tallies
        self._draw_head()

    def _draw_head(self) -> None:
        is_stopping = self.is_asking and self._run.is_stopping
        notice = _STOPPING if is_stopping else one_line(self.state.notice)
        line = progress_line(self.state, self.progress, self._head.size.width, notice)
        self._head.update(Content("\n").join([run_line(self.state), line]), layout=False)

    @on(OptionList.OptionSelected)
    def _cell_opened(self) -> None:
        result = self._square.result
        if result is not None and result.window_id is not None:
            self.app.push_screen(WindowScreen(self._run.file, result))
        elif result is not None:
            self.notify("No window was sent for this cell.", markup=False)

    def check_action(
        self,
        action: str,
        parameters: tuple[object, ...],  # noqa: ARG002  Textual's own shape
    ) -> bool | None:
        """Esc stops a run in progress; otherwise it closes the screen."""
        if action in ("stop", "close"):
            goes_on = self.is_asking and not self._run.is_stopping
            return goes_on == (action == "stop")
        if action == "go_on":
            return not self.is_asking and bool(self.state.to_ask)
        return True

    def action_stop(self) -> None:
        self._run.stop()
        self._draw_head()
        self.refresh_bindings()

    async def action_go_on(self) -> None:
        """Close the run's file, and return to the list of runs to resume the run."""
        await self._run.close()
        self.dismiss(True)

    def action_export(self) -> None:
        self._export.ask_to_write(self._run.file.run, list(self.state.results.values()))

    @on(ExportLine.Ended)
    def _export_ended(self, message: ExportLine.Ended) -> None:
        self._maps.focus()
        if message.saved is not None:
            self.notify(f"Written: {message.saved}", markup=False)

    def action_into_cells(self) -> None:
        if not self.has_class("-beside"):
            self.action_page(Page.CELLS)
        self._square.query_one(SquareCells).focus()

    def action_kinds(self) -> None:
        self.state.next_kinds()
        self._draw()

    def action_axis(self) -> None:
        """Plot the shares by the next axis, and show the curve."""
        axes = axes_of(self.state.run.experiment)
        self._curve.axis = axes[(axes.index(self._curve.axis) + 1) % len(axes)]
        self.action_page(Page.CELLS if self.has_class("-beside") else Page.CURVE)

    def action_page(self, name: str = "") -> None:
        pages = self._pages
        following = pages[(pages.index(self.page) + 1) % len(pages)]
        self.page = Page(name) if name else following
        self.fit()
        if self.page is not Page.CELLS and not self.has_class("-beside"):
            self._maps.focus()

    def action_answer(self) -> None:
        result = self._square.result
        if result is None:
            self.notify("Nothing is known of this cell yet.", markup=False)
        else:
            cell = result.cell
            title = f"{cell.kind} in {cell.mode} · {result.verdict}"
            self.app.push_screen(ExactScreen(title, whole(result)))
