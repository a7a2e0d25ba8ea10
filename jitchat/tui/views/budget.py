"""A slider over the budget, or over the reserve: which turns enter and leave the next window.

The draft is searched for once. The windows of all steps are planned in the background, nearest to
the thumb first, until the view is closed.
"""

import asyncio
from collections.abc import Iterator, Sequence
from dataclasses import dataclass, replace
from math import log

from textual import events, work
from textual.binding import Binding
from textual.reactive import reactive
from textual.widget import Widget

from jitchat import planning
from jitchat.errors import JitchatError, WindowOverflow
from jitchat.text.figures import plural
from jitchat.tui.drawing import Content
from jitchat.tui.figures import WORKING, assumed_mark, part_figure, used_figure
from jitchat.tui.palette import MUTED
from jitchat.tui.views.sent_window_page import SHOWN
from jitchat.tui.views.view import Body, Note, Planned, Subject, View
from jitchat.tui.widgets.budget_bar import BudgetBar
from jitchat.tui.widgets.turn_table import Column, Line, TurnTable
from jitchat.window import compare
from jitchat.window.budget import Budget
from jitchat.window.window import ContextWindow, Kind

SET, SETTLED, THUMB = "│", "▲", "█"
"""Marks on the track: the current setting, where retrieval settles, and the thumb."""
_LINE, _DONE, _TICK = "─", "━", "┴"


def place_of(size: int, sizes: Sequence[int], width: int) -> int:
    """Return the column of a size on a logarithmic track of `width` columns."""
    low, high = max(1, sizes[0]), max(2, sizes[-1])
    if high <= low:
        return 0
    share = log(max(low, size) / low) / log(high / low)
    return min(width - 1, round(share * (width - 1)))


def nearest(cell: int, sizes: Sequence[int], width: int) -> int:
    places = [place_of(size, sizes, width) for size in sizes]
    return min(range(len(places)), key=lambda index: abs(places[index] - cell))


def draw_track(
    sizes: Sequence[int], at: int, present: int, mark: int | None, width: int
) -> Content:
    """Draw three lines: the marks, the track with its thumb, the scale below it.

    `at`, `present` and `mark` are indices: the thumb, the current setting, and where the retrieved
    set settles, None if unknown.
    """
    above, track = [" "] * width, [_LINE] * width
    scale, marked = [" "] * width, [" "] * width
    here = place_of(sizes[at], sizes, width)
    track[:here] = [_DONE] * here
    for cell, text in _ticks(sizes, width):
        track[cell] = _TICK
        _put(scale, cell, text)
    _put(above, place_of(sizes[present], sizes, width), f"{SET} set {sizes[present]:,}")
    if mark is not None:
        _put(marked, place_of(sizes[mark], sizes, width), f"{SETTLED} {sizes[mark]:,}")
    return Content.assemble(
        ("".join([*above, "\n"]), MUTED),
        ("".join(track[:here]), "$primary"),
        (THUMB, "bold"),
        "".join([*track[here + 1 :], "\n"]),
        ("".join([*scale, "\n"]), MUTED),
        ("".join(marked), "bold"),
    )


def _ticks(sizes: Sequence[int], width: int) -> Iterator[tuple[int, str]]:
    """Label the powers of two and both ends; labels without room are left out."""
    last = place_of(sizes[-1], sizes, width)
    yield 0, f"{sizes[0]:,}"
    taken = len(f"{sizes[0]:,}")
    end = last + 1 - len(f"{sizes[-1]:,}")
    size = 1 << sizes[0].bit_length()
    while size < sizes[-1]:
        cell, text = place_of(size, sizes, width), f"{size:,}"
        if cell > taken and cell + len(text) < end:
            yield cell, text
            taken = cell + len(text)
        size *= 2
    yield last, f"{sizes[-1]:,}"


def _put(line: list[str], cell: int, text: str) -> None:
    """Write a text that begins at a column, or ends there if it would exceed the line."""
    start = min(cell, len(line) - len(text))
    if start < cell and text[0] in (SET, SETTLED):
        text, start = f"{text[2:]} {text[0]}", cell + 1 - len(text)
    if start >= 0:
        line[start : start + len(text)] = text


