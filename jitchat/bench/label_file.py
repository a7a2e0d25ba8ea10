"""Reads a file of labelled questions whole, with limits on its bytes and values."""

import json
import sys
from itertools import count
from pathlib import Path

from jitchat.errors import BenchFailed

MAX_BYTES = 600 << 20
"""LongMemEval-S, whose 500 histories overlap, has 280 MB."""
MAX_OBJECTS = 1_000_000
"""Maximum messages or other objects of a file: a million small ones take about 400 MB to read."""
MAX_VALUES = 8_000_000
"""Maximum commas, and maximum opening brackets: prose of 200 MB has a third as many."""


def read_value(path: Path, remedy: str) -> object:
    """Read a JSON file in any Unicode encoding.

    Bytes that are not UTF-8 become lone surrogates, which are later repaired and counted per turn.

    Raises:
        BenchFailed: The file cannot be read, or is not JSON; `remedy` says what to do.

    """
    try:
        return _decoder(path).decode(_text(path, remedy))
    except RecursionError:
        raise BenchFailed(f"{path} is nested too deeply.", remedy) from None
    except json.JSONDecodeError as error:
        raise BenchFailed(f"{path} is not JSON: {error}.", remedy) from None


def _text(path: Path, remedy: str) -> str:
    try:
        with path.open("rb") as file:
            data = file.read(MAX_BYTES + 1)
    except FileNotFoundError:
        raise BenchFailed(f"There is no file {path}.", remedy) from None
    except OSError as error:
        raise BenchFailed(f"{path} cannot be read: {error.strerror}.", remedy) from None
    if len(data) > MAX_BYTES:
        raise BenchFailed(f"{path} is larger than {MAX_BYTES >> 20} MB.", "Split it.")
    if not data.strip():
        raise BenchFailed(f"{path} is empty.", remedy)
    if max(data.count(b","), data.count(b"[")) > MAX_VALUES:
        raise BenchFailed(f"{path} contains more than {MAX_VALUES:,} values.", "Split it.")
    encoding = json.detect_encoding(data)
    return data.decode(encoding, "surrogateescape" if encoding.startswith("utf-8") else "replace")


def _decoder(path: Path) -> json.JSONDecoder:
    """Return a decoder that refuses a file with too many objects."""
    numbers = count(1)

    def counted(pairs: list[tuple[str, object]]) -> dict[str, object]:
        if next(numbers) > MAX_OBJECTS:
            raise BenchFailed(f"{path} contains more than {MAX_OBJECTS:,} messages.", "Split it.")
        return {sys.intern(name): value for name, value in pairs}

    return json.JSONDecoder(strict=False, parse_int=_whole, object_pairs_hook=counted)


def _whole(digits: str) -> int | float:
    """Parse an integer; one with thousands of digits, for which `int` raises, becomes infinite."""
    return int(digits) if len(digits) < 20 else float(digits)
