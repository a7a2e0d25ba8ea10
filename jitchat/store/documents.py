"""The memory document of a project in the cold store, and how a session uses it.

Versions are only ever added: an undo adds the previous version again. A version is stored only if
it follows the latest one, checked in the same transaction: of two processes that read the same
version, the second is refused. A line that is in several consecutive versions is stored once, and
stored data is compressed.

A session uses the document in three operations, in this order: `await_consistency`, `get_context`
when its first window is planned, and `put_context` at its end. They are logged as one line.
"""

import json
import logging
import sqlite3
import threading
import zlib
from bisect import bisect_right
from collections.abc import Callable, Mapping, Sequence
from dataclasses import dataclass, field, replace
from datetime import date, datetime
from enum import StrEnum
from itertools import accumulate, pairwise
from types import MappingProxyType
from typing import Any

from jitchat.errors import StaleDocument, UnknownVersion
from jitchat.statements import DELETED, DocumentLine, MemoryDocument, Replaced, Section, Source
from jitchat.store.database import Database

BY_USER = "you"
BY_UNDO = "undo"
"""Values of `made_by` for versions that no document writer made."""
_LOG = logging.getLogger("jitchat.document")


@dataclass(frozen=True, slots=True)
class Version:
    """The description of a version, without its lines."""

    number: int
    made_by: str
    """The name of a model or of the built-in writer, `BY_USER` or `BY_UNDO`."""
    made_at: datetime
    lines: int
    """Number of lines."""
    restores: int | None = None
    """The version that an undo restored; None for a new version."""


@dataclass(frozen=True, slots=True)
class _Held:
    """A version as it is stored."""

    document: MemoryDocument = field(default_factory=MemoryDocument)
    numbers: Mapping[DocumentLine, int] = field(default_factory=dict)
    free: int = 1
    """The number for the next new line."""


