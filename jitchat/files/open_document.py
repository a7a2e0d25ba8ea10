"""Extracts the text of OpenDocument files: odt as Markdown, ods as rows, odp by slide.

Each is a zip with one XML file for all the text, which the standard library can read; the format:
https://docs.oasis-open.org/office/OpenDocument/v1.3/. Rows and cells with a repeat count are
written that many times.
"""

import zipfile
from collections.abc import Iterator
from io import BytesIO
from itertools import chain, islice, repeat
from xml.etree import ElementTree as ET

_TEXT = "{urn:oasis:names:tc:opendocument:xmlns:text:1.0}"
_TABLE = "{urn:oasis:names:tc:opendocument:xmlns:table:1.0}"
_DRAW = "{urn:oasis:names:tc:opendocument:xmlns:drawing:1.0}"
_NOT_SHOWN = (
    f"{_TEXT}tracked-changes",
    "{urn:oasis:names:tc:opendocument:xmlns:office:1.0}annotation",
)
"""Elements left out: deleted text that is kept as a change, and comments."""
_MOST_COLUMNS = 16_384
"""Most columns of a row; trailing empty cells are left out."""
_MOST_BLANKS = 100
Rows = Iterator[list[str]]


def content_of(data: bytes) -> ET.Element:
    """Parse an OpenDocument file; raises errors of the zip and XML libraries."""
    with zipfile.ZipFile(BytesIO(data)) as packed:
        content = ET.fromstring(packed.read("content.xml"))  # noqa: S314  expat bounds entities
    for hidden in chain.from_iterable(map(content.iter, _NOT_SHOWN)):
        after = hidden.tail
        hidden.clear()
        hidden.tail = after
    return content


def blocks(node: ET.Element) -> Iterator[tuple[int, str | Rows]]:
    """Yield the blocks in order: the heading level or 0, with the text or the table rows."""
    for child in node:
        if child.tag == f"{_TEXT}h":
            yield int(child.get(f"{_TEXT}outline-level", "1")), _plain(child)
        elif child.tag == f"{_TEXT}p":
            yield 0, _plain(child)
        elif child.tag == f"{_TABLE}table":
            yield 0, _rows(child)
        else:
            yield from blocks(child)


def sheets(content: ET.Element) -> Iterator[tuple[str, Rows]]:
    for table in content.iter(f"{_TABLE}table"):
        yield table.get(f"{_TABLE}name", ""), _rows(table)


def slides(content: ET.Element) -> Iterator[str]:
    for page in content.iter(f"{_DRAW}page"):
        yield "\n".join(_plain(each) for each in page.iter(f"{_TEXT}p"))


def _rows(table: ET.Element) -> Rows:
    for row in table.iter(f"{_TABLE}table-row"):
        cells = list(islice(chain.from_iterable(map(_cells, row)), _MOST_COLUMNS))
        while cells and not cells[-1]:
            cells.pop()
        if cells:
            yield from repeat(cells, int(row.get(f"{_TABLE}number-rows-repeated", "1")))


def _cells(cell: ET.Element) -> Iterator[str]:
    said = "\n".join(_plain(each) for each in cell.iter(f"{_TEXT}p"))
    return repeat(said, int(cell.get(f"{_TABLE}number-columns-repeated", "1")))


def _plain(node: ET.Element) -> str:
    said = [node.text or ""]
    for child in node:
        match child.tag.removeprefix(_TEXT):
            case "s":
                said.append(" " * min(_MOST_BLANKS, int(child.get(f"{_TEXT}c", "1"))))
            case "tab":
                said.append("\t")
            case "line-break":
                said.append("\n")
            case _:
                said.append(_plain(child))
        said.append(child.tail or "")
    return "".join(said)
