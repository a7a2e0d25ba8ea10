"""The files attached to turns: each distinct content is stored whole, once.

Turns with the same bytes share them; content that no turn refers to any more is deleted.
"""

import sqlite3
from collections.abc import Callable, Iterable, Sequence
from contextlib import suppress
from dataclasses import replace
from typing import Any

from jitchat import __version__
from jitchat.attachments import Attachment, Part, Picture
from jitchat.errors import FileRefused, StoreError
from jitchat.store import search_index
from jitchat.store.database import Database
from jitchat.store.path import Path
from jitchat.store.store import require
from jitchat.text.sanitize import one_line
from jitchat.values import Turn

FILE_COLUMNS = (
    "f.digest, f.name, f.path, f.modified_at, a.media_type, length(a.content), a.width, a.height"
)
_LISTED = f"""
    SELECT t.position, {FILE_COLUMNS}
    FROM turn_attachments f CROSS JOIN turns t ON t.id = f.turn
    JOIN attachments a ON a.digest = f.digest
    WHERE t.conversation = ? AND (t.role = 'user' OR NOT ?) ORDER BY t.position, f.number
"""  # noqa: S608  a constant
"""CROSS makes SQLite read the tables in this order: few turns have files."""
_STAMP = """
    SELECT COUNT(*), MAX(f.turn), TOTAL(f.modified_at)
    FROM turn_attachments f CROSS JOIN turns t ON t.id = f.turn
    WHERE t.conversation = ?
"""


def attach(
    connection: sqlite3.Connection, turn_id: int, files: Iterable[Attachment], first: int = 0
) -> None:
    """Attach files to a turn, from a place among its files on; each content is stored once."""
    for number, file in enumerate(files, first):
        size = (file.picture.width, file.picture.height) if file.picture else (None, None)
        connection.execute(
            "INSERT OR IGNORE INTO attachments VALUES (?, ?, ?, ?, ?)",
            (file.digest, file.media_type, *size, file.data),
        )
        connection.executemany(
            "INSERT OR IGNORE INTO attachment_parts VALUES (?, ?, ?, ?, ?)",
            [
                (file.digest, place, part.locator, part.head, part.text)
                for place, part in enumerate(file.parts)
            ],
        )
        connection.execute(
            "INSERT INTO turn_attachments VALUES (?, ?, ?, ?, ?, ?)",
            (turn_id, number, file.digest, file.name, file.path, file.modified_at),
        )


class AttachmentStore:
    """The files of one conversation."""

    def __init__(self, database: Database, conversation: str) -> None:
        self._database, self._conversation = database, conversation
        self._known: tuple[object, tuple[Attachment, ...]] = (None, ())
        """The files that were read most recently, with the key they were read for."""

    def put(self, turn: Turn, files: Sequence[Attachment]) -> None:
        """Store a turn's files in one transaction, replacing those of an earlier send."""
        if not (files or self.digests(turn)):
            return
        with search_index.changing(self._database, [turn.id]) as connection:
            # read first: content is deleted with the last turn that has it
            stored = [self._with_data(file) for file in files]
            connection.execute("DELETE FROM turn_attachments WHERE turn = ?", (turn.id,))
            attach(connection, turn.id, stored)

    def add(self, turn: Turn, number: int, file: Attachment) -> None:
        """Attach one more file to a turn, at a free place among its files."""
        with search_index.changing(self._database, [turn.id]) as connection:
            attach(connection, turn.id, [file], number)

    def digests(self, turn: Turn) -> set[str]:
        query = "SELECT digest FROM turn_attachments WHERE turn = ?"
        return {digest for (digest,) in self._database.fetch_all(query, (turn.id,))}

    def of(self, path: Path) -> tuple[Attachment, ...]:
        """Read the files of a path's user turns, in order; unchanged files are not read again.

        Files that a model or a tool produced are not sent; the texts of their turns name them.

        Raises:
            StoreUnreadable: Their stored content is damaged.

        """
        wanted = path, self._database.fetch_one(_STAMP, (self._conversation,))
        if self._known[0] != wanted:
            self._known = wanted, tuple(self._read(path)) if wanted[1][0] else ()
        return self._known[1]

    def _read(self, path: Path) -> list[Attachment]:
        known = {file.digest: file for file in self._known[1]}
        made = list[Attachment]()
        with self._database.read():
            for file in self.listed(is_by_user=True):
                if file.turn not in path:
                    continue
                before = known.get(file.digest) or whole(self._database, file)
                picture = file.picture
                if picture is not None and before.picture is not None:
                    picture = replace(picture, data=before.picture.data)
                made.append(replace(file, parts=before.parts, picture=picture))
        return made

    def listed(self, *, is_by_user: bool = False) -> list[Attachment]:
        """List the files of every branch by turn, or only the user's, without their content."""
        rows = self._database.fetch_all(_LISTED, (self._conversation, is_by_user))
        return [listed_file(row) for row in rows]

    def _with_data(self, file: Attachment) -> Attachment:
        return replace(file, data=file.data or bytes_of(self._database, file.digest))

    def read(self, file: Attachment, known: Sequence[Attachment]) -> Attachment:
        """Return a file with its content; a listed one is read from the store unless it is known.

        Raises:
            FileRefused: Its content was deleted with the last turn that had it.

        """
        if file.data or file.parts:
            return file
        before = next((other for other in known if other.digest == file.digest), None)
        before = before or whole(self._database, file)
        picture = before.picture
        if not before.parts and (picture is None or not picture.data):
            what = f"{one_line(file.name)} is no longer stored."
            raise FileRefused(what, "Backspace at the start of the prompt takes it away.")
        return replace(file, parts=before.parts, picture=picture)


def tokens_of(database: Database, counter: str, file: Attachment, count: Callable[[], int]) -> int:
    """Return the tokens of a file as it is sent whole; those of a stored file are counted once."""
    key = file.digest, f"#{file.turn} {file.name}", f"{counter} {__version__}"
    query = "SELECT tokens FROM file_tokens WHERE digest = ? AND sent_as = ? AND counter = ?"
    row = database.fetch_one(query, key)
    if row is not None:
        return int(row[0])
    tokens = count()
    with suppress(StoreError):  # the next process counts them again
        database.execute(
            "REPLACE INTO file_tokens SELECT digest, ?, ?, ? FROM attachments WHERE digest = ?",
            (*key[1:], tokens, file.digest),
        )
    return tokens


def listed_file(row: Sequence[Any]) -> Attachment:
    """Make a file of a turn's position and `FILE_COLUMNS`, without its content."""
    turn, digest, name, path, modified_at, media_type, size, width, height = row
    require(str, name, path, media_type or "")
    about = name, digest, media_type or ""
    picture = None if width is None else Picture(*about, width, height or 0)
    return Attachment(*about, size or 0, (), picture, path, modified_at, turn)


def whole(database: Database, file: Attachment) -> Attachment:
    """Read a listed file's content: its parts, and the bytes of its picture."""
    query = "SELECT locator, text, head FROM attachment_parts WHERE digest = ? ORDER BY number"
    rows = database.fetch_all(query, (file.digest,))
    require(str, *(column for row in rows for column in row))
    picture = file.picture
    if picture is not None:
        picture = replace(picture, data=bytes_of(database, file.digest))
    return replace(file, parts=tuple(Part(*row) for row in rows), picture=picture)


def bytes_of(database: Database, digest: str) -> bytes:
    """Read the attached bytes; empty if no turn has them any more."""
    row = database.fetch_one("SELECT content FROM attachments WHERE digest = ?", (digest,))
    return bytes(row[0]) if row is not None else b""
