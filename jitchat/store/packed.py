"""Stored JSON as a few bytes: compressed with a dictionary of what windows have in common.

The dictionary is part of the format, and must never change. What is packed begins with a checksum
of 4 bytes; the numbers of columns follow the compressed text as bytes, because digits compress
badly.
"""

import json
import struct
import zlib
from collections.abc import Callable, Iterator, Mapping, Sequence
from functools import cache, wraps
from importlib.resources import files
from io import BytesIO
from itertools import accumulate, groupby, pairwise
from math import inf
from typing import Any, TypeVar

from jitchat.text.figures import shown_part, shown_score

_ROWS, _NUMBERS, _TEXTS = "[rows]", "[numbers]", "[texts]"
"""What a column is replaced by: an object with this one field. Other columns are lists."""
_DECIMALS = (2, 3)
_LARGEST = 1_000.0
"""Of scores and their parts; other numbers stay text."""

Row = Mapping[str, Any]
_T = TypeVar("_T")


@cache
def _dictionary() -> bytes:
    return files(__package__).joinpath("packed.txt").read_bytes()


def pack(value: object, beside: str = "", numbers: bytes = b"") -> bytes:
    """Pack JSON. `beside` is a text that is stored elsewhere, of which the value repeats parts.

    Raises TypeError if the value is not JSON.
    """
    text = json.dumps(value, ensure_ascii=False, separators=(",", ":")).encode()
    numbers = zlib.compress(numbers, zlib.Z_BEST_COMPRESSION) if numbers else b""
    checksum = zlib.crc32(numbers, zlib.crc32(text))
    known = beside.encode() + _dictionary()
    packer = zlib.compressobj(zlib.Z_BEST_COMPRESSION, wbits=-zlib.MAX_WBITS, zdict=known)
    return b"".join((checksum.to_bytes(4), packer.compress(text), packer.flush(), numbers))


def unpack(packed: bytes, beside: str = "") -> Any:  # noqa: ANN401  as JSON gives it
    """Read what `pack` wrote with the same `beside`.

    Raises:
        ValueError, TypeError: The bytes are damaged.

    """
    return _unpack(packed, beside)[0]


def _unpack(packed: bytes, beside: str = "") -> tuple[Any, bytes]:
    reader = zlib.decompressobj(-zlib.MAX_WBITS, zdict=beside.encode() + _dictionary())
    try:
        text = reader.decompress(packed[4:])
    except zlib.error as error:
        raise ValueError("not packed JSON") from error
    numbers = reader.unused_data
    if zlib.crc32(numbers, zlib.crc32(text)).to_bytes(4) != packed[:4]:
        raise ValueError("not what was packed")
    return json.loads(text), zlib.decompress(numbers) if numbers else b""


def pack_columns(*values: object) -> bytes:
    """Pack JSON values; one that is a list of objects by columns, whose neighbours are alike."""
    numbers = bytearray()
    written = [_column(value, numbers) if _are_rows(value) else [value] for value in values]
    return pack(written, numbers=bytes(numbers))


def unpack_columns(packed: bytes) -> Iterator[Any]:
    """Yield the values that `pack_columns` was given; each is read when it is asked for.

    Raises:
        ValueError, TypeError, LookupError: The bytes are damaged.

    """
    written, numbers = _unpack(packed)
    source = BytesIO(numbers)
    for value in written:
        yield value[0] if isinstance(value, list) else list(_rows(value[_ROWS], source))


def _are_rows(value: object) -> bool:
    return isinstance(value, list) and all(isinstance(row, Mapping) for row in value)


def _column(values: Any, numbers: bytearray) -> object:  # noqa: ANN401  any JSON
    if _are_rows(values):
        return {_ROWS: [_run(list(rows), numbers) for _, rows in groupby(values, key=_fields)]}
    if all(isinstance(value, str) for value in values):
        distinct = {text: number for number, text in enumerate(dict.fromkeys(values))}
        if 2 * len(distinct) > len(values):
            return values
        return {_TEXTS: [list(distinct), _put([distinct[text] for text in values], 0, numbers)]}
    decimals = _decimals_of(values)
    if decimals is None:
        return values
    return {_NUMBERS: _put([round(value * 10**decimals) for value in values], decimals, numbers)}


def _fields(row: Row) -> list[tuple[str, bool]]:
    """Return the names, and whether each has a value, so that a column has no gaps."""
    return [(name, field is None) for name, field in row.items()]


def _run(rows: list[Row], numbers: bytearray) -> list[Any]:
    """Write rows with the same names as the names, their number and the columns."""
    names = list(rows[0])
    return [names, len(rows), *(_column([row[name] for row in rows], numbers) for name in names)]


