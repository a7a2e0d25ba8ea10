"""Distilled memory of databases in which its lines had short names for their fields.

A version of a memory document had only the lines that were new in it.
"""

from __future__ import annotations

import json
import sqlite3
import zlib
from contextlib import closing
from datetime import UTC, date, datetime
from typing import TYPE_CHECKING

import pytest

from jitchat.errors import StoreUnreadable
from jitchat.statements import (
    DocumentLine,
    MemoryDocument,
    Observation,
    Priority,
    Replaced,
    Section,
    Source,
    Superseded,
)
from jitchat.store.database import Database, migrate
from jitchat.store.deletion import erase
from jitchat.store.documents import DocumentStore, Version
from jitchat.store.observations import ObservationStore
from jitchat.store.path import Path as TurnPath
from jitchat.store.store import ColdStore

if TYPE_CHECKING:
    from collections.abc import Iterator
    from pathlib import Path

NOON = datetime(2026, 3, 2, 12, tzinfo=UTC)
PORT = DocumentLine(Section.FACTS, "The port is 8443.", Source(3, 3, "chat-1"), date(2026, 3, 1))
MOVED = DocumentLine(
    Section.FACTS,
    "The port is 9641.",
    Source(1, 2, "chat-2"),
    date(2026, 3, 2),
    speaker="Ana",
    refers_to=("2026-03-09",),
    replaced=Replaced(PORT.text, PORT.source, PORT.day),
    mentions=2,
)
LOGO = DocumentLine(Section.NOTES, "Das Logo bleibt “grün”.", None, is_pinned=True, is_edited=True)
WRITTEN_PORT = '{"in":"Facts","text":"The port is 8443.","by":["chat-1",3,3],"on":"2026-03-01"}'
WRITTEN_LOGO = '{"in":"Notes","text":"Das Logo bleibt “grün”.","pinned":1,"edited":1}'
WRITTEN_MOVED = (
    '{"in":"Facts","text":"The port is 9641.","by":["chat-2",1,2],"on":"2026-03-02","who":"Ana",'
    '"of":["2026-03-09"],"old":{"text":"The port is 8443.","by":["chat-1",3,3],"on":"2026-03-01"},'
    '"again":2}'
)
ROWS = (
    ("default", 1, "built in", None, 1, 2, [WRITTEN_PORT, WRITTEN_LOGO], [1, 1], {"chat-1": 4}),
    # the first line that was new here was deleted with its conversation
    ("default", 2, "small-1", None, 3, 2, ["", WRITTEN_MOVED], [4, -2], {"chat-2": 2}),
    ("default", 3, "undo", 1, 5, 2, [WRITTEN_PORT], [5, -3], {"chat-1": 4}),
    ("default", 4, "you", None, 6, 2, [], [5, -3], {"chat-1": 4}),
    ("other", 1, "you", None, 1, 1, [WRITTEN_LOGO], [1], {}),
)
"""Project, version, made by, restores, first, count, the new lines, all steps, and through."""

OBSERVATIONS = {
    Observation("Ana asks: “Which port?”", Source(1, 2)): (
        '{"text": "Ana asks: \\u201cWhich port?\\u201d", "first": 1, "last": 2,'
        ' "priority": "medium"}'
    ),
    Observation(
        "We take 8443.",
        Source(3, 3),
        Priority.HIGH,
        NOON,
        ("2026-03-09",),
        Superseded(9, date(2026, 3, 4)),
    ): (
        '{"text": "We take 8443.", "first": 3, "last": 3, "priority": "high",'
        ' "said_at": "2026-03-02T12:00:00+00:00", "refers_to": ["2026-03-09"],'
        ' "superseded": [9, "2026-03-04"]}'
    ),
    Observation("Once.", Source(3, 3), superseded=Superseded(4)): (
        '{"text": "Once.", "first": 3, "last": 3, "priority": "medium", "superseded": [4, null]}'
    ),
}
"""Lines, and how they were written."""


def packed(lines: list[str], steps: list[int]) -> bytes:
    fields = json.dumps({"new": lines, "steps": steps}, ensure_ascii=False)
    return zlib.compress(fields.encode())


