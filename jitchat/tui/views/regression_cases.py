"""Checks whether turns noted as missing are found with today's settings."""

import asyncio
from collections.abc import Sequence

from textual import work
from textual.binding import Binding

from jitchat.regression_cases import CaseChecker, CaseResult
from jitchat.session import Session
from jitchat.store.regression_cases import Case, CaseKind, Cases
from jitchat.text.figures import plural
from jitchat.text.sanitize import one_line, shorten
from jitchat.tui.drawing import MUTED
from jitchat.tui.notices import reports_errors
from jitchat.tui.views.table_view import TableView
from jitchat.tui.views.view import GoTo, Subject
from jitchat.tui.widgets.turn_table import Column, TurnTable

NONE_YET = "No cases yet. Press ! on a reply (or /wrong) and pick the turn that it was missing."
_KINDS = {CaseKind.MISS: "missing", CaseKind.KEPT: "kept"}
_MOST = 200
"""Characters shown of a message."""


def key_of(case: Case) -> tuple[int, int]:
    return case.said.id, case.wanted.id


class CaseNotes:
    """The cases of one conversation, with undo for removals. Slow."""

    def __init__(self, session: Session) -> None:
        self._conversation = session.memory.conversation.id
        self._cases = Cases(session.memory.store.database)
        self._removed: list[Case] = []

    def all(self) -> list[Case]:
        return self._cases.of(self._conversation)

    def put(self, case: Case) -> Case:
        self._cases.put(case)
        return case

    def remove(self, case: Case) -> Case:
        self._cases.remove(case)
        self._removed.append(case)
        return case

    def undo(self) -> Case | None:
        """Restore the last removed case; None if there is none."""
        return self.put(self._removed.pop()) if self._removed else None


class RegressionCasesView(TableView[Case]):
    """Every noted case, and whether its turn is found now."""

    EXPLAINED = "Re-plans each noted message: is its missing turn found? Enter goes to it."
    BINDINGS = [  # noqa: RUF012  Textual's own shape
        Binding("m", "on_row('go_to_message')", "To the message", id="cases_message"),
        Binding("delete", "on_row('forget')", "Remove", id="cases_forget"),
        Binding("u", "undo", "Undo", id="cases_undo"),
    ]

    def __init__(self, subject: Subject) -> None:
        columns: Sequence[Column[Case]] = (
            Column("", self._mark, 1),
            Column("turn", lambda case: f"#{case.wanted.position}", 6),
            Column("noted", lambda case: _KINDS[case.kind], 8),
            Column("then", lambda case: self._standing(case, is_now=False), 17),
            Column("now", lambda case: self._standing(case, is_now=True), 17),
            Column("message", lambda case: f"#{case.said.position} {case.said.content[:_MOST]}"),
        )
        table = TurnTable[Case](
            columns,
            id="cases-table",
            key=key_of,
            style=lambda case: {"…": MUTED, "✓": "", "✗": "bold"}[self._mark(case)],
        )
        super().__init__(subject, table, "cases")
        self._notes = CaseNotes(subject.session)
        self._checked: dict[tuple[int, int], CaseResult] = {}
        """Results by the keys of a case's two turns; unchecked cases are absent."""

    def read(self) -> None:
        self._try_all()

    def _mark(self, case: Case) -> str:
        checked = self._checked.get(key_of(case))
        return "…" if checked is None else "✓" if checked.passes else "✗"

    def _standing(self, case: Case, *, is_now: bool) -> str:
        checked = self._checked.get(key_of(case))
        if checked is None:
            return "not checked yet" if is_now else ""
        standing = checked.now if is_now else checked.then
        return standing.value if standing is not None else "no window"

    def copyable(self) -> str:
        head, *rows = self.table.text()
        lines = [self.sum, head]
        for row, case in zip(rows, self.table.rows, strict=True):
            lines += [row, f"  {self.about(case)}"]
        return "\n".join(line.rstrip() for line in lines)

    @property
    def sum(self) -> str:
        """Write `5 cases · 4 found · 1 not`, with the progress while checking."""
        keys = [key_of(case) for case in self.table.rows]
        if not keys:
            return ""
        tried = [self._checked[key] for key in keys if key in self._checked]
        found, left = sum(checked.passes for checked in tried), len(keys) - len(tried)
        told = f"{plural(len(keys), 'case')} · {found:,} found · {len(tried) - found:,} not"
        return f"{told} · {left:,} to check" if left else told

    def about(self, case: Case) -> str:
        turn, checked = case.wanted, self._checked.get(key_of(case))
        text = f"#{turn.position} {one_line(turn.speaker)}: {shorten(turn.content, _MOST)}"
        return text if checked is None else f"{' '.join(checked.sentences)}\n{text}"

    def open_row(self, case: Case) -> None:
        self.dismiss(GoTo(case.wanted.position))

    def go_to_message(self, case: Case) -> None:
        self.dismiss(GoTo(case.said.position))

    def forget(self, case: Case) -> None:
        self.write(lambda: self._notes.remove(case), self._show_change)

    def action_undo(self) -> None:
        self.write(self._notes.undo, self._show_change)

    def _show_change(self, case: Case | None) -> None:
        if case is None:
            self.say("There is nothing to restore.")
        else:
            self._try_all()

    @work(exclusive=True, group="cases")
    @reports_errors
    async def _try_all(self) -> None:
        """List the cases, then check them in order; a new list replaces this one."""
        cases = await asyncio.to_thread(self._notes.all)
        self.show_nothing("" if cases else NONE_YET)
        keys, place = [key_of(case) for case in cases], self.table.list.highlighted or 0
        row = self.table.row
        is_gone = row is not None and key_of(row) not in keys
        self.table.show(cases, at=keys[min(place, len(keys) - 1)] if is_gone and keys else None)
        self.show_note()
        checking = await asyncio.to_thread(CaseChecker, self.subject.session)
        for case in cases:
            self._checked[key_of(case)] = await asyncio.to_thread(checking.check, case)
            self.table.replace_row(case)
            self.show_note()
