"""The cells of a square as lines, the details of one, and the window that was sent for it."""

import asyncio
from collections.abc import Iterator
from itertools import cycle

from textual import events, on, work
from textual.app import ComposeResult
from textual.binding import Binding
from textual.containers import Vertical, VerticalScroll
from textual.widgets import OptionList, Static

from jitchat.errors import JitchatError
from jitchat.lab.experiment import Cell, Experiment, Result, Verdict
from jitchat.lab.run_file import RunFile
from jitchat.lab.stats import Place, Tally, duration, percent, unanswered_parts
from jitchat.text.sanitize import one_line, shorten
from jitchat.tui.dialogs.exact import row_screen
from jitchat.tui.drawing import MUTED, Content
from jitchat.tui.figures import BESIDE, cut, tokens, usage_sentence
from jitchat.tui.lab.lab_screen import SHORT, LabScreen, labelled
from jitchat.tui.lab.run_state import RunState
from jitchat.tui.notices import reports_errors
from jitchat.tui.widgets.budget_bar import BudgetBar
from jitchat.tui.widgets.inspector import Inspector
from jitchat.tui.widgets.row_list import PointedList

MARKS = dict(zip(Verdict, ("✓", "✗", "n/f", "!"), strict=True))
_NAME = 11
"""Columns of the label before each part of the details."""
_BRIEF = frozenset({"asked", "answered", "note", "window"})
_MOST = 600
"""Characters shown of a question or an answer; opening the cell shows all."""
_NOT_YET = "Nothing is known of this cell yet."


def cells_of(experiment: Experiment, place: Place) -> list[Cell]:
    mode, length, depth = place
    return [
        Cell(length, depth, kind, repeat, mode, near)
        for kind in experiment.kinds
        for near in experiment.near
        for repeat in range(1, experiment.repeats + 1)
    ]


def square_line(place: Place, tally: Tally) -> str:
    """Write `jit · 16k tokens · 25 % deep · 6 of 7 right`."""
    mode, length, depth = place
    parts = [f"{tally.right} of {tally.answered} right"] if tally.answered else []
    parts += unanswered_parts(tally)
    where = f"{mode} · {length:,} tokens · {percent(depth)} deep"
    return " · ".join([where, *(parts or ["nothing yet"])])


def cell_line(
    cell: Cell, result: Result | None, width: int, *, repeats: int, is_pending: bool
) -> Content:
    """Write `✓   direct       says 7443` in at most `width` cells; None for no result yet."""
    name = f"{cell.kind} {cell.repeat}" if repeats > 1 else cell.kind.value
    name = f"{name:<14}" if cell.near is None else f"{name}, near {cell.near:<2}".ljust(22)
    if result is None:
        mark, why = ("…", "asking") if is_pending else ("·", "not yet")
        style = name_style = MUTED
    else:
        mark, why, style = MARKS[result.verdict], result.rule or result.note, ""
        name_style = "bold" if result.verdict is Verdict.WRONG else ""
    ahead = f"{mark:<3} {name} "
    why = cut(one_line(why), max(0, width - len(ahead)))
    return Content.assemble((ahead, name_style), (why, style))


def detail(result: Result, width: int, *, is_brief: bool = False) -> Content:
    """Write the question, the expected and given answer, what decided, and the window's evidence.

    The brief form leaves out what is shown next to it.
    """
    parts = (part for part in _parts(result) if not is_brief or part[0] in _BRIEF)
    return labelled(parts, _NAME, width)


def _parts(result: Result) -> Iterator[tuple[str, str, str]]:
    yield "asked", shorten(result.question, _MOST), ""
    yield "expected", shorten(result.expected, _MOST), ""
    answer = shorten(result.answer, _MOST)
    yield "answered", answer or "no answer", "bold" if answer else MUTED
    decided = f"{MARKS[result.verdict]} {result.verdict.value}"
    why = one_line(result.rule or result.note)
    yield "decided", f"{decided}: {why}" if why else decided, ""
    if result.rule and result.note:
        yield "note", shorten(result.note, _MOST), ""
    yield "window", pin_effect(result), ""
    figures = []
    if result.tokens is not None:
        figures.append(f"{tokens(result.tokens, exact=True)} tokens")
    if result.to_first is not None:
        figures.append(f"first {duration(result.to_first)}")
    if result.seconds is not None:
        figures.append(f"all {duration(result.seconds)}")
    if result.usage is not None:
        figures.append(usage_sentence(result.usage, result.cost or 0))
    if figures:
        yield "took", " · ".join(figures), ""


def pin_effect(result: Result) -> str:
    """State whether the window had the evidence, to tell a missing turn from a misread one."""
    if result.held is None:
        return "no window was sent"
    if not result.needed:
        return "no turn is needed: the fact was never stated"
    needed = len(result.needed)
    turns = f"needed {'turn' if needed == 1 else 'turns'} ({needed_line(result)})"
    sentence = f"the window had {result.held} of {needed} {turns}"
    if result.verdict is not Verdict.WRONG:
        return sentence
    if result.held < needed:
        return f"{sentence}: the answer was not available"
    return f"{sentence}: the evidence was misread"


