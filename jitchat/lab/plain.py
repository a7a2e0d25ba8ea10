"""Frozen values as plain data and back: what a run's file and its JSON hold."""

from collections.abc import Callable
from dataclasses import asdict, is_dataclass
from datetime import datetime
from enum import Enum
from functools import cache
from types import NoneType
from typing import Any, TypeVar, get_args, get_origin, get_type_hints

_T = TypeVar("_T")
_Read = Callable[[Any], Any]


def fields_of(value: Any) -> dict[str, Any]:  # noqa: ANN401  any dataclass
    """Give a dataclass as data for JSON; moments as ISO 8601."""
    return {
        name: each.isoformat() if isinstance(each, datetime) else each
        for name, each in asdict(value).items()
    }


def read(kind: type[_T], fields: object) -> _T:
    """Make a dataclass of what `fields_of` gave; each field is checked by its annotation.

    Raises:
        ValueError, TypeError, LookupError: It is nothing that `fields_of` gave.

    """
    made: _T = _reader(kind)(fields)  # type: ignore[arg-type]  # mypy takes a class for unhashable
    return made


@cache
def _reader(kind: Any) -> _Read:  # noqa: ANN401  whatever a field is declared as
    if is_dataclass(kind):
        return _dataclass_reader(kind)
    if get_origin(kind) is tuple:
        return _tuple_reader(get_args(kind))
    if NoneType in get_args(kind):
        (some,) = (_reader(each) for each in get_args(kind) if each is not NoneType)
        return lambda value: None if value is None else some(value)
    enum: _Read | None = kind if issubclass(kind, Enum) else None
    known: dict[Any, _Read] = {datetime: _moment, float: _number}
    return enum or known.get(kind) or _instance_reader(kind)


def _dataclass_reader(kind: Any) -> _Read:  # noqa: ANN401  a dataclass
    readers = {name: _reader(each) for name, each in get_type_hints(kind).items()}

    def read_fields(fields: Any) -> Any:  # noqa: ANN401  what JSON holds
        made = {}
        for name, value in fields.items():
            try:
                made[name] = readers[name](value)
            except TypeError as error:
                raise TypeError(f"{name}: {error}") from error
        return kind(**made)

    return read_fields


def _tuple_reader(kinds: tuple[Any, ...]) -> _Read:
    readers = [_reader(each) for each in kinds if each is not ...]
    is_of_any_length = ... in kinds

    def read_items(values: Any) -> tuple[Any, ...]:  # noqa: ANN401  what JSON holds
        _instance_reader((list, tuple))(values)
        if is_of_any_length:
            return tuple(map(readers[0], values))
        return tuple(one(value) for one, value in zip(readers, values, strict=True))

    return read_items


def _instance_reader(kinds: type | tuple[type, ...]) -> _Read:
    def check(value: object) -> object:
        if not isinstance(value, kinds):
            raise TypeError(f"{value!r} is no {kinds}")
        return value

    return check


def _number(value: Any) -> float:  # noqa: ANN401  what JSON holds
    return float(_instance_reader((int, float))(value))


def _moment(value: Any) -> datetime:  # noqa: ANN401  what JSON holds
    moment = datetime.fromisoformat(value)
    if moment.tzinfo is None:
        raise ValueError("a moment without a time zone")
    return moment
