"""From a path to an attachment: reads a file whole, detects its type, and splits it into parts.

A path may name lines: `server.log:20000-21000`, `server.log:-2000`. Of a text that is too large,
the last lines are taken, as many as may be attached.

A file that is not text, a picture or an office document is refused with the reason. All of this
blocks: call it in a thread.
"""

import csv
import mimetypes
import os
import re
from codecs import BOM_UTF8, BOM_UTF16_BE, BOM_UTF16_LE, BOM_UTF32_BE, BOM_UTF32_LE
from collections import Counter
from collections.abc import Iterable, Iterator
from dataclasses import replace
from errno import EAGAIN
from functools import lru_cache, partial
from io import BytesIO
from itertools import islice
from os.path import lexists
from pathlib import Path
from stat import S_ISREG

from jitchat.attachments import EXTRACTED, Attachment, Part, Picture, digest_of_bytes
from jitchat.errors import FileRefused
from jitchat.files.notebook import notebook_text
from jitchat.files.office import MOST_LETTERS, office_parts
from jitchat.files.pictures import is_whole, picture_size, picture_type
from jitchat.files.split import split_lines, split_markdown, split_table
from jitchat.text.sanitize import repair

MOST_BYTES = 20 * 2**20
MOST_OF_PICTURE = 5 * 2**20
"""Bytes that every provider accepts."""
_MARKDOWN = (".md", ".markdown", ".mdx")
_TABLES = (".csv", ".tsv")
_SAVE_AS = {
    **dict.fromkeys((".doc", ".pages"), "docx or PDF"),
    **dict.fromkeys((".xls", ".xlsb", ".numbers"), "xlsx or CSV"),
    **dict.fromkeys((".ppt", ".key"), "pptx or PDF"),
    **dict.fromkeys((".heic", ".heif", ".avif", ".bmp", ".tif", ".tiff", ".ico"), "PNG or JPEG"),
}
"""For unsupported file extensions, the formats to use instead."""
_LINES = re.compile(r"(.+):([1-9]\d{0,8}-[1-9]\d{0,8}|-[1-9]\d{0,8})")
_READ = "Supported: text, code, Markdown, CSV, PDF, office files and pictures."


def parted(path: Path) -> tuple[Path, str]:
    """Divide a path into the file and its lines, `20000-21000` or `-2000` for the last ones.

    Without lines, or if a file has that very name, they are empty.
    """
    found = _LINES.fullmatch(path.name)
    return (path, "") if found is None or lexists(path) else (path.with_name(found[1]), found[2])


def load(path: Path, name: str = "") -> Attachment:
    """Read a file or lines of it, unless it is unchanged since the last time.

    Raises:
        FileRefused: It cannot be attached.

    """
    shown = repair(name or path.name)
    try:
        found = parted(path)[0].stat()
    except OSError as error:
        raise _unreadable(shown, error) from error
    if not S_ISREG(found.st_mode):
        raise FileRefused(f"{shown} is not a file.", "Attach a file, or a folder with /attach.")
    loaded = _loaded(path.absolute(), shown, found.st_mtime_ns, found.st_size)
    if isinstance(loaded, FileRefused):
        raise FileRefused(loaded.what, loaded.remedy)
    return loaded


def _read(path: Path) -> bytes:
    """Read a file, but not more than is needed to find that it is too large.

    Kernel files that never end, and pipes that wait for a writer, are errors.
    """

    def opener(name: str, flags: int) -> int:
        return os.open(name, flags | getattr(os, "O_NONBLOCK", 0))

    with open(path, "rb", buffering=0, opener=opener) as file:
        found = bytearray()
        while len(found) <= MOST_BYTES:
            piece = file.read(MOST_BYTES + 1 - len(found))
            if piece is None:
                raise BlockingIOError(EAGAIN, "it is a pipe that waits for a writer")
            if not piece:
                break
            found += piece
    return bytes(found)


def _content(path: Path) -> tuple[bytes, int]:
    """Read a file or lines of it; return them with the number of the first, 1 for the last lines.

    What is too large ends behind `MOST_BYTES`, or begins there.
    """
    file, lines = parted(path)
    if not lines:
        return _read(path), 1
    first, _, last = lines.rpartition("-")
    with file.open("rb") as opened:
        if not first:
            opened.seek(max(0, opened.seek(0, os.SEEK_END) - MOST_BYTES - 1))
            rows = BytesIO(opened.read(MOST_BYTES + 1)).readlines()
            return b"".join(rows[-int(last) :]), 1
        for _ in islice(iter(partial(opened.readline, MOST_BYTES), b""), int(first) - 1):
            pass
        count = max(0, int(last) - int(first) + 1)
        rows = BytesIO(opened.read(MOST_BYTES + 1)).readlines()
    return b"".join(rows[:count]), int(first)


def _end_of(path: Path, data: bytes) -> str:
    """Name the last lines of a text that may be attached: `:-2000`; empty if it is no text."""
    is_text = b"\0" not in data and not data.startswith(b"%PDF")
    if not is_text or len(data) <= MOST_LETTERS or path.name.lower().endswith(EXTRACTED):
        return ""
    with path.open("rb") as opened:
        opened.seek(max(0, opened.seek(0, os.SEEK_END) - MOST_LETTERS))
        count = len(BytesIO(opened.read(MOST_LETTERS)).readlines()) - 1  # the first is not whole
    return f":-{count}" if count else ""