class DocumentStore:
    """The versions of one project's document. Safe to use from several threads."""

    def __init__(self, database: Database, project: str, now: Callable[[], datetime]) -> None:
        self._database, self.project, self._now = database, project, now
        self._held = _Held()
        """The committed version that was read or stored most recently; versions never change."""

    def latest(self) -> MemoryDocument:
        """Read the latest version; an empty document if nothing was written yet."""
        number = self._database.fetch_one(_LATEST, (self.project,))[0]
        return self.at(number) if number else MemoryDocument()

    def at(self, version: int) -> MemoryDocument:
        """Read a version.

        Raises:
            UnknownVersion: There is no version with that number.

        """
        return self._at(version).document

    def _at(self, version: int) -> _Held:
        if version == 0:
            return _Held()
        if (held := self._held).document.version == version:
            return held
        with self._database.read() as connection:
            row = connection.execute(
                "SELECT lines, through, first FROM documents WHERE project = ? AND version = ?",
                (self.project, version),
            ).fetchone()
            if row is None:
                raise UnknownVersion(
                    f"The document of project {self.project!r} has no version {version:,}.",
                    "`jitchat document --versions` lists them.",
                )
            stored = _unpacked(row[0])
            numbers = list(accumulate(stored["steps"]))
            known = self._lines(numbers, version)
            lines = tuple(_read(known[number]) for number in numbers)
            document = MemoryDocument(lines, version, MappingProxyType(json.loads(row[1])))
            free = row[2] + len(stored["new"])
            return self._hold(_Held(document, dict(zip(lines, numbers, strict=True)), free))

    def _hold(self, held: _Held) -> _Held:
        with self._database.read() as connection:
            if not connection.in_transaction:  # an open transaction can still be rolled back
                self._held = held
        return held

    def settle(self) -> None:
        """Wait until this process has no open transaction, and read what others committed."""
        self._database.fetch_one("PRAGMA data_version")

    def versions(self) -> list[Version]:
        """List all versions, the oldest first."""
        with self._database.read() as connection:
            rows = connection.execute(
                "SELECT version, made_by, made_at, count, restores"
                " FROM documents WHERE project = ? ORDER BY version",
                (self.project,),
            )
            return [
                Version(number, made_by, datetime.fromisoformat(made_at), lines, restores)
                for number, made_by, made_at, lines, restores in rows
            ]

    def put(
        self, document: MemoryDocument, made_by: str, *, restores: int | None = None
    ) -> MemoryDocument:
        """Store a new version; `document` has the number of the version that it was made from.

        A document that is the same as that version is not stored.

        Raises:
            StaleDocument: That version is no longer the latest.

        """
        return self._hold(self._put(document, made_by, restores)).document

    def _put(self, document: MemoryDocument, made_by: str, restores: int | None) -> _Held:
        with self._database.write() as connection:
            latest = connection.execute(_LATEST, (self.project,)).fetchone()[0] or 0
            if latest != document.version:
                raise StaleDocument
            held = self._at(latest)
            before = held.document
            if (before.lines, before.through) == (document.lines, document.through):
                return held
            made = replace(document, version=latest + 1)
            numbers, new = _numbered(made.lines, held)
            connection.execute(
                "INSERT INTO documents (project, version, made_by, made_at, restores, first,"
                " count, lines, through) VALUES (?, ?, ?, ?, ?, ?, ?, ?, ?)",
                (
                    *(self.project, made.version, made_by, self._now().isoformat(), restores),
                    *(held.free, len(numbers), _packed({"new": new, "steps": _steps(numbers)})),
                    _compact(dict(made.through)),
                ),
            )
        by_line = dict(zip(made.lines, numbers, strict=True))
        return _Held(made, by_line, held.free + len(new))

    def undo(self) -> MemoryDocument:
        """Store the version before the latest again; a second undo goes back further.

        The turns from which the undone version was written are unwritten again.

        Raises:
            UnknownVersion: Nothing was written yet.

        """
        with self._database.write():
            versions = self.versions()
            if not versions:
                raise UnknownVersion(
                    f"Project {self.project!r} has no document yet.",
                    "It is written at the end of a session.",
                )
            origins = {each.number: each.restores for each in versions}
            latest = versions[-1]
            undone = latest.number if latest.restores is None else latest.restores
            wanted = max(0, undone - 1)
            known = origins.get(wanted)
            wanted = wanted if known is None else known
            found = replace(self.at(wanted), version=latest.number)
            return self._put(found, BY_UNDO, wanted).document

    def bytes_stored(self) -> int:
        """Count the bytes of all versions and their lines."""
        query = (
            "SELECT COALESCE(SUM(LENGTH(lines) + LENGTH(CAST(through AS BLOB))), 0) FROM documents"
            " WHERE project = ?"
        )
        return int(self._database.fetch_one(query, (self.project,))[0])

    def _lines(self, numbers: Sequence[int], version: int) -> dict[int, str]:
        """Read lines by their numbers, from the versions that introduced them."""
        rows = self._database.fetch_all(
            "SELECT version, first FROM documents WHERE project = ? AND version <= ?"
            " ORDER BY version",
            (self.project, version),
        )
        firsts = [first for _, first in rows]
        wanted = {rows[bisect_right(firsts, number) - 1][0] for number in numbers}
        found: dict[int, str] = {}
        for first, packed in self._database.fetch_all(
            "SELECT first, lines FROM documents WHERE project = ?"
            " AND version IN (SELECT value FROM json_each(?))",
            (self.project, json.dumps(sorted(wanted))),
        ):
            found |= enumerate(_unpacked(packed)["new"], start=first)
        return found


def _numbered(lines: Sequence[DocumentLine], before: _Held) -> tuple[list[int], list[str]]:
    """Return each line's number, that of the same line before or a new one, and the new lines."""
    new: dict[DocumentLine, int] = {}
    numbers = [
        before.numbers.get(line) or new.setdefault(line, before.free + len(new)) for line in lines
    ]
    return numbers, list(map(_written, new))


def _packed(fields: Mapping[str, Any]) -> bytes:
    return zlib.compress(_compact(fields).encode(), _SMALLEST)


def _unpacked(packed: bytes) -> dict[str, Any]:
    try:
        fields: dict[str, Any] = json.loads(zlib.decompress(packed))
    except zlib.error as error:
        raise ValueError("not a version") from error
    return fields


def _steps(numbers: Sequence[int]) -> list[int]:
    """Encode numbers as their differences, which are small and compress well."""
    return [number - before for before, number in pairwise((0, *numbers))]


