"""Extracts the text of PDF and office files with optional libraries, loaded on demand.

pypdf, python-docx, openpyxl and python-pptx are small and the usual readers of their formats;
OpenDocument needs none. A library for all formats (markitdown) would bring a model that guesses
file types. A few kilobytes can make each of them compute for hours or fill the memory, so they run
in a child with limits: this module, run as a program.
"""

import csv
import json
import logging
import os
import re
import sys
import threading
import time
import zipfile
from collections.abc import Callable, Iterable, Iterator, Sequence
from contextlib import contextmanager, suppress
from contextvars import ContextVar
from dataclasses import astuple
from html import unescape
from io import BytesIO, StringIO
from pathlib import Path
from typing import Any
from xml.etree import ElementTree as ET

from jitchat.attachments import Part
from jitchat.children import answer_of, own_python, users_home
from jitchat.errors import FileRefused
from jitchat.files import open_document
from jitchat.files.split import split_markdown, split_pages, split_table
from jitchat.text.sanitize import repair

MOST_LETTERS = 4_000_000
"""Most characters of text in a file: about a million tokens."""
_MOST_UNPACKED = 256 * 2**20
"""Most bytes of an office file when unpacked."""
_ENCRYPTED_OFFICE = b"\xd0\xcf\x11\xe0"
"""The signature of a password-protected docx, xlsx or pptx, which is not a zip."""
MOST_MEMORY = 2**30
"""Most bytes of memory for reading one file; as much text as is attached takes a tenth of it, in a
docx or an xlsx."""
MOST_SECONDS = 30
"""Most seconds for reading one file, of the clock and of the processor."""
INSTALL = "Run: pip install 'jitchat[files]'"

_OVER_LIMITS = '{"error": "MemoryError", "detail": ""}'
"""The answer of a child that was ended."""
_LXML_WITHOUT_MEMORY = "unknown error"
_given_up: ContextVar[threading.Event | None] = ContextVar("given_up", default=None)


class _TooLargeError(Exception):
    """Too much content, described as a clause."""


@contextmanager
def reading_until(given_up: threading.Event) -> Iterator[None]:
    """Stop reading a file in this thread when the event is set: nobody waits for it any more."""
    token = _given_up.set(given_up)
    try:
        yield
    finally:
        _given_up.reset(token)


def office_parts(name: str, data: bytes) -> tuple[Part, ...] | None:
    """Read a PDF or office file, in a child with limits; None for any other.

    Raises:
        FileRefused: The libraries are not installed, or the file cannot be read.

    """
    if not is_office(name):
        return None
    command = own_python("-m", "jitchat.files.office", _suffix(name))
    event = _given_up.get() or threading.Event()
    written = b""
    if not event.is_set():
        written = answer_of(command, Path(users_home()), data, MOST_SECONDS, event)
    if event.is_set():
        raise _for_now(FileRefused(f"{name} is not attached any more."))
    answer = json.loads(written or _OVER_LIMITS)
    if isinstance(answer, list):
        return tuple(Part(*fields) for fields in answer)
    raise _refusal(name, data, answer["error"], answer["detail"])


def _refusal(name: str, data: bytes, error: str, detail: str) -> FileRefused:
    if error == "MemoryError" or detail.startswith(_LXML_WITHOUT_MEMORY):
        limits = f"{MOST_SECONDS} seconds or {MOST_MEMORY >> 20:,} MB of memory"
        what = f"{name} is too complex: reading it takes more than {limits}."
        return FileRefused(what, "Attach its text, or a part of it.")
    if error == _TooLargeError.__name__:
        advice = "Save the part that matters as CSV, and attach that."
        return FileRefused(f"{name} is too large: {detail}.", advice)
    if error in ("ImportError", "ModuleNotFoundError"):
        what = f"Reading {name} requires the package {detail}."
        return _for_now(FileRefused(what, INSTALL))
    if error == "DependencyError":
        sentence = f"Reading {name}, which is encrypted, requires the package cryptography."
        return FileRefused(sentence, "Run: pip install cryptography")
    if error == "FileNotDecryptedError" or data.startswith(_ENCRYPTED_OFFICE):
        sentence = f"{name} cannot be read: it is password-protected."
        return FileRefused(sentence, "Save it without a password, or attach its text.")
    sentence = f"{name} cannot be read: it is damaged, or its extension is wrong"
    return FileRefused(f"{sentence} ({error}).", "Save it again, or attach its text.")


