"""What a server asks the user in the middle of a call, and the port to who can answer."""

from dataclasses import dataclass
from typing import Literal, Protocol

Value = str | int | float | bool | list[str] | None
Action = Literal["accept", "decline", "cancel"]


@dataclass(frozen=True, slots=True)
class Field:
    """One thing that is asked for."""

    name: str
    title: str
    kind: str
    """`string`, `integer`, `number` or `boolean`; `array` for any of the choices."""
    description: str = ""
    choices: tuple[str, ...] = ()
    required: bool = False
    default: Value = None


@dataclass(frozen=True, slots=True)
class Request:
    """The server's words: not markup, and not to be trusted."""

    server: str
    message: str
    fields: tuple[Field, ...] = ()
    url: str = ""
    """Where the user is to go instead of answering here; nothing opens it unasked."""


@dataclass(frozen=True, slots=True)
class Response:
    action: Action
    values: tuple[tuple[str, Value], ...] = ()
    """By the field's name; of an accepted request only."""


class Elicitor(Protocol):
    async def elicit(self, request: Request) -> Response:
        """Ask the user. Cancelling it withdraws the request."""


def fields_of(schema: object) -> tuple[Field, ...]:
    """Read a schema of flat properties; what is no such schema has no fields."""
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
    """List the values to choose from, however the schema has them."""
    items = part.get("items")
    holder = items if isinstance(items, dict) else part
    if isinstance(listed := holder.get("enum"), list):
        return tuple(map(str, listed))
    titled = holder.get("oneOf") or holder.get("anyOf")
    if not isinstance(titled, list):
        return ()
    named = (each for each in titled if isinstance(each, dict) and "const" in each)
    return tuple(str(each["const"]) for each in named)
