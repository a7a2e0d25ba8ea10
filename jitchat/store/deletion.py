"""Deletes conversations: first hidden, then deleted with all their data, or erased without a trace.

A deletion can be undone until the process that made it ends; meanwhile no list shows the
conversation. Its rows are deleted when the process ends or, if that fails, at the next start. The
same happens to temporary conversations, whose text is stored nowhere else: in no distilled memory,
full-text index or prompt history, and in no blob that another conversation's window shares.

Deleted rows are overwritten in the file, and the write-ahead log is emptied, unless another
instance is reading it. Distilled memory stays, with a note that its source is deleted. An erasure
deletes that as well and rewrites the file, because its free pages can hold earlier states of a
reply or a draft; it also deletes the copy that was kept before the last migration. The usage and
cost of the conversation's requests remain, as figures only, and of an imported conversation a hash
that identifies its source, so that it is not imported again.

Which tables have rows of a conversation is read from their foreign keys, so that a new table needs
no line here. A column that names a conversation, a turn or a window without one is placed in
`tests/store/test_erasure.py`, or that test fails.
"""

import os
import sqlite3
import sys
from contextlib import suppress
from datetime import datetime, timedelta

from jitchat.errors import ConversationInUse, ErasureIncomplete, StoreError
from jitchat.store import search_index
from jitchat.store.copies import delete_upgrade_copies
from jitchat.store.documents import forget_source
from jitchat.store.imported import note_deleted
from jitchat.store.processes import is_alive
from jitchat.store.store import ColdStore, next_touch
from jitchat.store.windows import delete_unused_blobs

_SILENT_FOR = timedelta(minutes=15)
"""Time without a new turn after which a process that cannot be queried is assumed to be gone."""
_ATTEMPTS = 5
"""How often the write-ahead log is emptied, each time with SQLite's own wait for its readers."""
_REFERRING = """
    SELECT t.name, k."from", k."to" FROM sqlite_master t, pragma_foreign_key_list(t.name) k
    WHERE t.type = 'table' AND k."table" = ? AND t.name <> k."table" AND k.on_delete = 'NO ACTION'
"""
"""The columns of other tables that refer to a table; SQLite itself does the other actions."""
_WRITERS = """
    SELECT s.process FROM streaming s JOIN turns t ON t.id = s.turn WHERE t.conversation = ?
"""


def hide(store: ColdStore, conversation: str) -> None:
    """Delete a conversation; the deletion can be undone until this process ends.

    Raises:
        ConversationInUse: A reply is being written in it.

    """
    with store.database.write() as connection:
        _require_no_writer(connection, conversation)
        _set_deleted_by(connection, conversation, os.getpid())


def restore_last(store: ColdStore) -> str | None:
    """Undo this process's last deletion.

    Return the conversation's id, or None if there was nothing to undo.
    """
    with store.database.write() as connection:
        query = "SELECT id FROM conversations WHERE deleted_by = ? ORDER BY touched DESC LIMIT 1"
        row = connection.execute(query, (os.getpid(),)).fetchone()
        if row is not None:
            _set_deleted_by(connection, row[0], 0)
    return None if row is None else str(row[0])


def _set_deleted_by(connection: sqlite3.Connection, conversation: str, process: int) -> None:
    """Record the process that deleted a conversation, or 0; the latest deletion is touched last."""
    connection.execute(
        "UPDATE conversations SET deleted_by = ?, touched = ? WHERE id = ?",
        (process, next_touch(connection), conversation),
    )


def delete_conversation(store: ColdStore, conversation: str, *, with_memory: bool = False) -> None:
    """Delete a conversation and its data; `with_memory`, also its facts and document lines.

    Raises:
        ConversationInUse: A reply is being written in it by another process.
        StoreError: The conversation could not be deleted, and nothing was changed.

    """
    database = store.database
    with database.writing() as connection:
        connection.execute("PRAGMA secure_delete = ON")
    with database.write() as connection:
        _require_no_writer(connection, conversation)
        search_index.remove_conversation(connection, conversation)
        _delete_distilled(connection, store.now(), conversation, with_memory=with_memory)
        note_deleted(connection, conversation)
        _delete_rows(connection, "conversations", "id = ?", conversation)
        delete_unused_blobs(connection)
    with suppress(StoreError):
        _empty_log(store)


