"""The cells of a square as lines, and all that is known of one of them. Pure."""

import textwrap
from collections.abc import Iterable, Iterator
from dataclasses import dataclass

from textual import events, on
from textual.binding import Binding
from textual.containers import Vertical, VerticalScroll
from textual.content import Content
from textual.message import Message
from textual.widget import Widget
from textual.widgets import OptionList, Static

from jitchat.lab.experiment import Cell, Experiment, Result, Verdict
from jitchat.lab.stats import Place, Tally, duration, percent
from jitchat.text.sanitize import one_line, shorten
from jitchat.tui.figures import BESIDE, cut, tokens
from jitchat.tui.lab.heatmap import NOTHING
from jitchat.tui.lab.shown_run import ShownRun
from jitchat.tui.palette import MUTED
from jitchat.tui.send_figures import usage_sentence
from jitchat.tui.widgets.row_list import RowList

MARKS = {
    Verdict.RIGHT: "✓",
    Verdict.WRONG: "✗",
    Verdict.UNFIT: "n/f",
    Verdict.FAILED: "!",
}
_NAME = 11
"""Cells of what stands ahead of each part of the detail."""
_BRIEF = frozenset({"asked", "answered", "note", "window"})
_MOST = 600
"""Characters of a question or an answer; the rest is shown when it is opened."""


def cells_of(experiment: Experiment, place: Place) -> list[Cell]:
    """List the cells of a square, kind by kind."""
    mode, length, depth = place
    return [
        Cell(length, depth, kind, repeat, mode)
        for kind in experiment.kinds
        for repeat in range(1, experiment.repeats + 1)
    ]


def square_line(place: Place, tally: Tally) -> str:
    """Write `jit · 16k tokens · 25 % deep · 6 of 7 right`."""
    mode, length, depth = place
    where = f"{mode} · {length:,} tokens · {percent(depth)} deep"
    told = [f"{tally.right} of {tally.answered} right"] if tally.answered else []
    do = "does" if tally.unfit == 1 else "do"
    told += [f"{tally.unfit} {do} not fit"] if tally.unfit else []
    told += [f"{tally.failed} failed"] if tally.failed else []
    return " · ".join([where, *(told or ["nothing yet"])])


def cell_line(
    cell: Cell, result: Result | None, width: int, *, repeats: int, is_asked: bool
) -> Content:
    """Write `✓   direct       says 7443` in at most `width` cells; None for no result yet."""
    name = f"{cell.kind} {cell.repeat}" if repeats > 1 else cell.kind.value
    mark = MARKS[result.verdict] if result is not None else ("…" if is_asked else "·")
    ahead, style = f"{mark:<3} {name:<14} ", MUTED if result is None else ""
    not_yet = "asked now" if is_asked else "not yet"
    why = not_yet if result is None else result.rule or result.note
    told = cut(one_line(why), max(0, width - len(ahead)))
    is_wrong = result is not None and result.verdict is Verdict.WRONG
    return Content.assemble((ahead, "bold" if is_wrong else style), (told, style))


def detail(result: Result, width: int, *, is_brief: bool = False) -> Content:
    """Write question, expected and given answer, what decided, and what the window held.

    The brief form leaves out what can be read beside it.
    """
    parts: list[tuple[str, str]] = []
    room = max(10, width - _NAME)
    for name, told, style in _parts(result):
        if is_brief and name not in _BRIEF:
            continue
        lines = textwrap.wrap(told, room) or [""]
        parts.append((f"{name:<{_NAME}}", MUTED))
        parts.append((f"\n{'':<{_NAME}}".join(lines) + "\n", style))
    return Content.assemble(*parts).rstrip()


def held_sentence(result: Result) -> str:
    """Say whether the window could answer, so that a missed turn is told from a misread one."""
    if result.held is None:
        return "no window was sent"
    if not result.needed:
        return "it was never said, so no turn is needed"
    needed = len(result.needed)
    turns = "turn" if needed == 1 else "turns"
    told = f"the window held {result.held} of {needed} needed {turns} ({needed_line(result)})"
    if result.verdict is not Verdict.WRONG:
        return told
    if result.held < needed:
        return f"{told}: it could not be known"
    return f"{told}: it was there, and was misread"


def needed_line(result: Result) -> str:
    """Write `#9, #41`: the turns that the answer needs."""
    return ", ".join(f"#{position}" for position in result.needed)


