"""Observations, which replace earlier turns in `observe`: lines, sources, and dropped items."""

from __future__ import annotations

from collections.abc import Callable, Sequence
from contextlib import aclosing
from dataclasses import dataclass
from functools import partial

from textual import work
from textual.binding import Binding

from jitchat.statements import Observation, Observations, Priority
from jitchat.synthesis.passes import PassReport, reports_of, saving_sentence
from jitchat.text.figures import plural
from jitchat.text.sanitize import one_line
from jitchat.tui.drawing import MUTED
from jitchat.tui.notices import reports_errors
from jitchat.tui.views.table_view import TableView
from jitchat.tui.views.view import Body, GoTo, Note, Planned, Subject
from jitchat.tui.widgets.turn_table import Column, TurnTable

NONE_YET = (
    "Nothing is observed yet. In observe mode, turns are observed when they exceed their share of"
    " the window; R observes all turns except the last exchange."
)
_NOTHING_DROPPED = "The last pass dropped nothing."
_MOST = 400
"""Characters shown of a line."""


@dataclass(frozen=True, slots=True)
class Row:
    number: int
    """The line's number, from 1; 0 for dropped items."""
    turn: int
    """Its first source turn."""
    turns: str
    level: str
    when: str
    text: str
    is_over: bool = False
    """Whether a later line replaced it."""


@dataclass(frozen=True, slots=True)
class Shown:
    observations: Observations
    reports: Sequence[PassReport]
    saving: str


def line_row(number: int, line: Observation) -> Row:
    later, text = line.superseded, line.text[:_MOST]
    if later is not None:
        on_day = f" {later.on}" if later.on is not None else ""
        text = f"(superseded{on_day} by #{later.turn}) {text}"
    when = f"{line.said_at:%Y-%m-%d %H:%M}" if line.said_at is not None else ""
    level = "" if line.priority is Priority.MEDIUM else line.priority.value
    source = line.source
    return Row(number, source.first, source.name, level, when, text, later is not None)


def dropped_rows(report: PassReport) -> list[Row]:
    """List what a pass dropped, by turn."""
    rows = [
        Row(0, each.turn, f"#{each.turn}", "", "", text[:_MOST])
        for each in report.dropped
        for text in (*each.sentences, *([f"names: {', '.join(each.items)}"] * bool(each.items)))
    ]
    return rows + [
        Row(0, line.source.first, line.source.name, "", "", line.text[:_MOST])
        for line in report.lost
    ]


class ObservationsView(TableView[Row]):
    """Lines with their source turns, and what the last pass covered, kept and dropped."""

    EXPLAINED = "What replaces earlier turns in observe. Enter goes to a line's turns."
    BINDINGS = [  # noqa: RUF012  Textual's own shape
        Binding("e", "on_row('edit')", "Edit", id="observations_edit"),
        Binding("delete", "on_row('drop')", "Remove", id="observations_remove"),
        Binding("d", "show_dropped", "Dropped", id="observations_dropped"),
        Binding("u", "undo", "Undo", id="observations_undo"),
        Binding("r", "observe", "Observe", id="observations_run"),
        Binding("x", "reset", "Reset", id="observations_reset"),
    ]

    def __init__(self, subject: Subject) -> None:
        columns: Sequence[Column[Row]] = (
            Column("line", lambda row: f"{row.number}" if row.number else "", 4),
            Column("turns", lambda row: row.turns, 10),
            Column("level", lambda row: row.level, 5),
            Column("said", lambda row: row.when, 16),
            Column("observation", lambda row: row.text),
        )
        table = TurnTable[Row](
            columns, id="observations-table", style=lambda row: MUTED if row.is_over else ""
        )
        super().__init__(subject, table, "observations")
        self._observing = subject.session.observing
        self._shown: Shown | None = None
        self._shows_dropped = False
        self._has_changed = False
        """Whether the next window must be re-planned."""
        self._passes = Note("observations-passes")

    def body(self) -> Body:
        return (*super().body(), self._passes)

    def copyable(self) -> str:
        return "\n".join([*self.table.text(), str(self._passes.content)])

    def read(self) -> None:
        self.load(self._read, self._show)

    def _read(self) -> Shown:
        """Read the observations and the reports of the passes. Slow."""
        session, observing = self.subject.session, self._observing
        session.memory.refresh()
        standing = observing.standing()
        before = standing.history.total - standing.raw
        saving = saving_sentence(before, standing.observed, session.options.prices)
        reports = reports_of(observing.passes(), session.memory.turns)
        return Shown(standing.observations, reports, saving)

    def _show(self, shown: Shown) -> None:
        self._shown = shown
        lines = shown.observations.lines
        is_empty = not shown.reports
        self.show_nothing(NONE_YET if is_empty else "")
        if is_empty:
            self.show_note()
            return
        rows = [line_row(number, line) for number, line in enumerate(lines, start=1)]
        if self._shows_dropped:
            rows = dropped_rows(shown.reports[-1])
        self.table.show(rows)
        if self.focused is None:  # the list was hidden while it was empty
            self.table.list.focus()
        last = shown.reports[-1]
        dropped = last.dropped_sentence or _NOTHING_DROPPED
        of_all = f" of {len(shown.reports):,}" * (len(shown.reports) > 1)
        self._passes.update(f"{shown.saving}\nlast pass{of_all}: {last.sentence}\n{dropped}")

    @property
    def sum(self) -> str:
        """`12 lines for #1–#48`."""
        if self._shown is None or not self._shown.reports:
            return ""
        lines, through = self._shown.observations.lines, self._shown.observations.through
        return f"{plural(len(lines), 'line')} for #1–#{through}"

    def about(self, row: Row) -> str:
        return one_line(row.text)

    # Actions.

    def open_row(self, row: Row) -> None:
        self.dismiss(GoTo(row.turn, self.planned))

    def action_show_dropped(self) -> None:
        self._shows_dropped = not self._shows_dropped
        if self._shown is not None:
            self._show(self._shown)

    def edit(self, row: Row) -> None:
        if not row.number or self._shown is None:
            self.say("Select an observation; D shows them.")
            return
        line = self._shown.observations.lines[row.number - 1]
        self.edit_line.edit(line.text, partial(self._take_edit, row.number))

    def _take_edit(self, number: int, text: str) -> None:
        self._change(partial(self._observing.edit, number - 1, one_line(text)))

    def drop(self, row: Row) -> None:
        if row.number:
            self._change(partial(self._observing.edit, row.number - 1, ""))

    def action_undo(self) -> None:
        self._change(self._observing.undo)

    def action_reset(self) -> None:
        self._change(self._observing.reset)

    def _change(self, change: Callable[[], object]) -> None:
        self.write(change, lambda _: self._changed())

    def _changed(self) -> None:
        self._has_changed = True
        self.read()

    @work(exclusive=True, group="observe")
    @reports_errors
    async def action_observe(self) -> None:
        limit, number = self.subject.session.options.budget.limit, 0
        async with aclosing(self._observing.run(limit, everything=True)) as passes:
            async for _ in passes:
                number += 1
                self._changed()
        if not number:
            self.say("All turns except the last exchange are observed.")

    @property
    def planned(self) -> Planned | None:
        return Planned() if self._has_changed else None
