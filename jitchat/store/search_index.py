"""The index that searches use: written here, in the transaction that changes what it covers.

A document is a turn, with its text, tools, reasoning and files; or a conversation, with its title,
tags and system prompt. Documents are given as ids: turns as positive ones, conversations as the
negative of their number. FTS5 stores no text, so to delete a document it has to be given the same
tokens again. They are made from the text, therefore a document leaves the index before its text
changes (`changing`). A version that splits texts differently needs a migration that empties the
index and fills `search_backlog`: what is in there is indexed in the background. Triggers put every
new turn and conversation there, since an older jitchat knows nothing of the index; `add` takes out
what it indexes.

Replies that are still being written, and temporary conversations, are not indexed.
"""

import json
import sqlite3
import threading
import time
from collections.abc import Iterable, Iterator
from contextlib import contextmanager, suppress
from functools import cache
from importlib.resources import files
from typing import NamedTuple

from jitchat.errors import StoreError
from jitchat.store.database import Database
from jitchat.store.path import TREE_COLUMNS
from jitchat.text.search_tokens import terms

_HOLD_SECONDS, _PAUSE_SECONDS = 0.01, 0.03
"""In the background, a transaction takes about the first; the second is between two. SQLite lets
another process that waits try again after 1, 3, 8, 18, 33 milliseconds."""
_BATCH, _TURNS_AT_ONCE = 2, 512
_LAST_RECORD = 10
"""FTS5 opens no index without its records 1 and 10."""
_UNUSED = "turns_fts_unused"
"""The index of earlier versions, when it is to be dropped."""


class Part(NamedTuple):
    """One of a document's texts."""

    label: str
    """What it is: `reasoning`, `title`, a file's name; empty for a turn's own text."""
    text: str


@cache
def statement(name: str) -> str:
    """Return a statement of `search.sql`."""
    sections = files(__package__).joinpath("search.sql").read_text("utf-8").split("-- name: ")
    named = dict(section.split("\n", 1) for section in sections[1:])
    wanted = named[name]
    for part in ("condition", "columns"):
        wanted = wanted.replace(f"{{{part}}}", named[part])
    return wanted.replace("{tree}", TREE_COLUMNS)


def parts_of(connection: sqlite3.Connection, documents: Iterable[int]) -> dict[int, list[Part]]:
    """Read the texts of documents."""
    ids = list(documents)
    parts: dict[int, list[Part]] = {document: [] for document in ids}
    for document, label, content in connection.execute(statement("parts"), (json.dumps(ids),)):
        parts[document].append(Part(label, content.decode("utf-8", "replace")))
    return parts


def add(connection: sqlite3.Connection, documents: Iterable[int]) -> None:
    """Index new documents, or those that were removed before."""
    ids = list(documents)
    connection.execute(statement("not_waiting"), (json.dumps(ids),))
    connection.executemany(statement("add"), _rows(connection, ids))


def remove(connection: sqlite3.Connection, documents: Iterable[int]) -> None:
    """Take documents out of the index; call it before their text changes."""
    ids = list(documents)
    if has_table(connection, "turns_fts"):
        connection.execute(statement("delete_earlier"), (json.dumps(ids),))
    try:
        connection.executemany(statement("delete"), _rows(connection, ids))
    except sqlite3.DatabaseError as error:
        if error.sqlite_errorcode != sqlite3.SQLITE_CORRUPT_VTAB:
            raise
        # a text was changed behind the store's back: FTS5 has fewer tokens than are to be deleted
        connection.execute("INSERT INTO search_tokens (search_tokens) VALUES ('delete-all')")
        connection.execute("DELETE FROM search_backlog")
        connection.execute(statement("all_to_backlog"))


def _rows(connection: sqlite3.Connection, documents: Iterable[int]) -> list[tuple[int, str]]:
    """Return documents with their tokens, except those that are not indexed."""
    ids = json.dumps(list(documents))
    indexable = [row[0] for row in connection.execute(statement("indexable"), (ids,))]
    return [
        (document, " ".join([" ".join(terms(part.text)) for part in parts]))
        for document, parts in parts_of(connection, indexable).items()
    ]


@contextmanager
def changing(
    database: Database, turns: Iterable[int] = (), conversation: str = ""
) -> Iterator[sqlite3.Connection]:
    """Open a transaction that changes what is searched of turns, or of a conversation itself."""
    with database.write() as connection:
        documents = [*turns, *documents_of(connection, conversation)]
        remove(connection, documents)
        yield connection
        add(connection, documents)


