"""The window at every size: what would be sent.

The draft is searched for once. The windows of all sizes are planned in the background, nearest to
the cursor first, until the view is closed.
"""

import asyncio
from collections.abc import Sequence
from dataclasses import dataclass, fields, replace

from textual import work
from textual.binding import Binding

from jitchat import planning
from jitchat.errors import JitchatError, WindowOverflow
from jitchat.tui.figures import WORKING, budget_sentence
from jitchat.tui.plain import plain_sentences
from jitchat.tui.views.table_view import TableView
from jitchat.tui.views.view import Body, Planned, Subject
from jitchat.tui.widgets.budget_bar import BudgetBar
from jitchat.tui.widgets.turn_table import Column, TurnTable
from jitchat.window import compare
from jitchat.window.budget import SHARES, Budget
from jitchat.window.window import ContextWindow


def shares_table(budget: Budget) -> str:
    """List what may fill a window that does not hold everything: names, and tokens below them."""
    shares = {"recalled": budget.recalled}
    for share in fields(SHARES):
        name = share.name.removeprefix("whole_").replace("documents", "parts")
        shares[name] = budget.share(getattr(SHARES, share.name))
    names = "  ".join(f"{name:>6}" for name in shares)
    amounts = "  ".join(f"{tokens:>{max(6, len(name))},}" for name, tokens in shares.items())
    return f"max {names}\n    {amounts}"


@dataclass(frozen=True, slots=True)
class Step:
    """One size, with its window once it is planned."""

    budget: Budget
    plan: planning.Planned | None = None

    @property
    def tokens(self) -> str:
        return str(self.plan.used_figure) if isinstance(self.plan, ContextWindow) else ""

    @property
    def sentence(self) -> str:
        """What would be sent, or by how much it does not fit."""
        if self.plan is None:
            return WORKING
        if isinstance(self.plan, WindowOverflow):
            return f"does not fit: {self.plan.over} tokens over"
        return plain_sentences(self.plan, sent=False)[0]


def step_columns(current: Budget) -> Sequence[Column[Step]]:
    """Return the columns of the steps; the row of the current size is marked."""
    return (
        Column("", lambda step: "set" if step.budget == current else "", 3),
        Column("size", lambda step: f"{step.budget.most:,}", 9, is_right=True),
        Column("in", lambda step: step.tokens, 14, is_right=True),
        Column("what", lambda step: step.sentence, gap=2),
    )


class BudgetView(TableView[Step]):
    EXPLAINED = "The next window at other sizes."
    BINDINGS = [  # noqa: RUF012  Textual's own shape
        Binding("enter", "adopt", "Set in this chat", id="budget_adopt", priority=True),
        Binding("o", "once", "Set once", tooltip="For this message only", id="budget_once"),
    ]

    def __init__(self, subject: Subject) -> None:
        current = subject.session.options.budget
        steps = TurnTable[Step](
            step_columns(current), id="budget-steps", key=lambda step: step.budget
        )
        super().__init__(subject, steps, "budget")
        self._set = current
        self._bar = BudgetBar()

    def body(self) -> Body:
        return (self.table, self._bar, self.note)

    def read(self) -> None:
        grid = compare.size_grid(self._set)
        at = self.subject.once.budget or self._set
        nearest = min(grid, key=lambda budget: abs(budget.most - at.most))
        self.table.show([Step(budget) for budget in grid], at=nearest)
        self._sweep(grid)

    @property
    def step(self) -> Step:
        """The step under the cursor."""
        return self.table.row or Step(self._set)

    @work(group="sweep")
    async def _sweep(self, grid: Sequence[Budget]) -> None:
        """Plan every step, the cursor's first, until the view is closed."""
        draft, once = self.subject.question
        mode, session = self.subject.mode, self.subject.session
        try:
            once = replace(once, budget=None)
            question = await asyncio.to_thread(session.question, draft, mode, once)
            missing = dict.fromkeys(grid)
            while missing:
                here = grid.index(self.step.budget)
                budget = min(missing, key=lambda budget: abs(grid.index(budget) - here))
                del missing[budget]
                plan = await asyncio.to_thread(session.planning.planned, question, mode, budget)
                self.table.replace_row(Step(budget, plan))
                if budget == self.step.budget:
                    self.show_note()
        except JitchatError as error:
            self.show_nothing(str(error))

    def show_note(self) -> None:
        """Show the step under the cursor, as far as planned."""
        step, plan = self.step, self.step.plan
        self._bar.working = plan is None
        size = budget_sentence(step.budget, self.subject.mode)
        self.note.update(f"{step.sentence}\n\n{size}\n{shares_table(step.budget)}")
        if plan is not None:
            self._bar.refusal = plan if isinstance(plan, WindowOverflow) else None
            self._bar.window = plan if isinstance(plan, ContextWindow) else None

    def action_adopt(self) -> None:
        size = self.step.budget.size if self.step.budget != self._set else None
        self.dismiss(Planned(once=replace(self.subject.once, budget=None), size=size))

    def action_once(self) -> None:
        budget = self.step.budget if self.step.budget != self._set else None
        self.dismiss(Planned(once=replace(self.subject.once, budget=budget)))