def _for_now(refused: FileRefused) -> FileRefused:
    """The package may be installed later, the file attached again."""
    refused.may_pass = True
    return refused


def is_office(name: str) -> bool:
    """Whether a file of this name is read as a PDF or office file."""
    return _suffix(name) in _READERS


def _suffix(name: str) -> str:
    return name.lower().rpartition(".")[2]


def _require_size(data: bytes) -> None:
    with zipfile.ZipFile(BytesIO(data)) as packed:
        if sum(each.file_size for each in packed.infolist()) > _MOST_UNPACKED:
            raise _TooLargeError(f"it has more than {_MOST_UNPACKED // 2**20} MB when unpacked")


_BESIDE = re.compile(
    r"word/(document|header|footer|footnotes|endnotes|comments)\d*\.xml|ppt/comments/.+\.xml"
    r"|xl/(.+/)?(c|threadedC)omments?\d*\.xml|content\.xml|styles\.xml"
)
"""The files in an office file that have text beside its own."""
_HOLDERS = {
    *("hdr", "ftr", "footnote", "endnote", "comment", "txbxContent", "threadedComment", "cm"),
    *("annotation", "header", "footer"),
}
"""The elements with such text."""
_NOT_SAID = ("instrText", "delText")
"""Elements with codes of fields, and with text that was deleted."""
_SHEET = re.compile(r"xl/worksheets/.+\.xml")
_MARGIN = re.compile(rb"<(?:odd|even|first)(?:Header|Footer)>([^<]*)</")
_MARGIN_CODE = re.compile(r'&(?:"[^"]*"|\d+|.)')
"""A font, its size, or what is inserted."""


def _beside(data: bytes) -> tuple[Part, ...]:
    """Read headers, footers, text boxes, notes and comments of an office file."""
    said = dict.fromkeys(text for each in _texts_beside(data) if (text := repair(each).strip()))
    text = "\n".join(said)
    return split_pages([f"Headers, notes and comments:\n{text}"] if text else [], "margins")


def _texts_beside(data: bytes) -> Iterator[str]:
    with zipfile.ZipFile(BytesIO(data)) as packed:
        for name in sorted(packed.namelist()):
            if _SHEET.fullmatch(name):
                for margin in _MARGIN.findall(packed.read(name)):
                    yield _MARGIN_CODE.sub(" ", unescape(margin.decode()))
            if _BESIDE.fullmatch(name):
                root = ET.fromstring(packed.read(name))  # noqa: S314  expat bounds entities
                for holder in (node for node in root.iter() if _tag(node) in _HOLDERS):
                    paragraphs = [node for node in holder.iter() if _tag(node) == "p"]
                    yield from (_said(node) for node in paragraphs or [holder])


def _tag(node: ET.Element) -> str:
    return node.tag.rpartition("}")[2]


def _said(node: ET.Element) -> str:
    if _tag(node) in _NOT_SAID:
        return ""
    return (node.text or "") + "".join(_said(child) + (child.tail or "") for child in node)


def _pdf(data: bytes) -> tuple[Part, ...]:
    from pypdf import PdfReader  # noqa: PLC0415  an extra

    logging.getLogger("pypdf").setLevel(logging.CRITICAL)  # keep its warnings off the terminal
    return split_pages(repair(page.extract_text()) for page in PdfReader(BytesIO(data)).pages)


def _docx(data: bytes) -> tuple[Part, ...]:
    import docx  # noqa: PLC0415  an extra

    return split_markdown("".join(_markdown(docx.Document(BytesIO(data)))))


def _markdown(document: Any) -> Iterator[str]:  # noqa: ANN401  of an untyped library
    for block in document.iter_inner_content():
        if hasattr(block, "rows"):
            yield f"{_rows([[cell.text for cell in row.cells] for row in block.rows])}\n"
        elif text := repair(block.text).strip():
            level = block.style.name.removeprefix("Heading ") if block.style is not None else ""
            yield f"{'#' * int(level)} {text}\n\n" if level.isdecimal() else f"{text}\n\n"


def _xlsx(data: bytes) -> tuple[Part, ...]:
    import openpyxl  # noqa: PLC0415  an extra

    book = openpyxl.load_workbook(BytesIO(data), read_only=True, data_only=True)
    parts = list[Part]()
    for sheet in book.worksheets:
        sheet.reset_dimensions()  # which may count empty margins
        parts += split_table(_rows(sheet.iter_rows(values_only=True)), sheet.title)
    return tuple(parts)


