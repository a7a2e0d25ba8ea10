"""The index that searches use: written here, in the transaction that changes what it covers.

A document is a turn, with its text, tools, reasoning and files; or a conversation, with its title,
tags and system prompt. Documents are given as ids: turns as positive ones, conversations as the
negative of their number. FTS5 stores no text, so to delete a document it has to be given the same
tokens again. They are made from the text, therefore a document leaves the index before its text
changes (`changing_turns`). If their number is not the one that FTS5 has stored, the index is
emptied, and built again in the background.

Replies that are still being written, and temporary conversations, are not indexed.
"""

import json
import sqlite3
import threading
import time
from collections.abc import Iterable, Iterator, Sequence
from contextlib import contextmanager, suppress
from functools import cache
from importlib.resources import files
from typing import NamedTuple

from jitchat.errors import StoreError
from jitchat.store.database import Database
from jitchat.text import search_tokens
from jitchat.tool_fields import use_from

_INDEXED = """
    SELECT id, sz FROM search_tokens_docsize WHERE id IN (SELECT value FROM json_each(?))
"""
_NOT_INDEXED = """
    SELECT t.id FROM turns t JOIN conversations c ON c.id = t.conversation
    WHERE t.id IN (SELECT value FROM json_each(?1)) AND t.status <> 'streaming' AND NOT c.temporary
        AND t.id NOT IN (SELECT id FROM search_tokens_docsize)
    UNION ALL
    SELECT -s.number FROM search_conversations s JOIN conversations c ON c.id = s.conversation
    WHERE s.number IN (SELECT -value FROM json_each(?1)) AND NOT c.temporary
        AND -s.number NOT IN (SELECT id FROM search_tokens_docsize)
"""
_DELETE = "INSERT INTO search_tokens (search_tokens, rowid, tokens) VALUES ('delete', ?, ?)"
_DELETE_EARLIER = """
    INSERT INTO turns_fts (turns_fts, rowid, content) SELECT 'delete', id, content FROM turns
    WHERE id IN (SELECT value FROM json_each(?)) AND id IN (SELECT id FROM turns_fts_docsize)
"""
_WHOLE_BACKLOG = """
    INSERT INTO search_backlog SELECT 1, MAX(id) FROM turns HAVING MAX(id)
    UNION ALL SELECT -MAX(number), -1 FROM search_conversations HAVING MAX(number)
"""
_NEXT = "SELECT rowid, first, last FROM search_backlog ORDER BY last DESC LIMIT 1"
_DOCUMENTS = """
    SELECT * FROM (SELECT id FROM turns WHERE id BETWEEN ?1 AND ?2 ORDER BY id DESC LIMIT ?3)
    UNION ALL SELECT * FROM (
        SELECT -number FROM search_conversations WHERE number BETWEEN -?2 AND -?1
        ORDER BY number LIMIT ?3
    )
"""
"""The last documents of a range, which has turns or conversations, from the last on."""
_SEGMENTS = """
    WITH RECURSIVE segments (id) AS (
        SELECT MIN(segid) FROM search_tokens_idx UNION ALL
        SELECT (SELECT MIN(segid) FROM search_tokens_idx WHERE segid > id) FROM segments
        WHERE id IS NOT NULL
    ) SELECT COUNT(id) FROM segments
"""
_MERGE = "INSERT INTO search_tokens (search_tokens, rank) VALUES ('merge', 16)"
_MOST_SEGMENTS = 8
_UNUSED = "turns_fts_unused"
_BATCH, _TURNS_AT_ONCE = 16, 512
_HOLD_SECONDS, _PAUSE_SECONDS = 0.02, 0.03
"""While the index is built, a transaction takes about the first; the second is between two.
SQLite lets another process that waits try again after 1, 3, 8, 18, 33 milliseconds."""


class Part(NamedTuple):
    """One of a document's texts."""

    label: str
    """What it is: `reasoning`, `title`, a file's name; empty for a turn's own text."""
    text: str


@cache
def _parts_query() -> str:
    return files(__package__).joinpath("search_index.sql").read_text("utf-8")


def parts_of(connection: sqlite3.Connection, documents: Iterable[int]) -> dict[int, list[Part]]:
    """Read the texts of documents."""
    ids = list(documents)
    parts: dict[int, list[Part]] = {document: [] for document in ids}
    for document, label, content in connection.execute(_parts_query(), (json.dumps(ids),)):
        text = content.decode("utf-8", "replace")
        parts[document] += _tool_parts(text) if label == "tools" else [Part(label, text)]
    return parts


