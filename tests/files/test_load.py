"""Which files can be attached, and the errors for those that cannot."""

from __future__ import annotations

import json
import os
import sys
import zipfile
from io import BytesIO
from typing import TYPE_CHECKING, Any

import docx
import openpyxl
import pptx
import pytest
from openpyxl.comments import Comment
from PIL import Image
from pypdf import PdfReader, PdfWriter

from jitchat.errors import FileRefused
from jitchat.files import load as loading
from jitchat.files.load import attachment_of, has_changed, load

if TYPE_CHECKING:
    from collections.abc import Callable
    from pathlib import Path

PDF = b"""%PDF-1.4
1 0 obj<</Type/Catalog/Pages 2 0 R>>endobj
2 0 obj<</Type/Pages/Kids[3 0 R]/Count 1>>endobj
3 0 obj<</Type/Page/Parent 2 0 R/MediaBox[0 0 99 99]/Contents 4 0 R
/Resources<</Font<</F 5 0 R>>>>>>endobj
4 0 obj<</Length 43>>stream
BT /F 9 Tf 9 50 Td (The port is 8443.) Tj ET
endstream endobj
5 0 obj<</Type/Font/Subtype/Type1/BaseFont/Helvetica>>endobj
trailer<</Root 1 0 R/Size 6>>
startxref
0
%%EOF
"""


def test_text_is_kept_whole_with_its_digest_and_modification_time(tmp_path: Path) -> None:
    path = tmp_path / "notes.txt"
    path.write_bytes("The port is 8443.\x00".encode("utf-16"))
    file = load(path)

    assert file.text == "The port is 8443.␀"
    assert file.data == path.read_bytes()
    assert not has_changed(file)
    path.write_text("The port is 9000.")
    assert has_changed(file)
    assert load(path).text == "The port is 9000."
    path.unlink()
    assert not has_changed(file)


def test_pdf_and_office_files_are_split_at_pages_headings_rows_and_slides(tmp_path: Path) -> None:
    (tmp_path / "a.pdf").write_bytes(PDF)
    document = docx.Document()
    document.add_paragraph("Ahead of it. " * 100)
    document.add_heading("Install", 1)
    document.add_paragraph("Run it. " * 100)
    document.add_table(1, 2).cell(0, 1).text = "8443"
    document.save(str(tmp_path / "b.docx"))
    book = openpyxl.Workbook()
    book.active.append(["port", 8443])
    book.save(tmp_path / "c.xlsx")
    show = pptx.Presentation()
    shapes = show.slides.add_slide(show.slide_layouts[5]).shapes
    shapes.title.text = "The port"
    shapes.add_group_shape().shapes.add_textbox(0, 0, 9, 9).text_frame.text = "is 8443"
    show.save(str(tmp_path / "d.pptx"))

    found = {name: load(tmp_path / name).parts for name in ("a.pdf", "b.docx", "c.xlsx", "d.pptx")}
    assert {name: [part.locator for part in parts] for name, parts in found.items()} == {
        "a.pdf": ["p. 1"],
        "b.docx": ["beginning", "§ Install"],
        "c.xlsx": ["Sheet"],
        "d.pptx": ["slide 1"],
    }
    assert found["a.pdf"][0].text.strip() == "The port is 8443."
    assert found["b.docx"][1].text.endswith(",8443\n\n")
    assert found["c.xlsx"][0].text == "port,8443\n"
    assert found["d.pptx"][0].text == "The port\nis 8443\n"


def open_document(body: str) -> bytes:
    written = BytesIO()
    spaces = "".join(
        f" xmlns:{name}='urn:oasis:names:tc:opendocument:xmlns:{space}:1.0'"
        for name, space in (
            *(("office", "office"), ("text", "text")),
            *(("table", "table"), ("draw", "drawing")),
        )
    )
    with zipfile.ZipFile(written, "w", zipfile.ZIP_DEFLATED) as made:
        made.writestr("content.xml", f"<office:body{spaces}>{body}</office:body>")
    return written.getvalue()


