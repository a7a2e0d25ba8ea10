"""Imported conversations: each is stored once, and extended when its source has grown.

A conversation is identified by its source and its key there, a turn by a key within its
conversation. A known turn is left unchanged. A new turn is stored after the turn that it follows in
its source; turns that were added here meanwhile then form a separate branch. Of an imported
conversation that was deleted here, only a hash of source and key is kept.
"""

import hashlib
import json
import sqlite3
from collections.abc import Callable, Iterable, Iterator
from dataclasses import dataclass, replace
from datetime import datetime
from itertools import islice

from jitchat.attachments import Attachment
from jitchat.store import search_index
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
    """The conversation's key in the source."""

    @property
    def hash(self) -> bytes:
        return hashlib.blake2b(f"{self.source}\0{self.key}".encode(), digest_size=16).digest()


@dataclass(frozen=True, slots=True)
class IncomingFile:
    """A file of an imported message, to be stored as an attachment of its turn."""

    name: str
    """The text of a turn that has no other: `[image: plan.png]`."""
    otherwise: str
    """The text in the turn if the file is not stored: its name, or all of its text."""
    load: Callable[[], Attachment | None]
    """Read the file; None, and counted, if it cannot be stored."""


@dataclass(frozen=True, slots=True)
class IncomingTurn:
    turn: Turn
    """With its position and parent in the source: from 1, each parent before its children."""
    key: bytes
    """Identifies the turn in its conversation; stays the same when the source is read again."""
    model: str = ""
    """The model that wrote it; empty if unknown."""
    reasoning: str = ""
    files: tuple[IncomingFile, ...] = ()


@dataclass(frozen=True, slots=True)
class Heading:
    """A conversation's title, head and dates: known once all of its turns have been read."""

    title: str
    head: int | None = None
    """The head's position in the source; None for the last turn."""
    created_at: datetime | None = None
    updated_at: datetime | None = None
    is_title_given: bool = True
    """Whether its source or its user gave the title; it is not replaced by a generated one then."""
    is_archived: bool = False
    tags: tuple[str, ...] = ()
    project: str = DEFAULT_PROJECT


@dataclass(frozen=True, slots=True)
class Twin:
    """A conversation that may have been written here, exported, and is now imported."""

    id: str
    created_at: datetime
    key_of: Callable[[Turn], bytes]
    """Return the key of a turn that was never imported."""


class ImportWriter:
    """Stores one imported conversation, within the open transaction."""

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
        """Number of turns that were stored."""
        self._wanted = wanted_id
        self.id: str = row[0] if row else ""
        """Empty until the first turn of a new conversation is stored."""
        self._last = self._head = 0
        self._places: dict[int, int] = {}
        """Stored positions by position in the source; unused if new, when both are the same."""
        self._known: dict[bytes, int] = {}
        if row:
            tree = store.tree(self.id)
            self._last, self._head = tree.last, tree.head
            if is_twin and twin is not None:
                turns = store.turns_of(self.id, Path(((1, tree.last),)))
                self._known = {twin.key_of(turn): turn.position for turn in turns}
            self._known |= dict(store.database.fetch_all(_KNOWN, (self.id,)))

    def place(self, position: int) -> int:
        """Return the stored position of the turn at a position in the source; 0 if not stored."""
        if self.is_new:
            return position if position <= self._last else 0
        return self._places.get(position, 0)

    def take(self, turns: Iterable[IncomingTurn]) -> None:
        """Store the turns that are not stored yet."""
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
        connection.executemany(INSERT_TURN, turns)
        connection.executemany("INSERT INTO imported_turns VALUES (?, ?, ?)", keys)
        connection.executemany("INSERT INTO reasoning VALUES (?, ?)", reasoning)
        connection.executemany(INSERT_LINK, links)
        search_index.add(connection, range(first + 1, identity + 1))
        self.added += identity - first

    def _placed(self, incoming: IncomingTurn) -> Turn | None:
        """Return a turn with its position and parent here; None if it is stored already."""
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
        """Set a new conversation's title and tags, and the head to the source's.

        The head stays if the user moved it to a turn written here; a title that was changed stays.
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
                search_index.add(connection, search_index.documents_of(connection, self.id))
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
    """Move conversations to the top of the list, the most recently changed in its source first."""
    with store.database.write() as connection:
        base = next_touch(connection)
        connection.execute(_NEWEST_ON_TOP, (base, json.dumps(list(conversations))))


def _batches(turns: Iterable[IncomingTurn]) -> Iterator[list[IncomingTurn]]:
    remaining = iter(turns)
    while batch := list(islice(remaining, _BATCH)):
        yield batch


def _loaded(files: Iterable[IncomingFile]) -> tuple[Iterable[Attachment], list[str]]:
    """Load files, without duplicates; also return the texts that replace those not loaded."""
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
    """Yield the turns of every branch in order, as another installation would import them.

    A turn that was written here has an empty key.
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
    """Return a conversation's origin; None if it was written here."""
    query = "SELECT source, key FROM imported_conversations WHERE conversation = ? ORDER BY 1, 2"
    row = store.database.fetch_one(query, (conversation,))
    return None if row is None else Origin(*row)


_WAS_DELETED = """
    SELECT 1 FROM deleted_imports WHERE origin = ? UNION ALL
    SELECT 1 FROM imported_conversations i JOIN conversations c ON c.id = i.conversation
    WHERE i.source = ? AND i.key = ? AND c.deleted_by
"""


def was_deleted(store: ColdStore, origin: Origin) -> bool:
    """Whether a conversation was imported before and has been deleted here since."""
    wanted = (origin.hash, origin.source, origin.key)
    return store.database.fetch_one(_WAS_DELETED, wanted) is not None


def note_deleted(connection: sqlite3.Connection, conversation: str) -> None:
    """Record the origins of a conversation that is being deleted, as hashes."""
    query = "SELECT source, key FROM imported_conversations WHERE conversation = ?"
    hashes = [(Origin(*row).hash,) for row in connection.execute(query, (conversation,))]
    connection.executemany("INSERT OR IGNORE INTO deleted_imports VALUES (?)", hashes)
