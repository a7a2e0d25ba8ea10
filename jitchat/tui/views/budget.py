"""The window at every budget, or at every reserve: what it holds, and what enters and leaves.

The draft is searched for once. The windows of all steps are planned in the background, nearest to
the cursor first, until the view is closed.
"""

import asyncio
from collections.abc import Sequence
from dataclasses import dataclass, replace

from textual import work
from textual.binding import Binding

from jitchat import planning
from jitchat.errors import JitchatError, WindowOverflow
from jitchat.text.figures import plural
from jitchat.tui.drawing import MUTED
from jitchat.tui.figures import WORKING, assumed_mark
from jitchat.tui.views.difference_rows import DiffRow, diff_columns, diff_rows
from jitchat.tui.views.table_view import TableView
from jitchat.tui.views.view import Body, Planned, Subject
from jitchat.tui.widgets.budget_bar import BudgetBar
from jitchat.tui.widgets.turn_table import Column, Line, TurnTable
from jitchat.window import compare
from jitchat.window.budget import Budget
from jitchat.window.window import ContextWindow


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
        return f"does not fit: {planned.over} tokens over"
    retrieved = plural(len(compare.retrieved_turns(planned)), "turn")
    free = planned.figure(planned.free)
    return f"{planned.mode}: in {planned.used_figure} · free {free} · {retrieved} retrieved"


@dataclass(frozen=True, slots=True)
class Step:
    """One budget, with its window once it is planned."""

    budget: Budget
    plan: planning.Planned | None = None
    changes: compare.Difference | None = None
    """What differs from the window of the current budget; None if there is none to compare."""

    @property
    def figures(self) -> tuple[str, str, str]:
        """The tokens of the window, its free tokens and its retrieved turns; empty without one."""
        plan = self.plan
        if not isinstance(plan, ContextWindow):
            return "", "", ""
        retrieved = len(compare.retrieved_turns(plan))
        return str(plan.used_figure), str(plan.figure(plan.free)), f"{retrieved:,}"


def step_columns(current: Budget) -> Sequence[Column[Step]]:
    """Return the columns of the steps; the row of the current budget is marked."""
    return (
        Column("", lambda step: "set" if step.budget == current else "", 3),
        Column("budget", lambda step: f"{step.budget.budget:,}", 9, is_right=True),
        Column("reserve", lambda step: f"{step.budget.reserve:,}", 9, is_right=True),
        Column("in", lambda step: step.figures[0], 10, is_right=True),
        Column("free", lambda step: step.figures[1], 10, is_right=True),
        Column("retrieved", lambda step: step.figures[2], 10, is_right=True),
        Column("changes", _changes_figure, gap=2),
    )


def _changes_figure(step: Step) -> str:
    """Write how many turns enter and leave: `+3 −12`."""
    if step.plan is None:
        return "…"
    if isinstance(step.plan, WindowOverflow):
        return window_sentence(step.plan)
    if step.changes is None:
        return ""
    counts = (("+", step.changes.entered), ("−", step.changes.left), ("~", step.changes.moved))
    return " ".join(f"{sign}{len(turns):,}" for sign, turns in counts if turns)


