"""The history chart in characters: a bar a send, stacked by kind, under the outline of `full`.

Heights are to an eighth of a cell. A cell of one kind is drawn in its pattern; where two kinds
share one, or a bar ends, it is filled to an eighth in the colour of the lower one.

Pure. A plotting library draws bars of uneven width, on ticks that are not round, and cannot tell
which send stands in a cell; this is what is needed and no more.
"""

from collections.abc import Iterable, Iterator, Mapping, Sequence
from dataclasses import dataclass
from itertools import accumulate, groupby

from textual import events
from textual.content import Content
from textual.reactive import reactive
from textual.widget import Widget

from jitchat.store.windows import Send
from jitchat.tui.widgets.budget_bar import PATTERNS
from jitchat.window.window import Kind

_WIDEST = 20
"""Cells from one bar to the next, where there are few."""
_MOST_TICKS = 5
LID = "─"
"""What the outline of `full` is drawn with."""
EIGHTHS = "▁▂▃▄▅▆▇"
"""How far the lower one of two kinds fills a cell."""
_FINE = len(EIGHTHS) + 1
_ABOVE = "↑"
"""`full` is off the scale."""
Run = tuple[str, str]
"""Characters, and the name of what they show: a kind, `full`, `axis`, or empty.

`recent on index`: of two kinds in a cell, the lower one first.
"""


@dataclass(frozen=True, slots=True)
class Series:
    """The sizes of all sends; any stretch of them is summed up by one subtraction."""

    sums: Mapping[str, Sequence[int]]
    """By kind, and by `full`: the tokens of all sends ahead of each, one more than there are."""
    largest: int
    """The largest of any send, or of `full` in its place, in tokens."""

    @property
    def count(self) -> int:
        return len(self.sums["full"]) - 1

    def mean(self, name: str, start: int, stop: int) -> float:
        """Tell the tokens of a kind, in the mean of some sends; counted from 0."""
        sums = self.sums[name]
        return (sums[stop] - sums[start]) / (stop - start)


def series_of(sends: Sequence[Send]) -> Series:
    sizes = {kind.value: [send.sizes.get(kind, 0) for send in sends] for kind in Kind}
    full = [send.full_tokens for send in sends]
    largest = max((max(send.used, send.full_tokens) for send in sends), default=0)
    by_name = sizes | {"full": full}
    return Series({name: (0, *accumulate(by_name[name])) for name in by_name}, largest)


