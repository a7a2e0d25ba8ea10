"""Values in the JSON of a server, of whatever type they turn out to be: nothing here fails."""

import json
import math

_LENIENT = json.JSONDecoder(strict=False)
"""Takes control characters in strings. Made once: a reply may be a hundred thousand documents."""


def parsed(text: str) -> object:
    """Parse the value; None for what is not JSON, or is nested or numbered to hurt."""
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
    """Read a list; empty for what is none."""
    return value if isinstance(value, list) else []


def text_of(value: object) -> str:
    """Read a text that may come as a list of parts, each a text or an object with one."""
    if isinstance(value, list):
        return "".join(part if isinstance(part, str) else text_at(part, "text") for part in value)
    return value if isinstance(value, str) else ""


def is_nested_within(value: object, depth: int) -> bool:
    """Whether lists and objects in a value lie no deeper in each other."""
    if not isinstance(value, dict | list):
        return True
    inner = value.values() if isinstance(value, dict) else value
    return depth > 0 and all(is_nested_within(each, depth - 1) for each in inner)


def count(*values: object) -> int | None:
    """Read the first that is a number, 0 where it counts nothing; None where none is one."""
    for value in values:
        if isinstance(value, int | float) and not isinstance(value, bool):
            return int(value) if 0 <= value < 1 << 53 else 0
    return None


def amount(value: object) -> float | None:
    """Read an amount of money; None for what is none, or is no number."""
    if isinstance(value, bool) or not isinstance(value, int | float):
        return None
    return float(value) if 0 <= value < math.inf else None


def first(value: object) -> object:
    """Take the first item of a list, of a list in it, and so on; None of an empty one."""
    while isinstance(value, list):
        value = value[0] if value else None
    return value


def json_text(value: object) -> str:
    """Write a value as the JSON that it was read from; a text is taken for JSON already."""
    if isinstance(value, str):
        return value
    return "" if value is None else json.dumps(value, ensure_ascii=False)