def documents_of(connection: sqlite3.Connection, conversation: str) -> list[int]:
    """Return the document of a conversation, without its turns; none if it does not exist."""
    query = "SELECT -number FROM search_conversations WHERE conversation = ?"
    return [row[0] for row in connection.execute(query, (conversation,))]


def remove_conversation(connection: sqlite3.Connection, conversation: str) -> None:
    """Take a conversation and all of its turns out of the index."""
    turns = connection.execute("SELECT id FROM turns WHERE conversation = ?", (conversation,))
    documents = documents_of(connection, conversation) + [row[0] for row in turns]
    for start in range(0, len(documents), _TURNS_AT_ONCE):
        remove(connection, documents[start : start + _TURNS_AT_ONCE])


def optimize(connection: sqlite3.Connection) -> None:
    """Merge the index: until then, deleted tokens are only marked as such."""
    for table in ("search_tokens", "turns_fts"):
        if has_table(connection, table):
            connection.execute(f"INSERT INTO {table} ({table}) VALUES ('optimize')")  # noqa: S608  constants


def count_backlog(connection: sqlite3.Connection) -> int:
    """Return about how many documents are still to be indexed."""
    return int(connection.execute(statement("count_backlog")).fetchone()[0])


def finish_in_background(database: Database) -> None:
    """Finish the index, in a thread if that takes longer; it ends when the database is closed."""

    def finish() -> None:
        with suppress(StoreError):  # it was closed, or the disk is full: the next start goes on
            while _work(database):
                time.sleep(_PAUSE_SECONDS)

    with suppress(StoreError):
        if database.fetch_one(statement("is_unfinished"))[0] and _work(database):
            threading.Thread(target=finish, daemon=True).start()


def finish(database: Database) -> None:
    """Finish the index now; merging what an import left makes it a seventh smaller, in Chinese."""
    while _work(database):
        pass


def _work(database: Database) -> bool:
    """Work on the index in one short transaction. Return whether more is to be done."""
    with database.write() as connection:
        until = time.monotonic() + _HOLD_SECONDS
        while time.monotonic() < until:
            if not (_index(connection) or _drop(connection) or _merge(connection)):
                return False
    return True


def _index(connection: sqlite3.Connection) -> bool:
    """Index the newest documents of the backlog; False if there are none."""
    row = connection.execute(statement("next_in_backlog")).fetchone()
    if row is None:
        return False
    wanted = {"first": row[0], "last": row[1], "most": _BATCH}
    newest = connection.execute(statement("last_documents"), wanted)
    documents = [document for (document,) in newest]
    if len(documents) < _BATCH:
        connection.execute("DELETE FROM search_backlog WHERE first = ? AND last = ?", row)
    else:
        query = "UPDATE search_backlog SET last = ? WHERE first = ? AND last = ?"
        connection.execute(query, (documents[-1] - 1, *row))
    add(connection, documents)
    return True


def _drop(connection: sqlite3.Connection) -> bool:
    """Drop a part of the index of earlier versions: 36 MB at once would take 0.4 seconds."""
    if has_table(connection, "turns_fts"):
        connection.execute(f"ALTER TABLE turns_fts RENAME TO {_UNUSED}")
        connection.execute("DROP TABLE IF EXISTS bulk_inserts")
        return True
    if not has_table(connection, _UNUSED):
        return False
    for table, last in ((f"{_UNUSED}_data", _LAST_RECORD), (f"{_UNUSED}_docsize", 0)):
        some = f"SELECT rowid FROM {table} WHERE rowid > {last} LIMIT {_BATCH}"  # noqa: S608  constants
        if connection.execute(f"DELETE FROM {table} WHERE rowid IN ({some})").rowcount:  # noqa: S608  constants
            return True
    connection.execute(f"DROP TABLE {_UNUSED}")
    return True


def _merge(connection: sqlite3.Connection) -> bool:
    """Merge some pages; False if nothing is left to be merged."""
    before = connection.total_changes
    connection.execute(statement("merge"))
    return connection.total_changes - before >= 2  # FTS5 counts one change when it did nothing


def has_table(connection: sqlite3.Connection, name: str) -> bool:
    query = "SELECT 1 FROM sqlite_master WHERE type = 'table' AND name = ?"
    return connection.execute(query, (name,)).fetchone() is not None
