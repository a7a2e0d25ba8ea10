"""A file that never ends to be read."""

import zipfile
from io import BytesIO

import docx


def endless_docx() -> bytes:
    """Make a document with a table cell that spans a hundred million columns."""
    before, after = BytesIO(), BytesIO()
    document = docx.Document()
    document.add_table(1, 1)
    document.save(before)
    span = b'<w:tcPr><w:gridSpan w:val="100000000"/>'
    with zipfile.ZipFile(before) as packed, zipfile.ZipFile(after, "w", 8) as made:
        for name in packed.namelist():
            made.writestr(name, packed.read(name).replace(b"<w:tcPr>", span))
    return after.getvalue()
