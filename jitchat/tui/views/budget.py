"""What the view of the budget draws: its track, its sentences, what enters and leaves. Pure.

The draft is looked up once. The windows of all steps of the slider are planned behind it, those
nearest to the thumb first; leaving the view stops that.
"""

from collections.abc import Iterable, Iterator, Sequence
from dataclasses import dataclass, replace
from math import log

from textual import events, on, work
from textual.binding import Binding
from textual.containers import VerticalScroll
from textual.content import Content
from textual.message import Message
from textual.widget import Widget
from textual.widgets import Static
from textual.worker import get_current_worker

from jitchat.errors import JitchatError, WindowOverflow
from jitchat.planning import Planned as Plan
from jitchat.planning import Question
from jitchat.text.figures import plural
from jitchat.tui.figures import WORKING, assumed_mark, part_figure, used_figure
from jitchat.tui.palette import MUTED
from jitchat.tui.views.sends_shown import SHOWN
from jitchat.tui.views.view import Planned, Subject, View, asked_of
from jitchat.tui.widgets.budget_bar import BudgetBar
from jitchat.window.budget import Budget
from jitchat.window.compare import (
    SAME,
    Change,
    Difference,
    budget_grid,
    difference,
    reserve_grid,
    retrieved_turns,
    sends_all,
    settles_at,
)
from jitchat.window.window import ContextWindow, Kind

SET, SETTLED, THUMB = "│", "▲", "█"
"""On the track: what is set, from where on nothing else is retrieved, what is looked at."""
_LINE, _DONE, _TICK = "─", "━", "┴"


def place_of(size: int, sizes: Sequence[int], width: int) -> int:
    """Find the cell of a size on a track of `width` cells: even ratios are even steps."""
    low, high = max(1, sizes[0]), max(2, sizes[-1])
    if high <= low:
        return 0
    share = log(max(low, size) / low) / log(high / low)
    return min(width - 1, round(share * (width - 1)))


def nearest(cell: int, sizes: Sequence[int], width: int) -> int:
    """Find the index of the size whose cell is nearest to this one."""
    places = [place_of(size, sizes, width) for size in sizes]
    return min(range(len(places)), key=lambda index: abs(places[index] - cell))


def draw_track(
    sizes: Sequence[int], at: int, present: int, mark: int | None, width: int
) -> Content:
    """Draw three lines: the marks, the track with its thumb, the scale below it.

    `at`, `present` and `mark` are indices: what is looked at, what is set, and where the
    retrieved set settles, None while that is not known.
    """
    above, track = [" "] * width, [_LINE] * width
    here = place_of(sizes[at], sizes, width)
    track[:here] = [_DONE] * here
    ticks = list(_ticks(sizes, width))
    for cell, _ in ticks:
        track[cell] = _TICK
    _put(above, place_of(sizes[present], sizes, width), f"{SET} set {sizes[present]:,}")
    track[here] = THUMB
    line = Content.assemble(
        ("".join(track[:here]), "$primary"), (track[here], "bold"), "".join(track[here + 1 :])
    )
    scale = [" "] * width
    for cell, told in ticks:
        _put(scale, cell, told)
    marked = [" "] * width
    if mark is not None:
        _put(marked, place_of(sizes[mark], sizes, width), f"{SETTLED} {sizes[mark]:,}")
    return Content("\n").join(
        [
            Content.styled("".join(above), MUTED),
            line,
            Content.styled("".join(scale), MUTED),
            Content.styled("".join(marked), "bold"),
        ]
    )


def _ticks(sizes: Sequence[int], width: int) -> Iterator[tuple[int, str]]:
    """Name the powers of two, and both ends; those that have no room are left out."""
    last = place_of(sizes[-1], sizes, width)
    yield 0, f"{sizes[0]:,}"
    taken = len(f"{sizes[0]:,}")
    end = last + 1 - len(f"{sizes[-1]:,}")
    size = 1 << sizes[0].bit_length()
    while size < sizes[-1]:
        cell, told = place_of(size, sizes, width), f"{size:,}"
        if cell > taken and cell + len(told) < end:
            yield cell, told
            taken = cell + len(told)
        size *= 2
    yield last, f"{sizes[-1]:,}"


def _put(line: list[str], cell: int, text: str) -> None:
    """Write a text that begins in a cell, or ends in it where it would run out of the line."""
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
    """`jit: in ~1,187 · free ~2,909 · 6 turns retrieved`; or by how much it does not fit."""
    if isinstance(planned, WindowOverflow):
        return f"does not fit: {planned.overshoot:,} tokens over"
    size = len(retrieved_turns(planned))
    told = f"{size:,} turn{'s' * (size != 1)} retrieved"
    free = part_figure(planned, planned.free)
    return f"{planned.mode}: in {used_figure(planned)} · free {free} · {told}"