class BudgetView(TableView[Step]):
    EXPLAINED = "The next window at other budgets: what enters and leaves."
    BINDINGS = [  # noqa: RUF012  Textual's own shape
        Binding("enter", "adopt", "Set for this session", id="budget_adopt", priority=True),
        Binding("o", "once", "Set once", tooltip="For this message only", id="budget_once"),
        Binding("r", "reserve", "Reserve/budget", id="budget_reserve"),
    ]

    def __init__(self, subject: Subject) -> None:
        current = subject.session.options.budget
        steps = TurnTable[Step](
            step_columns(current), id="budget-steps", key=lambda step: step.budget
        )
        super().__init__(subject, steps, "budget")
        self._set = current
        self._moves_reserve = False
        self._baseline: planning.Planned | None = None
        self._question: planning.Question | None = None
        self._bar = BudgetBar()
        self._changes = TurnTable[DiffRow](
            (),
            id="budget-changes",
            style=lambda row: {"entered": "bold", "left": MUTED}.get(row.change.name, ""),
            has_cursor=False,
        )

    def body(self) -> Body:
        return (self.table, self._bar, self.note, self._changes)

    def read(self) -> None:
        self._begin(self.subject.once.budget or self._set)

    @property
    def step(self) -> Step:
        """The step under the cursor."""
        return self.table.row or Step(self._set)

    def _begin(self, at: Budget) -> None:
        if self._moves_reserve:
            grid = compare.reserve_grid(self._set)
        else:
            limit = max(self.subject.session.model_limit, self._set.limit)
            grid = compare.budget_grid(self._set, limit)
        nearest = min(grid, key=lambda budget: abs(budget.budget - at.budget))
        self.table.show([Step(budget) for budget in grid], at=nearest)
        self._sweep(grid)

    @work(group="sweep", exclusive=True)
    async def _sweep(self, grid: Sequence[Budget]) -> None:
        """Plan every step, the cursor's first, until another sweep begins or the view is closed."""
        try:
            if self._question is None:
                draft, once = self.subject.question
                look_up, mode = self.subject.session.question, self.subject.mode
                once = replace(once, budget=None)
                self._question = await asyncio.to_thread(look_up, draft, mode, once)
            self._baseline = await asyncio.to_thread(self._planned, self._question, self._set)
            missing = dict.fromkeys(grid)
            while missing:
                here = grid.index(self.step.budget)
                budget = min(missing, key=lambda budget: abs(grid.index(budget) - here))
                del missing[budget]
                step = await asyncio.to_thread(
                    self._planned_step, self._question, self._baseline, budget
                )
                self.table.replace_row(step)
                if budget == self.step.budget:
                    self.show_note()
        except JitchatError as error:
            self.show_nothing(str(error))

    def _planned(self, question: planning.Question, budget: Budget) -> planning.Planned:
        return self.subject.session.planning.planned(question, self.subject.mode, budget)

    def _planned_step(
        self, question: planning.Question, baseline: planning.Planned, budget: Budget
    ) -> Step:
        plan = self._planned(question, budget)
        if isinstance(baseline, ContextWindow) and isinstance(plan, ContextWindow):
            return Step(budget, plan, compare.difference(baseline, plan))
        return Step(budget, plan)

    def show_note(self) -> None:
        """Show the step under the cursor, as far as planned."""
        step, plan = self.step, self.step.plan
        self._bar.working = plan is None
        size = budget_sentence(step.budget, self.subject.session.model_limit)
        window = window_sentence(plan) if plan is not None else WORKING
        self.note.update(f"{size}\n{window}")
        if plan is not None:
            self._bar.refusal = plan if isinstance(plan, WindowOverflow) else None
            self._bar.window = plan if isinstance(plan, ContextWindow) else None
        changes = self._change_rows(step)
        self._changes.show(changes, columns=diff_columns(changes))

    def _change_rows(self, step: Step) -> list[DiffRow | Line]:
        """List what differs from the window of the current budget."""
        if not isinstance(self._baseline, ContextWindow) or not isinstance(
            step.plan, ContextWindow
        ):
            return []
        same = "no change" if step.budget == self._set else compare.SAME
        return diff_rows(self._baseline, step.plan) or [Line(same, MUTED)]

    def copyable(self) -> str:
        return "\n".join([*self.table.text(), "", str(self.note.content), *self._changes.text()])

    def action_reserve(self) -> None:
        self._moves_reserve = not self._moves_reserve
        self.frame.border_title = "Reserve" if self._moves_reserve else self.NAME
        self._begin(self._set)

    def action_adopt(self) -> None:
        if self.step.budget != self._set:
            self.subject.session.take_budget(self.step.budget)
        self.dismiss(Planned(once=replace(self.subject.once, budget=None)))

    def action_once(self) -> None:
        budget = self.step.budget if self.step.budget != self._set else None
        self.dismiss(Planned(once=replace(self.subject.once, budget=budget)))
