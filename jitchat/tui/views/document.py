"""The memory document: its lines with their sources, all versions, and their changes.

A change by the user makes a new version. Lines that the shown reply may be based on are marked, so
that a wrong answer leads to the line that caused it.
"""

from __future__ import annotations

from collections.abc import Callable, Sequence
from dataclasses import dataclass
from functools import partial

from textual.binding import Binding

from jitchat.statements import DocumentLine, MemoryDocument, Section
from jitchat.store.documents import BY_USER, DocumentStore, Version
from jitchat.synthesis import document_edits
from jitchat.synthesis.document_edits import MOST_WORDS, words_of
from jitchat.text.figures import plural
from jitchat.tui.chat.ending import TEMPORARY
from jitchat.tui.drawing import MUTED
from jitchat.tui.views.table_view import TableView
from jitchat.tui.views.view import Subject
from jitchat.tui.widgets.turn_table import Column, Line, TurnTable
from jitchat.window.statements import line_text

NONE_YET = (
    "The memory document is empty. It is written at the end of a session: leave the conversation,"
    " or type /end."
)
ONLY_LATEST = "Only the current version can be changed; → goes to it."
_SOURCE = 20


@dataclass(frozen=True, slots=True)
class Row:
    """A line of a version, or one that the version removed."""

    number: int
    """Its number in the version; 0 for a removed line."""
    line: DocumentLine
    change: str = ""
    """`+` for a line added in the version, `−` for a removed one."""
    is_used: bool = False
    """Whether the shown reply may be based on it."""


@dataclass(frozen=True, slots=True)
class Shown:
    """A version as displayed."""

    document: MemoryDocument
    about: Version | None
    """None for the empty document before the first version."""
    latest: int
    rows: tuple[Row, ...]
    operations: int
    """Store operations of the session that is running or ended last."""