_SMALLEST = 9
"""The zlib compression level with the smallest output."""
_LATEST = "SELECT MAX(version) FROM documents WHERE project = ?"


class Operation(StrEnum):
    AWAIT = "await_consistency"
    GET = "get_context"
    PUT = "put_context"


_ORDER = tuple(Operation)


class ContextStore:
    """A project's document in one session of a conversation: three operations, each once.

    Safe to use from several threads.
    """

    def __init__(self, documents: DocumentStore, conversation: str) -> None:
        self.documents, self._conversation = documents, conversation
        self.operations: tuple[Operation, ...] = ()
        """The operations that were done, in order."""
        self._document: MemoryDocument | None = None
        self._lock = threading.Lock()

    @property
    def document(self) -> MemoryDocument:
        """The version that the session reads; the first access does the first two operations."""
        with self._lock:
            if self._document is None:
                self.await_consistency()
                self._document = self.get_context()
            return self._document

    @property
    def is_over(self) -> bool:
        """Whether all three were done."""
        return len(self.operations) == len(_ORDER)

    def take(self, document: MemoryDocument) -> None:
        """Continue from a version that the user made meanwhile."""
        with self._lock:
            if self._document is not None:
                self._document = document

    def await_consistency(self) -> None:
        """Wait for this process's transactions, and read what other processes committed."""
        self._begin(Operation.AWAIT)
        self.documents.settle()

    def get_context(self) -> MemoryDocument:
        """Read the document."""
        self._begin(Operation.GET)
        return self.documents.latest()

    def put_context(self, document: MemoryDocument, made_by: str) -> MemoryDocument:
        """Store the session's document; an unchanged document adds no version.

        Raises:
            StaleDocument: The document does not follow the latest version.

        """
        self._begin(Operation.PUT)
        outcome = "refused"
        try:
            made = self.documents.put(document, made_by)
            outcome = "stored" if made.version != document.version else "unchanged"
        finally:
            _LOG.info(
                "context_only=true project=%r conversation=%r store_operations=%d (%s) version=%d"
                " lines=%d made_by=%r outcome=%s",
                self.documents.project,
                self._conversation,
                len(self.operations),
                " ".join(self.operations),
                document.version + (outcome == "stored"),
                len(document.lines),
                made_by,
                outcome,
            )
        return made

    def _begin(self, operation: Operation) -> None:
        if _ORDER[len(self.operations) : len(self.operations) + 1] != (operation,):
            raise RuntimeError(f"{operation} after {', '.join(self.operations) or 'nothing'}")
        self.operations = (*self.operations, operation)


def project_of(database: Database, conversation: str) -> str | None:
    """Return a conversation's project; None for a temporary one, which has no memory."""
    query = "SELECT project, temporary FROM conversations WHERE id = ?"
    project, temporary = database.fetch_one(query, (conversation,)) or ("default", 0)
    return None if temporary else str(project)


def forget_source(
    connection: sqlite3.Connection, now: datetime, conversation: str, *, with_lines: bool
) -> None:
    """Mark a conversation as deleted in every version or, `with_lines`, remove its lines.

    If that changes a document, a copy of the last version is added, so that a process that has
    read the old text cannot write from it.
    """
    query = (
        "SELECT version, first, lines, through FROM documents WHERE project = ? ORDER BY version"
    )
    for (project,) in connection.execute("SELECT DISTINCT project FROM documents").fetchall():
        gone: set[int] = set()
        rows = connection.execute(query, (project,)).fetchall()
        changed = False
        for version, first, packed, written in rows:
            fields, through = _unpacked(packed), json.loads(written)
            new = [
                _without_source(line, conversation, with_line=not with_lines)
                for line in fields["new"]
            ]
            gone |= {number for number, line in enumerate(new, start=first) if not line}
            numbers = [number for number in accumulate(fields["steps"]) if number not in gone]
            was_read = through.pop(conversation, None) is not None
            left = {"new": new, "steps": _steps(numbers)}
            if was_read or left != fields:
                changed = True
                connection.execute(
                    "UPDATE documents SET count = ?, lines = ?, through = ?"
                    " WHERE project = ? AND version = ?",
                    (len(numbers), _packed(left), _compact(through), project, version),
                )
        if changed:
            connection.execute(
                "INSERT INTO documents (project, version, made_by, made_at, first, count, lines,"
                " through) VALUES (?, ?, ?, ?, ?, ?, ?, ?)",
                (
                    *(project, version + 1, BY_USER, now.isoformat(), first + len(new)),
                    *(len(numbers), _packed({"new": [], "steps": _steps(numbers)})),
                    _compact(through),
                ),
            )


