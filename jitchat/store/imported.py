"""Imported conversations: each is stored once, and extended when its source has grown.

A conversation is identified by its source and its key there, a turn by a key within its
conversation, made of the source's own ids. A new turn is stored after the turn that it follows in
its source; turns that were added here meanwhile then form a separate branch. A known turn that has
grown, or was edited, gets its source's last form. If something here stands on the turn, it stays
as it is instead, and the last form becomes another version of it. An earlier state of a source
changes nothing. Of an imported conversation that was deleted here, only a hash of source and key
is kept.
"""

import hashlib
import json
import sqlite3
from collections.abc import Callable, Iterable, Iterator, Sequence
from dataclasses import dataclass, replace
from datetime import datetime
from itertools import islice

from jitchat.attachments import Attachment
from jitchat.store import search_index
from jitchat.store.attachments import AttachmentStore, attach
from jitchat.store.dependents import Dependents
from jitchat.store.path import Path, parent_of
from jitchat.store.reply_notes import NO_NOTE, PUT_NOTE, ReplyNote, note_row, notes_of
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
from jitchat.values import DEFAULT_PROJECT, Status, Turn

_BATCH = 512
_CONVERSATION = """
    SELECT conversation, title, updated_at FROM imported_conversations WHERE source = ? AND key = ?
"""
_TWIN = "SELECT id, NULL, NULL FROM conversations WHERE id = ? AND created_at = ?"
_KNOWN = """
    SELECT i.key, i.form, t.position, t.role, t.created_at
    FROM turns t JOIN imported_turns i ON i.turn = t.id
    WHERE t.conversation = ? ORDER BY t.position
"""
_REPLACE_TURN = """
    UPDATE turns SET
        (conversation, position, role, name, content, created_at, status, parent, tools, question)
        = (?, ?, ?, ?, ?, ?, ?, ?, ?, ?)
    WHERE id = ?
"""
_OF_TEXT = ("index_entries", "vectors", "model_lines")
"""Tables with what was made from a turn's text; it is made again from the new one."""
_SET_ORIGIN = "INSERT INTO imported_conversations (source, key, conversation) VALUES (?, ?, ?)"
_SET_KEY = "REPLACE INTO imported_turns (turn, key, form) VALUES (?, ?, ?)"
_SET_FORM = "UPDATE imported_turns SET key = ?, form = ? WHERE turn = ? AND form IS NULL"
_TAKE_TITLE = """
    UPDATE conversations SET title = ?, title_given = ?
    WHERE id = ? AND (title = ? OR NOT title_given)
"""
_NEWEST_ON_TOP = """
    UPDATE conversations SET touched = ? + ranked.number FROM (
        SELECT id, ROW_NUMBER() OVER (ORDER BY updated_at, touched) AS number
        FROM conversations WHERE id IN (SELECT value FROM json_each(?))
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
    """Identifies the turn in its conversation; stays the same when the turn grows."""
    form: bytes = b""
    """A hash of all that the source says of the turn, the same whether files are kept or not."""
    note: ReplyNote = NO_NOTE
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
    is_made: bool = False
    """Whether the title was made here, because the source has none."""
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


@dataclass(frozen=True, slots=True)
class _Known:
    """A turn that is stored."""

    position: int
    form: bytes | None = None
    """None for a turn that was written here, or imported before forms were stored."""


@dataclass(frozen=True, slots=True)
class Provenance:
    """What is known of a conversation before its turns are read."""

    origin: Origin
    wanted_id: str
    twin: Twin | None = None
    changed_at: datetime | None = None
    """When the source was changed; None if that is not known yet."""


class ImportWriter:
    """Stores one imported conversation, within the open transaction."""

    def __init__(
        self, store: ColdStore, provenance: Provenance, dependents: Dependents | None = None
    ) -> None:
        origin, twin = provenance.origin, provenance.twin
        self._store, self._origin = store, origin
        self._dependents = dependents or Dependents(store)
        row = store.database.fetch_one(_CONVERSATION, (origin.source, origin.key))
        is_twin = row is None and twin is not None
        if is_twin and twin is not None:
            row = store.database.fetch_one(_TWIN, (twin.id, twin.created_at.isoformat()))
        self.is_new = row is None
        self.added = 0
        """Number of turns that were stored."""
        self.changed = 0
        """Number of stored turns that got their source's last form, or more files."""
        self._wanted = provenance.wanted_id
        identity, title, changed_at = row or ("", None, None)
        self.id: str = identity
        """Empty until the first turn of a new conversation is stored."""
        self._title: str | None = title
        self._changed_at: str | None = changed_at
        """The title and the time of the last change of the source that was imported last."""
        self._is_older = self._is_before_last(provenance.changed_at)
        moment = provenance.changed_at
        self._is_same_copy = moment is not None and moment.isoformat() == changed_at
        """Whether it was imported last in the same state, perhaps with other files."""
        self._last = self._head = 0
        self._is_head_imported = False
        self._places: dict[int, int] = {}
        """Stored positions by position in the source; unused if new, when both are the same."""
        self._known: dict[bytes, _Known] = {}
        self._without_form: dict[tuple[str, str], list[int]] = {}
        """Positions by role and time, of turns that were imported before forms were stored."""
        if row and is_twin and twin is not None:
            turns = store.turns_of(self.id, Path(((1, store.tree(self.id).last),)))
            self._known = {twin.key_of(turn): _Known(turn.position) for turn in turns}
        if row:
            self._read_known()

    def _read_known(self) -> None:
        tree, database = self._store.tree(self.id), self._store.database
        self._last, self._head = tree.last, tree.head
        for key, form, position, role, moment in database.fetch_all(_KNOWN, (self.id,)):
            self._known[key] = _Known(position, form)
            self._is_head_imported |= position == tree.head
            if form is None and moment is not None:
                self._without_form.setdefault((role, moment), []).append(position)

    def _is_before_last(self, moment: datetime | None) -> bool:
        """Whether a time is before the source's last change when it was last imported."""
        if moment is None or self._changed_at is None:
            return False
        return moment < datetime.fromisoformat(self._changed_at)

    def place(self, position: int) -> int:
        """Return the stored position of the turn at a position in the source; 0 if not stored."""
        if self.is_new:
            return position if position <= self._last else 0
        return self._places.get(position, 0)

    def take(self, turns: Iterable[IncomingTurn]) -> None:
        """Store the turns that are not stored yet, and the last form of those that are."""
        for batch in _batches(turns):
            with self._store.database.write() as connection:
                self._store_batch(connection, batch)

    def _store_batch(self, connection: sqlite3.Connection, batch: list[IncomingTurn]) -> None:
        if not self.id:
            self.id = self._create(connection)
        highest = connection.execute("SELECT COALESCE(MAX(id), 0) FROM turns").fetchone()[0]
        for incoming in batch:
            known = self._find_known(incoming)
            if known is None:
                self._add(connection, incoming, self.place(parent_of(incoming.turn)))
            else:
                self._places[incoming.turn.position] = known.position
                self._compare(connection, incoming, known)
        added = connection.execute("SELECT id FROM turns WHERE id > ?", (highest,))
        search_index.add(connection, [identity for (identity,) in added])

    def _find_known(self, incoming: IncomingTurn) -> _Known | None:
        turn = incoming.turn
        known = self._known.get(incoming.key) or self._known.get(incoming.form)
        moment = turn.created_at.isoformat() if turn.created_at is not None else ""
        alike = self._without_form.get((turn.role, moment), [])
        if known is None and alike:
            return _Known(alike.pop(0))
        if known is not None and known.position in alike:
            alike.remove(known.position)
        return known

    def _add(self, connection: sqlite3.Connection, incoming: IncomingTurn, follows: int) -> None:
        parent = None if follows == self._last else follows
        self._last += 1
        if not self.is_new:
            self._places[incoming.turn.position] = self._last
        files, left = _loaded(incoming.files)
        turn = storable(_with_names(incoming.turn, left), self._last, parent)
        if turn.question is not None:
            turn = replace(turn, question=self.place(turn.question) or None)
        row = turn_row(self.id, turn)
        identity = connection.execute(INSERT_TURN, (None, *row)).lastrowid or 0
        _put_details(connection, identity, incoming)
        attach(connection, identity, files)
        self.added += 1

    def _compare(
        self, connection: sqlite3.Connection, incoming: IncomingTurn, known: _Known
    ) -> None:
        """Take over what a known turn has more of, or another form of it."""
        is_same = known.form == incoming.form
        if is_same and not incoming.files:
            return
        stored = self._store.turn(self.id, known.position)
        if stored is None:
            return
        attached = AttachmentStore(self._store.database, self.id).digests(stored)
        if is_same and len(attached) >= len(incoming.files):
            return
        files, left = _loaded(incoming.files)
        new_files = [file for file in files if file.digest not in attached]
        is_poorer = self._is_same_copy and len(attached) > len(incoming.files)
        is_older = self._is_older or is_poorer or self._is_earlier(incoming, stored)
        is_newer = not (is_same or is_older)
        is_free = not self._dependents.has_dependents(self.id, stored.id, stored.position)
        if is_newer and not is_free:
            connection.execute("DELETE FROM imported_turns WHERE turn = ?", (stored.id,))
            self._add(connection, incoming, parent_of(stored))
            return
        if is_newer or new_files:
            self.changed += 1
            with search_index.changing(self._store.database, [stored.id]):
                if is_free and (is_newer or is_same):
                    self._replace(connection, incoming, stored, left)
                attach(connection, stored.id, new_files, len(attached))
        if known.form is None:
            connection.execute(_SET_FORM, (incoming.key, incoming.form, stored.id))

    def _replace(
        self,
        connection: sqlite3.Connection,
        incoming: IncomingTurn,
        stored: Turn,
        not_loaded: list[str],
    ) -> None:
        """Give a turn its last form; `not_loaded` names the files that are not stored."""
        turn = storable(_with_names(incoming.turn, not_loaded), stored.position, stored.parent)
        connection.execute(_REPLACE_TURN, (*turn_row(self.id, turn), stored.id))
        for table in _OF_TEXT:
            connection.execute(f"DELETE FROM {table} WHERE turn = ?", (stored.id,))  # noqa: S608  constants
        _put_details(connection, stored.id, incoming)

    def _is_earlier(self, incoming: IncomingTurn, stored: Turn) -> bool:
        """Whether an incoming turn has nothing that the stored one lacks."""
        turn, note = incoming.turn, notes_of(self._store.database, [stored.id]).get(stored.id)
        calls, reasoning = turn.use.calls, note.reasoning if note is not None else ""
        is_finished = stored.status is Status.COMPLETE or turn.status is not Status.COMPLETE
        return (
            stored.role is turn.role
            and is_finished
            and stored.content.startswith(turn.content)
            and stored.use.calls[: len(calls)] == calls
            and turn.use.answers in (None, stored.use.answers)
            and reasoning.startswith(incoming.note.reasoning)
        )

    def _create(self, connection: sqlite3.Connection) -> str:
        fresh = unused_id(connection, self._wanted)
        moment = self._store.now().isoformat()
        connection.execute(
            "INSERT INTO conversations (id, title, touched, created_at, updated_at)"
            " VALUES (?, ?, 0, ?, ?)",
            (fresh, fresh, moment, moment),
        )
        search_index.add(connection, search_index.documents_of(connection, fresh))
        row = (self._origin.source, self._origin.key, fresh)
        connection.execute(_SET_ORIGIN, row)
        connection.execute("DELETE FROM deleted_imports WHERE origin = ?", (self._origin.hash,))
        return fresh

    def finish(self, heading: Heading) -> None:
        """Set the title, dates and tags, and the head to the source's.

        The head stays if the user moved it to a turn written here, or the source is older than what
        was imported last, and so does a title that was given here.
        """
        with self._store.database.write() as connection:
            connection.execute("UPDATE conversations SET deleted_by = 0 WHERE id = ?", (self.id,))
            with search_index.changing(self._store.database, conversation=self.id):
                self._take_title(connection, heading)
            if not (self.added or self.changed):
                return
            now = self._store.now()
            if self.is_new:
                created = heading.created_at or heading.updated_at or now
                connection.execute(
                    "UPDATE conversations SET created_at = ?, title_given = ?, archived = ?,"
                    " project = ? WHERE id = ?",
                    (created.isoformat(), heading.is_title_given, heading.is_archived,
                     heading.project, self.id),
                )  # fmt: skip
            self._store.tag(self.id, heading.tags)
            if not self._is_older:
                connection.execute(
                    "UPDATE conversations SET updated_at = ? WHERE id = ?",
                    ((heading.updated_at or now).isoformat(), self.id),
                )
            is_moved = self._is_head_imported and not self._is_older
            if self.is_new or not self._head or is_moved:
                wanted = self.place(heading.head) if heading.head is not None else self._last
                look_at(connection, self.id, wanted or self._last)
            else:
                look_at(connection, self.id, self._head)

    def _take_title(self, connection: sqlite3.Connection, heading: Heading) -> None:
        """Take over the source's title, unless the user gave another one, or a later copy did."""
        if self._is_before_last(heading.updated_at):
            return
        changed_at = heading.updated_at.isoformat() if heading.updated_at is not None else None
        title = one_line(heading.title)
        if self.is_new:
            connection.execute("UPDATE conversations SET title = ? WHERE id = ?", (title, self.id))
        elif self._title not in (None, title) and not heading.is_made:
            row = title, heading.is_title_given, self.id, self._title
            connection.execute(_TAKE_TITLE, row)
        connection.execute(
            "UPDATE imported_conversations SET title = ?, updated_at = ?"
            " WHERE source = ? AND key = ?",
            (title, changed_at, self._origin.source, self._origin.key),
        )


