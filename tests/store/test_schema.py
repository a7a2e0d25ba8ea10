"""The schema: each migration from the one before it, with rows in the tables."""

from __future__ import annotations

import sqlite3
import subprocess
import sys
from contextlib import closing
from typing import TYPE_CHECKING

import pytest

from jitchat.errors import StoreError
from jitchat.index.embedder import NoEmbedder
from jitchat.index.indexer import Indexer
from jitchat.store import database as schema
from jitchat.store.database import Database, migrate, migration_names
from jitchat.store.reply_notes import ReplyNote, notes_of
from jitchat.store.requests import RequestLog, Spent
from jitchat.store.store import ColdStore
from jitchat.store.usage import Grouping, usage_by
from jitchat.store.windows import Ending, WindowArchive, WindowRecord
from jitchat.values import Role, Turn, Usage
from tests.store.segments import record_of
from tests.support import ROOT

if TYPE_CHECKING:
    from pathlib import Path

SCHEMA = """
attachment_parts: digest, number, locator, head, text
attachments: digest, media_type, width, height, content
blobs: digest, content
chosen_model: id, provider, model
conversations: id, title, touched, created_at, updated_at, head
file_segments: digest, name, stems_version, checksum, content
file_tokens: digest, sent_as, counter, tokens
index_entries: turn, decision, asks, tells_when, disclaims, stems_version, standing, texts
learnt_limits: server, model, tokens
model_lines: turn, model, line
model_lists: server, fetched_at, models
part_vectors: digest, number, embedder, dimension, vector
reasoning: turn, content
reply_notes: turn, model, provider, stop, input_tokens, output_tokens, cached_tokens, \
written_tokens, reasoning_tokens, charged, cost
refused_parameters: server, model, parameter
requests: id, window, conversation, project, purpose, sent_at, provider, model, input_tokens, \
output_tokens, cached_tokens, written_tokens, reasoning_tokens, charged, counted_input, \
counted_output, cost, billed
rot_cells: id, cell, window, fields
rot_run: id, fields
streaming: turn, process, seen_at
token_samples: id, server, model, counter, counted, reported
told_limits: server, model, tokens, source, told_at
tool_grants: server, tool, digest, granted_at, definition
turn_attachments: turn, number, digest, name, path, modified_at
turns: id, conversation, position, role, name, content, created_at, status, parent, tools
vectors: turn, embedder, dimension, vector
pieces: id, conversation, digest, content, turn
windows: id, turn, reply, digest, header, segments, packed, stop, sizes, request, sent_at
""".strip().splitlines()
"""What is written is never taken back: a new column or table goes to the end of its line.

041 dropped columns of windows which nothing had read or written since 027, and packed others into
one, as 042 did with those of index entries.
"""


NAMES = migration_names()
SCHEMA_FOLDER = ROOT / "jitchat" / "store" / "migrations"


def database_at(path: Path, step: str | None) -> None:
    """A database as the version before `step` left it, with a conversation of two turns."""
    connection = sqlite3.connect(path)
    migrate(connection, stop_before=step)
    day = "2026-03-13T10:00:00+00:00"
    with connection:
        connection.execute(
            "INSERT INTO conversations (id, title, touched, created_at, updated_at)"
            " VALUES ('old', 'Old talk', 1, ?, ?)",
            (day, day),
        )
        for position, (role, content) in enumerate(
            (("user", "Which port?"), ("assistant", "We agreed on 8443.")), start=1
        ):
            connection.execute(
                "INSERT INTO turns (conversation, position, role, content, created_at)"
                " VALUES ('old', ?, ?, ?, ?)",
                (position, role, content, day),
            )
    connection.close()


@pytest.mark.parametrize("step", [*NAMES[1:], None])
def test_a_database_of_every_earlier_version_is_brought_up_with_its_rows(tmp_path, step):
    database_at(tmp_path / "old.db", step)
    database = Database(tmp_path / "old.db")
    store = ColdStore(database)

    assert [turn.content for turn in store.turns("old")] == ["Which port?", "We agreed on 8443."]
    if step is not None and step <= "030_search":
        assert store.search("8443")[0][:2] == ("old", 2)
    assert sum(len(batch) for batch in Indexer(store, "old", NoEmbedder()).catch_up()) == 2
    segment = record_of("draft", "Which port?", turn_id=1)
    record = WindowRecord("digest", {}, [segment], [])
    assert WindowArchive(database).put(1, record) == 1
    with database.read() as connection:
        assert connection.execute("PRAGMA foreign_key_check").fetchall() == []
    database.close()


