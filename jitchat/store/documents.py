"""The memory document of a project in the cold store, and how a session uses it.

Versions are only ever added: an undo adds the previous version again. A version is stored only if
it follows the latest one, checked in the same transaction: of two processes that read the same
version, the second is refused. Each version is stored whole, and compressed.

A session uses the document in three operations, in this order: `await_consistency`, `get_context`
when its first window is planned, and `put_context` at its end. They are logged as one line.
"""

import json
import logging
import sqlite3
import threading
import zlib
from collections.abc import Callable, Sequence
from dataclasses import dataclass, replace
from datetime import datetime
from enum import StrEnum
from functools import lru_cache
from types import MappingProxyType

from jitchat.errors import StaleDocument, UnknownVersion
from jitchat.statements import DELETED, DocumentLine, MemoryDocument, Source
from jitchat.store.database import Database
from jitchat.text.figures import moment_of
from jitchat.typed_data import read, written

BY_USER = "you"
BY_UNDO = "undo"
"""Values of `made_by` for versions that no document writer made."""
_LOG = logging.getLogger("jitchat.document")
_DOCUMENTS = "SELECT version, lines, through FROM documents WHERE project = ?"


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

    @property
    def origin(self) -> int:
        """The number of the version that had its lines first."""
        return self.number if self.restores is None else self.restores


