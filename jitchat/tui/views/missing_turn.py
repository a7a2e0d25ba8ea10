"""Noting the turn that a reply was missing: listing and searching turns."""

from collections.abc import Sequence
from dataclasses import dataclass, replace
from functools import partial

from rich.cells import set_cell_size
from textual import on
from textual.binding import Binding
from textual.widgets import Input

from jitchat.store.regression_cases import Case, CaseKind
from jitchat.text.sanitize import one_line, shorten
from jitchat.text.sentences import turn_references
from jitchat.tui.notices import notify_error
from jitchat.tui.views.regression_cases import CaseNotes
from jitchat.tui.views.table_view import TableView
from jitchat.tui.views.view import Body, Exchange, Note, Subject, exchange_text
from jitchat.tui.widgets.turn_table import Column, TurnTable
from jitchat.values import Form, Turn
from jitchat.why import Explained, Standing, why
from jitchat.window.window import ContextWindow, Kind, segment_of_turns
from jitchat.writing.calls import full_text

MOST = 50
"""Rows shown; a search finds the others."""
_EXCERPT = 300
_SPEAKER = 10
_COPIED = 200
"""Characters of message and reply that are copied."""
_MARKS = {CaseKind.MISS: "!", CaseKind.KEPT: "K"}
_NOTHING_AHEAD = "No turn before this message could be missing."
_NO_HIT = "No turn before this message matches."
_QUESTION = "Which turn was missing? Enter notes it; /check re-plans all noted messages."
_NO_WINDOW = "No window was sent from here for this reply, so there is no ledger."


@dataclass(frozen=True, slots=True)
class Row:
    turn: Turn
    standing: str
    """Its status in the window that was sent, in one or two words."""
    is_there: bool | None
    """Whether it was there at full text; None for an excerpt, which may lack the passage."""
    text: str
    """The turn's text, or an excerpt around the search match."""
    case: Case | None = None
    """The case noted for it, if any."""


COLUMNS: Sequence[Column[Row]] = (
    Column("", lambda row: _MARKS[row.case.kind] if row.case is not None else "", 1),
    Column("turn", lambda row: f"#{row.turn.position}", 6),
    Column("in window", lambda row: row.standing, 10),
    Column("speaker", lambda row: set_cell_size(one_line(row.turn.speaker), _SPEAKER), _SPEAKER),
    Column("what it says", lambda row: row.text),
)


def row_of(turn: Turn, window: ContextWindow | None, case: Case | None, text: str = "") -> Row:
    text = text or shorten(full_text(turn), _EXCERPT)
    if window is None:
        return Row(turn, "unknown", is_there=False, text=text, case=case)
    segment = segment_of_turns(window.segments).get(turn.position)
    if segment is None:
        is_considered = any(row.turn == turn.position for row in window.ledger)
        standing = Standing.LEFT_OUT.value if is_considered else "never"
        return Row(turn, standing, is_there=False, text=text, case=case)
    if not segment.is_whole:
        form = Form.EXCERPT if segment.excerpt is not None else segment.form
        return Row(turn, form.value, is_there=None, text=text, case=case)
    is_line = segment.kind is Kind.INDEX
    standing = "index line" if is_line else segment.kind.value
    return Row(turn, standing, is_there=not is_line, text=text, case=case)


class SuspectFinder:
    """Lists turns that a reply may have been missing. Slow: call in a thread."""

    def __init__(self, subject: Subject, notes: CaseNotes) -> None:
        self._subject, self._notes, self._memory = subject, notes, subject.session.memory
        self.exchange: Exchange | None = None
        """The message and reply shown, once read; unchanged when the chat continues."""

    def find(self, text: str) -> list[Row]:
        """List the turns that contain a text or have its #id.

        For an empty text: noted turns, the ledger's turns, then the latest.
        """
        exchange = self.exchange = self.exchange or self._subject.exchange()
        if exchange is None:
            return []
        message, turns = exchange.message, self._memory.turns
        ahead = {turn.position: turn for turn in turns if turn.position < message.position}
        cases = {case.wanted.position: case for case in self._notes.all() if case.said == message}
        if text.strip():
            excerpts = self._matching(text.strip())
        else:
            ledger = exchange.window.ledger if exchange.window is not None else ()
            likely = (*cases, *(row.turn for row in ledger), *sorted(ahead, reverse=True))
            excerpts = dict.fromkeys(likely, "")
        rows = [
            row_of(ahead[position], exchange.window, cases.get(position), excerpt)
            for position, excerpt in excerpts.items()
            if position in ahead
        ]
        return rows[:MOST]

    def _matching(self, text: str) -> dict[int, str]:
        """Return positions with an excerpt around the match; empty for the turn's beginning."""
        named = dict.fromkeys(sorted(turn_references(f"#{text}" if text.isdecimal() else text)), "")
        if text.startswith("#"):
            return named
        hits = self._memory.store.search(text, 4 * MOST, self._memory.conversation.id)
        return named | {hit.position: hit.excerpt for hit in hits}

    def explain(self, case: Case) -> str:
        """State what was noted, and the sent window's ledger on the turn."""
        what = "was missing" if case.kind is CaseKind.MISS else "was rightly included"
        noted = f"Noted: #{case.wanted.position} {what}."
        if self.exchange is None or self.exchange.window is None:
            return f"{noted} {_NO_WINDOW}"
        explained = Explained(self.exchange.window, case.said.content, case.said)
        return f"{noted} {why(self._memory, explained, case.wanted.position)}"


