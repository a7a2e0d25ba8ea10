"""The files that conversations are read from: one file, or those in a zip or a folder.

Nothing is unpacked to disk, symbolic links in a folder are not followed, and names in a zip are
only shown, never used as paths. Files are read in chunks, so memory use does not depend on their
size.
"""

import io
import os
import sqlite3
import stat
import zipfile
import zlib
from collections import defaultdict
from collections.abc import Callable, Iterator, Mapping
from contextlib import contextmanager, suppress
from dataclasses import dataclass, field
from pathlib import Path
from typing import IO

from jitchat.errors import ImportFailed
from jitchat.files.load import MOST_BYTES
from jitchat.store.store import ColdStore
from jitchat.text.sanitize import one_line
from jitchat.transfer.incoming import Tally

_WAIT_SECONDS = 10.0
_ERRORS = (sqlite3.Error, UnicodeDecodeError)
"""What reading can raise; UnicodeDecodeError if SQLite's message quotes bytes of the file."""


def open_read_only(path: Path) -> sqlite3.Connection:
    """Open a database in one consistent state; nothing can be written through the connection.

    Functions in the schema are not trusted, since it may be damaged or hostile.

    Raises:
        ImportFailed: The database cannot be opened.

    """
    address = f"{path.absolute().as_uri()}?mode=ro"
    try:
        return _opened(address)
    except _ERRORS as error:
        if path.with_name(f"{path.name}-wal").exists():
            raise failed(path, error) from error
    # if the folder is read-only and there is no log, the file itself is the whole database
    with foreign_errors(path):
        return _opened(f"{address}&immutable=1")


def _opened(address: str) -> sqlite3.Connection:
    connection = sqlite3.connect(
        address,
        uri=True,
        timeout=_WAIT_SECONDS,
        isolation_level=None,
        check_same_thread=False,  # an abandoned reader can be closed in any thread
    )
    try:
        for pragma in ("query_only = ON", "trusted_schema = OFF", "cell_size_check = ON"):
            connection.execute(f"PRAGMA {pragma}")
        connection.text_factory = lambda data: data.decode("utf-8", "surrogateescape")
        connection.execute("BEGIN")
        connection.execute("SELECT COUNT(*) FROM sqlite_master").fetchone()
    except _ERRORS:
        with suppress(sqlite3.Error):
            connection.close()
        raise
    return connection


@contextmanager
def foreign_errors(path: Path) -> Iterator[None]:
    """Raise ImportFailed for errors of the other database, not those of the cold store."""
    try:
        yield
    except _ERRORS as error:
        raise failed(path, error) from error


def failed(path: Path, error: Exception) -> ImportFailed:
    return ImportFailed(
        f"The database {path} cannot be read: {one_line(str(error))}.",
        "Close the program that uses it, or copy it and import the copy.",
    )


def tables_of(connection: sqlite3.Connection) -> Mapping[str, frozenset[str]]:
    """Return the columns of each table; views are left out, since they can run any query."""
    columns = connection.execute(
        "SELECT t.name, c.name FROM sqlite_master t, pragma_table_info(t.name) c"
        " WHERE t.type = 'table' AND t.sql NOT LIKE 'CREATE VIRTUAL%'"
    )
    tables = defaultdict[str, set[str]](set)
    for table, column in columns:
        tables[str(table)].add(str(column))
    return {table: frozenset(names) for table, names in tables.items()}


MAX_RATIO = 250
"""The highest compression ratio of a file in a zip; JSON reaches 30."""
_SMALL = 64 << 20
"""Bytes; up to this size, any compression ratio is accepted."""
_ZIP = (b"PK\3\4", b"PK\5\6")
"""The first bytes of a zip, and of an empty one."""
_SQLITE = b"SQLite format 3\0"


@dataclass(frozen=True, slots=True)
class SourceFile:
    name: str
    """The name to show; in a zip or a folder, with subfolders."""
    size: int
    """In bytes, as recorded in the file system or the zip."""
    open: Callable[[], IO[bytes]]
    path: Path | None
    """The path on disk; None for a file in a zip."""

    @property
    def stem(self) -> str:
        return Path(self.name).stem

    @property
    def is_database(self) -> bool:
        with self.open() as file:
            return file.read(len(_SQLITE)) == _SQLITE


@dataclass(slots=True)
class Source:
    """The files to read, those left out and why, and how much has been read."""

    path: Path
    files: list[SourceFile] = field(default_factory=list)
    others: list[SourceFile] = field(default_factory=list)
    """Files without conversations: pictures, documents, voice recordings."""
    tally: Tally = field(default_factory=Tally)
    bytes_read: int = 0
    is_single: bool = False
    """Whether the source is one plain file, not a zip or a folder."""
    afterwards: list[Callable[[ColdStore], None]] = field(default_factory=list)
    """Stores what belongs to no single conversation, when all conversations are stored."""

    @property
    def size(self) -> int:
        return sum(file.size for file in self.files)

    def beside(self, prefix: str) -> SourceFile | None:
        """Return the file next to the conversations whose name starts with `prefix`, or None."""
        found = (each for each in self.others if Path(each.name).name.startswith(prefix))
        return next(found, None) if prefix else None

    def read_beside(self, file: SourceFile) -> bytes:
        """Read a file from `others`, up to one byte over the limit; it does not count as progress.

        Raises:
            ImportFailed: It cannot be read.

        """
        before = self.bytes_read
        with file.open() as opened:
            data = opened.read(MOST_BYTES + 1)
        self.bytes_read = before
        return data