def _without_source(text: str, conversation: str, *, with_line: bool) -> str:
    """Return a stored line without a conversation's id; empty if nothing is left of the line."""
    if json.dumps(conversation) not in text:
        return text
    fields = json.loads(text)
    cites = [
        part for part in (fields, fields.get("old", {})) if part.get("by", [""])[0] == conversation
    ]
    if fields in cites and not with_line:
        return ""
    for part in cites:
        part["by"][0] = DELETED
    if cites and not with_line:
        del fields["old"]
    return _compact(fields)


def _compact(fields: Mapping[str, Any]) -> str:
    return json.dumps(fields, ensure_ascii=False, separators=(",", ":"))


_UNWRITTEN = """
    SELECT c.id, c.project, MAX(t.position), c.updated_at
    FROM conversations c JOIN turns t ON t.conversation = c.id JOIN windows w ON w.turn = t.id
    WHERE NOT (c.temporary OR c.deleted_by) GROUP BY c.id ORDER BY c.touched DESC
"""


def spoken_since(database: Database, conversation: str, position: int) -> bool:
    """Whether a message was sent after a position, in a conversation that is not deleted."""
    query = (
        "SELECT 1 FROM conversations c JOIN turns t ON t.conversation = c.id"
        " JOIN windows w ON w.turn = t.id"
        " WHERE c.id = ? AND NOT c.deleted_by AND t.position > ? LIMIT 1"
    )
    return database.fetch_one(query, (conversation, position)) is not None


def unwritten_sessions(database: Database, before: datetime, most: int) -> list[str]:
    """List conversations with a session that ended before `before` and is in no document.

    At most `most`, the most recent first. A session consists of the messages sent after the turn
    up to which the project's document was written.
    """
    through: dict[str, Mapping[str, int]] = {}
    found: list[str] = []
    for conversation, project, position, touched_at in database.fetch_all(_UNWRITTEN):
        if project not in through:
            row = database.fetch_one(
                "SELECT through FROM documents WHERE project = ? ORDER BY version DESC LIMIT 1",
                (project,),
            )
            through[project] = json.loads(row[0]) if row else {}
        is_over = datetime.fromisoformat(touched_at) < before
        if is_over and through[project].get(conversation, 0) < position:
            found.append(conversation)
    return found[:most]


def _written(line: DocumentLine) -> str:
    fields: dict[str, Any] = {"in": line.section.value, "text": line.text}
    fields |= _place(line.source, line.day)
    fields |= {"who": line.speaker} if line.speaker else {}
    if line.refers_to:
        fields["of"] = list(line.refers_to)
    if (old := line.replaced) is not None:
        fields["old"] = {"text": old.text, **_place(old.source, old.day)}
    if line.mentions:
        fields["again"] = line.mentions
    fields |= {"pinned": 1} if line.is_pinned else {}
    fields |= {"edited": 1} if line.is_edited else {}
    return _compact(fields)


def _place(source: Source | None, day: date | None) -> dict[str, Any]:
    fields: dict[str, Any] = {}
    if source is not None:
        fields["by"] = [source.conversation, source.first, source.last]
    if day is not None:
        fields["on"] = day.isoformat()
    return fields


def _read(text: str) -> DocumentLine:
    fields = json.loads(text)
    old = fields.get("old")
    return DocumentLine(
        Section(fields["in"]),
        fields["text"],
        *_placed(fields),
        fields.get("who", ""),
        tuple(fields.get("of", ())),
        Replaced(old["text"], *_placed(old)) if old else None,
        fields.get("again", 0),
        bool(fields.get("pinned")),
        bool(fields.get("edited")),
    )


def _placed(fields: Mapping[str, Any]) -> tuple[Source | None, date | None]:
    by, on = fields.get("by"), fields.get("on")
    source = Source(by[1], by[2], by[0]) if by else None
    return source, date.fromisoformat(on) if on else None