def test_temporary_turns_indexed_by_an_earlier_version_are_removed(tmp_path):
    database_at(tmp_path / "old.db", "021_conversations")
    with sqlite3.connect(tmp_path / "old.db") as connection:
        connection.execute("UPDATE conversations SET temporary = 1")
        connection.execute("INSERT INTO turns_fts (rowid, content) VALUES (99, 'of a gone turn')")
    connection.close()
    database = Database(tmp_path / "old.db")
    with database.read() as connection:
        query = "SELECT rowid FROM turns_fts WHERE turns_fts MATCH 'port OR gone'"
        assert connection.execute(query).fetchall() == []
        assert connection.execute("SELECT COUNT(*) FROM turns_fts_docsize").fetchone() == (0,)
    database.close()


def test_the_usage_of_requests_in_earlier_versions_is_in_the_totals(tmp_path):
    database_at(tmp_path / "old.db", "027_requests")
    picking = '{"model": "jot", "input_tokens": 40, "output_tokens": 2, "cost": 0.125}'
    rows = (
        (f'{{"model": "m", "picking": {picking}}}', 2, 100, 0.5, "work"),
        (f'{{"model": "m", "picking": {picking}}}', 2, 120, 0.25, "work"),  # a step of its
        ('{"model": "m"}', None, None, None, None),  # it was refused
        ('{"model": "reader"}', 2, None, None, None),
    )
    with sqlite3.connect(tmp_path / "old.db") as connection:
        connection.executemany(
            "INSERT INTO windows (turn, digest, header, segments, ledger, sent_at, reply,"
            " input_tokens, output_tokens, cost, provider)"
            " VALUES (1, 'd', ?, '[]', '', '2026-03-13T10:00:00+00:00', ?, ?, 10, ?, ?)",
            rows,
        )
        connection.execute("UPDATE windows SET output_tokens = NULL WHERE input_tokens IS NULL")
        connection.execute(
            "INSERT INTO observation_passes"
            " (conversation, kind, first, last, made_by, made_at, note) VALUES"
            " ('old', 'observe', 1, 2, 'jot', '2026-03-13T10:00:00+00:00',"
            ' \'{"input": 30, "output": 3, "cost": 0.0625}\')'
        )
    connection.close()
    database = Database(tmp_path / "old.db")
    by_purpose = {
        row.name: (row.spent, row.spent.sends, row.input_tokens)
        for row in usage_by(database, Grouping.PURPOSE)
    }
    assert by_purpose == {
        "answer": (Spent(0.75), 4, 220),
        "picking": (Spent(0.125), 1, 40),
        "observation": (Spent(0.0625), 1, 30),
    }
    assert RequestLog(database).spent("old") == Spent(0.9375)
    assert WindowArchive(database).ending(1) == Ending(2, Usage(100, 10), None, 0.5, "work")
    database.close()


def test_the_figures_of_a_reply_are_moved_from_its_last_window_or_its_import(tmp_path):
    database_at(tmp_path / "old.db", "031_replies")
    with closing(sqlite3.connect(tmp_path / "old.db")) as old, old:
        for model, stop, reply, cost in (
            ("m", "stop", 2, 0.5),
            ("n", "length", 2, 0.25),
            ("x", None, None, 1),
        ):
            header = f'{{"model": "{model}"}}'
            window = old.execute(
                "INSERT INTO windows (turn, digest, header, segments, ledger, reply, stop)"
                " VALUES (1, 'd', ?, '[]', '', ?, ?)",
                (header, reply, stop),
            ).lastrowid
            old.execute(
                "INSERT INTO requests (window, purpose, provider, model, input_tokens, cost)"
                " VALUES (?, 'answer', 'work', ?, 100, ?)",
                (window, model, cost),
            )
        old.execute("INSERT INTO imported_turns VALUES (1, 'key', 'other'), (2, 'key', 'none')")
    database = Database(tmp_path / "old.db")
    assert notes_of(database, [1, 2]) == {
        1: ReplyNote("other"),
        2: ReplyNote("n", "work", "length", Usage(100, None), 0.25),
    }
    database.close()