def open_source(path: Path) -> Source:
    """List the files of a path.

    Raises:
        ImportFailed: The path does not exist, or cannot be read.

    """
    try:
        kind = path.stat().st_mode
        if stat.S_ISDIR(kind):
            return _folder(path)
        source = Source(path, is_single=True)
        with path.open("rb") as file:
            is_zip = file.read(4) in _ZIP
    except FileNotFoundError:
        raise ImportFailed(f"There is no file {path}.", "Check the name.") from None
    except OSError as error:
        raise unreadable(path, error) from None
    if is_zip:
        return _zip(path)
    source.files.append(_on_disk(source, path, path.name))
    return source


def unreadable(path: Path, error: OSError) -> ImportFailed:
    return ImportFailed(
        f"{path} cannot be read: {error.strerror or error}.", "Check the file and its permissions."
    )


def _on_disk(source: Source, path: Path, name: str) -> SourceFile:
    def opened() -> IO[bytes]:
        try:
            return _counted(source, path.open("rb"))
        except OSError as error:
            raise unreadable(path, error) from None

    return SourceFile(name, path.stat().st_size, opened, path)


def _folder(path: Path) -> Source:
    source = Source(path)
    for folder, folders, names in os.walk(path):
        folders.sort()
        for name in sorted(names):
            place = Path(folder) / name
            shown = str(place.relative_to(path))
            try:
                if place.is_symlink():
                    source.tally.skip("symbolic link")
                elif place.is_file():
                    kind = source.files if _may_hold_conversations(name) else source.others
                    kind.append(_on_disk(source, place, shown))
            except OSError:
                source.tally.skip("file that cannot be read")
    return source


def _may_hold_conversations(name: str) -> bool:
    return Path(name).suffix.lower() in (".json", ".jsonl", ".db", ".sqlite", ".sqlite3")


def _zip(path: Path) -> Source:
    source = Source(path)
    try:
        archive = zipfile.ZipFile(path)
    except (zipfile.BadZipFile, OSError, ValueError) as error:
        raise ImportFailed(
            f"{path} is a damaged zip: {one_line(str(error))}.", "Download it again."
        ) from None
    for member in archive.infolist():
        if member.is_dir():
            continue
        if member.filename.lower().endswith(".zip"):
            source.tally.skip("zip in the zip (unpack it first)")
        elif not _may_hold_conversations(member.filename):
            source.others.append(_member(source, archive, member))
        elif member.flag_bits & 1:
            source.tally.skip("file in the zip that is encrypted")
        elif member.file_size > max(_SMALL, MAX_RATIO * member.compress_size):
            source.tally.skip(f"file in the zip that is compressed more than {MAX_RATIO}-fold")
        else:
            source.files.append(_member(source, archive, member))
    return source


def _member(source: Source, archive: zipfile.ZipFile, member: zipfile.ZipInfo) -> SourceFile:
    def opened() -> IO[bytes]:
        try:
            return _counted(source, archive.open(member))
        except (zipfile.BadZipFile, NotImplementedError, RuntimeError, OSError) as error:
            raise _damaged(source.path, member.filename, error) from None

    return SourceFile(member.filename, member.file_size, opened, None)


def _damaged(path: Path, name: str, error: Exception) -> ImportFailed:
    what = f"{path}: {one_line(name)} in it is damaged ({one_line(str(error))})."
    return ImportFailed(what, "Download it again.")


def _counted(source: Source, file: IO[bytes]) -> IO[bytes]:
    return io.BufferedReader(_Counted(source, file), 1 << 18)  # type: ignore[type-var]


class _Counted(io.RawIOBase):
    """A file that adds the bytes read to its source's count."""

    def __init__(self, source: Source, file: IO[bytes]) -> None:
        self._source, self._file = source, file

    def readable(self) -> bool:
        return True

    def readinto(self, buffer: bytearray) -> int:  # type: ignore[override]
        try:
            data = self._file.read(len(buffer))
        except (zipfile.BadZipFile, zlib.error, EOFError) as error:
            raise _damaged(self._source.path, self._file.name, error) from None
        except OSError as error:
            raise unreadable(self._source.path, error) from None
        self._source.bytes_read += len(data)
        buffer[: len(data)] = data
        return len(data)

    def close(self) -> None:
        self._file.close()
        super().close()
