"""What was sent, send by send, under what `full` would have been, and what that saved.

The chart is in characters: a bar a send, stacked by kind, under the outline of `full`. Heights are
to an eighth of a cell. A cell of one kind is drawn in its pattern; where two kinds share one, or a
bar ends, it is filled to an eighth in the colour of the lower one. A plotting library draws bars
of uneven width, on ticks that are not round, and cannot tell which send stands in a cell.
"""

from collections.abc import Iterable, Iterator, Mapping, Sequence
from dataclasses import dataclass
from itertools import accumulate, groupby

from textual import events
from textual.binding import Binding
from textual.content import Content
from textual.reactive import reactive
from textual.widget import Widget

from jitchat.providers.catalogue.table import cache_life
from jitchat.replay import Money, Savings, savings
from jitchat.session import Session
from jitchat.store.windows import Send, WindowArchive
from jitchat.text.figures import dollars, plural
from jitchat.text.sanitize import one_line
from jitchat.tui.figures import send_sentence, tokens, usage_sentence
from jitchat.tui.palette import kind_style
from jitchat.tui.views.sent_windows import FAR_STEPS, SentWindowsView
from jitchat.tui.views.view import Body, GoTo, Note, Subject, View
from jitchat.tui.widgets.budget_bar import PATTERNS, SELDOM
from jitchat.values import ASSUMED, Usage
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