def erase(store: ColdStore, conversation: str, *, with_memory: bool = True) -> bool:
    """Delete a conversation so that no part of the file contains any of its text.

    Return False if another process is reading, so that the write-ahead log stays until it ends.

    Raises:
        ConversationInUse: A reply is being written in it by another process.
        ErasureIncomplete: It was deleted, but the file could not be rewritten; retry with `vacuum`.
        StoreError: It was not deleted.

    """
    delete_conversation(store, conversation, with_memory=with_memory)
    try:
        return vacuum(store)
    except StoreError as error:
        raise ErasureIncomplete(
            "The conversation is deleted, but parts of it may remain in free pages of the database,"
            f" or in a copy. {error.what}",
            "Rewriting temporarily needs twice the disk space of the database;"
            " `jitchat conversations vacuum` tries again.",
        ) from error


def vacuum(store: ColdStore) -> bool:
    """Rewrite the file, whose free pages may contain what was deleted before.

    Returns False if another process is reading the write-ahead log, which may still contain it.

    Raises:
        StoreError: There is no room: rewriting temporarily takes the file's size again; or a copy
            from before a migration cannot be deleted.

    """
    delete_upgrade_copies(store.database.path)
    with store.database.write() as connection:
        delete_unused_blobs(connection)
        search_index.optimize(connection)
    store.database.vacuum()
    return _empty_log(store)


def delete_left(store: ColdStore) -> int:
    """Delete hidden and temporary conversations of this process and of processes that are gone.

    Return the number of temporary ones. If the store cannot be written, the rest waits for the
    next start.
    """
    query = (
        "SELECT id, temporary, deleted_by, updated_at FROM conversations"
        " WHERE temporary OR deleted_by"
    )
    now, deleted = store.now(), 0
    with suppress(StoreError):
        for identity, temporary, deleted_by, updated_at in store.database.fetch_all(query):
            silent = now - datetime.fromisoformat(updated_at)
            if not _is_open(deleted_by or temporary, silent):
                delete_conversation(store, identity)
                deleted += bool(temporary)
    return deleted


def _require_no_writer(connection: sqlite3.Connection, conversation: str) -> None:
    writers = [row[0] for row in connection.execute(_WRITERS, (conversation,))]
    if any(process != os.getpid() and is_alive(process) for process in writers):
        raise ConversationInUse(
            "A reply is being written in this conversation by another jitchat.",
            "Delete it after the reply has ended, or close the other jitchat first.",
        )


def _delete_rows(connection: sqlite3.Connection, table: str, where: str, conversation: str) -> None:
    """Delete rows, and before them the rows of other tables that refer to them."""
    for child, column, key in connection.execute(_REFERRING, (table,)).fetchall():
        referring = f"{column} IN (SELECT {key} FROM {table} WHERE {where})"  # noqa: S608  names in the schema
        _delete_rows(connection, child, referring, conversation)
    connection.execute(f"DELETE FROM {table} WHERE {where}", (conversation,))  # noqa: S608  names in the schema


def _delete_distilled(
    connection: sqlite3.Connection, now: datetime, conversation: str, *, with_memory: bool
) -> None:
    forget_source(connection, now, conversation, with_lines=with_memory)
    if with_memory:
        mine = "SELECT id FROM facts WHERE conversation = ?"
        connection.execute(
            f"UPDATE facts SET superseded_by = NULL WHERE superseded_by IN ({mine})",  # noqa: S608  constants
            (conversation,),
        )
        connection.execute("DELETE FROM facts WHERE conversation = ?", (conversation,))
    connection.execute(
        "UPDATE facts SET conversation = NULL, changes = changes + 1 WHERE conversation = ?",
        (conversation,),
    )


def _empty_log(store: ColdStore) -> bool:
    """Empty the write-ahead log into the file; return False if another process is reading it."""
    empty = "PRAGMA wal_checkpoint(TRUNCATE)"
    with store.database.writing() as connection:
        return any(not connection.execute(empty).fetchone()[0] for _ in range(_ATTEMPTS))


def _is_open(process: int, silent: timedelta) -> bool:
    """Whether another process has it open; this process has opened nothing yet, or is done."""
    if process == os.getpid() or not is_alive(process):
        return False
    return sys.platform != "win32" or silent < _SILENT_FOR
