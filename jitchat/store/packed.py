"""Stored JSON as a few bytes: compressed with a dictionary of what windows have in common.

The dictionary is part of the format, and must never change.
"""

import json
import zlib
from collections.abc import Iterator, Mapping, Sequence
from functools import cache
from importlib.resources import files
from itertools import groupby
from typing import Any

from jitchat.text.figures import shown_score

_LEVEL = 9


@cache
def _dictionary() -> bytes:
    return files(__package__).joinpath("packed.txt").read_bytes()


def pack(value: object) -> bytes:
    """Raises TypeError if the value is not JSON."""
    packer = zlib.compressobj(_LEVEL, zdict=_dictionary())
    text = json.dumps(value, ensure_ascii=False, separators=(",", ":"))
    return packer.compress(text.encode()) + packer.flush()


def unpack(packed: bytes) -> Any:  # noqa: ANN401  as JSON gives it
    """Read what `pack` wrote, or JSON that was compressed without the dictionary.

    Raises:
        ValueError: The bytes are damaged.

    """
    try:
        return json.loads(zlib.decompressobj(zdict=_dictionary()).decompress(packed))
    except zlib.error as error:
        raise ValueError("not packed JSON") from error


def pack_rows(rows: Sequence[Mapping[str, Any]]) -> bytes:
    """Pack objects by columns: neighbours in a column are alike, which compresses best."""
    return pack(_columns(rows))


def unpack_rows(packed: bytes) -> list[dict[str, Any]]:
    """Read what `pack_rows` wrote. Raises ValueError or TypeError for damaged bytes."""
    return list(_rows(unpack(packed)))


def _columns(rows: Sequence[Mapping[str, Any]]) -> list[Any]:
    """Write each run of rows with the same names as the names and their columns."""
    runs = []
    for names, group in groupby(rows, key=list):
        listed = list(group)
        runs.append([names, *(_column([row[name] for row in listed]) for name in names)])
        if not names:
            runs[-1].append(len(listed))
    return runs


def _column(values: list[Any]) -> object:
    """Write a column; one of objects as columns again."""
    if all(isinstance(value, dict) for value in values):
        return {"rows": _columns(values)}
    return values


def _rows(runs: Sequence[Sequence[Any]]) -> Iterator[dict[str, Any]]:
    for names, *columns in runs:
        if not names:
            yield from ({} for _ in range(columns[0]))
            continue
        read = [list(_rows(each["rows"])) if isinstance(each, dict) else each for each in columns]
        for values in zip(*read, strict=True):
            yield dict(zip(names, values, strict=True))


def packed_ledger(content: str | None, header: str) -> bytes | None:
    """Pack a ledger of an earlier version, its scores rounded to the digits that are shown.

    None for damaged data, which a migration leaves as it is.
    """
    try:
        floor = json.loads(header).get("floor") or 0.0
        rows = json.loads(content or "")
        for row in rows:
            row["score"] = shown_score(row["score"], floor)
            row["parts"] = {name: shown_score(part) for name, part in row["parts"].items()}
        return pack_rows(rows)
    except (ValueError, TypeError, LookupError, AttributeError):
        return None


def packed_piece(content: str) -> bytes | str:
    """Pack a piece of an earlier version; damaged data stays as it is."""
    try:
        return pack(json.loads(content))
    except ValueError:
        return content
