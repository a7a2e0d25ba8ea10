"""Conversations that came from elsewhere: stored once, and added to when their source has grown.

A conversation is known by its source and the key that it has there, a turn by a key within its
conversation. A turn that is known is left as it is. A new one is stored behind the turn that it
follows in its source: what was said here meanwhile is a branch beside it then. Of one that was
deleted here, a hash of source and key is kept, and nothing else.
"""

import hashlib
import json
import sqlite3
from collections.abc import Callable, Iterable, Iterator
from dataclasses import dataclass, replace
from datetime import datetime
from itertools import islice

from jitchat.attachments import Attachment
from jitchat.store.attachments import INSERT_LINK, keep, link
from jitchat.store.path import Path
from jitchat.store.store import (
    INSERT_TURN,
    ColdStore,
    look_at,
    next_touch,
    storable,
    turn_row,
    unused_id,
)
from jitchat.text.sanitize import one_line
from jitchat.values import DEFAULT_PROJECT, Turn

_BATCH = 512
_CONVERSATION = "SELECT conversation FROM imported_conversations WHERE source = ? AND key = ?"
_TWIN = "SELECT id FROM conversations WHERE id = ? AND created_at = ?"
_KNOWN = """
    SELECT i.key, t.position FROM turns t JOIN imported_turns i ON i.turn = t.id
    WHERE t.conversation = ?
"""
_INDEX_WORDS = "INSERT INTO turns_fts (rowid, content) SELECT id, content FROM turns WHERE id > ?"
_IS_IMPORTED = """
    SELECT 1 FROM turns t JOIN imported_turns i ON i.turn = t.id
    WHERE t.conversation = ? AND t.position = ?
"""
_NEWEST_ON_TOP = """
    UPDATE conversations SET touched = ?1 + ranked.number FROM (
        SELECT id, ROW_NUMBER() OVER (ORDER BY updated_at, touched) AS number
        FROM conversations WHERE id IN (SELECT value FROM json_each(?2))
    ) AS ranked WHERE conversations.id = ranked.id
"""


@dataclass(frozen=True, slots=True)
class Origin:
    source: str
    """The name of a format."""
    key: str
    """By which the source knows the conversation."""

    @property
    def hash(self) -> bytes:
        return hashlib.blake2b(f"{self.source}\0{self.key}".encode(), digest_size=16).digest()


@dataclass(frozen=True, slots=True)
class IncomingFile:
    """What a message came with, to be kept as an attachment of its turn."""

    name: str
    """What stands in a turn that says nothing else: `[image: plan.png]`."""
    otherwise: str
    """What stands in the turn where the file is not kept: its name, or all of its text."""
    load: Callable[[], Attachment | None]
    """Reads it; None, counted, for what cannot be kept."""


@dataclass(frozen=True, slots=True)
class IncomingTurn:
    turn: Turn
    """Its position and parent are those in its source: from 1, a parent ahead of its children."""
    key: bytes
    """What tells it apart in its conversation, and stays the same whenever that is read again."""
    model: str = ""
    """The model that wrote it; empty where nobody knows."""
    reasoning: str = ""
    files: tuple[IncomingFile, ...] = ()


@dataclass(frozen=True, slots=True)
class Heading:
    """What a conversation is called, and where it is: known once all of its turns were read."""

    title: str
    head: int | None = None
    """The position, in the source, of the turn that is looked at; None for the last one."""
    created_at: datetime | None = None
    updated_at: datetime | None = None
    is_title_given: bool = True
    """By its source, or by its user: nothing makes another."""
    is_archived: bool = False
    tags: tuple[str, ...] = ()
    project: str = DEFAULT_PROJECT


@dataclass(frozen=True, slots=True)
class Twin:
    """A conversation that may have been written here, and come back."""

    id: str
    created_at: datetime
    key_of: Callable[[Turn], bytes]
    """Makes the key of a turn that was never imported."""


