"""Every format that a run can be written in, by the ending of its file."""

from __future__ import annotations

from collections.abc import Callable, Mapping, Sequence
from types import MappingProxyType

from jitchat.rot.cells import Result
from jitchat.rot.export.csv_file import csv_text
from jitchat.rot.export.json_file import json_text
from jitchat.rot.export.picture_svg import svg_picture
from jitchat.rot.export.picture_text import text_picture
from jitchat.rot.run import Run

Writer = Callable[[Run, Sequence[Result]], str]

FORMATS: Mapping[str, Writer] = MappingProxyType(
    {"json": json_text, "csv": csv_text, "svg": svg_picture, "txt": text_picture}
)


def exported(ending: str, run: Run, results: Sequence[Result]) -> bytes:
    """Write a run, finished or not, in the format of a file's ending, such as `svg`.

    Raises:
        LookupError: There is none of that ending; `FORMATS` lists them.

    """
    return FORMATS[ending](run, results).encode()