_STYLES = {kind.value: kind_style(kind.value) for kind in Kind} | {
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


def saved_sentence(total: Savings, of: int, *, exact: bool) -> str:
    """`60 sends · ~71,204 tokens · full ~206,310 · saved ~135,106 (65 %)`.

    `of` is the number of all sends; `exact`, whether all counts are to be taken as they stand.
    """
    upto = total.sends + total.unanswered
    parts = [plural(upto, "send") if upto == of else f"sends 1 to {upto:,} of {of:,}"]
    parts.append(f"{tokens(total.sent, exact=exact)} tokens")
    parts.append(f"full {tokens(total.full, exact=exact)}")
    if total.saved < 0:
        parts.append(f"{tokens(-total.saved, exact=exact)} more than full")
    elif total.saved:
        parts.append(f"saved {tokens(total.saved, exact=exact)} ({total.share * 100:.0f} %)")
    else:
        parts.append("nothing saved")
    if total.unanswered:
        parts.append(f"{total.unanswered:,} without an answer not counted")
    return " · ".join(parts)


def money_sentence(total: Savings, model: str, *, picked: bool = False) -> str:
    """Say what that is in money, and plainly where `full` would have been cheaper.

    Empty where nothing was sent. `model` is the one whose price is looked for; `picked`, whether
    a small model chose for any of the sends.
    """
    money = total.money
    if not total.sends:
        return ""
    if not money.sends:
        who = one_line(model)
        return f"What that is in money is unknown: no price of {who} is known."
    if not money.uncached:
        told = "Nothing is charged"
    elif money.saved < 0:
        told = _dearer(money)
    else:
        full = f"~{dollars(money.uncached)}"
        if money.cached < money.uncached:
            full = f"~{dollars(money.cached)} behind a warm cache, {full} without one"
        saved = f"saved ~{dollars(money.saved)} ({money.saved / money.full * 100:.0f} %)"
        told = f"Input: {dollars(money.sent)} sent · full {full} · {saved}"
    without = total.sends - money.sends
    rest = f" · {plural(without, 'send')} without a known price not counted" if without else ""
    return f"{told}{rest}{' · what the picker took not counted' if picked else ''}"


def _dearer(money: Money) -> str:
    """Say what `full` would have cost where that is less than what was sent."""
    other, how = "", "without a cache"
    if money.cached < money.uncached:
        other, how = f"; ~{dollars(money.uncached)} without one", "behind a warm cache"
    full, sent = dollars(money.full), dollars(money.sent)
    return f"Input: full would have been cheaper, ~{full} {how}, not {sent} as sent{other}"


def parts_sentence(send: Send) -> str:
    """`system 96 + … + draft 28 + free 29,533 + reserve 2,048 = 32,768 limit`, and what full is."""
    sure = is_sure(send)
    sizes = ((kind, send.sizes.get(kind, 0)) for kind in Kind)
    parts = [f"{kind} {tokens(count, exact=sure)}" for kind, count in sizes if count]
    parts += [f"free {tokens(send.free, exact=sure)}", f"reserve {send.reserve:,}"]
    full = tokens(send.full_tokens, exact=sure)
    assumed = f" ({ASSUMED})" if send.budget.get("limit_source", "").startswith(ASSUMED) else ""
    return f"{' + '.join(parts)} = {send.limit:,} limit{assumed} · full would be {full}"


def send_lines(send: Send, number: int, of: int) -> tuple[str, str, str]:
    reported = "no answer came, and no usage"
    if send.reply is not None or send.usage is not None:
        reported = usage_sentence(send.usage, send.cost)
    return send_sentence(send, number, of), parts_sentence(send), one_line(reported)


def is_told(kind: Kind, there: bool) -> bool:
    """Whether a kind is named: one that is seldom there, only where it is."""
    return there or kind not in SELDOM or kind is Kind.PINNED


def legend(series: Series, columns: Columns) -> Iterator[tuple[str, str]]:
    """Name what is drawn, and how many sends a column is; each part with what it shows."""
    for kind in (kind for kind in Kind if is_told(kind, series.sums[kind][-1] > 0)):
        yield f"{PATTERNS[kind.value]}", kind.value
        yield f" {kind.value}  ", ""
    yield LID, "full"
    yield " full", ""
    if columns.per > 1:
        yield f"  each column is {columns.per:,} sends, the mean", ""


def table_lines(sends: Sequence[Send]) -> Iterator[str]:
    """Write all sends as a table, for copying; kinds, free and reserve add up to the limit."""
    kinds = [kind for kind in Kind if is_told(kind, any(kind in each.sizes for each in sends))]
    names = (*(kind.value for kind in kinds), "free", "reserve", "limit", "full")
    yield f"{'send':>6} {'turn':>7} {'mode':<8}" + "".join(f"{name:>14}" for name in names)
    for number, send in enumerate(sends, start=1):
        sizes = (send.sizes.get(kind, 0) for kind in kinds)
        counts = (*sizes, send.free, send.reserve, send.limit, send.full_tokens)
        figures = "".join(f"{count:>14,}" for count in counts)
        yield f"{number:>6,} {f'#{send.said}':>7} {send.mode.value:<8}{figures}"


def is_sure(send: Send) -> bool:
    """Whether its counts are to be taken as they stand."""
    return send.exact and not send.band


NOTHING = "Nothing was sent here yet. Enter sends; every send then has its column here."


@dataclass(frozen=True, slots=True)
class History:
    sends: tuple[Send, ...]
    totals: tuple[Savings, ...]
    series: Series
    exact: bool
    """Whether all counts are to be taken as they stand."""
    table: str
    """All sends in figures, for copying; of thousands, too slow to write at a key press."""
    first_picked: int | None
    """The place of the first send for which a small model chose; None where none did."""


def read_history(session: Session) -> History:
    """Read the sends of a conversation, and sum them up. Slow.

    Raises StoreUnreadable: a row is damaged.
    """
    memory, model = session.memory, session.provider.model
    sends = WindowArchive(memory.store.database).sends(memory.conversation.id)

    def price(send: Send, usage: Usage) -> float | None:
        """Only who answers now has a known price; of a reply that cost nothing, it is that."""
        if getattr(send, "cost", None) == 0:
            return 0.0
        asked = (send.provider or session.provider.name, send.model)
        return session.cost_of(usage) if asked == (session.provider.name, model) else None

    totals = savings(sends, price, cache_life(model))
    return History(
        sends=tuple(sends),
        totals=tuple(totals),
        series=series_of(sends),
        exact=all(map(is_sure, sends)),
        table="\n".join(table_lines(sends)),
        first_picked=next((place for place, send in enumerate(sends) if send.picked), None),
    )


class HistoryView(View):
    NAME = "History"
    EXPLAINED = "Tokens of every send, by kind; the line: what full would have sent."
    BINDINGS = [  # noqa: RUF012  Textual's own shape
        Binding("left", "step(-1)", "Earlier", id="history_earlier"),
        Binding("right", "step(1)", "Later", id="history_later"),
        Binding("enter", "open", "Its window", id="history_open"),
        Binding("g", "go_to", "Turn", id="history_go_to"),
        Binding("z", "zoom", "Zoom", id="history_zoom"),
        *FAR_STEPS,
    ]

    def __init__(self, subject: Subject) -> None:
        super().__init__(subject)
        self.history: History | None = None
        self.place = 0
        """The send that is pointed at, from 0."""
        self._chart, self._pointer = HistoryChart(), HistoryPointer()
        self._saved, self._legend = Note("history-saved"), Note("history-legend")
        self._send = Note("history-send")

    def body(self) -> Body:
        return (self._saved, self._chart, self._pointer, self._legend, self._send)

    def on_mount(self) -> None:
        self.box.display = False
        self.load(lambda: read_history(self.subject.session), self._show)

    def _show(self, history: History) -> None:
        self.show_nothing("" if history.sends else NOTHING)
        if history.sends:
            self.history = history
            self._chart.series = self._pointer.series = history.series
            self._chart.focus()
            self.action_go(-1)
            self.call_after_refresh(self._show_legend)

    def on_resize(self) -> None:
        self.call_after_refresh(self._show_legend)

    def _show_legend(self) -> None:
        series, columns = self._chart.series, self._chart.columns
        if series is not None and columns is not None:
            self._legend.update(styled(legend(series, columns)))

    def action_step(self, by: int) -> None:
        if self.history is not None:
            self.action_go(max(0, min(len(self.history.sends) - 1, self.place + by)))

    def action_go(self, place: int) -> None:
        """Go to a send; -1 is the last."""
        history = self.history
        if history is None:
            return
        of = len(history.sends)
        self.place = self._pointer.place = place = place % of
        send, *parts = send_lines(history.sends[place], place + 1, of)
        self._send.update(Content.assemble((send, "bold"), *(f"\n{part}" for part in parts)))
        picked = history.first_picked is not None and history.first_picked <= place
        model = self.subject.session.provider.model
        money = money_sentence(history.totals[place], model, picked=picked)
        saved = saved_sentence(history.totals[place], of, exact=history.exact)
        self._saved.update(Content.assemble((saved, "bold"), f"\n{money}" if money else ""))

    def action_zoom(self) -> None:
        self._chart.sent_only = not self._chart.sent_only

    def action_go_to(self) -> None:
        if self.history is not None:
            self.dismiss(GoTo(self.history.sends[self.place].said))

    def action_open(self) -> None:
        if self.history is not None:
            window_id = self.history.sends[self.place].window_id
            self.open_over(SentWindowsView(self.subject, window_id))

    def copyable(self) -> str:
        if self.history is None:
            return ""
        return f"{self._saved.content}\n{self._send.content}\n\n{self.history.table}"