TABLE = """<table:table table:name='Ports'><table:table-row table:number-rows-repeated='2'>
<table:table-cell><text:p>gate</text:p></table:table-cell><table:table-cell><text:p>8443</text:p>
</table:table-cell><table:table-cell table:number-columns-repeated='16382'/></table:table-row>
<table:table-row table:number-rows-repeated='1048574'><table:table-cell
 table:number-columns-repeated='16384'/></table:table-row></table:table>"""
SAID = "<text:p>The<text:s text:c='2'/><text:span>port</text:span><text:tab/>is:</text:p>"
NAMED = "<text:h text:outline-level='2'>Install</text:h>"


def test_open_document_files_are_read_without_a_library() -> None:
    odt = attachment_of("a.odt", open_document(f"<office:text>{NAMED}{SAID}{TABLE}</office:text>"))
    assert odt.text == "## Install\n\nThe  port\tis:\n\ngate,8443\ngate,8443\n\n"
    ods = attachment_of("a.ods", open_document(TABLE))
    assert [(part.locator, part.text) for part in ods.parts] == [("Ports", "gate,8443\n" * 2)]
    odp = attachment_of("a.odp", open_document(f"<draw:page/><draw:page>{SAID}</draw:page>"))
    assert [(part.locator, part.text) for part in odp.parts] == [("slide 2", "The  port\tis:\n")]


def test_of_open_document_files_deleted_text_is_left_out_and_comments_follow_the_text() -> None:
    deleted = f"<text:tracked-changes><text:deletion>{SAID}</text:deletion></text:tracked-changes>"
    noted = (
        "<text:p>It is<office:annotation><text:p>Sure?</text:p></office:annotation> 8443.</text:p>"
    )
    odt = attachment_of("a.odt", open_document(f"<office:text>{deleted}{noted}</office:text>"))
    assert [(part.locator, part.text) for part in odt.parts] == [
        ("", "It is 8443.\n\n"),
        ("margins", "Headers, notes and comments:\nSure?\n"),
    ]


def test_headers_footers_text_boxes_notes_and_comments_of_office_files_are_read(
    tmp_path: Path,
) -> None:
    document = docx.Document()
    document.add_paragraph("The port is 8443.")
    section = document.sections[0]
    section.header.paragraphs[0].text = "Confidential"
    section.footer.paragraphs[0].text = "Harbour office"
    section.different_first_page_header_footer = True
    section.first_page_header.paragraphs[0].text = "Confidential"
    document.add_comment(document.paragraphs[0].runs, text="Who says so?")
    document.save(str(tmp_path / "b.docx"))
    book = openpyxl.Workbook()
    book.active.append(["port", 8443])
    book.active["A1"].comment = Comment("Which gate?", "Ana")
    book.active.oddHeader.center.text = "Draft"
    book.save(tmp_path / "c.xlsx")
    found = {name: load(tmp_path / name) for name in ("b.docx", "c.xlsx")}

    assert {name: file.parts[-1].locator for name, file in found.items()} == {
        "b.docx": "margins",
        "c.xlsx": "margins",
    }
    assert found["b.docx"].parts[-1].text.splitlines()[1:] == [
        "Who says so?",
        "Harbour office",
        "Confidential",
    ]
    assert found["c.xlsx"].parts[-1].text.splitlines()[1:] == ["Which gate?", "Draft"]
    assert all(file.is_extracted for file in found.values())