def _put(integers: list[int], decimals: int, numbers: bytearray) -> list[int]:
    """Add a column's numbers, or the steps between them if these are closer together.

    Return the decimals, the lowest of what is added, the bytes of each and, before steps, the first
    number.
    """
    steps = [after - before for before, after in pairwise(integers)]
    is_stepped = len(steps) > 1 and _width(steps) < _width(integers)
    series = steps if is_stepped else integers
    low, width = min(series), _width(series)
    for integer in series:
        numbers += (integer - low).to_bytes(width)
    return [decimals, low, width, integers[0]] if is_stepped else [decimals, low, width]


def _width(series: Sequence[int]) -> int:
    return ((max(series) - min(series)).bit_length() + 7) // 8


def _decimals_of(values: Sequence[Any]) -> int | None:
    """Return the decimals with which all numbers are what they are; 0 for integers."""
    kinds = {type(value) for value in values}
    if kinds == {int}:
        return 0
    if kinds == {float} and all(abs(value) < _LARGEST for value in values):
        for decimals in _DECIMALS:
            read = [round(value * 10**decimals) / 10**decimals for value in values]
            if repr(read) == repr(values):
                return decimals
    return None


def _rows(runs: Sequence[Sequence[Any]], numbers: BytesIO) -> Iterator[dict[str, Any]]:
    for names, count, *columns in runs:
        read = [_read(column, count, numbers) for column in columns]
        for place in range(count):
            yield {name: column[place] for name, column in zip(names, read, strict=True)}


def _read(written: Any, count: int, numbers: BytesIO) -> list[Any]:  # noqa: ANN401  as JSON gives it
    if isinstance(written, list):
        return written
    if _ROWS in written:
        return list(_rows(written[_ROWS], numbers))
    if _TEXTS in written:
        distinct, described = written[_TEXTS]
        return [distinct[number] for number in _integers(described, count, numbers)]
    decimals = written[_NUMBERS][0]
    integers = _integers(written[_NUMBERS], count, numbers)
    return [integer / 10**decimals for integer in integers] if decimals else integers


def _integers(described: Sequence[int], count: int, numbers: BytesIO) -> list[int]:
    """Read what `_put` added."""
    _, low, width, *first = described
    added = count - len(first)
    series = [low + int.from_bytes(numbers.read(width)) for _ in range(added)]
    return list(accumulate([*first, *series])) if first else series


def _or_none(convert: Callable[..., _T]) -> Callable[..., _T | None]:
    """Return None for damaged data of an earlier version."""

    @wraps(convert)
    def converted(*stored: bytes | None) -> _T | None:
        try:
            return convert(*stored)
        except (ValueError, TypeError, LookupError, AttributeError, zlib.error):
            return None

    return converted


@_or_none
def packed_window(pieces: bytes | None, ledger: bytes | None, header: bytes) -> bytes:
    """Pack the list of pieces and the ledger of an earlier version, scores as they are shown."""
    carried, segments = (None, None) if pieces is None else _list_of_today(pieces)
    return pack_columns(carried, segments, {}, _ledger_as_shown(ledger, header))


def _list_of_today(pieces: bytes) -> tuple[Any, list[dict[str, Any]]]:
    """Ids were listed as (first, last), other fields as (value, count), places in the pieces."""
    listed = json.loads(zlib.decompress(pieces))
    ids = [number for first, last in listed["ids"] for number in range(first, last + 1)]
    runs = (listed["steps"], listed["reasons"])
    steps, reasons = ([value for value, count in run for _ in range(count)] for run in runs)
    segments = [
        {"identity": number, "tokens": tokens, "message": step, "place": 0, "reason": reason}
        for number, tokens, step, reason in zip(ids, listed["tokens"], steps, reasons, strict=True)
    ]
    return listed["carried"], segments[::-1]


@_or_none
def _ledger_as_shown(ledger: bytes, header: bytes) -> list[dict[str, Any]]:
    floor = json.loads(header).get("floor") or 0.0
    rows: list[dict[str, Any]] = json.loads(ledger)
    for row in rows:
        row["score"] = shown_score(row["score"], floor)
        row["parts"] = {name: shown_part(part) for name, part in row["parts"].items()}
    return rows


@_or_none
def packed_piece(content: bytes, beside: bytes | None) -> bytes:
    """Pack a piece of an earlier version."""
    return pack(json.loads(content), (beside or b"").decode())


@_or_none
def packed_texts(beside: bytes, *texts: bytes) -> bytes:
    """Pack what the index of an earlier version says of a turn."""
    return pack([text.decode() for text in texts], beside.decode())


def halved(vector: bytes) -> bytes:
    """Convert single to half precision; a number beyond its range, in damaged data, is infinite."""
    numbers = struct.unpack(f"<{len(vector) // 4}f", vector)
    kept = [number if abs(number) < 65_504 else inf for number in numbers]
    return struct.pack(f"<{len(kept)}e", *kept)
