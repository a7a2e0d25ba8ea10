"""Copies of a database: the backup that a user makes, and the copy kept before a migration.

A copy is written next to its final name, and renamed when it is complete and on the disk; so what
has the name is never partial. Only the owner can read it.
"""

import os
import shutil
import sqlite3
from contextlib import suppress
from glob import escape
from pathlib import Path

from jitchat.errors import StoreError, StoreFull, StoreReadOnly
from jitchat.text.figures import megabytes

_ROOM = 2
"""Free space for a copy before a migration, in sizes of the database: one for the copy, and one for
a write-ahead log of a migration that rewrites every row."""


def write_copy(connection: sqlite3.Connection, target: Path) -> None:
    """Write a database to a file, without its free pages; an existing file is replaced.

    The connection must not have an open transaction.

    Raises:
        OSError, sqlite3.Error: It could not be written; nothing is left of it.

    """
    part = target.with_name(f"{target.name}.jitchat-part")
    try:
        part.unlink(missing_ok=True)  # left by a process that was killed
        os.close(os.open(part, os.O_CREAT | os.O_EXCL | os.O_WRONLY, 0o600))
        connection.execute("VACUUM INTO ?", (str(part),))
        with part.open("rb+") as file:
            os.fsync(file.fileno())  # VACUUM INTO does not
        part.replace(target)
    except BaseException:  # in any case, leave no partial copy behind
        with suppress(OSError):
            part.unlink()
        raise


def write_upgrade_copy(connection: sqlite3.Connection, path: Path, step: str) -> None:
    """Keep the database at `path` as it is before the migration `step`, and no earlier copy.

    Raises:
        StoreError: It would hold a temporary conversation, or there is too little space.
        OSError, sqlite3.Error: It could not be written.

    """
    if _has_temporary(connection):
        raise StoreError("A temporary conversation is open, whose text is copied nowhere.")
    size = "SELECT page_count * page_size FROM pragma_page_count, pragma_page_size"
    needed = _ROOM * connection.execute(size).fetchone()[0]
    free = shutil.disk_usage(path.parent).free
    if free < needed:
        raise StoreFull(f"It needs {megabytes(needed)}, and {megabytes(free)} are free.")
    copy = path.with_name(f"{path.name}.before-{step.partition('_')[0]}")
    write_copy(connection, copy)
    for earlier in upgrade_copies(path):
        if earlier != copy:
            earlier.unlink()


def _has_temporary(connection: sqlite3.Connection) -> bool:
    columns = [row[1] for row in connection.execute("PRAGMA table_info(conversations)")]
    query = "SELECT 1 FROM conversations WHERE temporary LIMIT 1"
    return "temporary" in columns and connection.execute(query).fetchone() is not None


def upgrade_copies(path: Path) -> list[Path]:
    """List the copies of a database from before migrations, and what killed processes left."""
    return list(path.parent.glob(f"{escape(path.name)}.before-*"))


def delete_upgrade_copies(path: Path) -> None:
    """Delete the copies of a database from before migrations.

    Raises:
        StoreReadOnly: A copy cannot be deleted.

    """
    for copy in upgrade_copies(path):
        try:
            copy.unlink(missing_ok=True)
        except OSError as error:
            raise StoreReadOnly(f"{copy} cannot be deleted: {error.strerror}.") from error