def test_comments_of_slides_and_headers_of_open_document_files_are_read(tmp_path: Path) -> None:
    show = pptx.Presentation()
    show.slides.add_slide(show.slide_layouts[5]).shapes.title.text = "The port"
    show.save(str(tmp_path / "d.pptx"))
    spaces = "xmlns:p='http://schemas.openxmlformats.org/presentationml/2006/main'"
    with zipfile.ZipFile(tmp_path / "d.pptx", "a") as packed:
        comment = f"<p:cmLst {spaces}><p:cm><p:text>Is it?</p:text></p:cm></p:cmLst>"
        packed.writestr("ppt/comments/comment1.xml", comment)
    assert load(tmp_path / "d.pptx").parts[-1].text.endswith("\nIs it?\n")
    written = BytesIO(open_document(f"<office:text>{SAID}</office:text>"))
    with zipfile.ZipFile(written, "a") as packed:
        said = "<t:p>Con<t:b>fid</t:b>ential</t:p>"
        header = f"<s:header xmlns:s='style' xmlns:t='text'>{said}</s:header>"
        packed.writestr("styles.xml", header)
    assert attachment_of("a.odt", written.getvalue()).text.endswith("\nConfidential\n")


def test_a_long_cell_repeated_in_every_column_is_refused_before_it_is_written() -> None:
    said = f"<text:p>{'a' * 250_000}</text:p>"
    cell = f"<table:table-cell table:number-columns-repeated='16384'>{said}</table:table-cell>"
    row = f"<table:table-row>{cell}</table:table-row>"
    packed = open_document(f"<table:table table:name='Ports'>{row}</table:table>")
    with pytest.raises(FileRefused, match="more than 4,000,000 characters"):
        attachment_of("a.ods", packed)


def test_part_names_are_unique(tmp_path: Path) -> None:
    (tmp_path / "a.md").write_text(f"# Port\n{'It is 8443. ' * 200}\n" * 3)
    locators = [part.locator for part in load(tmp_path / "a.md").parts]
    assert locators == ["§ Port", "§ Port (2)", "§ Port (3)"]


def test_without_the_extra_the_error_says_what_to_install(
    tmp_path: Path, monkeypatch: pytest.MonkeyPatch
) -> None:
    (tmp_path / "pypdf.py").write_text("raise ModuleNotFoundError(name='pypdf')")
    monkeypatch.syspath_prepend(str(tmp_path))
    (tmp_path / "a.pdf").write_bytes(PDF)
    with pytest.raises(FileRefused, match=r"pip install 'jitchat\[files\]'"):
        load(tmp_path / "a.pdf")


def locked() -> bytes:
    written, made = BytesIO(), PdfWriter(clone_from=PdfReader(BytesIO(PDF)))
    made.encrypt("a", "b", algorithm="RC4-128")
    made.write(written)
    return written.getvalue()


def packed() -> bytes:
    written = BytesIO()
    with zipfile.ZipFile(written, "w", zipfile.ZIP_DEFLATED, compresslevel=1) as made:
        made.writestr("word/document.xml", bytes(300 * 2**20))
    return written.getvalue()


@pytest.mark.parametrize(
    ("name", "data", "why"),
    [
        ("a.bin", b"ELF\0\1", "is not text or another"),
        ("a.txt", b"", "contains no text"),
        ("a.doc", b"\0PK", "Save it as docx or PDF"),
        ("a.odt", open_document("<no end>"), "it is damaged"),
        ("a.heic", b"\0ftyp", "Save it as PNG or JPEG"),
        ("a.docx", b"no zip", "it is damaged"),
        ("a.docx", b"\xd0\xcf\x11\xe0", "password-protected"),
        ("a.pdf", locked, "password-protected"),
        ("a.docx", packed, "more than 256 MB"),
        ("a.txt", b"x" * (loading.MOST_LETTERS + 1), "at most 4,000,000"),
        ("a.png", b"\x89PNG\r\n\x1a\n" + bytes(6 * 2**20), "at most 5 MB"),
        ("a.gif", b"GIF89a" + bytes(99), "not a complete picture"),
        ("a.txt", b"x" * (loading.MOST_BYTES + 1), "at most 20 MB"),
    ],
)
def test_an_unsupported_file_is_refused_with_the_reason(
    tmp_path: Path, name: str, data: bytes | Callable[[], bytes], why: str
) -> None:
    (tmp_path / name).write_bytes(data if isinstance(data, bytes) else data())
    with pytest.raises(FileRefused, match=why):
        load(tmp_path / name)
    with pytest.raises(FileRefused, match="cannot be read"):
        load(tmp_path / "nowhere")
    with pytest.raises(FileRefused, match="not a file"):
        load(tmp_path)


