"""Helpers: dead processes, disks that cannot be written, and what the search index holds."""

from __future__ import annotations

import subprocess
import sys
from collections import defaultdict
from typing import TYPE_CHECKING

from jitchat.store.search_index import parts_of
from jitchat.text.search_tokens import terms

if TYPE_CHECKING:
    from collections.abc import Collection

    from jitchat.store.database import Database
    from jitchat.store.store import ColdStore


def claim(store: ColdStore, process: int, seen_at: float | None = None) -> None:
    """Record another process as the writer of the reply."""
    with store.database.write() as connection:
        connection.execute(
            "UPDATE streaming SET process = ?, seen_at = ?",
            (process, seen_at if seen_at is not None else store.now().timestamp()),
        )


def dead_process() -> int:
    """Return the id of a process that has ended."""
    done = subprocess.Popen([sys.executable, "-S", "-c", ""])
    done.wait()
    return done.pid


def make_full(store: ColdStore, *, on: bool) -> None:
    """Keep the database from growing, or allow it again; no page of it is free then."""
    with store.database.writing() as connection:
        free = connection.execute("PRAGMA freelist_count").fetchone()[0]
        connection.execute("CREATE TABLE IF NOT EXISTS filler (content)")
        connection.execute("INSERT INTO filler VALUES (zeroblob(? * 4096))", (free,))
        pages = connection.execute("PRAGMA page_count").fetchone()[0]
        connection.execute(f"PRAGMA max_page_count = {pages if on else 1_000_000}")


def make_read_only(store: ColdStore, *, on: bool) -> None:
    """Refuse every write as SQLite does for a read-only file, or allow writes again."""
    with store.database.writing() as connection:
        connection.execute(f"PRAGMA query_only = {int(on)}")


DOCUMENTS = """
    SELECT t.id FROM turns t JOIN conversations c ON c.id = t.conversation
    WHERE t.status <> 'streaming' AND NOT c.temporary
    UNION ALL SELECT -s.number FROM search_conversations s JOIN conversations c
    ON c.id = s.conversation WHERE NOT c.temporary
"""


def indexed_tokens(database: Database) -> dict[int, list[str]]:
    """Read the tokens of each document out of the search index."""
    tokens = defaultdict(list)
    with database.read() as connection:
        connection.execute(
            "CREATE VIRTUAL TABLE IF NOT EXISTS temp.indexed"
            " USING fts5vocab('main', 'search_tokens', 'instance')"
        )
        query = 'SELECT doc, term FROM temp.indexed ORDER BY doc, "offset"'
        for document, term in connection.execute(query):
            tokens[document].append(term)
    return dict(tokens)


def require_complete_index(database: Database, waiting: Collection[int] = ()) -> None:
    """Every document but those is indexed with the tokens of its text, and nothing else is."""
    with database.read() as connection:
        documents = [row[0] for row in connection.execute(DOCUMENTS) if row[0] not in waiting]
        parts = parts_of(connection, documents)
        conversations = connection.execute("SELECT COUNT(*) FROM conversations").fetchone()[0]
        numbered = connection.execute("SELECT COUNT(*) FROM search_conversations").fetchone()[0]
    expected = {key: [t for part in parts[key] for t in terms(part.text)] for key in documents}
    assert numbered == conversations
    assert indexed_tokens(database) == {key: made for key, made in expected.items() if made}
    with database.write() as connection:
        connection.execute("INSERT INTO search_tokens (search_tokens) VALUES ('integrity-check')")