class ImportWriter:
    """Stores one conversation of elsewhere, in the transaction that is open."""

    def __init__(
        self, store: ColdStore, origin: Origin, wanted_id: str, twin: Twin | None = None
    ) -> None:
        self._store, self._origin = store, origin
        row = store.database.fetch_one(_CONVERSATION, (origin.source, origin.key))
        is_twin = row is None and twin is not None
        if is_twin and twin is not None:
            row = store.database.fetch_one(_TWIN, (twin.id, twin.created_at.isoformat()))
        self.is_new = row is None
        self.added = 0
        """How many turns were stored."""
        self._wanted = wanted_id
        self.id: str = row[0] if row else ""
        """Empty until the first turn of a conversation that is not known is stored."""
        self._last = self._head = 0
        self._places: dict[int, int] = {}
        """Where turns are here, by position in the source; of a new one, both are the same."""
        self._known: dict[bytes, int] = {}
        if row:
            tree = store.tree(self.id)
            self._last, self._head = tree.last, tree.head
            if is_twin and twin is not None:
                turns = store.turns_of(self.id, Path(((1, tree.last),)))
                self._known = {twin.key_of(turn): turn.position for turn in turns}
            self._known |= dict(store.database.fetch_all(_KNOWN, (self.id,)))

    def place(self, position: int) -> int:
        """Find where the turn at a position of the source is stored; 0 where it is not."""
        if self.is_new:
            return position if position <= self._last else 0
        return self._places.get(position, 0)

    def take(self, turns: Iterable[IncomingTurn]) -> None:
        """Store the turns that are not known yet."""
        for batch in _batches(turns):
            with self._store.database.write() as connection:
                self._insert(connection, batch)

    def _insert(self, connection: sqlite3.Connection, batch: list[IncomingTurn]) -> None:
        if not self.id:
            self.id = self._create(connection)
        row = connection.execute("SELECT COALESCE(MAX(id), 0) FROM turns").fetchone()
        identity, first = int(row[0]), int(row[0])
        turns, keys, reasoning = list[tuple[object, ...]](), list[tuple[object, ...]](), []
        links = list[tuple[object, ...]]()
        for incoming in batch:
            kept = self._placed(incoming)
            if kept is None:
                continue
            identity += 1
            if incoming.files:
                files, left = _loaded(incoming.files)
                missing = [each for each in left if each not in kept.content]
                kept = replace(kept, content="\n\n".join(filter(None, (kept.content, *missing))))
                for number, file in enumerate(files):
                    keep(connection, file)
                    links.append(link(identity, number, file))
            turns.append((identity, *turn_row(self.id, kept)))
            keys.append((identity, incoming.key, incoming.model or None))
            if incoming.reasoning:
                reasoning.append((identity, incoming.reasoning))
        connection.execute("INSERT INTO bulk_inserts VALUES (1)")
        connection.executemany(INSERT_TURN, turns)
        connection.execute(_INDEX_WORDS, (first,))
        connection.execute("DELETE FROM bulk_inserts")
        connection.executemany("INSERT INTO imported_turns VALUES (?, ?, ?)", keys)
        connection.executemany("INSERT INTO reasoning VALUES (?, ?)", reasoning)
        connection.executemany(INSERT_LINK, links)
        self.added += identity - first

    def _placed(self, incoming: IncomingTurn) -> Turn | None:
        """Give a turn its place here; None where it is stored already."""
        position, parent = incoming.turn.position, incoming.turn.parent
        if (known := self._known.get(incoming.key)) is not None:
            self._places[position] = known
            return None
        follows = self.place(position - 1 if parent is None else parent)
        self._last += 1
        if not self.is_new:
            self._places[position] = self._last
        return storable(incoming.turn, self._last, None if follows == self._last - 1 else follows)

    def _create(self, connection: sqlite3.Connection) -> str:
        fresh = unused_id(connection, self._wanted)
        moment = self._store.now().isoformat()
        connection.execute(
            "INSERT INTO conversations (id, title, touched, created_at, updated_at)"
            " VALUES (?, ?, 0, ?, ?)",
            (fresh, fresh, moment, moment),
        )
        row = (self._origin.source, self._origin.key, fresh)
        connection.execute("INSERT INTO imported_conversations VALUES (?, ?, ?)", row)
        connection.execute("DELETE FROM deleted_imports WHERE origin = ?", (self._origin.hash,))
        return fresh

    def finish(self, heading: Heading) -> None:
        """Name a new conversation, and go to where its source is.

        A head that somebody moved to a turn of their own stays, and so does a title.
        """
        with self._store.database.write() as connection:
            connection.execute("UPDATE conversations SET deleted_by = 0 WHERE id = ?", (self.id,))
            if not self.added:
                return
            now = self._store.now()
            if self.is_new:
                made = heading.created_at or heading.updated_at or now
                connection.execute(
                    "UPDATE conversations SET title = ?, created_at = ?, title_given = ?,"
                    " archived = ?, project = ? WHERE id = ?",
                    (one_line(heading.title), made.isoformat(), heading.is_title_given,
                     heading.is_archived, heading.project, self.id),
                )  # fmt: skip
                self._store.tag(self.id, heading.tags)
            connection.execute(
                "UPDATE conversations SET updated_at = ? WHERE id = ?",
                ((heading.updated_at or now).isoformat(), self.id),
            )
            here = (self.id, self._head)
            if self.is_new or not self._head or connection.execute(_IS_IMPORTED, here).fetchone():
                wanted = self.place(heading.head) if heading.head is not None else self._last
                look_at(connection, self.id, wanted or self._last)
            else:
                look_at(connection, self.id, self._head)


