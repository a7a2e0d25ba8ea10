"""Stored JSON as a few bytes: compressed with a dictionary of what windows have in common.

The dictionary is part of the format, and must never change.
"""

import json
import struct
import zlib
from collections.abc import Iterator, Mapping, Sequence
from functools import cache
from importlib.resources import files
from itertools import groupby
from math import inf
from typing import Any

from jitchat.text.figures import shown_score


@cache
def _dictionary() -> bytes:
    return files(__package__).joinpath("packed.txt").read_bytes()


def pack(value: object) -> bytes:
    """Raises TypeError if the value is not JSON."""
    packer = zlib.compressobj(zlib.Z_BEST_COMPRESSION, zdict=_dictionary())
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


def pack_ledger(
    rows: Sequence[Mapping[str, Any]], others: Mapping[str, Any] | None = None
) -> bytes:
    """Pack rows by columns: neighbours in a column are alike, which compresses best.

    `others` are the fields of the header that are packed with them.
    """
    return pack([others or {}, _columns(rows)])


def unpack_ledger(packed: bytes) -> tuple[dict[str, Any], list[dict[str, Any]]]:
    """Read what `pack_ledger` wrote: the other fields, and the rows.

    Raises:
        ValueError, TypeError: The bytes are damaged.

    """
    others, columns = unpack(packed)
    return others, list(_rows(columns))


def _columns(rows: Sequence[Mapping[str, Any]]) -> list[Any]:
    """Write each run of rows with the same names as the names, their number and the columns."""
    runs = []
    for names, group in groupby(rows, key=list):
        listed = list(group)
        columns = (_column([row[name] for row in listed]) for name in names)
        runs.append([names, len(listed), *columns])
    return runs


def _column(values: list[Any]) -> object:
    """Write a column; one of objects as columns again."""
    if all(isinstance(value, dict) for value in values):
        return {"rows": _columns(values)}
    return values


def _rows(runs: Sequence[Sequence[Any]]) -> Iterator[dict[str, Any]]:
    for names, count, *columns in runs:
        read = [
            list(_rows(column["rows"])) if isinstance(column, dict) else column
            for column in columns
        ]
        for place in range(count):
            yield {name: column[place] for name, column in zip(names, read, strict=True)}


def packed_ledger(content: str | None, header: str) -> bytes | None:
    """Pack a ledger of an earlier version, its scores rounded to the digits that are shown.

    None for damaged data, which a migration leaves as it is.
    """
    try:
        floor = json.loads(header).get("floor") or 0.0
        rows = json.loads(content or "")
        for row in rows:
            row["score"] = shown_score(row["score"], floor)
            row["parts"] = {name: round(part, 3) for name, part in row["parts"].items()}
        return pack_ledger(rows)
    except (ValueError, TypeError, LookupError, AttributeError):
        return None


def packed_piece(content: str) -> bytes | str:
    """Pack a piece of an earlier version; damaged data stays as it is."""
    try:
        return pack(json.loads(content))
    except ValueError:
        return content


def halved(vector: bytes) -> bytes:
    """Convert single to half precision; a number beyond its range, in damaged data, is infinite."""
    count = len(vector) // 4
    numbers = struct.unpack(f"<{count}f", vector)
    return struct.pack(
        f"<{count}e", *(number if abs(number) < 65_504 else inf for number in numbers)
    )