def _put_details(connection: sqlite3.Connection, turn: int, incoming: IncomingTurn) -> None:
    """Store what belongs to a turn, by its id, except its files."""
    connection.execute(_SET_KEY, (turn, incoming.key, incoming.form))
    note = incoming.note
    if note.reasoning:
        connection.execute("REPLACE INTO reasoning VALUES (?, ?)", (turn, note.reasoning))
    if replace(note, reasoning="") != NO_NOTE:
        connection.execute(PUT_NOTE, note_row(turn, note))


def list_newest_first(store: ColdStore, conversations: Iterable[str]) -> None:
    """Move conversations to the top of the list, the most recently changed in its source first."""
    with store.database.write() as connection:
        base = next_touch(connection)
        connection.execute(_NEWEST_ON_TOP, (base, json.dumps(list(conversations))))


def _batches(turns: Iterable[IncomingTurn]) -> Iterator[list[IncomingTurn]]:
    remaining = iter(turns)
    while batch := list(islice(remaining, _BATCH)):
        yield batch


def _loaded(files: Iterable[IncomingFile]) -> tuple[Sequence[Attachment], list[str]]:
    """Load files, without duplicates; also return the texts that replace those not loaded."""
    loaded, left = dict[str, Attachment](), list[str]()
    for incoming in files:
        file = incoming.load()
        if file is None:
            left.append(incoming.otherwise)
        else:
            loaded[file.digest] = file
    return list(loaded.values()), left


def _with_names(turn: Turn, names: Iterable[str]) -> Turn:
    """Add the names of files that could not be loaded to a turn's text, unless they are in it."""
    missing = [name for name in names if name not in turn.content]
    return replace(turn, content="\n\n".join(filter(None, (turn.content, *missing))))


_KEYS = "SELECT turn, key FROM imported_turns WHERE turn IN (SELECT value FROM json_each(?))"


def all_turns(
    store: ColdStore, conversation: str, path: Path | None = None
) -> Iterator[IncomingTurn]:
    """Yield the turns of a path, or of every branch, as another installation would import them.

    They are in order. A turn that was written here has an empty key.
    """
    whole = ((1, store.tree(conversation).last),)
    for first, last in whole if path is None else path.stretches:
        for start in range(first, last + 1, _BATCH):
            part = Path(((start, min(last, start + _BATCH - 1)),))
            turns = store.turns_of(conversation, part)
            identities = [turn.id for turn in turns]
            notes = notes_of(store.database, identities)
            keys = dict(store.database.fetch_all(_KEYS, (json.dumps(identities),)))
            for turn in turns:
                key, note = keys.get(turn.id, b""), notes.get(turn.id, NO_NOTE)
                yield IncomingTurn(turn, key, note=note)


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