def list_newest_first(store: ColdStore, conversations: Iterable[str]) -> None:
    """Put conversations on top of the list, the one that was changed last in its source first."""
    with store.database.write() as connection:
        base = next_touch(connection)
        connection.execute(_NEWEST_ON_TOP, (base, json.dumps(list(conversations))))


def _batches(turns: Iterable[IncomingTurn]) -> Iterator[list[IncomingTurn]]:
    remaining = iter(turns)
    while batch := list(islice(remaining, _BATCH)):
        yield batch


def _loaded(files: Iterable[IncomingFile]) -> tuple[Iterable[Attachment], list[str]]:
    """Read files, of equal ones the last; also what stands in the turn in place of the others."""
    found, left = dict[str, Attachment](), list[str]()
    for each in files:
        file = each.load()
        if file is None:
            left.append(each.otherwise)
        else:
            found[file.digest] = file
    return found.values(), left


_EXPORTED = """
    SELECT t.position, i.key, i.model, r.content
    FROM turns t LEFT JOIN imported_turns i ON i.turn = t.id LEFT JOIN reasoning r ON r.turn = t.id
    WHERE t.conversation = ? AND t.position BETWEEN ? AND ?
    AND (i.turn IS NOT NULL OR r.turn IS NOT NULL)
"""


def all_turns(store: ColdStore, conversation: str) -> Iterator[IncomingTurn]:
    """Read the turns of every branch in order, as they would come in elsewhere.

    The key of one that was written here is empty.
    """
    last = store.tree(conversation).last
    for start in range(1, last + 1, _BATCH):
        end = min(last, start + _BATCH - 1)
        rows = store.database.fetch_all(_EXPORTED, (conversation, start, end))
        beside = {position: more for position, *more in rows}
        for turn in store.turns_of(conversation, Path(((start, end),))):
            key, model, reasoning = beside.get(turn.position, (None, None, None))
            yield IncomingTurn(turn, key or b"", model or "", reasoning or "")


def origin_of(store: ColdStore, conversation: str) -> Origin | None:
    """Tell where a conversation was imported from; None where it was written here."""
    query = "SELECT source, key FROM imported_conversations WHERE conversation = ? ORDER BY 1, 2"
    row = store.database.fetch_one(query, (conversation,))
    return None if row is None else Origin(*row)


_WAS_DELETED = """
    SELECT 1 FROM deleted_imports WHERE origin = ? UNION ALL
    SELECT 1 FROM imported_conversations i JOIN conversations c ON c.id = i.conversation
    WHERE i.source = ? AND i.key = ? AND c.deleted_by
"""


def was_deleted(store: ColdStore, origin: Origin) -> bool:
    """Whether a conversation was imported once, and deleted here since."""
    wanted = (origin.hash, origin.source, origin.key)
    return store.database.fetch_one(_WAS_DELETED, wanted) is not None


def note_deleted(connection: sqlite3.Connection, conversation: str) -> None:
    """Remember, of a conversation that is being deleted, where it was imported from."""
    query = "SELECT source, key FROM imported_conversations WHERE conversation = ?"
    hashes = [(Origin(*row).hash,) for row in connection.execute(query, (conversation,))]
    connection.executemany("INSERT OR IGNORE INTO deleted_imports VALUES (?)", hashes)
