"""From a path to what is attached: read whole, told apart by what it holds, and cut into parts.

What is no text, no picture and no office file is refused with the reason. All of this takes a
thread's time.
"""

import csv
import mimetypes
import os
from codecs import BOM_UTF8, BOM_UTF16_BE, BOM_UTF16_LE, BOM_UTF32_BE, BOM_UTF32_LE
from collections import Counter
from collections.abc import Iterable, Iterator
from dataclasses import replace
from errno import EAGAIN
from functools import lru_cache
from pathlib import Path
from stat import S_ISREG

from jitchat.attachments import Attachment, Part, Picture, digest_of_bytes
from jitchat.errors import FileRefused
from jitchat.files.notebook import notebook_text
from jitchat.files.office import MOST_LETTERS, office_parts
from jitchat.files.pictures import is_whole, picture_size, picture_type
from jitchat.files.split import split_lines, split_markdown, split_table
from jitchat.text.sanitize import one_line, repair

MOST_BYTES = 20 * 2**20
MOST_OF_PICTURE = 5 * 2**20
"""Bytes: what every provider takes."""
_MARKDOWN = (".md", ".markdown", ".mdx")
_TABLES = (".csv", ".tsv")
_SAVE_AS = {
    **dict.fromkeys((".doc", ".pages"), "docx or PDF"),
    **dict.fromkeys((".xls", ".xlsb", ".numbers"), "xlsx or CSV"),
    **dict.fromkeys((".ppt", ".key"), "pptx or PDF"),
    **dict.fromkeys((".heic", ".heif", ".avif", ".bmp", ".tif", ".tiff", ".ico"), "PNG or JPEG"),
}
"""By the end of a name, what is read in place of it."""
_READ = "What is read: text, code, Markdown, CSV, PDF, office files and pictures."


def load(path: Path, name: str = "") -> Attachment:
    """Read a file; the same one, unchanged, is not read again.

    Raises:
        FileRefused: It cannot be attached; says why.

    """
    shown = one_line(name or path.name)
    try:
        found = path.stat()
    except OSError as error:
        raise _unreadable(shown, error) from error
    if not S_ISREG(found.st_mode):
        raise FileRefused(f"{shown} is not a file.", "Attach a file; /attach takes folders, too.")
    if found.st_size > MOST_BYTES:
        raise _too_large(shown, found.st_size, MOST_BYTES)
    loaded = _loaded(path.absolute(), shown, found.st_mtime_ns, found.st_size)
    if isinstance(loaded, FileRefused):
        raise FileRefused(loaded.what, loaded.remedy)
    return loaded


def _read(path: Path) -> bytes:
    """Read a file, and no more than is needed to tell that it is too large.

    Some files of the kernel have no end, or wait for one who writes; those are errors.
    """

    def opener(name: str, flags: int) -> int:
        return os.open(name, flags | getattr(os, "O_NONBLOCK", 0))

    with open(path, "rb", buffering=0, opener=opener) as file:
        found = bytearray()
        while len(found) <= MOST_BYTES:
            piece = file.read(MOST_BYTES + 1 - len(found))
            if piece is None:
                raise BlockingIOError(EAGAIN, "it waits for a writer")
            if not piece:
                break
            found += piece
    return bytes(found)


@lru_cache(maxsize=128)  # more than one message attaches
def _loaded(path: Path, name: str, modified_ns: int, _size: int) -> Attachment | FileRefused:
    """Read a file, or find out why it cannot be attached: that may take as long."""
    try:
        data = _read(path)
    except OSError as error:
        raise _unreadable(name, error) from error
    try:
        return attachment_of(name, data, os.fspath(path), modified_ns / 1e9)
    except FileRefused as refused:
        if isinstance(refused.__cause__, ImportError):  # the next moment it may be installed
            raise
        return refused