class DocumentStore:
    """The versions of one project's document. Safe to use from several threads."""

    def __init__(self, database: Database, project: str, now: Callable[[], datetime]) -> None:
        self._database, self.project, self._now = database, project, now

    def latest(self) -> MemoryDocument:
        """Read the latest version; an empty document if nothing was written yet."""
        return self._read("ORDER BY version DESC LIMIT 1") or MemoryDocument()

    def at(self, version: int) -> MemoryDocument:
        """Read a version.

        Raises:
            UnknownVersion: There is no version with that number.

        """
        found = self._read("AND version = ?", version) if version else MemoryDocument()
        if found is None:
            raise UnknownVersion(
                f"The document of project {self.project!r} has no version {version:,}.",
                "`jitchat document --versions` lists them.",
            )
        return found

    def _read(self, which: str, *values: int) -> MemoryDocument | None:
        with self._database.read() as connection:
            query = f"{_DOCUMENTS} {which}"
            row = connection.execute(query, (self.project, *values)).fetchone()
            if row is None:
                return None
            version, packed, through = row
            covered = MappingProxyType(json.loads(through))
            return MemoryDocument(_unpacked(packed), version, covered)

    def settle(self) -> None:
        """Wait until this process has no open transaction, and read what others committed."""
        with self._database.writing():
            pass

    def versions(self) -> list[Version]:
        """List all versions, the oldest first."""
        with self._database.read() as connection:
            rows = connection.execute(
                "SELECT version, made_by, made_at, count, restores"
                " FROM documents WHERE project = ? ORDER BY version",
                (self.project,),
            )
            return [
                Version(number, made_by, moment_of(made_at), lines, restores)
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
        with self._database.write() as connection:
            before = self.latest()
            if before.version != document.version:
                raise StaleDocument(
                    "The memory document has changed; this version was not stored.",
                    "Its turns are still in this session, and are written when it next ends.",
                )
            if (before.lines, before.through) == (document.lines, document.through):
                return before
            made = replace(document, version=before.version + 1)
            connection.execute(
                "INSERT INTO documents"
                " (project, version, made_by, made_at, restores, count, lines, through)"
                " VALUES (?, ?, ?, ?, ?, ?, ?, ?)",
                (
                    *(self.project, made.version, made_by, self._now().isoformat(), restores),
                    *(len(made.lines), _packed(made.lines), json.dumps(dict(made.through))),
                ),
            )
        return made

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
            origins = {0: 0} | {version.number: version.origin for version in versions}
            latest = versions[-1]
            wanted = origins[max(0, latest.origin - 1)]
            found = replace(self.at(wanted), version=latest.number)
            return self.put(found, BY_UNDO, restores=wanted)

    def bytes_stored(self) -> int:
        """Count the bytes of all versions and their lines."""
        query = (
            "SELECT COALESCE(SUM(LENGTH(lines) + LENGTH(CAST(through AS BLOB))), 0) FROM documents"
            " WHERE project = ?"
        )
        return int(self._database.fetch_one(query, (self.project,))[0])


def _packed(lines: Sequence[DocumentLine]) -> bytes:
    return zlib.compress(written(lines).encode())


@lru_cache(maxsize=2)
def _unpacked(packed: bytes) -> tuple[DocumentLine, ...]:
    return read(tuple[DocumentLine, ...], json.loads(zlib.decompress(packed)))


class Operation(StrEnum):
    AWAIT = "await_consistency"
    GET = "get_context"
    PUT = "put_context"


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
                self.documents.settle()
                self._document = self.documents.latest()
                self.operations = (Operation.AWAIT, Operation.GET)
            return self._document

    @property
    def is_over(self) -> bool:
        """Whether all three were done."""
        return self.operations == tuple(Operation)

    def take(self, document: MemoryDocument) -> None:
        """Continue from a version that the user made meanwhile."""
        with self._lock:
            if self._document is not None:
                self._document = document

    def put_context(self, document: MemoryDocument, made_by: str) -> MemoryDocument:
        """Store the session's document; an unchanged document adds no version.

        Raises:
            StaleDocument: The document does not follow the latest version.

        """
        if self.operations != (Operation.AWAIT, Operation.GET):
            raise RuntimeError(f"{Operation.PUT} after {self.operations}")
        self.operations = tuple(Operation)
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


def forget_source(
    connection: sqlite3.Connection, now: datetime, conversation: str, *, with_lines: bool
) -> None:
    """Mark a conversation as deleted in every version or, `with_lines`, remove its lines.

    If that changes a document, a copy of the last version is added, so that a process that has
    read the old text cannot write from it.
    """
    for (project,) in connection.execute("SELECT DISTINCT project FROM documents").fetchall():
        is_changed = False
        for version, packed, covered in connection.execute(_DOCUMENTS, (project,)).fetchall():
            lines, through = _unpacked(packed), json.loads(covered)
            left = [_without_source(line, conversation, with_line=not with_lines) for line in lines]
            kept = tuple(line for line in left if line is not None)
            was_read = through.pop(conversation, None) is not None
            if was_read or kept != lines:
                is_changed = True
                connection.execute(
                    "UPDATE documents SET count = ?, lines = ?, through = ?"
                    " WHERE project = ? AND version = ?",
                    (len(kept), _packed(kept), json.dumps(through), project, version),
                )
        if is_changed:
            connection.execute(
                "INSERT INTO documents"
                " (project, version, made_by, made_at, count, lines, through)"
                " SELECT project, version + 1, ?, ?, count, lines, through FROM documents"
                " WHERE project = ? ORDER BY version DESC LIMIT 1",
                (BY_USER, now.isoformat(), project),
            )


def _without_source(
    line: DocumentLine, conversation: str, *, with_line: bool
) -> DocumentLine | None:
    """Return a line without a conversation's id; None if nothing is left of the line."""
    source = _marked(line.source, conversation)
    if source != line.source and not with_line:
        return None
    old = line.replaced
    if old is not None:
        old = replace(old, source=_marked(old.source, conversation))
    if old != line.replaced and not with_line:
        old = None
    return replace(line, source=source, replaced=old)


def _marked(source: Source | None, conversation: str) -> Source | None:
    """Return a source that names a conversation as one that was deleted."""
    if source is None or source.conversation != conversation:
        return source
    return replace(source, conversation=DELETED)


_UNWRITTEN = """
    SELECT c.id FROM conversations c
    JOIN turns t ON t.conversation = c.id JOIN windows w ON w.turn = t.id
    WHERE NOT (c.temporary OR c.deleted_by) AND julianday(c.updated_at) < julianday(?)
    GROUP BY c.id HAVING MAX(t.position) > IFNULL((
        SELECT value FROM documents d, json_each(d.through) WHERE d.project = c.project
        AND version = (SELECT MAX(version) FROM documents WHERE project = c.project)
        AND key = c.id
    ), 0) ORDER BY c.touched DESC LIMIT ?
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
    rows = database.fetch_all(_UNWRITTEN, (before.isoformat(), most))
    return [conversation for (conversation,) in rows]