def budget_sentence(budget: Budget, model_limit: int) -> str:
    """`budget 4,096 + reserve 2,048 = limit 6,144, of the model's 32,768`."""
    of_model = f", of the model's {model_limit:,}" if budget.limit != model_limit else ""
    return (
        f"budget {budget.budget:,} + reserve {budget.reserve:,}"
        f" = limit {budget.limit:,}{assumed_mark(budget)}{of_model}"
    )


def window_sentence(planned: ContextWindow | WindowOverflow) -> str:
    """Write `jit: in ~1,187 · free ~2,909 · 6 turns retrieved`, or by how much it does not fit."""
    if isinstance(planned, WindowOverflow):
        return f"does not fit: {planned.overshoot:,} tokens over"
    retrieved = plural(len(compare.retrieved_turns(planned)), "turn")
    free = part_figure(planned, planned.free)
    return f"{planned.mode}: in {used_figure(planned)} · free {free} · {retrieved} retrieved"


def settled_sentence(
    sizes: Sequence[int],
    mark: int | None,
    largest: ContextWindow | WindowOverflow,
    *,
    reserve: bool,
) -> str:
    """Describe where the retrieved set settles; `mark` is an index or None.

    `largest` is the window planned with the most room, whose set the others settle at.
    """
    if mark is None or isinstance(largest, WindowOverflow):
        return f"nothing is retrieved at any {'reserve' if reserve else 'budget'}"
    edge = f"{SETTLED} {sizes[mark]:,}: "
    if not compare.retrieved_turns(largest):
        what = "everything is sent" if compare.sends_all(largest) else "nothing is retrieved"
        since = "largest reserve with which" if reserve else "from here,"
        return f"{edge}{since} {what}"
    if reserve:
        return edge + "largest reserve that still retrieves everything"
    if mark == len(sizes) - 1:
        return edge + "retrieval changes up to the model's limit"
    return edge + "from here, a larger budget retrieves nothing more"


@dataclass(frozen=True, slots=True)
class ChangeRow:
    what: str
    """`+ entered`, `− left` or `~ moved`."""
    change: compare.Change

    @property
    def kinds(self) -> str:
        return " → ".join(filter(None, (self.change.kind_before, self.change.kind_after)))

    @property
    def tokens(self) -> int:
        """Its tokens, now or before it left."""
        return self.change.tokens_after if self.change.kind_after else self.change.tokens_before


CHANGE_COLUMNS: Sequence[Column[ChangeRow]] = (
    Column("", lambda row: row.what, 10),
    Column("turn", lambda row: f"#{row.change.turn}", 7, is_right=True, gap=0),
    Column("kind", lambda row: row.kinds, 20, gap=2),
    Column("tokens", lambda row: f"{row.tokens:,} tokens", 14, is_right=True, gap=0),
)


def change_rows(changes: compare.Difference | None, is_current: bool) -> list[ChangeRow | Line]:
    """List what enters and leaves, up to `SHOWN` rows of a kind, full texts first.

    `is_current` tells whether this budget is the current one; None if there is none to compare.
    """
    if changes is None:
        return []
    if not (changes.entered or changes.left or changes.moved):
        return [Line("no change" if is_current else compare.SAME, MUTED)]

    def is_line(change: compare.Change) -> bool:
        return Kind.INDEX in (change.kind_before, change.kind_after)

    rows: list[ChangeRow | Line] = []
    for what, group in (
        ("+ entered", sorted(changes.entered, key=is_line)),
        ("− left", sorted(changes.left, key=is_line)),
        ("~ moved", changes.moved),
    ):
        rows += [ChangeRow(what, change) for change in group[:SHOWN]]
        if rest := [ChangeRow(what, change) for change in group[SHOWN:]]:
            tokens = sum(row.tokens for row in rest)
            sentence = f"{what:<10}… {plural(len(rest), 'more turn')}, {tokens:,} tokens"
            rows.append(Line(sentence, MUTED))
    return rows


