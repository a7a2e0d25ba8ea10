"""Budget: what enters and leaves the next window as there is less or more room for it.

The draft is looked up once. The windows of all steps of the slider are planned behind it, those
nearest to the thumb first; leaving the view stops that.
"""

from __future__ import annotations

from collections.abc import Iterable, Sequence
from dataclasses import dataclass, replace
from typing import TYPE_CHECKING

from textual import on, work
from textual.binding import Binding
from textual.containers import VerticalScroll
from textual.content import Content
from textual.message import Message
from textual.widget import Widget
from textual.widgets import Static
from textual.worker import get_current_worker

from jitchat.errors import JitchatError, WindowOverflow
from jitchat.tui.figures import WORKING
from jitchat.tui.views.budget_drawing import (
    budget_sentence,
    change_rows,
    settled_sentence,
    window_sentence,
)
from jitchat.tui.views.budget_track import BudgetTrack
from jitchat.tui.views.subject import Planned, Subject, asked_of
from jitchat.tui.views.view import View
from jitchat.tui.widgets.budget_bar import BudgetBar
from jitchat.window.budget import Budget
from jitchat.window.difference import difference
from jitchat.window.sweep import budget_grid, reserve_grid, settled
from jitchat.window.window import ContextWindow

if TYPE_CHECKING:
    from jitchat.planning import Planned as Plan
    from jitchat.planning import Question


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
        return planning.sweep(question, self.subject.mode, [budget])[0]

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
        mark = settled(planned)
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