def _pptx(data: bytes) -> tuple[Part, ...]:
    import pptx  # noqa: PLC0415  an extra

    def texts_in(shapes: Any) -> Iterator[str]:  # noqa: ANN401  of an untyped library
        for shape in shapes:
            if hasattr(shape, "shapes"):  # a group
                yield from texts_in(shape.shapes)
            elif shape.has_text_frame:
                yield shape.text_frame.text
            elif shape.has_table:
                yield _rows([[cell.text for cell in row.cells] for row in shape.table.rows])

    def text_of(slide: Any) -> str:  # noqa: ANN401  of an untyped library
        texts = list(texts_in(slide.shapes))
        notes = slide.notes_slide.notes_text_frame.text if slide.has_notes_slide else ""
        return repair("\n".join([*texts, *([f"Notes: {notes}"] if notes else [])]))

    slides = pptx.Presentation(BytesIO(data)).slides
    return split_pages(map(text_of, slides), "slide {}")


def _odt(data: bytes) -> tuple[Part, ...]:
    def written() -> Iterator[str]:
        for level, said in open_document.blocks(open_document.content_of(data)):
            if not isinstance(said, str):
                yield f"{_rows(said)}\n"
            elif text := repair(said).strip():
                yield f"{'#' * min(6, level)} {text}\n\n" if level else f"{text}\n\n"

    return split_markdown("".join(written()))


def _ods(data: bytes) -> tuple[Part, ...]:
    sheets = open_document.sheets(open_document.content_of(data))
    return tuple(part for name, rows in sheets for part in split_table(_rows(rows), name))


def _odp(data: bytes) -> tuple[Part, ...]:
    content = open_document.content_of(data)
    return split_pages(map(repair, open_document.slides(content)), "slide {}")


def _rows(rows: Iterable[Sequence[object]]) -> str:
    written = StringIO()
    writer = csv.writer(written, lineterminator="\n")
    for row in rows:
        texts = ["" if cell is None else str(cell) for cell in row]
        # before it is written: a few bytes can repeat a long cell in every column
        if written.tell() + sum(map(len, texts)) > MOST_LETTERS:
            raise _TooLargeError(f"a table in it has more than {MOST_LETTERS:,} characters")
        if any(cell is not None for cell in row):
            writer.writerow(map(repair, texts))
    return written.getvalue()


_READERS: dict[str, Callable[[bytes], tuple[Part, ...]]] = {
    "pdf": _pdf,
    "docx": _docx,
    "xlsx": _xlsx,
    "pptx": _pptx,
    "odt": _odt,
    "ods": _ods,
    "odp": _odp,
}
"""Readers by file extension."""


def _read(suffix: str, data: bytes) -> tuple[Part, ...]:
    if data.startswith(b"%PDF"):
        return _READERS[suffix](data)
    _require_size(data)
    return (*_READERS[suffix](data), *_beside(data))


def main() -> None:
    """Read a file from standard input, and write its parts or an error as JSON."""
    os.environ["OPENBLAS_NUM_THREADS"] = "1"  # of numpy, for openpyxl: each reserves memory
    _limit_resources()
    threading.Thread(target=_end_with, args=(os.getppid(),), daemon=True).start()
    data = sys.stdin.buffer.read()
    answer: object
    try:
        answer = [astuple(part) for part in _read(sys.argv[1], data)]
    except Exception as error:  # noqa: BLE001  any error of the library
        detail = error.name if isinstance(error, ImportError) else error
        answer = {"error": type(error).__name__, "detail": str(detail)}
    json.dump(answer, sys.stdout)
    sys.stdout.flush()
    os._exit(0)


def _limit_resources() -> None:
    """Limit memory and processor time, on systems that can."""
    with suppress(ImportError, ValueError, OSError):
        import resource  # noqa: PLC0415  not available on Windows

        resource.setrlimit(resource.RLIMIT_CPU, (MOST_SECONDS, MOST_SECONDS))
        resource.setrlimit(resource.RLIMIT_AS, (MOST_MEMORY, MOST_MEMORY))


def _end_with(parent: int) -> None:
    """End this process soon after its parent was killed."""
    while os.getppid() == parent:
        time.sleep(0.5)
    os._exit(1)


if __name__ == "__main__":
    main()
