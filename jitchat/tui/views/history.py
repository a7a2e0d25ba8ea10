"""The tokens of every send compared with `full`, and what was saved.

The chart is drawn in characters: one bar per send, stacked by segment kind, under the outline of
`full`. Heights are precise to an eighth of a cell. A cell of one kind has its pattern; where two
kinds share a cell or a bar ends, it is partly filled in the lower kind's colour. Plotting libraries
draw bars of uneven width and uneven ticks, and cannot map a cell back to its send.
"""

from collections.abc import Iterable, Iterator, Mapping, Sequence
from dataclasses import dataclass
from itertools import accumulate, groupby

from textual import events
from textual.binding import Binding
from textual.reactive import reactive
from textual.widget import Widget

from jitchat.providers.catalogue.table import cache_life
from jitchat.savings import Money, Savings, savings
from jitchat.session import Session
from jitchat.store.windows import Send, WindowArchive
from jitchat.text.figures import dollars, plural
from jitchat.text.sanitize import one_line
from jitchat.tui.drawing import Content
from jitchat.tui.figures import send_sentence, tokens, usage_sentence
from jitchat.tui.palette import kind_style
from jitchat.tui.views.sent_windows import FAR_STEPS, SentWindowsView
from jitchat.tui.views.view import Body, GoTo, Note, Subject, View
from jitchat.tui.widgets.budget_bar import PATTERNS, SELDOM
from jitchat.values import ASSUMED, Usage
from jitchat.window.window import Kind

_WIDEST = 20
"""Columns between bars if there are few."""
_MOST_TICKS = 5
LID = "─"
"""The characters of the outline of `full`."""
EIGHTHS = "▁▂▃▄▅▆▇"
"""How far the lower of two kinds fills a cell."""
_FINE = len(EIGHTHS) + 1
_ABOVE = "↑"
"""Marks that `full` is off the scale."""
Run = tuple[str, str]
"""A text and what it shows: a kind, `full`, `axis`, or empty.

`recent on index` is a cell of two kinds, the lower one first.
"""