def needed_line(result: Result) -> str:
    """Write `#9, #41`: the turns that the answer needs."""
    return ", ".join(f"#{position}" for position in result.needed)


def whole(result: Result) -> str:
    needed = needed_line(result) or "none"
    answer = result.answer or "There was no answer."
    why = "\nnote: ".join(filter(None, (result.rule, result.note)))
    return (
        f"{result.question}\n\nexpected: {result.expected}\n\n{answer}\n\n"
        f"{result.verdict.value}: {why}\nneeded turns: {needed}; {pin_effect(result)}"
    )


class SquareCells(PointedList):
    BINDINGS = [  # noqa: RUF012  Textual's own shape
        Binding("enter", "select", "Window", id="rot_window"),
        Binding("tab", "app.focus_next", "Maps", id="rot_to_maps"),
    ]

    def on_click(self, event: events.Click) -> None:
        """Choose a cell; a click on the chosen one opens it."""
        clicked = event.style.meta.get("option")
        if clicked is not None and clicked != self.highlighted:
            event.prevent_default()
            self.highlighted = clicked


class SquarePane(Vertical):
    def __init__(self, state: RunState, place: Place) -> None:
        super().__init__(id="square")
        self._state, self._place = state, place
        self._title = Static(id="square-title")
        self._list = SquareCells(id="square-cells", compact=True)
        self._detail = Static(id="cell-detail")
        self._scroll = VerticalScroll(can_focus=False)
        self._drawn = Content()

    def compose(self) -> ComposeResult:
        yield self._title
        yield self._list
        with self._scroll:
            yield self._detail

    def look_at(self, place: Place) -> None:
        """Show a square's current cells; the cursor stays on the same kind."""
        state, self._place = self._state, place
        tally = state.tallies.squares.get(place, Tally())
        self._title.update(Content(square_line(place, tally)), layout=False)
        width, repeats = max(20, self._list.size.width - BESIDE), state.run.experiment.repeats
        lines = []
        for cell in self.cells:
            result, is_pending = state.results.get(cell), cell in state.pending
            lines.append(cell_line(cell, result, width, repeats=repeats, is_pending=is_pending))
        self._list.draw(lines, None)
        if self._list.highlighted is None:
            self._list.highlighted = 0
        self._draw_detail()

    def on_resize(self) -> None:
        self.look_at(self._place)

    @property
    def cells(self) -> list[Cell]:
        return cells_of(self._state.run.experiment, self._place)

    @property
    def result(self) -> Result | None:
        row, cells = self._list.highlighted, self.cells
        return self._state.results.get(cells[row]) if row is not None else None

    @on(OptionList.OptionHighlighted)
    def _draw_detail(self) -> None:
        result = self.result
        text = detail(result, self._scroll.size.width - 2) if result else Content(_NOT_YET)
        if not text.is_same(self._drawn):
            self._drawn = text
            self._detail.update(text)


_GONE = "The window of this cell is missing from the run's file."


class WindowScreen(LabScreen):
    CSS_PATH = ["lab.tcss", "cells.tcss"]  # noqa: RUF012  Textual's own shape

    BINDINGS = [Binding("n", "needed", "Needed turn", id="rot_needed")]  # noqa: RUF012

    def __init__(self, file: RunFile, result: Result) -> None:
        super().__init__()
        self._file, self._result = file, result
        self._needed = cycle(result.needed)
        self._about = Static(id="window-cell")

    def body(self) -> ComposeResult:
        yield self._about
        with Vertical(id="window-of-cell"):
            yield BudgetBar(classes="-magnified")
            yield Inspector()

    def on_mount(self) -> None:
        cell = self._result.cell
        self.entitle(
            f"window · {cell.kind} in {cell.mode} · {cell.length:,} tokens"
            f" · {percent(cell.depth)} deep"
        )
        self._load()

    def fit(self) -> None:
        is_brief = self.room.height < SHORT
        self._about.update(detail(self._result, self.room.width - 6, is_brief=is_brief))

    @work(exclusive=True)
    async def _load(self) -> None:
        try:
            window = await asyncio.to_thread(self._file.window, self._result)
        except JitchatError as error:
            self._about.update(Content(str(error)))
            return
        if window is None:
            self._about.update(_GONE)
            return
        self.query_one(BudgetBar).window = window
        self.query_one(Inspector).show(window, sent=True, usage=self._result.usage)
        self.query_one("#segments").focus()
        if self._result.needed:
            self.action_needed()

    def action_needed(self) -> None:
        turn = next(self._needed, None)
        if turn is None:
            self.notify("No turn is needed: the fact was never stated.", markup=False)
        elif not self.query_one(Inspector).point_at(turn):
            self.notify(f"#{turn} is needed, but was never a candidate.", markup=False)

    @on(Inspector.RowOpened)
    @work(exclusive=True)
    @reports_errors
    async def _row_opened(self, message: Inspector.RowOpened) -> None:
        store, conversation = self._file.store, self._result.conversation
        screen = await asyncio.to_thread(row_screen, message, store, conversation)
        self.app.push_screen(screen)