class MissingTurnView(TableView[Row]):
    """Notes the turn that the reply was missing."""

    EXPLAINED = "Enter notes the turn this reply was missing, to be checked later (/check)."
    BINDINGS = [  # noqa: RUF012  Textual's own shape
        Binding("k", "on_row('keep')", "Rightly included", id="miss_kept"),
        Binding("delete", "on_row('forget')", "Remove", id="miss_forget"),
        Binding("u", "undo", "Undo", id="miss_undo"),
        Binding("slash", "find", "Search", id="miss_find", key_display="/"),
        Binding("down", "to_list", show=False),
    ]

    def __init__(self, subject: Subject) -> None:
        table = TurnTable[Row](
            COLUMNS,
            id="miss-table",
            key=lambda row: row.turn.position,
            style=lambda row: "bold" if row.case is not None else "",
        )
        super().__init__(subject, table, "miss")
        self._notes = CaseNotes(subject.session)
        self._finder = SuspectFinder(subject, self._notes)
        self._rows: list[Row] = []
        self._is_submitted = False
        """Whether Enter is waiting for the rows of the typed text."""
        self._heading = Note("miss-heading", "exchange")
        self._input = Input(placeholder="search: words of the turn, or its #id", id="miss-text")

    def body(self) -> Body:
        return (self._heading, self._input, self.table, self.note)

    def read(self) -> None:
        self._input.focus()
        self._look()

    def copyable(self) -> str:
        heading = [shorten(line, _COPIED) for line in str(self._heading.content).splitlines()]
        lines = [*heading, *self.table.text(), str(self.note.content)]
        return "\n".join(line.rstrip() for line in lines)

    def action_find(self) -> None:
        self._input.focus()

    def action_to_list(self) -> None:
        self.table.list.focus()

    @on(Input.Changed)
    def _look(self) -> None:
        self._is_submitted = False
        self.load(
            partial(self._finder.find, self._input.value),
            self._show,
            refuse=partial(notify_error, self),
            group="rows",
        )

    def _show(self, rows: list[Row]) -> None:
        self._rows, exchange = rows, self._finder.exchange
        if exchange is None:
            self.show_nothing(self.subject.why_no_exchange)
            return
        empty = _NO_HIT if self._input.value.strip() else _NOTHING_AHEAD
        self.show_nothing("" if rows else empty, hides=False)
        self.frame.border_title = f"{self.NAME}: #{exchange.reply.position}"
        self._heading.update(exchange_text(exchange))
        if not str(self.note.content):
            self.note.update(_QUESTION)
        self.table.show(rows, at=rows[0].turn.position if rows else None)
        if self._is_submitted:
            self._is_submitted = False
            self.action_on_row("open_row")

    @on(Input.Submitted)
    def _submit(self) -> None:
        """Note the first row for the typed text, once loaded: older rows may still be shown."""
        if self.is_loading("rows"):
            self._is_submitted = True
        else:
            self.action_on_row("open_row")

    def show_note(self) -> None:
        """The note is on what was noted last."""

    def open_row(self, row: Row) -> None:
        self._note_as(row, CaseKind.MISS)

    def keep(self, row: Row) -> None:
        self._note_as(row, CaseKind.KEPT)

    def _note_as(self, row: Row, kind: CaseKind) -> None:
        """Note a turn, unless the window contradicts it."""
        exchange = self._finder.exchange
        if exchange is None:
            return
        if row.is_there is None or row.is_there is (kind is CaseKind.KEPT):
            moment = self.subject.session.memory.store.now()
            case = Case(exchange.message, row.turn, kind, exchange.window_id, moment)
            self.write(lambda: self._explained(self._notes.put(case)), self._show_noted)
        elif row.is_there:
            there = f"#{row.turn.position} was in the window at full text ({row.standing}), so it"
            self.say(f"{there} was not missing: K notes that it was rightly included.")
        else:
            absent = f"#{row.turn.position} was not in the window"
            self.say(f"{absent}: Enter notes that it was missing.")

    def forget(self, row: Row) -> None:
        if row.case is None:
            self.say("Nothing is noted about this turn.")
        else:
            self.write(partial(self._notes.remove, row.case), self._show_removed)

    def action_undo(self) -> None:
        def undo() -> tuple[Case, str] | None:
            case = self._notes.undo()
            return self._explained(case) if case is not None else None

        self.write(undo, self._show_noted)

    def _explained(self, case: Case) -> tuple[Case, str]:
        return case, self._finder.explain(case)

    def _show_noted(self, noted: tuple[Case, str] | None) -> None:
        if noted is None:
            self.say("There is nothing to restore.")
            return
        case, explanation = noted
        self.note.update(explanation)
        self._mark(case.wanted.position, case)

    def _show_removed(self, case: Case) -> None:
        position = case.wanted.position
        self.note.update(f"Removed: #{position}. U restores it.")
        self._mark(position, None)

    def _mark(self, position: int, case: Case | None) -> None:
        self._rows = [
            replace(row, case=case) if row.turn.position == position else row for row in self._rows
        ]
        self.table.show(self._rows)
