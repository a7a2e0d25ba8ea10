"""Frozen values as plain data for JSON, and back, checked by the annotations of their fields."""

import json
from collections.abc import Callable, Mapping
from dataclasses import asdict, fields, is_dataclass
from datetime import date, datetime
from enum import Enum
from functools import cache, partial
from math import isfinite
from types import NoneType
from typing import Any, TypeVar, get_args, get_origin, get_type_hints

from jitchat.text.figures import local

_T = TypeVar("_T")
_Read = Callable[[Any], Any]
INVALID = (TypeError, ValueError, LookupError, RecursionError)
"""What `read` raises."""


def fields_of(value: Any) -> dict[str, Any]:  # noqa: ANN401  any dataclass
    """Convert a dataclass to data for JSON; its moments become ISO 8601."""
    return {
        name: member.isoformat() if isinstance(member, datetime) else member
        for name, member in asdict(value).items()
    }


def written(value: Any) -> str:  # noqa: ANN401  dataclasses and what JSON has
    """Write JSON that `read` can read; fields that have their default value are left out."""
    return json.dumps(value, ensure_ascii=False, separators=(",", ":"), default=_unusual)


def _unusual(value: Any) -> Any:  # noqa: ANN401  what JSON does not have
    if isinstance(value, date):
        return value.isoformat()
    members = ((field, getattr(value, field.name)) for field in fields(value))
    return {field.name: member for field, member in members if member != field.default}


def read(kind: type[_T], data: object) -> _T:
    """Build a dataclass from the output of `fields_of`, or from what `written` wrote.

    Raises:
        ValueError, TypeError, LookupError, RecursionError: `data` is something else.

    """
    value: _T = _reader(kind)(data)  # type: ignore[arg-type]  # mypy takes a class for unhashable
    return value


@cache
def _reader(kind: Any) -> _Read:  # noqa: ANN401  whatever a field is declared as
    if is_dataclass(kind):
        return _dataclass_reader(kind)
    if get_origin(kind) is tuple:
        return _tuple_reader(get_args(kind))
    if get_origin(kind) is Mapping:
        return _mapping_reader(_reader(get_args(kind)[1]))
    if NoneType in get_args(kind):
        (some,) = (_reader(inner) for inner in get_args(kind) if inner is not NoneType)
        return lambda value: None if value is None else some(value)
    enum: _Read | None = kind if issubclass(kind, Enum) else None
    known: dict[Any, _Read] = {datetime: _moment, date: date.fromisoformat, float: _number}
    return enum or known.get(kind) or partial(_checked, kind)


def _dataclass_reader(kind: Any) -> _Read:  # noqa: ANN401  a dataclass
    readers = {name: _reader(hint) for name, hint in get_type_hints(kind).items()}

    def read_fields(data: Any) -> Any:  # noqa: ANN401  what JSON holds
        values = {}
        for name, value in _checked(dict, data).items():
            try:
                values[name] = readers[name](value)
            except TypeError as error:
                raise TypeError(f"{name}: {error}") from error
        return kind(**values)

    return read_fields


def _tuple_reader(kinds: tuple[Any, ...]) -> _Read:
    readers = [_reader(kind) for kind in kinds if kind is not ...]
    is_of_any_length = ... in kinds

    def read_items(values: Any) -> tuple[Any, ...]:  # noqa: ANN401  what JSON holds
        _checked((list, tuple), values)
        if is_of_any_length:
            return tuple(map(readers[0], values))
        return tuple(one(value) for one, value in zip(readers, values, strict=True))

    return read_items


def _mapping_reader(inner: _Read) -> _Read:
    return lambda values: {name: inner(value) for name, value in _checked(dict, values).items()}


def _checked(kinds: type | tuple[type, ...], value: Any) -> Any:  # noqa: ANN401  what JSON holds
    if not isinstance(value, kinds) or (isinstance(value, bool) and kinds is not bool):
        raise TypeError(f"{value!r} is not {kinds}")
    return value


def _number(value: Any) -> float:  # noqa: ANN401  what JSON holds
    number = float(_checked((int, float), value))
    if not isfinite(number):
        raise ValueError("not a number")
    return number


def _moment(value: Any) -> datetime:  # noqa: ANN401  what JSON holds
    moment = datetime.fromisoformat(value)
    if moment.tzinfo is None:
        raise ValueError("a moment without a time zone")
    return local(moment)