def settled_sentence(
    sizes: Sequence[int],
    mark: int | None,
    largest: ContextWindow | WindowOverflow,
    *,
    reserve: bool,
) -> str:
    """Say where the retrieved set settles, and what that means; `mark` is an index or None.

    `largest` is planned with the most room, and has the set that it settles at.
    """
    if mark is None or isinstance(largest, WindowOverflow):
        return f"nothing is retrieved: no {'reserve' if reserve else 'budget'} changes that"
    edge = f"{SETTLED} {sizes[mark]:,}: "
    if not retrieved_turns(largest):
        told = "all of it is sent" if sends_all(largest) else "nothing is retrieved"
        ahead = "the largest reserve with which" if reserve else "from here on,"
        return f"{edge}{ahead} {told}"
    if reserve:
        return edge + "the largest reserve that keeps all that is retrieved without one"
    if mark == len(sizes) - 1:
        return edge + "what is retrieved changes up to the model's limit"
    return edge + "from here on, more budget retrieves nothing else"


def change_rows(found: Difference | None, is_same: bool) -> list[Content]:
    """List what enters and leaves, a row each up to `SHOWN` of a kind, full texts first.

    `is_same` says that this budget is the one that is set.
    """
    if found is None:
        return []
    rows = [
        *_rows("+ entered", sorted(found.entered, key=_is_line), "bold"),
        *_rows("− left", sorted(found.left, key=_is_line), MUTED),
        *_rows("~ moved", found.moved, ""),
    ]
    if not rows:
        why = "This is what is set." if is_same else SAME
        return [Content.styled(why, MUTED)]
    return rows


def _rows(what: str, changes: Sequence[Change], style: str) -> Iterator[Content]:
    """A row each; of very many, the rest is one sum."""
    yield from (_row(what, each, style) for each in changes[:SHOWN])
    if rest := changes[SHOWN:]:
        tokens = sum(map(_tokens, rest))
        told = f"{what:<10}… {plural(len(rest), 'more turn')}, {tokens:,} tokens"
        yield Content.styled(told, MUTED)


def _is_line(change: Change) -> bool:
    return Kind.INDEX in (change.kind_before, change.kind_after)


def _row(what: str, change: Change, style: str) -> Content:
    before, after = change.kind_before, change.kind_after
    kinds = f"{before} → {after}" if before and after else f"{before or after}"
    turn = f"#{change.turn}"
    return Content.styled(f"{what:<10}{turn:>7}  {kinds:<20}{_tokens(change):>7,} tokens", style)


def _tokens(change: Change) -> int:
    return change.tokens_after if change.kind_after else change.tokens_before


COARSE = 6
"""Steps of a page."""


class BudgetTrack(Widget, can_focus=True):
    """Sizes in tokens, ascending; one of them is looked at."""

    BINDINGS = [  # noqa: RUF012  Textual's own shape
        Binding("left,h", "step(-1)", "Less", show=False),
        Binding("right,l", "step(1)", "More", show=False),
        Binding("pagedown", f"step(-{COARSE})", "Much less", show=False),
        Binding("pageup", f"step({COARSE})", "Much more", show=False),
        Binding("home", "end(0)", "Least", show=False),
        Binding("end", "end(-1)", "Most", show=False),
    ]

    @dataclass
    class Moved(Message):
        """Another step is looked at."""

        at: int

    def __init__(self) -> None:
        super().__init__(id="budget-track")
        self.sizes: Sequence[int] = (1, 2)
        self.at = self.present = 0
        """Indices: what is looked at, and what is set."""
        self.mark: int | None = None
        self._dragging = False

    def show(self, sizes: Sequence[int], at: int, present: int) -> None:
        """Other steps."""
        self.sizes, self.at, self.present, self.mark = sizes, at, present, None
        self.refresh()

    def show_mark(self, mark: int | None) -> None:
        """Where the retrieved set settles; None for nowhere."""
        self.mark = mark
        self.refresh()

    def render(self) -> Content:
        """Draw marks, track and scale."""
        return draw_track(self.sizes, self.at, self.present, self.mark, max(1, self.size.width))

    def action_step(self, steps: int) -> None:
        """So many steps on."""
        self._go(self.at + steps)

    def action_end(self, index: int) -> None:
        """To the first or the last step."""
        self._go(index % len(self.sizes))

    def on_mouse_down(self, event: events.MouseDown) -> None:
        """Take hold of the thumb, wherever on the track."""
        self._dragging = True
        self.capture_mouse()
        self._go_to_cell(event.x)

    def on_mouse_move(self, event: events.MouseMove) -> None:
        """Drag it."""
        if self._dragging:
            self._go_to_cell(event.x)

    def on_mouse_up(self) -> None:
        """Let go."""
        self._dragging = False
        self.release_mouse()

    def _go_to_cell(self, cell: int) -> None:
        self._go(nearest(cell, self.sizes, max(1, self.size.width)))

    def _go(self, at: int) -> None:
        at = min(max(0, at), len(self.sizes) - 1)
        if at != self.at:
            self.at = at
            self.refresh()
            self.post_message(self.Moved(at))


