"""Checks whether turns noted as missing are found with today's settings."""

import asyncio
from collections.abc import Sequence

from textual import on, work
from textual.binding import Binding
from textual.widgets import OptionList

from jitchat.regression_cases import CaseChecker, CaseResult
from jitchat.session import Session
from jitchat.store.regression_cases import Case, CaseKind, Cases
from jitchat.text.figures import plural
from jitchat.text.sanitize import one_line, shorten
from jitchat.tui.notices import reports_errors
from jitchat.tui.palette import MUTED
from jitchat.tui.views.view import Body, GoTo, Note, Subject, View
from jitchat.tui.widgets.turn_table import Column, TurnTable

NONE_YET = "No cases yet. Press ! on a reply (or /wrong) and pick the turn that it was missing."
_KINDS = {CaseKind.MISS: "missing", CaseKind.KEPT: "kept"}
_MOST = 200
"""Characters shown of a message."""


def note_of(case: Case, checked: CaseResult | None) -> str:
    turn = case.wanted
    text = f"#{turn.position} {one_line(turn.speaker)}: {shorten(turn.content, _MOST)}"
    return text if checked is None else f"{' '.join(checked.sentences)}\n{text}"


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


class RegressionCasesView(View):
    """Every noted case, and whether its turn is found now."""

    NAME = "Check"
    EXPLAINED = "Re-plans each noted message: is its missing turn found? Enter goes to it."
    BINDINGS = [  # noqa: RUF012  Textual's own shape
        Binding("m", "go_to_message", "To the message", id="cases_message"),
        Binding("delete", "forget", "Remove", id="cases_forget"),
        Binding("u", "undo", "Undo", id="cases_undo"),
    ]

    def __init__(self, subject: Subject) -> None:
        super().__init__(subject)
        self._notes = CaseNotes(subject.session)
        self._checked: dict[tuple[int, int], CaseResult] = {}
        """Results by the keys of a case's two turns; unchecked cases are absent."""
        columns: Sequence[Column[Case]] = (
            Column("", self._mark, 1),
            Column("turn", lambda case: f"#{case.wanted.position}", 6),
            Column("noted", lambda case: _KINDS[case.kind], 8),
            Column("then", lambda case: self._standing(case, is_now=False), 17),
            Column("now", lambda case: self._standing(case, is_now=True), 17),
            Column("message", lambda case: f"#{case.said.position} {case.said.content[:_MOST]}"),
        )
        self._table = TurnTable[Case](
            columns,
            id="cases-table",
            key=key_of,
            style=lambda case: {"…": MUTED, "✓": "", "✗": "bold"}[self._mark(case)],
        )
        self._note = Note("cases-note")

    def body(self) -> Body:
        return (self._table, self._note)

    def on_mount(self) -> None:
        self._table.list.focus()
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
        head, *rows = self._table.text()
        lines = [self.sum, head]
        for row, case in zip(rows, self._table.rows, strict=True):
            lines += [row, f"  {note_of(case, self._checked.get(key_of(case)))}"]
        return "\n".join(line.rstrip() for line in lines)

    @property
    def sum(self) -> str:
        """Write `5 cases · 4 found · 1 not`, with the progress while checking."""
        keys = [key_of(case) for case in self._table.rows]
        tried = [self._checked[key] for key in keys if key in self._checked]
        found, left = sum(checked.passes for checked in tried), len(keys) - len(tried)
        told = f"{plural(len(keys), 'case')} · {found:,} found · {len(tried) - found:,} not"
        return f"{told} · {left:,} to check" if left else told

    @on(OptionList.OptionSelected)
    def action_go_to(self) -> None:
        if self._table.row is not None:
            self.dismiss(GoTo(self._table.row.wanted.position))

    def action_go_to_message(self) -> None:
        if self._table.row is not None:
            self.dismiss(GoTo(self._table.row.said.position))

    def action_forget(self) -> None:
        case = self._table.row
        if case is not None:
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
        keys, place = [key_of(case) for case in cases], self._table.list.highlighted or 0
        row = self._table.row
        is_gone = row is not None and key_of(row) not in keys
        self._table.show(cases, at=keys[min(place, len(keys) - 1)] if is_gone and keys else None)
        self._show_note()
        checking = CaseChecker(self.subject.session)
        for case in cases:
            self._checked[key_of(case)] = await asyncio.to_thread(checking.check, case)
            self._table.replace_row(case)
            self._show_note()

    @on(OptionList.OptionHighlighted)
    def _show_note(self) -> None:
        case = self._table.row
        self.frame.border_subtitle = self.sum if case is not None else ""
        note = note_of(case, self._checked.get(key_of(case))) if case is not None else ""
        self._note.update(note)