def drawn(kind: str, **options: Any) -> bytes:
    written = BytesIO()
    Image.effect_mandelbrot((80, 60), (-2, -1, 1, 1), 50).convert("RGB").save(
        written, kind, **options
    )
    return written.getvalue()


PICTURES = [
    ("image/png", drawn("PNG")),
    ("image/gif", drawn("GIF")),
    ("image/jpeg", drawn("JPEG", quality=100, comment=b"\xff\xd9")),
    ("image/jpeg", drawn("JPEG", progressive=True)),
    ("image/webp", drawn("WEBP")),
    ("image/webp", drawn("WEBP", lossless=True)),
    ("image/webp", drawn("WEBP", exif=b"of a camera")),
]


@pytest.mark.parametrize(("media_type", "data"), PICTURES)
def test_a_pictures_size_is_read(media_type: str, data: bytes) -> None:
    picture = attachment_of("shot", data + b"and what a camera puts behind it").picture

    assert picture is not None
    assert (picture.media_type, picture.width, picture.height) == (media_type, 80, 60)


@pytest.mark.parametrize(("media_type", "data"), PICTURES)
def test_a_truncated_picture_is_refused(media_type: str, data: bytes) -> None:
    for size in (20, len(data) // 2, len(data) - 2):
        with pytest.raises(FileRefused, match="not a complete picture"):
            attachment_of("shot", data[:size])


def test_a_text_can_begin_like_a_picture() -> None:
    assert attachment_of("formats.txt", b"GIF89a is a format.").text == "GIF89a is a format."


def test_a_notebook_becomes_its_cells_and_their_output(tmp_path: Path) -> None:
    output = {"output_type": "stream", "text": ["8443\n"]}
    shown = {"output_type": "display_data", "data": {"image/png": "iVBO" * 999}}
    failed = {"output_type": "error", "traceback": ["Traceback", "ValueError: no"]}
    cells = [
        {"cell_type": "markdown", "source": ["# Port\n", "It is:"]},
        {"cell_type": "code", "source": "print(port)", "outputs": [output, shown, failed]},
        {"cell_type": "code", "source": "", "outputs": []},
    ]
    known = {"language_info": {"name": "julia"}}
    (tmp_path / "a.ipynb").write_text(json.dumps({"cells": cells, "metadata": known}))
    (tmp_path / "b.ipynb").write_text('{"cells": 1}')

    assert load(tmp_path / "a.ipynb").text == (
        "# Port\nIt is:\n\n```julia\nprint(port)\n```\n```text\n8443\n```\n"
        "```text\n[a picture: image/png]\n```\n```text\nTraceback\nValueError: no\n```\n"
    )
    assert load(tmp_path / "b.ipynb").text == '{"cells": 1}'


def test_every_unicode_encoding_with_a_byte_order_mark_is_read() -> None:
    for encoding in ("utf-8-sig", "utf-16", "utf-32"):
        assert attachment_of("a.txt", "Größe".encode(encoding)).text == "Größe"


@pytest.mark.skipif(sys.platform == "win32", reason="no such files there")
def test_a_named_pipe_is_refused(tmp_path: Path) -> None:
    os.mkfifo(tmp_path / "pipe")
    writer = os.open(tmp_path / "pipe", os.O_RDWR)
    with pytest.raises(BlockingIOError, match="is a pipe that waits for a writer"):
        loading._read(tmp_path / "pipe")
    os.close(writer)
