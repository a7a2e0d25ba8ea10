"""Temporary conversations: deleted when they are left, or at the next start where that failed.

Nothing else keeps their text: no distilled memory, no full-text index, no prompt history, and no
blob that another conversation's window shares. What is deleted is overwritten in the file, and the
write-ahead log is emptied, unless another instance is reading it at that moment.
"""

import os
import sys
from contextlib import suppress
from datetime import datetime, timedelta

from jitchat.errors import StoreError
from jitchat.store.replies import is_alive
from jitchat.store.store import ColdStore
from jitchat.store.windows import owned_blobs

_SILENT_FOR = timedelta(minutes=15)
"""After so long without a turn, a process that cannot be asked for is taken to be gone."""
_OF_TURNS = {
    "windows": "turn",
    "streaming": "turn",
    "reasoning": "turn",
    "model_lines": "turn",
    "index_entries": "turn",
    "vectors": "turn",
    "held_turns": "turn",
    "cases": "said",
}
"""Tables of which each row belongs to a turn, and the column that names it."""
_OF_CONVERSATIONS = ("turn_costs", "index_segments", "drafts", "observation_passes", "facts")
"""Tables of which each row belongs to a conversation."""


def delete_conversation(store: ColdStore, conversation: str) -> None:
    """Delete a temporary conversation with all that belongs to it; nothing for any other.

    Raises:
        StoreError: It could not be deleted; none of it was.

    """
    database = store.database
    with database.read() as connection:
        connection.execute("PRAGMA secure_delete = ON")
    with database.write() as connection:
        query = "SELECT 1 FROM conversations WHERE id = ? AND temporary"
        if connection.execute(query, (conversation,)).fetchone() is None:
            return
        passes = "SELECT id FROM observation_passes WHERE conversation = ?"
        connection.execute(f"DELETE FROM observations WHERE pass IN ({passes})", (conversation,))  # noqa: S608  constants
        turns = "SELECT id FROM turns WHERE conversation = ?"
        for table, column in reversed(_OF_TURNS.items()):
            connection.execute(f"DELETE FROM {table} WHERE {column} IN ({turns})", (conversation,))  # noqa: S608  constants
        for table in _OF_CONVERSATIONS:
            connection.execute(f"DELETE FROM {table} WHERE conversation = ?", (conversation,))  # noqa: S608  constants
        owned = owned_blobs(conversation)
        connection.execute(
            "DELETE FROM blobs WHERE digest >= ? AND digest < ?", (owned, owned[:-1] + "0")
        )  # `0` is the character behind `/`
        connection.execute("DELETE FROM turns WHERE conversation = ?", (conversation,))
        connection.execute("DELETE FROM conversations WHERE id = ?", (conversation,))
    with suppress(StoreError), database.read() as connection:
        connection.execute("PRAGMA wal_checkpoint(TRUNCATE)")


def delete_left(store: ColdStore) -> int:
    """Delete the temporary conversations whose process is gone; how many there were.

    Where the store takes nothing, they wait for the next start.
    """
    query = "SELECT id, temporary, updated_at FROM conversations WHERE temporary"
    left = [
        identity
        for identity, process, updated_at in store.database.fetch_all(query)
        if not _is_open(process, store.now() - datetime.fromisoformat(updated_at))
    ]
    deleted = 0
    with suppress(StoreError):
        for identity in left:
            delete_conversation(store, identity)
            deleted += 1
    return deleted


def _is_open(process: int, silent: timedelta) -> bool:
    """Whether somebody has it open; this very process has opened nothing yet."""
    if process == os.getpid() or not is_alive(process):
        return False
    return sys.platform != "win32" or silent < _SILENT_FOR