@dataclass(frozen=True, slots=True)
class Columns:
    count: int
    """How many sends there are."""
    per: int
    """Sends a column."""
    step: int
    """Cells from one column to the next."""
    margin: int
    """Cells of the labels ahead of the axis."""

    @property
    def bar(self) -> int:
        """Cells of one bar, without the gap behind it."""
        return max(1, self.step - 1)

    @property
    def number(self) -> int:
        return -(-self.count // self.per)

    def cell_of(self, place: int) -> int:
        """Find the first cell of a send's bar; sends are counted from 0."""
        return self.margin + 1 + place // self.per * self.step

    def place_at(self, cell: int) -> int | None:
        """Find the first send of the column in a cell; None beside all of them."""
        place = (cell - self.margin - 1) // self.step * self.per
        return place if cell > self.margin and place < self.count else None

    def reach(self, column: int) -> tuple[int, int]:
        """Tell the first send of a column, and the one after its last."""
        start = column * self.per
        return start, min(self.count, start + self.per)


def columns_of(series: Series, width: int) -> Columns:
    """Fit all sends into `width` cells."""
    margin = len(f"{2 * series.largest:,}")
    room = max(1, width - margin - 1)
    per = max(1, -(-series.count // room))
    number = max(1, -(-series.count // per))
    return Columns(series.count, per, max(1, min(_WIDEST, room // number)), margin)


@dataclass(frozen=True, slots=True)
class Scale:
    rows: int
    top: int
    """Tokens at the upper end."""
    tick: int
    """Tokens from one label to the next."""

    def row(self, tokens: float) -> int:
        return round(tokens * self.rows / self.top)

    def eighths(self, tokens: float) -> int:
        return round(tokens * self.rows * _FINE / self.top)

    def labels(self) -> dict[int, str]:
        return {self.row(size): f"{size:,}" for size in range(self.tick, self.top + 1, self.tick)}


def scale_of(largest: float, rows: int) -> Scale:
    """Choose a round scale of `rows` rows that holds the largest."""
    most = max(1, min(_MOST_TICKS, rows // 2))
    tick = next(tick for tick in _round_numbers() if tick * most >= largest)
    return Scale(rows, max(1, -int(-largest // tick)) * tick, tick)


def _round_numbers() -> Iterator[int]:
    power = 1
    while True:
        yield from (power, 2 * power, 5 * power)
        power *= 10


@dataclass(frozen=True, slots=True)
class Bar:
    kinds: tuple[str, ...]
    """What fills it, from below, an eighth of a row each."""
    lid: int
    """The row above as many tokens as `full` would have sent."""


def bars_of(
    series: Series, columns: Columns, rows: int, *, sent_only: bool
) -> tuple[Scale, list[Bar]]:
    """Measure all bars; `sent_only` scales to what was sent, so that `full` can be too high."""
    reaches = [columns.reach(column) for column in range(columns.number)]
    sizes = [[series.mean(kind, *reach) for kind in Kind] for reach in reaches]
    fulls = [series.mean("full", *reach) for reach in reaches]
    largest = max([*map(sum, sizes), *([] if sent_only else fulls)], default=0)
    scale = scale_of(largest, rows)
    return scale, [
        Bar(_filled(size, scale), scale.row(full)) for size, full in zip(sizes, fulls, strict=True)
    ]


def _filled(sizes: Sequence[float], scale: Scale) -> tuple[str, ...]:
    """Stack the kinds; where there is anything at all, an eighth is seen of it."""
    kinds: list[str] = []
    for kind, height in zip(Kind, map(scale.eighths, accumulate(sizes)), strict=True):
        kinds += [kind.value] * (height - len(kinds))
    if not kinds and any(sizes):
        return (max(zip(sizes, Kind, strict=True))[1].value,)
    return tuple(kinds)


def chart_rows(scale: Scale, bars: Sequence[Bar], columns: Columns) -> Iterator[list[Run]]:
    """Draw the rows from above: the axis, the bars and the outline."""
    labels = scale.labels()
    for row in range(scale.rows, -1, -1):
        label = labels.get(row, "")
        cells = [(f"{label:>{columns.margin}}{'┤' if label else '│'}", "axis")]
        for place, bar in enumerate(bars):
            before = bars[place - 1].lid if place else bar.lid
            after = bars[place + 1].lid if place + 1 < len(bars) else None
            cells += _cells(row, bar, columns, (before, after), scale.rows)
        runs = groupby(cells, key=lambda cell: cell[1])
        yield [("".join(text for text, _ in run), name) for name, run in runs]


def _cells(
    row: int, bar: Bar, columns: Columns, beside: tuple[int, int | None], rows: int
) -> list[Run]:
    """Draw a column's cells of one row, with the gap behind it, if there is one."""
    before, after = beside
    joint = _joint(row, before, bar.lid) if columns.step == 1 else ""
    if row == bar.lid:
        inside = (joint or LID, "full")
    elif kinds := bar.kinds[row * _FINE : (row + 1) * _FINE]:
        inside = _filled_cell(kinds)
    elif row == rows < bar.lid:
        inside = (_ABOVE, "full")
    else:
        inside = (joint or " ", "full" if joint else "")
    cells = [inside] * columns.bar
    if columns.step > columns.bar:
        joint = "" if after is None else _joint(row, bar.lid, after)
        cells.append((joint or " ", "full" if joint else ""))
    return cells


def _filled_cell(kinds: Sequence[str]) -> Run:
    """Draw a cell of up to eight eighths; of three kinds or more, the two that have most of it."""
    largest = sorted(dict.fromkeys(kinds), key=kinds.count)[-2:]
    kept = [kind for kind in kinds if kind in largest]
    lower, upper = kept[0], kept[-1]
    if len(kinds) < _FINE:
        return EIGHTHS[len(kinds) - 1], max(largest, key=kinds.count)
    if lower == upper:
        return PATTERNS[lower], lower
    share = kept.count(lower) * _FINE // len(kept)
    return EIGHTHS[min(len(EIGHTHS), max(1, share)) - 1], f"{lower} on {upper}"


def _joint(row: int, before: int, after: int) -> str:
    """Draw the outline from one height to the next; empty where it is not in this row."""
    if before == after:
        return LID if row == before else ""
    if row == before:
        return "╯" if before < after else "╮"
    if row == after:
        return "╭" if before < after else "╰"
    return "│" if min(before, after) < row < max(before, after) else ""


def pointer_rows(columns: Columns, place: int) -> tuple[str, str]:
    """Draw the lower axis, with a mark under a send, and the numbers of the first and last one."""
    wide = columns.number * columns.step
    cell = columns.cell_of(place) - columns.margin - 1
    mark = cell + columns.bar // 2
    axis = "─" * mark + "▲" + "─" * (wide - mark - 1)
    here, first, last = f"{place + 1:,}", "1", f"{columns.count:,}"
    middle = cell + (columns.bar - len(here)) // 2
    start = max(0, min(middle, max(wide, len(here)) - len(here)))
    numbers = [" "] * max(wide, start + len(here))
    if place >= columns.per and start > len(first):
        numbers[0] = first
    is_last = place // columns.per == columns.number - 1
    if not is_last and start + len(here) < wide - len(last):
        numbers[wide - len(last) : wide] = last
    numbers[start : start + len(here)] = here
    return f"{'0':>{columns.margin}}└{axis}", " " * (columns.margin + 1) + "".join(numbers)


_STYLES = {kind.value: f"$kind-{kind.value}" for kind in Kind} | {
    "full": "$foreground",
    "axis": "$text-muted",
}


def styled(line: Iterable[Run]) -> Content:
    def style(name: str) -> str:
        return " on ".join(_STYLES.get(kind, "") for kind in name.split(" on "))

    return Content.assemble(*((text, style(name)) for text, name in line))


class SeriesWidget(Widget):
    series: reactive[Series | None] = reactive(None)

    @property
    def columns(self) -> Columns | None:
        """Where the sends stand; None where there are none."""
        series = self.series
        return columns_of(series, self.size.width) if series and series.count else None

    async def on_click(self, event: events.Click) -> None:
        place = self.columns.place_at(event.x) if self.columns else None
        if place is not None:
            await self.run_action(f"screen.go({place})")


class HistoryChart(SeriesWidget, can_focus=True):
    """The bars, stacked by kind, and the outline of `full`."""

    sent_only: reactive[bool] = reactive(False)
    """Whether it is to the scale of what was sent."""

    def render(self) -> Content:
        """As many rows as there are; the outline needs one above the highest bar."""
        series, columns = self.series, self.columns
        if series is None or columns is None:
            return Content()
        rows = max(1, self.size.height - 1)
        scale, bars = bars_of(series, columns, rows, sent_only=self.sent_only)
        return Content("\n").join(map(styled, chart_rows(scale, bars, columns)))


class HistoryPointer(SeriesWidget):
    """The lower axis. It is drawn by itself, so that the mark moves without the bars."""

    place: reactive[int] = reactive(0)
    """The send that is pointed at, from 0."""

    def render(self) -> Content:
        columns = self.columns
        return Content("\n".join(pointer_rows(columns, self.place)) if columns else "")
