"""What `jitchat rot` is given as text, read: lengths, depths, names, shares."""

from __future__ import annotations

import re
from collections.abc import Sequence
from enum import StrEnum
from itertools import pairwise
from typing import TypeVar

from jitchat.errors import UsageError
from jitchat.settings.nearest import nearest
from jitchat.text.safe import shortened

SHORTEST = 500
"""Tokens of a conversation, at least: room for a fact, and for talk about it."""
LONGEST = 10_000_000
"""Tokens of a conversation, at most: more than any model takes."""
_LENGTH = re.compile(r"([0-9]{1,9}(?:\.[0-9]{1,3})?)(k?)", re.IGNORECASE)
_DEPTH = re.compile(r"([0-9]{1,3}(?:\.[0-9]{1,4})?) ?%?")
_SHARE = re.compile(r"[01](?:\.[0-9]{1,6})?|\.[0-9]{1,6}")
_SHOWN = 60
_Name = TypeVar("_Name", bound=StrEnum)


def known(option: str, name: str, names: Sequence[str]) -> str:
    """Take one of these names.

    Raises:
        UsageError: It is none of them.

    """
    if name not in names:
        listed = f"Use {', '.join(names[:-1])} or {names[-1]}."
        quoted = repr(shortened(name, _SHOWN))
        raise UsageError(f"{option} cannot be {quoted}.", listed + nearest(name, names))
    return name


def listed(option: str, text: str, kind: type[_Name]) -> tuple[_Name, ...]:
    """Read a list of names, each once, in the order in which they are given.

    Raises:
        UsageError: One is unknown, or there is none.

    """
    names = [each.value for each in kind]
    given = [piece.strip() for piece in text.split(",")]
    return tuple(dict.fromkeys(kind(known(option, name, names)) for name in given))


def lengths_of(text: str) -> tuple[int, ...]:
    """Read `1k,2k,8000`.

    Raises:
        UsageError: It is no ascending list of lengths.

    """
    found = tuple(_length(piece.strip()) for piece in text.split(","))
    _require_ascending("--lengths", text, found)
    return found


def depths_of(text: str) -> tuple[float, ...]:
    """Read `0,50,100`, which are percent.

    Raises:
        UsageError: It is no ascending list of percents.

    """
    found = tuple(_depth(piece.strip()) for piece in text.split(","))
    _require_ascending("--depths", text, found)
    return found


def threshold_of(text: str, modes: Sequence[str]) -> tuple[str, float]:
    """Read `jit=0.9`.

    Raises:
        UsageError: It is something else.

    """
    mode, _, share = (piece.strip() for piece in text.partition("="))
    if not _SHARE.fullmatch(share) or float(share) > 1:
        raise UsageError(
            f"--fail-under: {shortened(text, _SHOWN)!r} is no mode with a share from 0 to 1.",
            "Write it as jit=0.9.",
        )
    return known("--fail-under", mode, modes), float(share)


def _length(piece: str) -> int:
    read = _LENGTH.fullmatch(piece)
    tokens = float(read[1]) * (1_000 if read[2] else 1) if read else 0.0
    if not 1 <= tokens <= LONGEST or tokens != int(tokens):
        raise UsageError(
            f"--lengths: {shortened(piece, _SHOWN)!r} is no number of tokens.",
            f"Give whole numbers from {SHORTEST:,} to {LONGEST:,}; k is 1,000: 1k,2k,8k.",
        )
    if tokens < SHORTEST:
        raise UsageError(
            f"--lengths: {shortened(piece, _SHOWN)} is too short to plant facts in.",
            f"The shortest length is {SHORTEST:,} tokens.",
        )
    return int(tokens)


def _depth(piece: str) -> float:
    read = _DEPTH.fullmatch(piece)
    percent = float(read[1]) if read else -1.0
    if not 0 <= percent <= 100:
        raise UsageError(
            f"--depths: {shortened(piece, _SHOWN)!r} is no depth.",
            "Give percents from 0, the beginning, to 100, the end: 0,50,100.",
        )
    return round(percent / 100, 6)


def _require_ascending(option: str, text: str, found: Sequence[float]) -> None:
    if any(later <= earlier for earlier, later in pairwise(found)):
        raise UsageError(
            f"{option} are not ascending: {shortened(text, _SHOWN)}.",
            "Give each once, the smallest first.",
        )
