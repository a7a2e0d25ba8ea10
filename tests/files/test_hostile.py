"""Small files that would fill the memory or take hours are read within limits, in a child."""

from __future__ import annotations

import re
import threading
import time
import zipfile
from io import BytesIO
from typing import TYPE_CHECKING

import docx
import openpyxl
import pytest

from jitchat.errors import FileRefused
from jitchat.files import office
from jitchat.files.load import attachment_of, load
from tests.files.hostile import endless_docx
from tests.files.test_load import PDF, open_document

if TYPE_CHECKING:
    from collections.abc import Callable
    from pathlib import Path


def changed(packed: bytes, name: str, pattern: bytes, added: bytes) -> bytes:
    """Insert bytes behind the first match of a pattern in one file of an office file."""
    written = BytesIO()
    with zipfile.ZipFile(BytesIO(packed)) as before, zipfile.ZipFile(written, "w", 8) as after:
        for each in before.namelist():
            content = before.read(each)
            if each == name:
                content = re.sub(pattern, lambda found: found[0] + added, content, count=1)
            after.writestr(each, content)
    return written.getvalue()


def many_paragraphs() -> bytes:
    written, document = BytesIO(), docx.Document()
    document.save(written)
    return changed(written.getvalue(), "word/document.xml", b"<w:body>", b"<w:p/>" * 20_000_000)


def workbook() -> bytes:
    written, book = BytesIO(), openpyxl.Workbook()
    book.active.append(["port", 8443])
    book.save(written)
    return written.getvalue()


def many_styles() -> bytes:
    return changed(workbook(), "xl/styles.xml", b"<cellXfs[^>]*>", b"<xf/>" * 8_000_000)


def many_cells() -> bytes:
    return changed(workbook(), "xl/worksheets/sheet1.xml", b"<row[^>]*>", b"<c/>" * 4_000_000)


def many_blanks() -> bytes:
    blanks = "<table:table-cell table:number-columns-repeated='16383'/>"
    row = f"<table:table-row>{blanks}<table:table-cell><text:p>x</text:p></table:table-cell>"
    table = f"{row}</table:table-row>" * 300_000
    return open_document(f"<table:table table:name='Ports'>{table}</table:table>")


def deep() -> bytes:
    return open_document("<text:p>" * 200_000 + "</text:p>" * 200_000)


@pytest.mark.parametrize(
    ("name", "make"),
    [
        ("a.docx", many_paragraphs),
        ("a.xlsx", many_styles),
        ("a.xlsx", many_cells),
        ("a.ods", many_blanks),
        ("a.odt", deep),
    ],
)
def test_a_file_that_needs_more_memory_than_is_allowed_is_refused(
    name: str, make: Callable[[], bytes]
) -> None:
    with pytest.raises(FileRefused, match=r"is too (complex|large)|is damaged"):
        attachment_of(name, make())


def test_a_file_that_is_read_without_end_is_refused_once(
    tmp_path: Path, monkeypatch: pytest.MonkeyPatch
) -> None:
    monkeypatch.setattr(office, "MOST_SECONDS", 1)
    path = tmp_path / "a.docx"
    path.write_bytes(endless_docx())
    with pytest.raises(FileRefused, match=r"a\.docx is too complex: .* 1 seconds or 1,024 MB"):
        load(path)
    began = time.monotonic()
    with pytest.raises(FileRefused):
        load(path)
    assert time.monotonic() - began < 0.1


def test_reading_ends_when_nobody_waits_for_it(tmp_path: Path) -> None:
    path, given_up = tmp_path / "a.docx", threading.Event()
    path.write_bytes(endless_docx())
    began = time.monotonic()
    threading.Timer(0.3, given_up.set).start()
    with pytest.raises(FileRefused, match="not attached any more"), office.reading_until(given_up):
        load(path)
    assert time.monotonic() - began < office.MOST_SECONDS / 2


def test_a_file_that_was_given_up_is_read_when_it_is_attached_again(tmp_path: Path) -> None:
    path, given_up = tmp_path / "a.pdf", threading.Event()
    path.write_bytes(PDF)
    given_up.set()
    with pytest.raises(FileRefused), office.reading_until(given_up):
        load(path)
    assert load(path).text.strip() == "The port is 8443."


WORDS = "".join(f"It is {number}.\n" for number in range(5_000))


@pytest.mark.parametrize(
    ("name", "text"),
    [
        ("a.md", "# " * 250_000),
        ("a.md", f"# {'port ' * 50_000}\n{WORDS * 5}"),
        ("a.md", "".join(f"# {'port ' * 99}\n{WORDS[:4_000]}\n" for _ in range(99))),
        ("a.csv", f"{'p' * 799},{'熬' * 260}\n" + WORDS * 5),
        ("a.csv", f"{'p' * 799}\n" + f"x\n{'y' * 1601}\n" * 99),
        ("a.txt", "x" * 1_000_000),
        ("a.txt", WORDS * 9),
    ],
)
def test_the_parts_of_a_text_cost_at_most_twice_the_text(name: str, text: str) -> None:
    parts = attachment_of(name, text.encode()).parts
    cost = sum(len(f"{part.locator}{part.text}{part.head}".encode()) for part in parts)
    assert cost <= 2 * len(text.encode())
    assert "".join(part.text for part in parts) == text


def test_the_parts_of_a_sheet_with_a_long_name_cost_at_most_twice_its_text() -> None:
    row = "<table:table-row><table:table-cell><text:p>8443</text:p></table:table-cell>"
    table = f"<table:table table:name='{'n' * 900_000}'>{f'{row}</table:table-row>' * 9_000}"
    parts = attachment_of("a.ods", open_document(f"{table}</table:table>")).parts
    cost = sum(len(f"{part.locator}{part.text}{part.head}") for part in parts)
    assert cost <= 2 * sum(len(part.text) for part in parts)