class BudgetTrack(Widget, can_focus=True):
    """A slider over ascending sizes in tokens."""

    BINDINGS = [  # noqa: RUF012  Textual's own shape
        Binding("left,h", "step(-1)", "Less", show=False),
        Binding("right,l", "step(1)", "More", show=False),
        Binding("pagedown", "step(-6)", "Much less", show=False),
        Binding("pageup", "step(6)", "Much more", show=False),
        Binding("home", "end(0)", "Least", show=False),
        Binding("end", "end(-1)", "Most", show=False),
    ]

    sizes: reactive[Sequence[int]] = reactive((1, 2))
    at: reactive[int] = reactive(0)
    """The index of the size at the thumb."""
    present: reactive[int] = reactive(0)
    """The index of the current setting."""
    mark: reactive[int | None] = reactive(None)
    """The index of the size where the retrieved set settles; None if it does not."""

    def __init__(self) -> None:
        super().__init__(id="budget-track")
        self._dragging = False

    def render(self) -> Content:
        return draw_track(self.sizes, self.at, self.present, self.mark, max(1, self.size.width))

    def action_step(self, steps: int) -> None:
        self.at = min(max(0, self.at + steps), len(self.sizes) - 1)

    def action_end(self, index: int) -> None:
        self.at = index % len(self.sizes)

    def on_mouse_down(self, event: events.MouseDown) -> None:
        self._dragging = True
        self.capture_mouse()
        self.on_mouse_move(event)

    def on_mouse_move(self, event: events.MouseEvent) -> None:
        if self._dragging:
            self.at = nearest(event.x, self.sizes, max(1, self.size.width))

    def on_mouse_up(self) -> None:
        self._dragging = False
        self.release_mouse()


