"""Read dataclasses from JSON in which any value can have any type."""

import types
from collections.abc import Mapping
from dataclasses import is_dataclass
from datetime import date, datetime
from enum import StrEnum
from functools import cache
from math import isfinite
from typing import Any, Union, get_args, get_origin, get_type_hints

INVALID = (TypeError, ValueError, RecursionError)
"""What `read_as` raises."""


def read_as(kind: Any, value: Any) -> Any:  # noqa: ANN401  any type of a field
    """Return a value of JSON as `kind`; members of objects that a dataclass lacks are ignored.

    Raises:
        TypeError, ValueError, RecursionError: It has another type.

    """
    origin, inner = get_origin(kind), get_args(kind)
    if origin in (Union, types.UnionType):
        return None if value is None else read_as(inner[0], value)
    if origin is tuple and isinstance(value, list):
        return tuple(read_as(inner[0], item) for item in value)
    if origin is Mapping and isinstance(value, dict):
        return {name: read_as(inner[1], item) for name, item in value.items()}
    if is_dataclass(kind) and isinstance(value, dict):
        hints = _hints(kind)  # type: ignore[arg-type]
        return kind(**{name: read_as(hints[name], value[name]) for name in hints if name in value})  # type: ignore[operator]
    return _read_plain(kind, value)


def _read_plain(kind: Any, value: Any) -> Any:  # noqa: ANN401
    if kind in (date, datetime) and isinstance(value, str):
        return kind.fromisoformat(value)
    if isinstance(kind, type) and issubclass(kind, StrEnum):
        return kind(value)
    if kind is float and type(value) in (int, float) and isfinite(value):
        return value
    if type(value) is not kind or kind is float:
        raise TypeError(f"not {kind}")
    return value


@cache
def _hints(kind: type[Any]) -> Mapping[str, Any]:
    return get_type_hints(kind)
