"""Check a value built from untrusted fields against its type; dataclasses do not."""

import types
from collections.abc import Mapping
from dataclasses import fields, is_dataclass
from enum import StrEnum
from functools import cache
from math import isfinite
from typing import Any, Union, get_args, get_origin, get_type_hints


def is_typed(value: object, kind: object) -> bool:
    """Whether `value` and everything in it has the type `kind`."""
    origin = get_origin(kind)
    if origin in (Union, types.UnionType):
        return any(is_typed(value, each) for each in get_args(kind))
    if origin is tuple:
        return isinstance(value, tuple) and _are_typed(value, get_args(kind))
    if is_dataclass(kind):
        hints = _hints(kind)  # type: ignore[arg-type]
        return isinstance(value, kind) and all(  # type: ignore[arg-type]
            is_typed(getattr(value, name), hint) for name, hint in hints.items()
        )
    return _is_plain(value, origin or kind)


def _are_typed(values: tuple[object, ...], kinds: tuple[object, ...]) -> bool:
    if kinds[1:] == (...,):
        return all(is_typed(value, kinds[0]) for value in values)
    return len(values) == len(kinds) and all(map(is_typed, values, kinds))


def _is_plain(value: object, kind: object) -> bool:
    if kind is float:
        return isinstance(value, int | float) and not isinstance(value, bool) and isfinite(value)
    if kind is int:
        return isinstance(value, int) and not isinstance(value, bool)
    if kind is Any or not isinstance(kind, type):
        return True
    if issubclass(kind, StrEnum):  # its plain string is accepted too
        return isinstance(value, str) and value in set(kind)
    return isinstance(value, Mapping if kind is Mapping else kind)


@cache
def _hints(kind: type[Any]) -> Mapping[str, object]:
    hints = get_type_hints(kind)
    return {each.name: hints[each.name] for each in fields(kind)}
