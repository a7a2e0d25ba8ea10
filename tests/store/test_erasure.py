"""An erasure reaches every table: the schema is compared with what deletion and erasure touch."""

from __future__ import annotations

import re
from typing import TYPE_CHECKING

import pytest

from jitchat.store.deletion import delete_conversation, erase
from tests.store.rows import columns, fill, references, tables

if TYPE_CHECKING:
    import sqlite3

    from jitchat.store.store import ColdStore

SECRET = "heliotrope"
PLAIN = "harbour"
NO_CONVERSATION = {
    "allowed_folders": "the folders that the user allows",
    "bulk_inserts": "a mark within a transaction",
    "search_backlog": "numbers of turns and conversations to be indexed",
    "chosen_model": "the user's choice of a model",
    "deleted_imports": "hashes of sources, so that an import leaves them deleted",
    "last_chat": "a number",
    "learnt_limits": "of models",
    "model_lists": "of servers",
    "refused_parameters": "of models",
    "rot_run": "of the rot lab, in a file of its own",
    "screen_state": "the theme, and whether the inspector is open",
    "token_samples": "counts, by model",
    "told_limits": "of models",
    "tool_grants": "the tools that the user allows",
}
"""Tables without anything of a conversation, and what they have."""
RULES = {
    "attachment_parts": "deleted with their attachment",
    "attachments": "deleted by a trigger with the last turn that has them",
    "blobs": "deleted when no window uses them",
    "documents": "rewritten without the lines of the conversation: tests/store/test_deletion.py",
    "facts": "deleted, or kept without their conversation",
    "file_segments": "deleted with their attachment",
    "file_tokens": "deleted with their attachment",
    "part_vectors": "deleted with their attachment",
    "requests": "kept as figures, without their conversation",
    "reservations": "kept with their request, as a figure",
}
"""Tables with a rule of their own."""
_FIGURES = ("requests", "reservations")
KEPT_OF_REQUESTS = {
    **{f"requests.{column}": "kept" for column in ("model", "provider", "purpose")},
    **dict.fromkeys(("requests.project", "conversations.project"), "work"),
}
NAMING = re.compile(
    r"(conversation|turn|window|reply|message|said|wanted|pass|attachment|draft|segment|blob)"
    r"(s|_id|_ids)?"
)
"""Names of columns that name something of a conversation."""
WITHOUT_KEY = {"windows.segments": "addresses of blobs, which go when no window uses them"}
"""Columns with such a name that are no foreign key, and what deletes what they name."""


def reached(connection: sqlite3.Connection) -> set[str]:
    """The tables whose foreign keys lead to a conversation."""
    found, size = {"conversations"}, 0
    while len(found) > size:
        size = len(found)
        found |= {
            table
            for table in tables(connection)
            if any(reference.table in found for reference in references(connection, table))
        }
    return found


def test_every_table_has_a_place_in_deletion(store: ColdStore):
    with store.database.read() as connection:
        found = set(tables(connection))
        led = reached(connection)
    placed = NO_CONVERSATION.keys() | RULES.keys()
    assert found - led - placed == set(), "give it a foreign key, or a rule in store/deletion.py"
    assert placed - found == set()
    assert NO_CONVERSATION.keys() & led == set()


def test_every_column_that_names_something_of_a_conversation_is_a_foreign_key(store: ColdStore):
    with store.database.read() as connection:
        without_key = {
            f"{table}.{column}"
            for table in tables(connection)
            for column in columns(connection, table)
            if NAMING.fullmatch(column)
            and column not in [reference.column for reference in references(connection, table)]
        }
    assert without_key == WITHOUT_KEY.keys()


def test_every_foreign_key_has_an_action_that_deletion_knows(store: ColdStore):
    with store.database.read() as connection:
        keys = [
            (table, reference)
            for table in tables(connection)
            for reference in references(connection, table)
        ]
    kept = {table for table, reference in keys if reference.on_delete == "SET NULL"}
    assert kept <= RULES.keys()
    assert {reference.on_delete for _, reference in keys} == {"NO ACTION", "CASCADE", "SET NULL"}
    assert all(reference.key for _, reference in keys)


@pytest.mark.parametrize("is_erased", [True, False])
def test_a_row_in_every_table_is_gone_with_its_conversation_alone(
    store: ColdStore, is_erased: bool
):
    without = NO_CONVERSATION.keys() | {"documents"}
    with store.database.write() as connection:
        other = fill(connection, PLAIN, without=without)
        mine = fill(connection, SECRET, without=without, values=KEPT_OF_REQUESTS)
        kept = other["blobs"]["digest"]
        connection.execute("UPDATE windows SET segments = json_array(?)", (kept,))
        connection.execute("UPDATE blobs SET content = '[]' WHERE digest = ?", (kept,))
    assert SECRET.encode() in stored(store)

    conversation = mine["conversations"]["id"]
    if is_erased:
        assert erase(store, conversation)
    else:
        delete_conversation(store, conversation, with_memory=True)

    with store.database.read() as connection:
        left = {
            table: connection.execute(f"SELECT COUNT(*) FROM {table}").fetchone()[0]
            for table in other
        }
        assert connection.execute("PRAGMA foreign_key_check").fetchall() == []
    assert left == {table: 2 if table in _FIGURES else 1 for table in other}
    if is_erased:
        assert SECRET.encode() not in stored(store)
        assert PLAIN.encode() in stored(store)


def stored(store: ColdStore) -> bytes:
    """The contents of the database, its log and the other files next to it."""
    files = store.database.path.parent.glob(f"{store.database.path.name}*")
    return b"".join(file.read_bytes() for file in files)


def test_a_blob_that_nothing_names_is_gone_after_an_erasure(store: ColdStore):
    with store.database.write() as connection:
        connection.execute("INSERT INTO blobs VALUES ('left', ?)", (SECRET,))
    assert erase(store, store.create("Talk").id)
    assert SECRET.encode() not in stored(store)