class BudgetView(View):
    """A slider over the budget, or over the reserve."""

    CSS_PATH = ["view.tcss", "budget.tcss"]  # noqa: RUF012  Textual's own shape
    NAME = "Budget"
    EXPLAINED = "Move the budget and see which turns enter and leave the next window."
    BINDINGS = [  # noqa: RUF012  Textual's own shape
        Binding("enter", "adopt", "Set for this session", id="budget_adopt"),
        Binding("o", "once", "Set once", tooltip="For this message only", id="budget_once"),
        Binding("r", "reserve", "Reserve/budget", id="budget_reserve"),
        Binding("down,j", "scroll_rows(1)", "Scroll", show=False, id="budget_down"),
        Binding("up,k", "scroll_rows(-1)", "Scroll", show=False, id="budget_up"),
    ]

    @dataclass
    class Stepped(Message):
        """The window of a step was planned, or something went wrong instead."""

        serial: int
        step: int
        """-1 for the budget that is set."""
        outcome: Plan | JitchatError
        rows: Sequence[Content] = ()
        """What differs from the window with the budget that is set."""

    def __init__(self, subject: Subject) -> None:
        super().__init__(subject)
        self._set = subject.session.options.budget
        self._moves_reserve = False
        self._serial = 0
        self._steps: Sequence[Budget] = (self._set,)
        self._known: dict[int, Plan] = {}
        """What was planned, by step."""
        self._changes: dict[int, Sequence[Content]] = {}
        """The rows of what differs, by step."""
        self._baseline: Plan | None = None
        """With the budget that is set."""
        self._question: Question | None = None
        self._rows: Sequence[Content] = ()

    def body(self) -> Iterable[Widget]:
        """Track, bar, sentences, rows."""
        yield BudgetTrack()
        yield Static(id="budget-told")
        yield BudgetBar()
        yield Static(id="budget-settled")
        yield Static(id="budget-against")
        with VerticalScroll(id="budget-changes", can_focus=False):
            yield Static(id="budget-rows")

    def on_mount(self) -> None:
        """Begin at what holds for the draft."""
        self.query_one(BudgetTrack).focus()
        self._begin(self.subject.once.budget or self._set)

    @property
    def chosen(self) -> Budget:
        """The budget at the thumb."""
        return self._steps[self.query_one(BudgetTrack).at]

    def _begin(self, at: Budget) -> None:
        """Make the steps and plan them."""
        self._serial += 1
        limit = max(self.subject.session.model_limit, self._set.limit)
        grid = reserve_grid(self._set) if self._moves_reserve else budget_grid(self._set, limit)
        self._steps, self._known, self._changes = grid, {}, {}
        sizes = [self._moved_of(each) for each in grid]
        nearest = min(range(len(sizes)), key=lambda step: abs(sizes[step] - self._moved_of(at)))
        self.query_one(BudgetTrack).show(sizes, nearest, grid.index(self._set))
        self._sweep(self._serial, self.query_one(BudgetTrack))
        self._draw()

    def _moved_of(self, budget: Budget) -> int:
        """What the slider moves, in tokens."""
        return budget.reserve if self._moves_reserve else budget.budget

    @work(thread=True, group="sweep", exclusive=True)
    def _sweep(self, serial: int, track: BudgetTrack) -> None:
        """Plan every step, the one at the thumb first."""
        worker, steps = get_current_worker(), self._steps
        try:
            question = self._question = self._question or self._asked()
            baseline = self._planned(question, self._set)
            self.post_message(self.Stepped(serial, -1, baseline))
            missing = set(range(len(steps)))
            while missing and not worker.is_cancelled and serial == self._serial:
                step = min(missing, key=lambda each: abs(each - track.at))
                missing.remove(step)
                planned = self._planned(question, steps[step])
                rows = _changes(baseline, planned, is_same=steps[step] == self._set)
                self.post_message(self.Stepped(serial, step, planned, rows))
        except JitchatError as error:
            self.post_message(self.Stepped(serial, -1, error))

    def _asked(self) -> Question:
        """Look up what the screen shows a window for: the draft, or what was sent."""
        draft, once = asked_of(self.subject)
        mode = self.subject.mode
        return self.subject.session.question(draft, mode, replace(once, budget=None))

    def _planned(self, question: Question, budget: Budget) -> Plan:
        planning = self.subject.session.planning
        return planning.planned(question, self.subject.mode, budget)

    @on(Stepped)
    def _stepped(self, message: Stepped) -> None:
        if message.serial != self._serial:
            return
        outcome, step = message.outcome, message.step
        if isinstance(outcome, JitchatError) and not isinstance(outcome, WindowOverflow):
            self.show_nothing(str(outcome))
            return
        if step < 0:
            self._baseline = outcome
        else:
            self._known[step], self._changes[step] = outcome, message.rows
        if len(self._known) == len(self._steps):
            self._show_settled()
        if step in (-1, self.query_one(BudgetTrack).at):
            self._draw()

    def _show_settled(self) -> None:
        planned = [self._known[step] for step in range(len(self._steps))]
        planned = planned[::-1] if self._moves_reserve else planned
        mark = settles_at(planned)
        if mark is not None and self._moves_reserve:
            mark = len(planned) - 1 - mark
        track = self.query_one(BudgetTrack)
        track.show_mark(mark)
        told = settled_sentence(track.sizes, mark, planned[-1], reserve=self._moves_reserve)
        self.query_one("#budget-settled", Static).update(Content(told))

    @on(BudgetTrack.Moved)
    def _draw(self) -> None:
        """What is known of the step at the thumb."""
        at = self.query_one(BudgetTrack).at
        planned, bar = self._known.get(at), self.query_one(BudgetBar)
        bar.working = planned is None
        told = [budget_sentence(self.chosen, self.subject.session.model_limit)]
        told.append(window_sentence(planned) if planned is not None else WORKING)
        self.query_one("#budget-told", Static).update(Content("\n".join(told)))
        if len(self._known) < len(self._steps):
            wait = f"planning {len(self._steps)} windows to see where nothing else is retrieved…"
            self.query_one("#budget-settled", Static).update(Content(wait))
        if planned is not None:
            bar.refusal = planned if isinstance(planned, WindowOverflow) else None
            bar.window = planned if isinstance(planned, ContextWindow) else None
            self._draw_changes(self._changes[at])

    def _draw_changes(self, rows: Sequence[Content]) -> None:
        set_size = f"{self._set.budget:,} + {self._set.reserve:,}"
        against = f"against what is set, {set_size}:"
        self._rows = rows
        if isinstance(self._baseline, WindowOverflow):
            against = f"what is set, {set_size}, {window_sentence(self._baseline)}"
        self.query_one("#budget-against", Static).update(Content(against))
        self.query_one("#budget-rows", Static).update(Content("\n").join(self._rows))

    def copyable(self) -> str:
        """All sentences and rows."""
        names = ("#budget-told", "#budget-settled", "#budget-against")
        told = [str(self.query_one(name, Static).content) for name in names]
        return "\n".join([*told, *(row.plain for row in self._rows)])

    def action_reserve(self) -> None:
        """Move the reserve in place of the budget, or the other way round."""
        self._moves_reserve = not self._moves_reserve
        self.query_one("#view-frame").border_title = "Reserve" if self._moves_reserve else self.NAME
        self._begin(self._set)

    def action_scroll_rows(self, lines: int) -> None:
        """Move the rows."""
        self.query_one("#budget-changes").scroll_relative(y=lines, animate=False)

    def action_adopt(self) -> None:
        """Use it for this session, and for the draft."""
        if self.chosen != self._set:
            self.subject.session.take_budget(self.chosen)
        self.dismiss(Planned(once=replace(self.subject.once, budget=None)))

    def action_once(self) -> None:
        """Use it for this message only."""
        budget = self.chosen if self.chosen != self._set else None
        self.dismiss(Planned(once=replace(self.subject.once, budget=budget)))


def _changes(baseline: Plan, planned: Plan, *, is_same: bool) -> Sequence[Content]:
    """Draw what differs; nothing where one of them does not fit."""
    if isinstance(baseline, WindowOverflow) or isinstance(planned, WindowOverflow):
        return ()
    return change_rows(difference(baseline, planned), is_same)