def _tool_parts(tools: str) -> list[Part]:
    """Return the calls in a turn's tool data, and the name of the tool that it is a result of."""
    try:
        use = use_from(json.loads(tools))
    except (ValueError, TypeError):  # damaged
        return [Part("tools", tools)]
    calls = [
        Part(f"call of {call.name}", "\n".join((call.name, *_texts(call.arguments))))
        for call in use.calls
    ]
    return [*calls, Part("tool result", use.answers.name)] if use.answers else calls


def _texts(arguments: str) -> Iterator[str]:
    """Yield the names and values in JSON, as texts without escapes."""
    try:
        remaining = [json.loads(arguments)]
    except ValueError:  # incomplete, or not JSON
        yield arguments
        return
    while remaining:
        value = remaining.pop()
        if isinstance(value, dict):
            value = [text for pair in value.items() for text in pair]
        if isinstance(value, list):
            remaining += reversed(value)
        elif value is not None:
            yield str(value)


def _tokens_of(parts: Sequence[Part]) -> list[str]:
    return [term for part in parts for term in search_tokens.terms(part.text)]


def _count_in(size: bytes) -> int:
    """Return a document's number of tokens from FTS5's record, a variable-length integer."""
    count = 0
    for byte in size:
        count = (count << 7) | (byte & 0x7F)
    return count


def add(connection: sqlite3.Connection, documents: Iterable[int]) -> None:
    """Index documents, as far as they are not indexed yet."""
    wanted = [row[0] for row in connection.execute(_NOT_INDEXED, (json.dumps(list(documents)),))]
    parts = parts_of(connection, wanted)
    rows = [(document, " ".join(_tokens_of(parts[document]))) for document in wanted]
    connection.executemany("INSERT INTO search_tokens (rowid, tokens) VALUES (?, ?)", rows)


def remove(connection: sqlite3.Connection, documents: Iterable[int]) -> None:
    """Take documents out of the index; call it before their text changes."""
    ids = json.dumps(list(documents))
    if has_earlier_index(connection):
        connection.execute(_DELETE_EARLIER, (ids,))
    sizes = dict(connection.execute(_INDEXED, (ids,)))
    tokens = {key: _tokens_of(parts) for key, parts in parts_of(connection, sizes).items()}
    if any(len(tokens[key]) != _count_in(size) for key, size in sizes.items()):
        empty(connection)
    else:
        connection.executemany(_DELETE, [(key, " ".join(made)) for key, made in tokens.items()])


@contextmanager
def changing_turns(database: Database, turns: Iterable[int]) -> Iterator[sqlite3.Connection]:
    """Open a transaction that changes the text, tools, reasoning or files of turns."""
    ids = list(turns)
    with database.write() as connection:
        remove(connection, ids)
        yield connection
        add(connection, ids)


@contextmanager
def changing_conversation(database: Database, conversation: str) -> Iterator[sqlite3.Connection]:
    """Open a transaction that changes a conversation's title, tags or system prompt."""
    with database.write() as connection:
        documents = documents_of(connection, conversation)
        remove(connection, documents)
        yield connection
        add(connection, documents)


def documents_of(connection: sqlite3.Connection, conversation: str) -> list[int]:
    """Return the document of a conversation, without its turns; none if it does not exist."""
    connection.execute(
        "INSERT OR IGNORE INTO search_conversations (conversation)"
        " SELECT id FROM conversations WHERE id = ?",
        (conversation,),
    )
    query = "SELECT -number FROM search_conversations WHERE conversation = ?"
    return [row[0] for row in connection.execute(query, (conversation,))]


def remove_conversation(connection: sqlite3.Connection, conversation: str) -> None:
    """Take a conversation and all of its turns out of the index."""
    remove(connection, documents_of(connection, conversation))
    turns = connection.execute("SELECT id FROM turns WHERE conversation = ?", (conversation,))
    ids = [row[0] for row in turns]
    for start in range(0, len(ids), _TURNS_AT_ONCE):
        remove(connection, ids[start : start + _TURNS_AT_ONCE])


def optimize(connection: sqlite3.Connection) -> None:
    """Merge the index: until then, deleted tokens are only marked as such."""
    connection.execute("INSERT INTO search_tokens (search_tokens) VALUES ('optimize')")
    if has_earlier_index(connection):
        connection.execute("INSERT INTO turns_fts (turns_fts) VALUES ('optimize')")