@pytest.fixture
def path(tmp_path: Path) -> Path:
    """A database from before the lines had the fields of their classes."""
    path = tmp_path / "old.db"
    with closing(sqlite3.connect(path)) as connection:
        migrate(connection, stop_before="035_plain_memory")
        connection.executemany(
            "INSERT INTO documents (project, version, made_by, made_at, restores, first, count,"
            " lines, through) VALUES (?, ?, ?, ?, ?, ?, ?, ?, ?)",
            [
                (*row[:3], NOON.isoformat(), *row[3:6], packed(*row[6:8]), json.dumps(row[8]))
                for row in ROWS
            ],
        )
        connection.execute(
            "INSERT INTO conversations (id, title, touched, created_at, updated_at)"
            " VALUES ('talk', 'A talk', 1, ?, ?)",
            (NOON.isoformat(), NOON.isoformat()),
        )
        connection.execute(
            "INSERT INTO observation_passes"
            " (id, conversation, kind, first, last, made_by, made_at, note)"
            " VALUES (1, 'talk', 'observe', 1, 3, 'small-1', ?, '{}')",
            (NOON.isoformat(),),
        )
        connection.executemany(
            "INSERT INTO observations VALUES (1, ?, ?)", enumerate(OBSERVATIONS.values())
        )
        connection.commit()
    return path


@pytest.fixture
def database(path: Path) -> Iterator[Database]:
    with closing(Database(path)) as database:
        yield database


def documents_in(database: Database, project: str = "default") -> DocumentStore:
    return DocumentStore(database, project, lambda: NOON)


def test_each_version_is_read_as_it_was_before(database: Database):
    documents = documents_in(database)
    assert documents.versions() == [
        Version(1, "built in", NOON, 2),
        Version(2, "small-1", NOON, 2),
        Version(3, "undo", NOON, 2, restores=1),
        Version(4, "you", NOON, 2),
    ]
    assert documents.at(1) == MemoryDocument((PORT, LOGO), 1, {"chat-1": 4})
    assert documents.at(2) == MemoryDocument((MOVED, LOGO), 2, {"chat-2": 2})
    assert documents.at(3) == MemoryDocument((PORT, LOGO), 3, {"chat-1": 4})
    assert documents.latest() == MemoryDocument((PORT, LOGO), 4, {"chat-1": 4})
    assert documents_in(database, "other").latest() == MemoryDocument((LOGO,), 1)


def test_observations_are_read_as_they_were_before(database: Database):
    observed = ObservationStore(database, "talk", lambda: NOON)
    standing = observed.standing(TurnPath(((1, 3),)), before=4)
    assert standing.lines == tuple(OBSERVATIONS)


def test_an_earlier_document_is_continued_and_undone(database: Database):
    documents = documents_in(database)
    made = documents.put(MemoryDocument((LOGO,), 4), "you")
    assert documents.latest() == made
    assert documents.undo() == MemoryDocument((PORT, LOGO), 6, {"chat-1": 4})


def test_an_erasure_finds_the_lines_of_every_version(path: Path, database: Database):
    store = ColdStore(database)
    conversation = store.create("Ports", "chat-1")
    assert conversation.id == "chat-1"
    assert erase(store, conversation.id)
    documents = documents_in(database)
    read = [documents.at(version.number) for version in documents.versions()]
    texts = {line.text for document in read for line in document.lines}
    assert texts == {MOVED.text, LOGO.text}
    assert all(line.replaced is None for document in read for line in document.lines)
    assert all("chat-1" not in document.through for document in read)
    assert [version.lines for version in documents.versions()] == [1, 2, 1, 1, 1]


def test_the_migration_leaves_no_text_in_free_pages(path: Path):
    lines = [WRITTEN_PORT.replace("8443", str(number)) for number in range(1000, 2000)]
    with closing(sqlite3.connect(path, isolation_level=None)) as connection:
        connection.execute("PRAGMA secure_delete = OFF")  # some builds of SQLite have it on
        many = packed(lines, [1] * len(lines))
        connection.execute("UPDATE documents SET lines = ? WHERE project = 'other'", (many,))
        connection.execute("BEGIN")
        migrate(connection)
        connection.execute("COMMIT")
    assert b"The port is" not in path.read_bytes()


@pytest.mark.parametrize(
    "damage",
    [b"no version", packed([], [9])],
    ids=["it is not compressed", "a line is missing"],
)
def test_a_damaged_version_is_still_reported_and_the_others_are_read(path: Path, damage: bytes):
    with closing(sqlite3.connect(path)) as connection:
        connection.execute("UPDATE documents SET lines = ? WHERE version = 4", (damage,))
        connection.commit()
    with closing(Database(path)) as database:
        documents = documents_in(database)
        assert documents.at(2).lines == (MOVED, LOGO)
        with pytest.raises(StoreUnreadable):
            documents.latest()
