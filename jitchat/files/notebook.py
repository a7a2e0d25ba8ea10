"""Converts a Jupyter notebook to Markdown: its cells, their output, and a note for each picture.

The format: https://nbformat.readthedocs.io, versions 3 and 4.
"""

import json
from collections.abc import Iterator, Mapping
from itertools import chain
from typing import Any

_TEXTS = ("text/markdown", "text/plain")
"""Output types of a cell, in order of preference."""


def notebook_text(data: bytes) -> str | None:
    """Convert a notebook to Markdown; None if it is not one."""
    try:
        read = json.loads(data)
        sheets = [read] if "cells" in read else read["worksheets"]
        cells = chain.from_iterable(sheet["cells"] for sheet in sheets)
        known = read.get("metadata", {})
        language = str(known.get("language_info", {}).get("name", "python"))
        return "\n".join(filter(None, (_cell(cell, language) for cell in cells)))
    except (ValueError, KeyError, TypeError, AttributeError, RecursionError):
        return None


def _cell(cell: Mapping[str, Any], language: str) -> str:
    source = _joined(cell.get("source", cell.get("input", "")))
    if cell["cell_type"] != "code":
        return f"{source.rstrip()}\n"
    shown = "".join(map(_block, _shown(cell)))
    return f"```{language}\n{source.rstrip()}\n```\n{shown}" if source.strip() or shown else ""


def _shown(cell: Mapping[str, Any]) -> Iterator[str]:
    for output in cell.get("outputs", ()):
        found = output.get("data", output)
        if (text := output.get("text", output.get("traceback"))) is not None:
            yield "\n".join(text) if "traceback" in output else _joined(text)
        elif (kind := next((each for each in _TEXTS if each in found), None)) is not None:
            yield _joined(found[kind])
        if pictures := [kind for kind in found if kind.startswith("image/")]:
            yield f"[a picture: {pictures[0]}]"


def _block(text: str) -> str:
    return f"```text\n{text.rstrip()}\n```\n" if text.strip() else ""


def _joined(text: object) -> str:
    """Join a text that may be a list of lines with line endings."""
    return "".join(map(str, text)) if isinstance(text, list) else str(text)