def _parts(result: Result) -> Iterator[tuple[str, str, str]]:
    yield "asked", shorten(result.question, _MOST), ""
    yield "expected", shorten(result.expected, _MOST), ""
    answer = shorten(result.answer, _MOST)
    yield "answered", answer or "nothing came", "bold" if answer else MUTED
    decided = f"{MARKS[result.verdict]} {result.verdict.value}"
    why = one_line(result.rule or result.note)
    yield "decided", f"{decided}: {why}" if why else decided, ""
    if result.rule and result.note:
        yield "note", shorten(result.note, _MOST), ""
    yield "window", held_sentence(result), ""
    if took := _took(result):
        yield "took", took, ""


def _took(result: Result) -> str:
    """Write `3,412 tokens · first 0.42 s · all 1.3 s · sent 3,398 ✓ · $0.0041`."""
    told = []
    if result.tokens is not None:
        told.append(f"{tokens(result.tokens, exact=True)} tokens")
    if result.to_first is not None:
        told.append(f"first {duration(result.to_first)}")
    if result.seconds is not None:
        told.append(f"all {duration(result.seconds)}")
    if result.usage is not None:
        told.append(usage_sentence(result.usage, result.cost or 0))
    return " · ".join(told)


def whole(result: Result) -> str:
    """Write all of a question and its answer, to be read and copied."""
    needed = needed_line(result) or "none"
    answer = result.answer or "Nothing came."
    why = "\nnote: ".join(filter(None, (result.rule, result.note)))
    return (
        f"{result.question}\n\nexpected: {result.expected}\n\n{answer}\n\n"
        f"{result.verdict.value}: {why}\nneeded turns: {needed}; {held_sentence(result)}"
    )


_NOT_YET = "Nothing is known of this cell yet."


class SquareCells(RowList):
    """The list."""

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
    """Follows the cursor of the heatmaps, and what comes of its cells."""

    @dataclass
    class Opened(Message):
        """The window of a cell is wanted."""

        result: Result

    def __init__(self) -> None:
        super().__init__(id="square")
        self._told = Static(id="square-told")
        self._list = SquareCells("square-cells")
        self._detail = Static(id="cell-detail")
        self._scroll = VerticalScroll(can_focus=False)
        self._shown: ShownRun | None = None
        self._place: Place | None = None
        self._drawn: Content | None = None

    def compose(self) -> Iterable[Widget]:
        """A line on the square, its cells, and the one under the cursor."""
        yield self._told
        yield self._list
        with self._scroll:
            yield self._detail

    def look_at(self, shown: ShownRun, place: Place) -> None:
        """Show a square of a run; the cursor stays on the same kind."""
        self._shown, self._place = shown, place
        tally = shown.tallies.squares.get(place, NOTHING)
        self._told.update(Content(square_line(place, tally)), layout=False)
        self._list.draw(self._lines(shown, place), None)
        if self._list.highlighted is None:
            self._list.highlighted = 0
        self._tell()

    def on_resize(self) -> None:
        """Lines are cut where the list ends."""
        if self._shown is not None and self._place is not None:
            self.look_at(self._shown, self._place)

    @property
    def cells(self) -> list[Cell]:
        """The cells that are listed."""
        if self._shown is None or self._place is None:
            return []
        return cells_of(self._shown.run.experiment, self._place)

    @property
    def result(self) -> Result | None:
        """What came of the cell under the cursor; None where nothing did yet."""
        place, cells = self._list.highlighted, self.cells
        if self._shown is None or place is None or place >= len(cells):
            return None
        return self._shown.results.get(cells[place])

    def focus_list(self) -> None:
        """Have the arrows move among the cells."""
        self._list.focus()

    @on(OptionList.OptionHighlighted)
    def _highlighted(self, event: OptionList.OptionHighlighted) -> None:
        event.stop()
        self._tell()

    @on(OptionList.OptionSelected)
    def _selected(self, event: OptionList.OptionSelected) -> None:
        event.stop()
        if self.result is not None:
            self.post_message(self.Opened(self.result))

    def _lines(self, shown: ShownRun, place: Place) -> list[Content]:
        width = max(20, self._list.size.width - BESIDE)
        repeats = shown.run.experiment.repeats
        return [
            cell_line(
                cell,
                shown.results.get(cell),
                width,
                repeats=repeats,
                is_asked=cell in shown.asked,
            )
            for cell in cells_of(shown.run.experiment, place)
        ]

    def _tell(self) -> None:
        width = self._scroll.size.width - 2
        result = self.result
        told = detail(result, width) if result is not None else Content(_NOT_YET)
        if self._drawn is None or not told.is_same(self._drawn):
            self._drawn = told
            self._detail.update(told)