class DocumentView(TableView[Row]):
    """The lines of one version, with the cursor on one of them."""

    EXPLAINED = "What later sessions know. Enter opens a line's turns; ● marks what the reply used."
    BINDINGS = [  # noqa: RUF012  Textual's own shape
        Binding("e", "on_row('edit')", "Edit", id="document_edit"),
        Binding("p", "on_row('pin')", "Pin", id="document_pin"),
        Binding("x", "on_row('forget')", "Forget", id="document_forget"),
        Binding("u", "undo", "Undo", id="document_undo"),
        Binding("d", "difference", "Changes", id="document_difference"),
        Binding("left", "version(-1)", "Older", id="document_before"),
        Binding("right", "version(1)", "Newer", id="document_after"),
    ]

    def __init__(self, subject: Subject) -> None:
        columns: Sequence[Column[Row]] = (
            Column("", _mark, 2),
            Column("line", lambda row: f"{row.number}" if row.number else "", 4, is_right=True),
            Column("date", lambda row: _day(row.line), 10),
            Column("source", lambda row: _source(row.line), _SOURCE),
            Column("", _text),
        )
        table = TurnTable[Row](
            columns, id="document-table", key=lambda row: (row.number, row.line.text), style=_style
        )
        super().__init__(subject, table, "document")
        self.shown: Shown | None = None
        self._shows_changes = False

    def read(self) -> None:
        self._load(None)

    # What is shown

    def _documents(self) -> DocumentStore | None:
        context = self.subject.session.memory.context
        return context.documents if context is not None else None

    def _load(self, version: int | None) -> None:
        documents = self._documents()
        if documents is None:
            self.show_nothing(TEMPORARY)
        else:
            self.load(lambda: self._read(documents, version), self._show)

    def _read(self, documents: DocumentStore, version: int | None) -> Shown:
        known = {each.number: each for each in documents.versions()}
        latest = max(known, default=0)
        number = latest if version is None else min(max(version, min(latest, 1)), latest)
        document = documents.at(number)
        used = set(document_edits.used_lines(document, self._reply()))
        rows = [Row(at, line, "", at in used) for at, line in enumerate(document.lines, start=1)]
        if self._shows_changes and number:
            rows = _with_changes(rows, documents.at(number - 1), document)
        ending, context = self.subject.session.ending, self.subject.session.memory.context
        done = ending.last.operations if ending.last else context.operations if context else ()
        return Shown(document, known.get(number), latest, tuple(rows), len(done))

    def _reply(self) -> str:
        """Return the text of the shown reply; empty if there is none."""
        exchange = self.subject.exchange()
        return exchange.reply.content if exchange is not None else ""

    def _show(self, shown: Shown) -> None:
        self.shown = shown
        self.show_nothing("" if shown.document.lines or shown.rows else NONE_YET)
        items: list[Row | Line] = []
        section: Section | None = None
        for row in shown.rows:
            if row.line.section is not section:
                section = row.line.section
                items.append(Line(f"{section} ", "bold", "─"))
            items.append(row)
        self.table.show(items)
        self.show_note()

    @property
    def sum(self) -> str:
        """`version 3 of 4 · built in, Mon 2026-03-02 · 812 of 5,000 words · 3 store operations`."""
        shown = self.shown
        if shown is None or shown.about is None:
            return ""
        about, words = shown.about, words_of(shown.document)
        made = f"{about.made_by}, {about.made_at:%a %Y-%m-%d %H:%M}"
        return (
            f"version {about.number:,} of {shown.latest:,} · {made} · {words:,} of"
            f" {MOST_WORDS:,} words · {plural(shown.operations, 'store operation')}"
        )

    def about(self, row: Row) -> str:
        return line_text(row.line)

    # What can be done

    def open_row(self, row: Row) -> None:
        """Open the line's turns in the transcript, or here if they are of another conversation."""
        if row.line.source is None:
            self.say("You wrote this line; it has no source turn.")
        else:
            self.open_source(row.line.source)

    def action_version(self, step: int) -> None:
        if self.shown is not None:
            self._load(self.shown.document.version + step)

    def action_difference(self) -> None:
        """Toggle showing the changes from the previous version."""
        self._shows_changes = not self._shows_changes
        self._load(self.shown.document.version if self.shown is not None else None)

    def pin(self, row: Row) -> None:
        self._change(row, document_edits.pinned)

    def forget(self, row: Row) -> None:
        self._change(row, document_edits.forgotten)

    def edit(self, row: Row) -> None:
        if self._may_change(row):
            self.edit_line.edit(row.line.text, partial(self._take_edit, row.number))

    def _take_edit(self, number: int, text: str) -> None:
        self._store(lambda document: document_edits.edited(document, number, text))

    def action_undo(self) -> None:
        documents = self._documents()
        if documents is not None:
            self.write(documents.undo, self._changed)

    def _may_change(self, row: Row) -> bool:
        """Whether a line is of the current version; otherwise a notice says so."""
        shown = self.shown
        is_current = shown is not None and shown.document.version == shown.latest
        if not is_current or not row.number:
            self.say(ONLY_LATEST)
        return is_current and row.number > 0

    def _change(self, row: Row, change: Callable[[MemoryDocument, int], MemoryDocument]) -> None:
        if self._may_change(row):
            self._store(lambda document: change(document, row.number))

    def _store(self, change: Callable[[MemoryDocument], MemoryDocument]) -> None:
        """Store a change of the shown version; refused if it is no longer the current one."""
        documents, shown = self._documents(), self.shown
        if documents is not None and shown is not None:
            document = shown.document
            self.write(lambda: documents.put(change(document), BY_USER), self._changed)

    def _changed(self, document: MemoryDocument) -> None:
        context = self.subject.session.memory.context
        if context is not None:
            context.take(document)
        self._load(None)


def _with_changes(rows: list[Row], old: MemoryDocument, new: MemoryDocument) -> list[Row]:
    """Mark the lines that a version added, and show removed ones at the end of their section."""
    changes = document_edits.difference(old, new)
    added = {change.line for change in changes if change.is_added}
    marked = [Row(row.number, row.line, "+" * (row.line in added), row.is_used) for row in rows]
    gone = [Row(0, change.line, "−") for change in changes if not change.is_added]
    places = {section: place for place, section in enumerate(Section)}
    return sorted([*marked, *gone], key=lambda row: places[row.line.section])


def _text(row: Row) -> str:
    """Write a line's text, with its former text; date and source have their own columns."""
    line = row.line
    said = f"{line.speaker}: {line.text}" if line.speaker else line.text
    return f"{line.replaced.text} → {said}" if line.replaced is not None else said


def _mark(row: Row) -> str:
    pin = "★" if row.line.is_pinned else "✎" if row.line.is_edited else " "
    return f"{row.change or ('●' if row.is_used else ' ')}{pin}"


def _style(row: Row) -> str:
    return MUTED if row.change == "−" else "bold" if row.is_used else ""


def _day(line: DocumentLine) -> str:
    return line.day.isoformat() if line.day is not None else ""


def _source(line: DocumentLine) -> str:
    name = line.source.name if line.source is not None else "you"
    return name if len(name) <= _SOURCE else f"…{name[1 - _SOURCE :]}"