def attachment_of(name: str, data: bytes, path: str = "", modified_at: float = 0.0) -> Attachment:
    """Make what is attached of the bytes of a file.

    Raises:
        FileRefused: It cannot be attached; says why.

    """
    if len(data) > MOST_BYTES:
        raise _too_large(name, len(data), MOST_BYTES)
    known = name, digest_of_bytes(data)
    where = path, modified_at
    if media_type := picture_type(data):
        picture = Picture(*known, media_type, *_size_of(name, data), data)
        return Attachment(*known, media_type, len(data), (), picture, *where, data=data)
    parts = _parts(name, Path(path or name).suffix.lower(), data)
    media_type = mimetypes.guess_type(path or name)[0] or "text/plain"
    return Attachment(*known, media_type, len(data), parts, None, *where, data=data)


def _size_of(name: str, data: bytes) -> tuple[int, int]:
    if len(data) > MOST_OF_PICTURE:
        raise _too_large(name, len(data), MOST_OF_PICTURE)
    seen = picture_size(data)
    if seen is None or not is_whole(data):
        what = f"{name} is not a complete picture: it was cut off, or it is damaged."
        raise FileRefused(what, "Copy, download or save it anew.")
    return seen[1:]


def _parts(name: str, suffix: str, data: bytes) -> tuple[Part, ...]:
    parts = office_parts(name, data)
    if parts is None and suffix == ".ipynb" and (cells := notebook_text(data)) is not None:
        parts = split_markdown(repair(cells))
    elif parts is None:
        parts = _text_parts(suffix, repair(decoded(name, data)))
    letters = sum(len(part.text) for part in parts)
    if letters > MOST_LETTERS:
        what = f"{name} has {letters:,} characters; at most {MOST_LETTERS:,} are attached."
        raise FileRefused(what, "Attach a part of it.")
    if not letters:
        advice = "Scanned pages are pictures: attach them so." if data else "The file is empty."
        raise FileRefused(f"{name} holds no text.", advice)
    return tuple(_told_apart(parts))


def _told_apart(parts: Iterable[Part]) -> Iterator[Part]:
    """Number those that stand in the same place: pieces of a page, sections of one name."""
    seen = Counter[str]()
    for part in parts:
        seen[part.locator] += 1
        number = seen[part.locator]
        yield part if number == 1 else replace(part, locator=f"{part.locator} ({number})")


def _text_parts(suffix: str, text: str) -> tuple[Part, ...]:
    if suffix in _MARKDOWN:
        return split_markdown(text)
    if suffix in _TABLES:
        try:
            return split_table(text)
        except csv.Error:
            return split_lines(text)
    return split_lines(text)


def decoded(name: str, data: bytes) -> str:
    """Decode UTF-8, UTF-16 or UTF-32 with a mark, or else Windows' letters.

    Raises:
        FileRefused: It is no text.

    """
    if data.startswith((BOM_UTF32_LE, BOM_UTF32_BE)):
        return data.decode("utf-32", "replace")
    if data.startswith((BOM_UTF16_LE, BOM_UTF16_BE)):
        return data.decode("utf-16", "replace")
    if b"\0" in data:
        other = _SAVE_AS.get(Path(name).suffix.lower())
        advice = f"Save it as {other}." if other else _READ
        raise FileRefused(f"{name} is no text, and no kind of file that is read.", advice)
    try:
        return data.removeprefix(BOM_UTF8).decode()
    except UnicodeDecodeError:
        return data.decode("cp1252", "replace")


def has_changed(file: Attachment) -> bool:
    """Whether what is at its path now is something else; False where nothing is there."""
    path = Path(file.path)
    try:
        if not file.path or path.stat().st_mtime == file.modified_at:
            return False
        return path.is_file() and digest_of_bytes(_read(path)) != file.digest
    except OSError:
        return False


def _unreadable(name: str, error: OSError) -> FileRefused:
    return FileRefused(f"{name} cannot be read: {error.strerror or error}.", "Check the path.")


def _too_large(name: str, size: int, most: int) -> FileRefused:
    what = f"{name} has {size / 2**20:.1f} MB; at most {most // 2**20} MB are attached."
    return FileRefused(what, "Attach a part of it, or a smaller version.")
