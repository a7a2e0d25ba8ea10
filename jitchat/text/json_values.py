"""Reading values of unknown type from a server's JSON. No function here raises."""

import json
import math

_LENIENT = json.JSONDecoder(strict=False)
"""Allows control characters in strings. Shared: a reply can be a hundred thousand documents."""


def parsed(text: str) -> object:
    """Parse JSON; None if it is invalid, nested too deeply, or has an excessively long number."""
    try:
        return _LENIENT.decode(text)
    except (ValueError, RecursionError):
        return None


def at(value: object, *keys: str) -> object:
    for key in keys:
        value = value.get(key) if isinstance(value, dict) else None
    return value


def text_at(value: object, *keys: str) -> str:
    text = at(value, *keys)
    return text if isinstance(text, str) else ""


def list_of(value: object) -> list[object]:
    """Return the value if it is a list, else an empty list."""
    return value if isinstance(value, list) else []


def text_of(value: object) -> str:
    """Return a text that may be a list of parts, each a string or an object with a `text`."""
    if isinstance(value, list):
        return "".join(part if isinstance(part, str) else text_at(part, "text") for part in value)
    return value if isinstance(value, str) else ""


def is_nested_within(value: object, depth: int) -> bool:
    """Whether lists and objects in the value are nested at most `depth` levels."""
    if not isinstance(value, dict | list):
        return True
    inner = value.values() if isinstance(value, dict) else value
    return depth > 0 and all(is_nested_within(each, depth - 1) for each in inner)


def count(*values: object) -> int | None:
    """Return the first number among the values, 0 if it is not a valid count; None if none."""
    for value in values:
        if isinstance(value, int | float) and not isinstance(value, bool):
            return int(value) if 0 <= value < 1 << 53 else 0
    return None


def amount(value: object) -> float | None:
    """Return an amount of money; None if it is not a finite number of at least 0."""
    if isinstance(value, bool) or not isinstance(value, int | float):
        return None
    return float(value) if 0 <= value < math.inf else None


def first(value: object) -> object:
    """Return the first item of nested lists; None if a list is empty."""
    while isinstance(value, list):
        value = value[0] if value else None
    return value


def json_text(value: object) -> str:
    """Serialise a value as JSON; a string is taken to be JSON already."""
    if isinstance(value, str):
        return value
    return "" if value is None else json.dumps(value, ensure_ascii=False)