def merge(database: Database) -> None:
    """Merge what a bulk insert left: in Chinese, that makes the index a seventh smaller."""
    while _merge_some(database):
        pass


def has_earlier_index(connection: sqlite3.Connection) -> bool:
    """Whether turns that are not indexed yet are found by the index of earlier versions."""
    return _has_table(connection, "turns_fts")


def count_backlog(connection: sqlite3.Connection) -> int:
    """Return about how many documents are still to be indexed."""
    query = "SELECT COALESCE(SUM(last - first + 1), 0) FROM search_backlog"
    return int(connection.execute(query).fetchone()[0])


def build_in_background(database: Database) -> None:
    """Index what is not indexed yet, in a thread if it takes longer; it ends with the database."""

    def build() -> None:
        with suppress(StoreError):  # it was closed, or the disk is full: the next start goes on
            while _build_some(database) or _merge_some(database):
                time.sleep(_PAUSE_SECONDS)

    with suppress(StoreError):
        if _build_some(database) or _merge_some(database):
            threading.Thread(target=build, daemon=True).start()


def _build_some(database: Database) -> bool:
    """Index some documents in one short transaction. Return whether more is to be done."""
    with database.read() as connection:
        version = connection.execute("SELECT number FROM search_version").fetchone()[0]
        if version == search_tokens.VERSION and not _has_work(connection):
            return False
    with database.write() as connection:
        if version != search_tokens.VERSION:
            empty(connection)
            connection.execute("UPDATE search_version SET number = ?", (search_tokens.VERSION,))
        until = time.monotonic() + _HOLD_SECONDS
        while _has_work(connection) and time.monotonic() < until:
            if not _index_next(connection):
                _drop_next(connection)
        return _has_work(connection)


def _merge_some(database: Database) -> bool:
    """Merge some pages of the index, if it has many segments. Return whether more is to be done."""
    if database.fetch_one(_SEGMENTS)[0] <= _MOST_SEGMENTS:
        return False
    with database.write() as connection:
        until = time.monotonic() + _HOLD_SECONDS
        while time.monotonic() < until:
            before = connection.total_changes
            connection.execute(
                "INSERT INTO search_tokens (search_tokens, rank) VALUES ('merge', 16)"
            )
            if connection.total_changes - before < 2:  # as FTS5 says that it is done
                return False
    return True


def _has_work(connection: sqlite3.Connection) -> bool:
    has_earlier = has_earlier_index(connection) or _has_table(connection, _UNUSED)
    return has_earlier or connection.execute(_NEXT).fetchone() is not None


def _index_next(connection: sqlite3.Connection) -> bool:
    """Index the newest documents of the backlog; False if there are none."""
    row = connection.execute(_NEXT).fetchone()
    if row is None:
        return False
    key, first, last = row
    documents = [row[0] for row in connection.execute(_DOCUMENTS, (first, last, _BATCH))]
    add(connection, documents)
    if len(documents) < _BATCH:
        connection.execute("DELETE FROM search_backlog WHERE rowid = ?", (key,))
    else:
        query = "UPDATE search_backlog SET last = ? WHERE rowid = ?"
        connection.execute(query, (documents[-1] - 1, key))
    return True


def _drop_next(connection: sqlite3.Connection) -> None:
    """Drop the index of earlier versions step by step: at once, 36 MB take 0.4 seconds."""
    if has_earlier_index(connection):
        connection.execute(f"ALTER TABLE turns_fts RENAME TO {_UNUSED}")
        connection.execute("DROP TABLE IF EXISTS bulk_inserts")
        return
    for part in ("data", "docsize"):
        table = f"{_UNUSED}_{part}"
        rows = f"SELECT rowid FROM {table} LIMIT {_BATCH}"  # noqa: S608  constants
        if connection.execute(f"DELETE FROM {table} WHERE rowid IN ({rows})").rowcount:  # noqa: S608  constants
            return
    connection.execute(f"DROP TABLE {_UNUSED}")


def empty(connection: sqlite3.Connection) -> None:
    """Begin again with an empty index."""
    connection.execute("INSERT INTO search_tokens (search_tokens) VALUES ('delete-all')")
    connection.execute("DELETE FROM search_backlog")
    connection.execute(_WHOLE_BACKLOG)


def _has_table(connection: sqlite3.Connection, name: str) -> bool:
    query = "SELECT 1 FROM sqlite_master WHERE type = 'table' AND name = ?"
    return connection.execute(query, (name,)).fetchone() is not None
