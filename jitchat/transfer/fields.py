"""Reading values of foreign JSON, which may hold anything at any place."""

import json
from collections.abc import Mapping, Sequence
from datetime import UTC, datetime

_YEARS = range(1900, 2201)
_MILLISECONDS = 100_000_000_000
"""A number of seconds from which on it must be milliseconds: the year 5138."""


def text(value: object) -> str:
    """Give a text; empty for anything else."""
    return value if isinstance(value, str) else ""


def mapping(value: object) -> Mapping[str, object]:
    """Give an object; empty for anything else."""
    return value if isinstance(value, dict) else {}


def sequence(value: object) -> Sequence[object]:
    """Give a list; empty for anything else."""
    return value if isinstance(value, list) else ()


def moment_of(value: object) -> datetime | None:
    """ISO text or seconds since 1970 as an aware time; None for anything else."""
    try:
        if isinstance(value, str):
            moment = datetime.fromisoformat(value.strip())
        elif isinstance(value, int | float) and not isinstance(value, bool):
            moment = datetime.fromtimestamp(value, UTC)
        else:
            return None
    except (ValueError, OverflowError, OSError):
        return None
    if moment.year not in _YEARS:
        return None
    return moment if moment.tzinfo else moment.replace(tzinfo=UTC)


def moment_in_any_unit(value: object) -> datetime | None:
    """`moment_of`, of milliseconds too: no conversation is from so late a year."""
    if isinstance(value, int | float) and value >= _MILLISECONDS:
        return moment_of(value / 1000)
    return moment_of(value)


def as_json(value: object) -> str:
    """Write a value as JSON; what cannot be written so is null."""
    try:
        return json.dumps(value, ensure_ascii=False)
    except (TypeError, ValueError, RecursionError):
        return "null"


def as_arguments(value: object) -> str:
    """Write what a tool was called with as a JSON object, whatever shape it has."""
    if isinstance(value, str):
        written = value.strip()
        if not written or (written.startswith("{") and written.endswith("}")):
            return value
        return as_json({"input": value})
    if value is None:
        return ""
    return as_json(value if isinstance(value, dict) else {"input": value})
