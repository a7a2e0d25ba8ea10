"""The text of PDF and office files, by libraries that come with an extra and load when needed.

pypdf, python-docx, openpyxl and python-pptx: each the usual reader of its format, and small. What
reads all of them at once (markitdown) brings a model that guesses the kind of a file.
"""

import csv
import logging
import zipfile
from collections.abc import Callable, Iterator, Sequence
from io import BytesIO, StringIO
from typing import Any

from jitchat.attachments import Part
from jitchat.errors import FileRefused
from jitchat.files.split import split_markdown, split_pages, split_table
from jitchat.text.sanitize import repair

_MOST_UNPACKED = 256 * 2**20
"""Bytes that an office file may have when it is unpacked."""
INSTALL = "Run: pip install 'jitchat[files]'"


def office_parts(name: str, data: bytes) -> tuple[Part, ...] | None:
    """Read a PDF or office file; None for any other.

    Raises:
        FileRefused: The libraries are not installed, or the file cannot be read.

    """
    read = _READERS.get(_suffix(name))
    if read is None:
        return None
    try:
        if not data.startswith(b"%PDF"):
            _require_size(name, data)
        return read(data)
    except ImportError as error:
        raise FileRefused(
            f"To read {name}, a package is missing: {error.name}.", INSTALL
        ) from error
    except FileRefused:
        raise
    except Exception as error:  # whatever a library makes of a damaged file
        what = type(error).__name__
        raise FileRefused(
            f"{name} cannot be read: it is damaged or protected ({what}).",
            "Save it anew without a password, or attach its text.",
        ) from error


def is_office(name: str) -> bool:
    """Whether a file of this name is read as a PDF or office file."""
    return _suffix(name) in _READERS


def _suffix(name: str) -> str:
    return name.lower().rpartition(".")[2]


def _require_size(name: str, data: bytes) -> None:
    with zipfile.ZipFile(BytesIO(data)) as packed:
        if sum(each.file_size for each in packed.infolist()) > _MOST_UNPACKED:
            what = f"{name} holds more than {_MOST_UNPACKED // 2**20} MB when it is unpacked."
            raise FileRefused(what, "Attach its text, or a part of it.")


def _pdf(data: bytes) -> tuple[Part, ...]:
    from pypdf import PdfReader  # noqa: PLC0415  an extra

    logging.getLogger("pypdf").setLevel(logging.CRITICAL)  # a terminal is no place for its warnings
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
    return tuple(
        part
        for sheet in book.worksheets
        for part in split_table(_rows(list(sheet.iter_rows(values_only=True))), sheet.title)
    )


def _pptx(data: bytes) -> tuple[Part, ...]:
    import pptx  # noqa: PLC0415  an extra

    def text_of(slide: Any) -> str:  # noqa: ANN401  of an untyped library
        texts = [shape.text_frame.text for shape in slide.shapes if shape.has_text_frame]
        texts += [
            _rows([[cell.text for cell in row.cells] for row in shape.table.rows])
            for shape in slide.shapes
            if shape.has_table
        ]
        notes = slide.notes_slide.notes_text_frame.text if slide.has_notes_slide else ""
        return repair("\n".join([*texts, *([f"Notes: {notes}"] if notes else [])]))

    slides = pptx.Presentation(BytesIO(data)).slides
    return split_pages(map(text_of, slides), "slide {}")


def _rows(rows: Sequence[Sequence[object]]) -> str:
    written = StringIO()
    csv.writer(written, lineterminator="\n").writerows(
        ["" if cell is None else repair(str(cell)) for cell in row]
        for row in rows
        if any(cell is not None for cell in row)
    )
    return written.getvalue()


_READERS: dict[str, Callable[[bytes], tuple[Part, ...]]] = {
    "pdf": _pdf,
    "docx": _docx,
    "xlsx": _xlsx,
    "pptx": _pptx,
}
"""By the end of a name."""
