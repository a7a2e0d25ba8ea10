"""A server's questions to the user during a call, and the interface that answers them."""

from dataclasses import dataclass
from typing import Literal, Protocol

Value = str | int | float | bool | list[str] | None
Action = Literal["accept", "decline", "cancel"]


@dataclass(frozen=True, slots=True)
class Field:
    """One requested value."""

    name: str
    title: str
    kind: str
    """`string`, `integer`, `number` or `boolean`; `array` for several of the choices."""
    description: str = ""
    choices: tuple[str, ...] = ()
    required: bool = False
    default: Value = None


@dataclass(frozen=True, slots=True)
class Request:
    """A server's request in its own words: no markup, and untrusted."""

    server: str
    message: str
    fields: tuple[Field, ...] = ()
    url: str = ""
    """The address to open instead of answering here; it is never opened automatically."""


@dataclass(frozen=True, slots=True)
class Response:
    action: Action
    values: tuple[tuple[str, Value], ...] = ()
    """(field name, value); only if the request was accepted."""


class Elicitor(Protocol):
    async def elicit(self, request: Request) -> Response:
        """Ask the user. Cancelling it withdraws the request."""


def fields_of(schema: object) -> tuple[Field, ...]:
    """Read a schema of flat properties; any other schema has no fields."""
    properties = schema.get("properties") if isinstance(schema, dict) else None
    if not isinstance(schema, dict) or not isinstance(properties, dict):
        return ()
    required = schema.get("required")
    needed = {str(name) for name in required} if isinstance(required, list) else set[str]()
    return tuple(
        _field(str(name), part, required=str(name) in needed)
        for name, part in properties.items()
        if isinstance(part, dict)
    )


def _field(name: str, part: dict[str, object], *, required: bool) -> Field:
    default = part.get("default")
    return Field(
        name=name,
        title=str(part.get("title") or name),
        kind=str(part.get("type") or "string"),
        description=str(part.get("description") or ""),
        choices=_choices(part),
        required=required,
        default=default if isinstance(default, str | int | float | bool) else None,
    )


def _choices(part: dict[str, object]) -> tuple[str, ...]:
    """List the values to choose from, in any of the schema's notations."""
    items = part.get("items")
    holder = items if isinstance(items, dict) else part
    if isinstance(listed := holder.get("enum"), list):
        return tuple(map(str, listed))
    titled = holder.get("oneOf") or holder.get("anyOf")
    if not isinstance(titled, list):
        return ()
    named = (each for each in titled if isinstance(each, dict) and "const" in each)
    return tuple(str(each["const"]) for each in named)
