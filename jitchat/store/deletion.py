"""Deleting conversations: hidden at first, then with all that belongs to them, or without trace.

A deletion can be undone in the process that made it, until that ends; no list has the conversation
meanwhile. Its rows go when the process ends, or at the next start where that failed. So do
temporary conversations, of which nothing else keeps the text: no distilled memory, no full-text
index, no prompt history, and no blob that another conversation's window shares.

Rows that go are overwritten in the file, and the write-ahead log is emptied, unless another
instance reads it at that moment. What was distilled stays, and says that its source is deleted. An
erasure takes that as well, and writes the file anew: in its free pages may be what was overwritten
before, such as earlier states of a reply or a draft. What stays of one that was imported is a hash
by which its source is known, so that it is not imported again; what stays of each is what its
requests took, in figures.
"""

import os
import sqlite3
import sys
from contextlib import suppress
from datetime import datetime, timedelta

from jitchat.errors import ConversationInUse, StoreError
from jitchat.store.database import WAIT_SECONDS
from jitchat.store.documents import forget_source
from jitchat.store.imported import note_deleted
from jitchat.store.replies import is_alive
from jitchat.store.store import ColdStore, next_touch
from jitchat.store.windows import delete_windows

_SILENT_FOR = timedelta(minutes=15)
"""After so long without a turn, a process that cannot be asked for is taken to be gone."""
_WAIT_FOR_READERS = 500
"""Milliseconds."""
_OF_TURNS = ("streaming", "reasoning", "model_lines", "index_entries", "vectors", "held_turns")
"""Tables of which each row belongs to a turn."""
_OF_CONVERSATIONS = ("turn_costs", "index_segments", "drafts", "observation_passes")
"""Tables of which each row belongs to a conversation; those of tags and imports cascade."""
_UNINDEX_WORDS = """
    INSERT INTO turns_fts (turns_fts, rowid, content)
    SELECT 'delete', t.id, t.content FROM turns t JOIN conversations c ON c.id = t.conversation
    WHERE c.id = ? AND NOT c.temporary
"""
_WRITERS = """
    SELECT s.process FROM streaming s JOIN turns t ON t.id = s.turn WHERE t.conversation = ?
"""


def hide(store: ColdStore, conversation: str) -> None:
    """Delete a conversation so that it can be undone until this process ends.

    Raises:
        ConversationInUse: A reply is being written in it.

    """
    with store.database.write() as connection:
        _require_no_writer(connection, conversation)
        _set_deleted_by(connection, conversation, os.getpid())


def restore_last(store: ColdStore) -> str | None:
    """Undo the last deletion of this process; the conversation's id, None where there is none."""
    with store.database.write() as connection:
        query = "SELECT id FROM conversations WHERE deleted_by = ? ORDER BY touched DESC LIMIT 1"
        row = connection.execute(query, (os.getpid(),)).fetchone()
        if row is not None:
            _set_deleted_by(connection, row[0], 0)
    return None if row is None else str(row[0])


def _set_deleted_by(connection: sqlite3.Connection, conversation: str, process: int) -> None:
    """Say who deleted it; the one deleted last was touched last."""
    connection.execute(
        "UPDATE conversations SET deleted_by = ?, touched = ? WHERE id = ?",
        (process, next_touch(connection), conversation),
    )


def delete_conversation(store: ColdStore, conversation: str, *, with_memory: bool = False) -> None:
    """Delete a conversation with all that belongs to it; with its facts and document lines, too.

    Raises:
        ConversationInUse: A reply is being written in it by another process.
        StoreError: It could not be deleted; none of it was.

    """
    database = store.database
    with database.read() as connection:
        connection.execute("PRAGMA secure_delete = ON")
    with database.write() as connection:
        _require_no_writer(connection, conversation)
        _delete_distilled(connection, store.now(), conversation, with_memory=with_memory)
        turns = "SELECT id FROM turns WHERE conversation = ?"
        connection.execute(
            f"DELETE FROM cases WHERE said IN ({turns}) OR wanted IN ({turns})",  # noqa: S608  constants
            (conversation, conversation),
        )
        delete_windows(connection, conversation)
        for table in _OF_TURNS:
            connection.execute(f"DELETE FROM {table} WHERE turn IN ({turns})", (conversation,))  # noqa: S608  constants
        for table in _OF_CONVERSATIONS:
            connection.execute(f"DELETE FROM {table} WHERE conversation = ?", (conversation,))  # noqa: S608  constants
        connection.execute(_UNINDEX_WORDS, (conversation,))
        connection.execute("DELETE FROM turns WHERE conversation = ?", (conversation,))
        note_deleted(connection, conversation)
        connection.execute("DELETE FROM conversations WHERE id = ?", (conversation,))
    with suppress(StoreError):
        _empty_log(store)


def erase(store: ColdStore, conversation: str, *, with_memory: bool = True) -> bool:
    """Delete a conversation so that no part of the file has a word of it.

    Whether none has: False where another process reads what is being taken away, so that the
    write-ahead log stays until that ends.

    Raises:
        ConversationInUse: A reply is being written in it by another process.
        StoreError: It could not be deleted, or the file could not be written anew: it takes as much
            room again for a moment.

    """
    delete_conversation(store, conversation, with_memory=with_memory)
    with store.database.read() as connection:
        # what was taken out of the full-text index is marked only, until its parts are merged
        connection.execute("INSERT INTO turns_fts (turns_fts) VALUES ('optimize')")
        connection.execute("VACUUM")
    return _empty_log(store)


def delete_left(store: ColdStore) -> int:
    """Delete what waits for it: hidden and temporary conversations whose process is gone, or this.

    How many temporary ones there were. Where the store takes nothing, they wait for the next start.
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
            "Wait for its end, or close that one, and delete it then.",
        )


def _delete_distilled(
    connection: sqlite3.Connection, now: datetime, conversation: str, *, with_memory: bool
) -> None:
    passes = "SELECT id FROM observation_passes WHERE conversation = ?"
    connection.execute(f"DELETE FROM observations WHERE pass IN ({passes})", (conversation,))  # noqa: S608  constants
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
    """Fold the write-ahead log into the file; whether all of it is there, and nobody reads it."""
    with store.database.read() as connection:
        connection.execute(f"PRAGMA busy_timeout = {_WAIT_FOR_READERS}")
        try:
            is_busy = connection.execute("PRAGMA wal_checkpoint(TRUNCATE)").fetchone()[0]
        finally:
            connection.execute(f"PRAGMA busy_timeout = {int(1000 * WAIT_SECONDS)}")
    return not is_busy


def _is_open(process: int, silent: timedelta) -> bool:
    """Whether somebody has it open; this very process has opened nothing yet, or is done."""
    if process == os.getpid() or not is_alive(process):
        return False
    return sys.platform != "win32" or silent < _SILENT_FOR
