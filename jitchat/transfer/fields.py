"""Read values from other programs' JSON, in which any value can have any type."""

import json
from collections.abc import Mapping, Sequence
from datetime import UTC, datetime

_YEARS = range(1900, 2201)
_MILLISECONDS = 100_000_000_000
"""From this number on, a timestamp is in milliseconds: as seconds, it would be the year 5138."""


def text(value: object) -> str:
    """Return a string; empty for anything else."""
    return value if isinstance(value, str) else ""


def mapping(value: object) -> Mapping[str, object]:
    """Return an object; empty for anything else."""
    return value if isinstance(value, dict) else {}


def sequence(value: object) -> Sequence[object]:
    """Return a list; empty for anything else."""
    return value if isinstance(value, list) else ()


def moment_of(value: object) -> datetime | None:
    """Convert ISO text or seconds since 1970 to an aware time; None for anything else."""
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
    """Convert like `moment_of`, also from milliseconds, which are recognized by their size."""
    if isinstance(value, int | float) and value >= _MILLISECONDS:
        return moment_of(value / 1000)
    return moment_of(value)


def as_json(value: object) -> str:
    """Return a value as JSON; `null` if it cannot be serialized."""
    try:
        return json.dumps(value, ensure_ascii=False)
    except (TypeError, ValueError, RecursionError):
        return "null"


def as_arguments(value: object) -> str:
    """Return the arguments of a tool call as a JSON object, whatever type they have."""
    if isinstance(value, str):
        written = value.strip()
        if not written or (written.startswith("{") and written.endswith("}")):
            return value
        return as_json({"input": value})
    if value is None:
        return ""
    return as_json(value if isinstance(value, dict) else {"input": value})