@dataclass(frozen=True, slots=True)
class Series:
    """The sizes of all sends as prefix sums, so that any range is summed by one subtraction."""

    sums: Mapping[str, Sequence[int]]
    """Prefix sums of tokens for each kind and for `full`; one more entry than sends."""
    largest: int
    """The largest send, or `full` in its place, in tokens."""

    @property
    def count(self) -> int:
        return len(self.sums["full"]) - 1

    def mean(self, name: str, start: int, stop: int) -> float:
        """Return a kind's mean tokens over a range of sends, counted from 0."""
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
    """The number of sends."""
    per: int
    """Sends per bar."""
    step: int
    """Columns from one bar to the next."""
    margin: int
    """Columns of the labels before the axis."""

    @property
    def bar(self) -> int:
        """Columns of one bar, without the gap after it."""
        return max(1, self.step - 1)

    @property
    def number(self) -> int:
        return -(-self.count // self.per)

    def cell_of(self, place: int) -> int:
        """Return the first column of a send's bar; sends are counted from 0."""
        return self.margin + 1 + place // self.per * self.step

    def place_at(self, cell: int) -> int | None:
        """Return the first send of the bar at a column; None outside the bars."""
        place = (cell - self.margin - 1) // self.step * self.per
        return place if cell > self.margin and place < self.count else None

    def reach(self, column: int) -> tuple[int, int]:
        """Return a bar's first send, and the one after its last."""
        start = column * self.per
        return start, min(self.count, start + self.per)


def columns_of(series: Series, width: int) -> Columns:
    """Fit all sends into `width` columns."""
    margin = len(f"{2 * series.largest:,}")
    room = max(1, width - margin - 1)
    per = max(1, -(-series.count // room))
    number = max(1, -(-series.count // per))
    return Columns(series.count, per, max(1, min(_WIDEST, room // number)), margin)


@dataclass(frozen=True, slots=True)
class Scale:
    rows: int
    top: int
    """Tokens at the top."""
    tick: int
    """Tokens between labels."""

    def row(self, tokens: float) -> int:
        return round(tokens * self.rows / self.top)

    def eighths(self, tokens: float) -> int:
        return round(tokens * self.rows * _FINE / self.top)

    def labels(self) -> dict[int, str]:
        return {self.row(size): f"{size:,}" for size in range(self.tick, self.top + 1, self.tick)}


def scale_of(largest: float, rows: int) -> Scale:
    """Choose a round scale for `rows` rows that includes the largest value."""
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
    """Its segments from the bottom, in eighths of a row."""
    lid: int
    """The row of the outline of `full`."""


def bars_of(
    series: Series, columns: Columns, rows: int, *, sent_only: bool
) -> tuple[Scale, list[Bar]]:
    """Measure all bars; with `sent_only`, the scale ignores `full`, which may be off the scale."""
    reaches = [columns.reach(column) for column in range(columns.number)]
    sizes = [[series.mean(kind, *reach) for kind in Kind] for reach in reaches]
    fulls = [series.mean("full", *reach) for reach in reaches]
    largest = max([*map(sum, sizes), *([] if sent_only else fulls)], default=0)
    scale = scale_of(largest, rows)
    return scale, [
        Bar(_filled(size, scale), scale.row(full)) for size, full in zip(sizes, fulls, strict=True)
    ]


def _filled(sizes: Sequence[float], scale: Scale) -> tuple[str, ...]:
    """Stack the kinds; anything above zero gets at least an eighth."""
    kinds: list[str] = []
    for kind, height in zip(Kind, map(scale.eighths, accumulate(sizes)), strict=True):
        kinds += [kind.value] * (height - len(kinds))
    if not kinds and any(sizes):
        return (max(zip(sizes, Kind, strict=True))[1].value,)
    return tuple(kinds)


def chart_rows(scale: Scale, bars: Sequence[Bar], columns: Columns) -> Iterator[list[Run]]:
    """Draw the rows from the top: the axis, the bars and the outline."""
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
    """Draw one row of a bar, with the gap after it, if any."""
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
    """Draw a cell of up to eight eighths; of three or more kinds, the two largest."""
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
    """Draw the outline from one height to the next; empty if it is not in this row."""
    if before == after:
        return LID if row == before else ""
    if row == before:
        return "╯" if before < after else "╮"
    if row == after:
        return "╭" if before < after else "╰"
    return "│" if min(before, after) < row < max(before, after) else ""


def pointer_rows(columns: Columns, place: int) -> tuple[str, str]:
    """Draw the lower axis with a mark under a send and the numbers of the first and last send."""
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
        """The columns of the sends; None if there are none."""
        series = self.series
        return columns_of(series, self.size.width) if series and series.count else None

    async def on_click(self, event: events.Click) -> None:
        place = self.columns.place_at(event.x) if self.columns else None
        if place is not None:
            await self.run_action(f"screen.go({place})")


class HistoryChart(SeriesWidget, can_focus=True):
    """The bars, stacked by kind, with the outline of `full`."""

    sent_only: reactive[bool] = reactive(False)
    """Whether the scale ignores `full`."""

    def render(self) -> Content:
        """All available rows; the outline needs one above the highest bar."""
        series, columns = self.series, self.columns
        if series is None or columns is None:
            return Content()
        rows = max(1, self.size.height - 1)
        scale, bars = bars_of(series, columns, rows, sent_only=self.sent_only)
        return Content("\n").join(map(styled, chart_rows(scale, bars, columns)))


class HistoryPointer(SeriesWidget):
    """The lower axis, drawn separately so that the mark moves without redrawing the bars."""

    place: reactive[int] = reactive(0)
    """The selected send, from 0."""

    def render(self) -> Content:
        columns = self.columns
        return Content("\n".join(pointer_rows(columns, self.place)) if columns else "")


def saved_sentence(total: Savings, of: int, *, exact: bool) -> str:
    """`60 sends · ~71,204 tokens · full ~206,310 · saved ~135,106 (65 %)`.

    `of` is the number of all sends; `exact` means that no count is an estimate.
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
        parts.append(f"{total.unanswered:,} unanswered not counted")
    return " · ".join(parts)


def money_sentence(total: Savings, model: str, *, picked: bool = False) -> str:
    """State the savings in money, and clearly if `full` would have been cheaper.

    Empty if nothing was sent. `model` is the one to be priced; `picked` means that a small model
    chose for some sends.
    """
    money = total.money
    if not total.sends:
        return ""
    if not money.sends:
        who = one_line(model)
        return f"The cost is unknown: no price of {who} is known."
    if not money.uncached:
        sentence = "No charge"
    elif money.saved < 0:
        sentence = _dearer(money)
    else:
        full = f"~{dollars(money.uncached)}"
        if money.cached < money.uncached:
            full = f"~{dollars(money.cached)} with a warm cache, {full} without one"
        saved = f"saved ~{dollars(money.saved)} ({money.saved / money.full * 100:.0f} %)"
        sentence = f"Input: {dollars(money.sent)} sent · full {full} · {saved}"
    without = total.sends - money.sends
    rest = f" · {plural(without, 'send')} without a known price not counted" if without else ""
    return f"{sentence}{rest}{' · the picker is not counted' if picked else ''}"


def _dearer(money: Money) -> str:
    """State what `full` would have cost if that is less than what was sent."""
    other, how = "", "without a cache"
    if money.cached < money.uncached:
        other, how = f"; ~{dollars(money.uncached)} without one", "with a warm cache"
    full, sent = dollars(money.full), dollars(money.sent)
    return f"Input: full would have been cheaper: ~{full} {how} instead of {sent}{other}"


def parts_sentence(send: Send) -> str:
    """Write `system 96 + … + draft 28 + free 29,533 + reserve 2,048 = 32,768 limit`, and `full`."""
    sure = is_sure(send)
    sizes = ((kind, send.sizes.get(kind, 0)) for kind in Kind)
    parts = [f"{kind} {tokens(count, exact=sure)}" for kind, count in sizes if count]
    parts += [f"free {tokens(send.free, exact=sure)}", f"reserve {send.reserve:,}"]
    full = tokens(send.full_tokens, exact=sure)
    assumed = f" ({ASSUMED})" if send.budget.get("limit_source", "").startswith(ASSUMED) else ""
    return f"{' + '.join(parts)} = {send.limit:,} limit{assumed} · full would be {full}"


def send_lines(send: Send, number: int, of: int) -> tuple[str, str, str]:
    reported = "no reply and no usage"
    if send.reply is not None or send.usage is not None:
        reported = usage_sentence(send.usage, send.cost)
    return send_sentence(send, number, of), parts_sentence(send), one_line(reported)


def is_named(kind: Kind, there: bool) -> bool:
    """Whether the legend names a kind; a rare one only if it occurs."""
    return there or kind not in SELDOM or kind is Kind.PINNED


def legend(series: Series, columns: Columns) -> Iterator[tuple[str, str]]:
    """Write the legend, with the number of sends per bar."""
    for kind in (kind for kind in Kind if is_named(kind, series.sums[kind][-1] > 0)):
        yield f"{PATTERNS[kind.value]}", kind.value
        yield f" {kind.value}  ", ""
    yield LID, "full"
    yield " full", ""
    if columns.per > 1:
        yield f"  each bar is the mean of {columns.per:,} sends", ""


def table_lines(sends: Sequence[Send]) -> Iterator[str]:
    """Write all sends as a table to copy; kinds, free and reserve add up to the limit."""
    kinds = [kind for kind in Kind if is_named(kind, any(kind in each.sizes for each in sends))]
    names = (*(kind.value for kind in kinds), "free", "reserve", "limit", "full")
    yield f"{'send':>6} {'turn':>7} {'mode':<8}" + "".join(f"{name:>14}" for name in names)
    for number, send in enumerate(sends, start=1):
        sizes = (send.sizes.get(kind, 0) for kind in kinds)
        counts = (*sizes, send.free, send.reserve, send.limit, send.full_tokens)
        figures = "".join(f"{count:>14,}" for count in counts)
        yield f"{number:>6,} {f'#{send.said}':>7} {send.mode.value:<8}{figures}"


def is_sure(send: Send) -> bool:
    """Whether its counts are exact, not estimates."""
    return send.exact and not send.band


NOTHING = "Nothing has been sent yet. Each send will have a bar here."


@dataclass(frozen=True, slots=True)
class History:
    sends: tuple[Send, ...]
    totals: tuple[Savings, ...]
    series: Series
    exact: bool
    """Whether all counts are exact, not estimates."""
    table: str
    """All sends as a table to copy; prepared in advance, since thousands take too long."""
    first_picked: int | None
    """The index of the first send for which a small model chose; None if there is none."""


def read_history(session: Session) -> History:
    """Read and sum up the sends of a conversation. Slow.

    Raises StoreUnreadable if a row is damaged.
    """
    memory, model = session.memory, session.provider.model
    sends = WindowArchive(memory.store.database).sends(memory.conversation.id)

    def price(send: Send, usage: Usage) -> float | None:
        """Price usage: only the current model's price is known, and a free reply stays free."""
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
    EXPLAINED = "Tokens of every send by kind; the line is what full would have sent."
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
        """The selected send, from 0."""
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
        """Select a send; -1 is the last."""
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
