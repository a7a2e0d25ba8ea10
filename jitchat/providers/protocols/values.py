"""Reading JSON that a server wrote: whatever it holds, nothing here fails."""

from __future__ import annotations

import json


def parsed(text: str) -> object:
    """Parse the value; None for what is not JSON, or is nested or numbered to hurt."""
    try:
        return json.loads(text, strict=False)
    except (ValueError, RecursionError):
        return None


def at(value: object, *keys: str) -> object:
    """Follow the keys; None where one of them leads nowhere."""
    for key in keys:
        value = value.get(key) if isinstance(value, dict) else None
    return value


def text_at(value: object, *keys: str) -> str:
    """Read a text; empty where there is none."""
    found = at(value, *keys)
    return found if isinstance(found, str) else ""


def count(value: object) -> int | None:
    """Read a count; None for what is no number, 0 for one that counts nothing."""
    if isinstance(value, bool) or not isinstance(value, int | float):
        return None
    return int(value) if 0 <= value < 1 << 53 else 0


def first(value: object) -> object:
    """Take the first item of a list, of a list in it, and so on; None of an empty one."""
    while isinstance(value, list):
        value = value[0] if value else None
    return value