class BudgetView(View):
    NAME = "Budget"
    EXPLAINED = "Move the budget and see which turns enter and leave the next window."
    BINDINGS = [  # noqa: RUF012  Textual's own shape
        Binding("enter", "adopt", "Set for this session", id="budget_adopt"),
        Binding("o", "once", "Set once", tooltip="For this message only", id="budget_once"),
        Binding("r", "reserve", "Reserve/budget", id="budget_reserve"),
        Binding("down,j", "scroll_rows(1)", "Scroll", show=False, id="budget_down"),
        Binding("up,k", "scroll_rows(-1)", "Scroll", show=False, id="budget_up"),
    ]

    def __init__(self, subject: Subject) -> None:
        super().__init__(subject)
        self._set = subject.session.options.budget
        self._moves_reserve = False
        self._steps: Sequence[Budget] = (self._set,)
        self._plans: dict[int, tuple[planning.Planned, Sequence[ChangeRow | Line]]] = {}
        """For each step, the planned window and its difference from the current one."""
        self._baseline: planning.Planned | None = None
        self._question: planning.Question | None = None
        self._track, self._bar = BudgetTrack(), BudgetBar()
        self._summary, self._settled = Note("budget-summary"), Note("budget-settled")
        self._against = Note("budget-against")
        self._table = TurnTable[ChangeRow](
            CHANGE_COLUMNS,
            id="budget-changes",
            style=lambda row: {"+": "bold", "−": MUTED, "~": ""}[row.what[0]],
            has_cursor=False,
        )

    def body(self) -> Body:
        return (self._track, self._summary, self._bar, self._settled, self._against, self._table)

    def on_mount(self) -> None:
        self._track.focus()
        self.watch(self._track, "at", self._draw, init=False)
        self._begin(self.subject.once.budget or self._set)

    @property
    def chosen(self) -> Budget:
        return self._steps[self._track.at]

    def _begin(self, at: Budget) -> None:
        limit = max(self.subject.session.model_limit, self._set.limit)
        grid = (
            compare.reserve_grid(self._set)
            if self._moves_reserve
            else compare.budget_grid(self._set, limit)
        )
        self._steps, self._plans = grid, {}
        sizes = [self._moved_of(budget) for budget in grid]
        here = min(range(len(sizes)), key=lambda step: abs(sizes[step] - self._moved_of(at)))
        track = self._track
        track.sizes, track.at, track.present, track.mark = sizes, here, grid.index(self._set), None
        self._sweep()
        self._draw()

    def _moved_of(self, budget: Budget) -> int:
        """The value of the slider, in tokens."""
        return budget.reserve if self._moves_reserve else budget.budget

    @work(group="sweep", exclusive=True)
    async def _sweep(self) -> None:
        """Plan every step, the thumb's first, until another sweep begins or the view is closed."""
        try:
            if self._question is None:
                draft, once = self.subject.question
                look_up, mode = self.subject.session.question, self.subject.mode
                once = replace(once, budget=None)
                self._question = await asyncio.to_thread(look_up, draft, mode, once)
            self._baseline = await asyncio.to_thread(self._planned, self._question, self._set)
            self._draw()
            missing = set(range(len(self._steps)))
            while missing:
                step = min(missing, key=lambda step: abs(step - self._track.at))
                missing.remove(step)
                self._plans[step] = await asyncio.to_thread(
                    self._read_step, self._question, self._baseline, self._steps[step]
                )
                if step == self._track.at:
                    self._draw()
            self._show_settled()
        except JitchatError as error:
            self.show_nothing(str(error))

    def _planned(self, question: planning.Question, budget: Budget) -> planning.Planned:
        return self.subject.session.planning.planned(question, self.subject.mode, budget)

    def _read_step(
        self, question: planning.Question, baseline: planning.Planned, budget: Budget
    ) -> tuple[planning.Planned, Sequence[ChangeRow | Line]]:
        plan, changes = self._planned(question, budget), None
        if isinstance(baseline, ContextWindow) and isinstance(plan, ContextWindow):
            changes = compare.difference(baseline, plan)
        return plan, change_rows(changes, is_current=budget == self._set)

    def _show_settled(self) -> None:
        plans = [self._plans[step][0] for step in range(len(self._steps))]
        plans = plans[::-1] if self._moves_reserve else plans
        mark = compare.settles_at(plans)
        if mark is not None and self._moves_reserve:
            mark = len(plans) - 1 - mark
        self._track.mark = mark
        sentence = settled_sentence(self._track.sizes, mark, plans[-1], reserve=self._moves_reserve)
        self._settled.update(sentence)

    def _draw(self) -> None:
        """Show the step at the thumb, as far as planned."""
        plan, changes = self._plans.get(self._track.at, (None, ()))
        self._bar.working = plan is None
        size = budget_sentence(self.chosen, self.subject.session.model_limit)
        window = window_sentence(plan) if plan is not None else WORKING
        self._summary.update(f"{size}\n{window}")
        if len(self._plans) < len(self._steps):
            wait = f"planning {len(self._steps)} windows to find where retrieval settles…"
            self._settled.update(wait)
        if plan is not None:
            self._bar.refusal = plan if isinstance(plan, WindowOverflow) else None
            self._bar.window = plan if isinstance(plan, ContextWindow) else None
            current = f"{self._set.budget:,} + {self._set.reserve:,}"
            against = f"compared with the current setting, {current}:"
            if isinstance(self._baseline, WindowOverflow):
                against = f"the current setting, {current}, {window_sentence(self._baseline)}"
            self._against.update(against)
            self._table.show(changes)

    def copyable(self) -> str:
        sentences = (self._summary, self._settled, self._against)
        return "\n".join([*(str(part.content) for part in sentences), *self._table.text()])

    def action_reserve(self) -> None:
        self._moves_reserve = not self._moves_reserve
        self.frame.border_title = "Reserve" if self._moves_reserve else self.NAME
        self._begin(self._set)

    def action_scroll_rows(self, lines: int) -> None:
        self._table.list.scroll_relative(y=lines, animate=False)

    def action_adopt(self) -> None:
        if self.chosen != self._set:
            self.subject.session.take_budget(self.chosen)
        self.dismiss(Planned(once=replace(self.subject.once, budget=None)))

    def action_once(self) -> None:
        budget = self.chosen if self.chosen != self._set else None
        self.dismiss(Planned(once=replace(self.subject.once, budget=budget)))