@lru_cache(maxsize=128)  # more files than one message attaches
def _loaded(path: Path, name: str, modified_ns: int, size: int) -> Attachment | FileRefused:
    """Read a file, or return why it cannot be attached, which may take as long."""
    try:
        data, first = _content(path)
    except OSError as error:
        raise _unreadable(name, error) from error
    try:
        return attachment_of(name, data, os.fspath(path), modified_ns / 1e9, first)
    except FileRefused as refused:
        if refused.may_pass:
            raise
        if not parted(path)[1] and (end := _end_of(path, data)):
            return _loaded(path.with_name(f"{path.name}{end}"), f"{name}{end}", modified_ns, size)
        return refused if len(data) <= MOST_BYTES else _too_large(name, size, MOST_BYTES)


def attachment_of(
    name: str, data: bytes, path: str = "", modified_at: float = 0.0, first: int = 1
) -> Attachment:
    """Make an attachment from the bytes of a file, or of its lines from the line `first` on.

    Raises:
        FileRefused: It cannot be attached.

    """
    if len(data) > MOST_BYTES:
        raise _too_large(name, len(data), MOST_BYTES)
    known = name, digest_of_bytes(data)
    where = path, modified_at
    if media_type := picture_type(data):
        picture = Picture(*known, media_type, *_size_of(name, data), data)
        return Attachment(*known, media_type, len(data), (), picture, *where, data=data)
    parts = _parts(name, Path(path or name).suffix.lower(), data, first)
    media_type = mimetypes.guess_type(path or name)[0] or "text/plain"
    return Attachment(*known, media_type, len(data), parts, None, *where, data=data)


def _size_of(name: str, data: bytes) -> tuple[int, int]:
    if len(data) > MOST_OF_PICTURE:
        raise _too_large(name, len(data), MOST_OF_PICTURE)
    seen = picture_size(data)
    if seen is None or not is_whole(data):
        what = f"{name} is not a complete picture: it is truncated or damaged."
        raise FileRefused(what, "Copy, download or save it again.")
    return seen[1:]


def _parts(name: str, suffix: str, data: bytes, first: int) -> tuple[Part, ...]:
    parts = office_parts(name, data)
    if parts is None and suffix == ".ipynb" and (cells := notebook_text(data)) is not None:
        parts = split_markdown(repair(cells))
    elif parts is None:
        parts = _text_parts(suffix, repair(decoded(name, data)), first)
    letters = sum(len(part.text) for part in parts)
    if letters > MOST_LETTERS:
        what = f"{name} has {letters:,} characters; at most {MOST_LETTERS:,} are attached."
        raise FileRefused(what, "Attach a part of it.")
    if not letters:
        advice = "Attach scanned pages as pictures." if data else "The file is empty."
        raise FileRefused(f"{name} contains no text.", advice)
    return tuple(_numbered(parts))


def _numbered(parts: Iterable[Part]) -> Iterator[Part]:
    """Number parts with the same locator: pieces of a page, sections with the same title."""
    seen = Counter[str]()
    for part in parts:
        seen[part.locator] += 1
        number = seen[part.locator]
        yield part if number == 1 else replace(part, locator=f"{part.locator} ({number})")


def _text_parts(suffix: str, text: str, first: int) -> tuple[Part, ...]:
    if suffix in _MARKDOWN:
        return split_markdown(text)
    if suffix in _TABLES:
        try:
            return split_table(text)
        except csv.Error:
            return split_lines(text)
    return split_lines(text, first)


def decoded(name: str, data: bytes) -> str:
    """Decode UTF-8, UTF-16 or UTF-32 with a byte order mark, otherwise Windows-1252.

    Raises:
        FileRefused: It is not text.

    """
    if data.startswith((BOM_UTF32_LE, BOM_UTF32_BE)):
        return data.decode("utf-32", "replace")
    if data.startswith((BOM_UTF16_LE, BOM_UTF16_BE)):
        return data.decode("utf-16", "replace")
    if b"\0" in data:
        other = _SAVE_AS.get(Path(name).suffix.lower())
        advice = f"Save it as {other}." if other else _READ
        raise FileRefused(f"{name} is not text or another supported type of file.", advice)
    try:
        return data.removeprefix(BOM_UTF8).decode()
    except UnicodeDecodeError:
        return data.decode("cp1252", "replace")


def has_changed(file: Attachment) -> bool:
    """Whether the file at its path has changed; False if there is none."""
    path = Path(file.path)
    whole, _ = parted(path)
    try:
        if not file.path or whole.stat().st_mtime == file.modified_at:
            return False
        return whole.is_file() and digest_of_bytes(_content(path)[0]) != file.digest
    except OSError:
        return False


def _unreadable(name: str, error: OSError) -> FileRefused:
    return FileRefused(f"{name} cannot be read: {error.strerror or error}.", "Check the path.")


def _too_large(name: str, size: int, most: int) -> FileRefused:
    what = f"{name} has {size / 2**20:.1f} MB; at most {most // 2**20} MB are attached."
    return FileRefused(what, "Attach a part of it, or a smaller version.")