def test_a_window_that_was_stored_without_sizes_gets_those_of_its_segments(tmp_path):
    database_at(tmp_path / "old.db", "035_plain_memory")
    header = """{"mode": "jit", "model": "m", "exact": false, "full_tokens": 120,
        "budget": {"limit": 1000, "reserve": 200}}"""
    lists = (
        ("a", """[{"kind": "system", "tokens": 9}, {"kind": "recent", "tokens": 20}]"""),
        ("b", """[{"kind": "recent", "tokens": 4}]"""),
        ("damaged", "["),
    )
    with closing(sqlite3.connect(tmp_path / "old.db")) as old, old:
        old.executemany("INSERT INTO blobs VALUES (?, ?)", lists)
        for segments in ('["a", "b"]', '["damaged"]'):
            old.execute(
                "INSERT INTO windows (turn, digest, header, segments, ledger)"
                " VALUES (1, 'd', ?, ?, '')",
                (header, segments),
            )
    database = Database(tmp_path / "old.db")
    sends = WindowArchive(database).sends("old")
    assert [send.sizes for send in sends] == [{"system": 9, "recent": 24}, {}]
    database.close()


def test_the_schema_only_grows(database):
    with database.read() as connection:
        tables = [
            row[0]
            for row in connection.execute(
                "SELECT name FROM sqlite_master WHERE type = 'table'"
                " AND name NOT GLOB '*_fts*' AND name NOT GLOB '*sqlite*' ORDER BY name"
            )
        ]
        found = {
            name: f"{name}: "
            + ", ".join(row[1] for row in connection.execute(f"PRAGMA table_info({name})"))
            for name in tables
        }
    for line in SCHEMA:
        assert found[line.partition(":")[0]].startswith(line)


def test_steps_are_numbered_without_a_gap():
    assert [int(name[:3]) for name in NAMES] == list(range(1, len(NAMES) + 1))


def test_a_step_that_fails_leaves_the_schema_before_it(tmp_path, monkeypatch):
    database_at(tmp_path / "old.db", NAMES[1])

    statements, last = schema.statements, (SCHEMA_FOLDER / f"{NAMES[-1]}.sql").read_text()

    def broken(script: str) -> list[str]:
        return [*statements(script), *(["DROP TABLE nowhere"] if script == last else [])]

    monkeypatch.setattr(schema, "statements", broken)
    with pytest.raises(StoreError, match="no such table: nowhere"):
        Database(tmp_path / "old.db")
    connection = sqlite3.connect(tmp_path / "old.db")
    tables = {row[0] for row in connection.execute("SELECT name FROM sqlite_master")}
    applied = [row[0] for row in connection.execute("SELECT name FROM _sqlite_migrations")]
    connection.close()
    assert "turns" in tables
    assert "index_entries" not in tables
    assert applied == NAMES[:1]


def test_a_database_that_is_up_to_date_opens_without_sqlite_utils(tmp_path: Path) -> None:
    path = tmp_path / "cold.db"
    Database(path).close()
    code = (
        "import sys; from pathlib import Path; from jitchat.store.database import Database;"
        f"Database(Path({str(path)!r})).close();"
        "assert not {'sqlite_utils', 'numpy'} & set(sys.modules)"
    )
    subprocess.run([sys.executable, "-c", code], check=True)


def test_a_vector_takes_little_more_room_than_its_numbers(database: Database) -> None:
    size, count = 1_024, 400
    store = ColdStore(database)
    made = store.create("A talk")
    turns = store.append(made.id, [Turn(0, Role.USER, f"Number {each}.") for each in range(count)])
    with database.write() as connection:
        before = connection.execute("PRAGMA page_count").fetchone()[0]
        rows = ((turn.id, "some", size // 4, bytes(size)) for turn in turns)
        connection.executemany("INSERT INTO vectors VALUES (?, ?, ?, ?)", rows)
        after, page = (
            connection.execute(f"PRAGMA {name}").fetchone()[0]
            for name in ("page_count", "page_size")
        )

    assert (after - before) * page < 1.5 * size * count


def test_a_new_conversation_follows_the_highest_id_of_an_earlier_version(tmp_path):
    database_at(tmp_path / "old.db", "028_last_chat")
    with closing(sqlite3.connect(tmp_path / "old.db")) as old, old:
        old.execute(
            "INSERT INTO conversations (id, title, created_at, updated_at, touched)"
            " VALUES ('chat-7', 'Later', '2026-03-13', '2026-03-13', 9)"
        )
    database = Database(tmp_path / "old.db")
    assert ColdStore(database).create("New").id == "chat-8"
    database.close()
