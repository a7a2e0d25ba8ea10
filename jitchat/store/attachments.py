"""The files that came with turns: each kept whole, once, by what it holds.

Two turns with the same bytes share them; what no turn has any more goes with the last one.
"""

from collections.abc import Sequence

from jitchat.attachments import Attachment, Part, Picture
from jitchat.store.database import Database
from jitchat.store.path import Path
from jitchat.store.store import require
from jitchat.values import Turn

_OF_CONVERSATION = """
    SELECT t.position, f.digest, f.name, f.path, f.modified_at, a.media_type,
           length(a.content), a.width, a.height
    FROM turn_attachments f CROSS JOIN turns t ON t.id = f.turn
    JOIN attachments a ON a.digest = f.digest
    WHERE t.conversation = ? ORDER BY t.position, f.number
"""
"""CROSS, for SQLite takes the tables in this order then: few turns have files."""
_STAMP = """
    SELECT COUNT(*), MAX(f.turn), TOTAL(f.modified_at)
    FROM turn_attachments f CROSS JOIN turns t ON t.id = f.turn
    WHERE t.conversation = ?
"""


class AttachmentStore:
    """The files of one conversation."""

    def __init__(self, database: Database, conversation: str) -> None:
        self._database, self._conversation = database, conversation
        self._known: tuple[object, tuple[Attachment, ...]] = (None, ())
        """The files that were read last, and what they were read for."""

    def put(self, turn: Turn, files: Sequence[Attachment]) -> None:
        """Keep what came with a turn, in one transaction; sent again, it may have other files."""
        if not files:
            return
        with self._database.write() as connection:
            connection.execute("DELETE FROM turn_attachments WHERE turn = ?", (turn.id,))
            for number, file in enumerate(files):
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
                    (turn.id, number, file.digest, file.name, file.path, file.modified_at),
                )

    def of(self, path: Path) -> tuple[Attachment, ...]:
        """Read the files of the turns of a path, in order; the same ones are not read again.

        Raises:
            StoreUnreadable: What is kept of them is damaged.

        """
        wanted = path, self._database.fetch_one(_STAMP, (self._conversation,))
        if self._known[0] != wanted:
            self._known = wanted, tuple(self._read(path)) if wanted[1][0] else ()
        return self._known[1]

    def _read(self, path: Path) -> list[Attachment]:
        known = {file.digest: file for file in self._known[1]}
        made = list[Attachment]()
        with self._database.read():
            for row in self._database.fetch_all(_OF_CONVERSATION, (self._conversation,)):
                position, digest, name, file_path, modified_at, media_type, size, width, height = (
                    row
                )
                require(str, name, file_path, media_type)
                if position not in path:
                    continue
                before = known.get(digest)
                parts = before.parts if before is not None else self._parts(digest)
                picture = None
                if width is not None:
                    data = before.picture.data if before and before.picture else None
                    data = data or picture_data(self._database, digest)
                    picture = Picture(name, digest, media_type, width, height, data)
                where = file_path, modified_at, position
                made.append(Attachment(name, digest, media_type, size, parts, picture, *where))
        return made

    def _parts(self, digest: str) -> tuple[Part, ...]:
        query = "SELECT locator, text, head FROM attachment_parts WHERE digest = ? ORDER BY number"
        rows = self._database.fetch_all(query, (digest,))
        require(str, *(column for row in rows for column in row))
        return tuple(Part(*row) for row in rows)


def picture_data(database: Database, digest: str) -> bytes:
    """Read the bytes of a picture that was attached; empty where nobody has it any more."""
    row = database.fetch_one("SELECT content FROM attachments WHERE digest = ?", (digest,))
    return bytes(row[0]) if row is not None else b""
