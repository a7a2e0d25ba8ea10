"""A turn's tool data as plain data for the cold store and JSON, and back."""

from collections.abc import Mapping
from typing import Any

from jitchat.values import NO_TOOL_USE, Echo, ToolCall, ToolUse

Fields = dict[str, Any]


def use_fields(use: ToolUse) -> Fields:
    """Convert to a dict; absent fields are left out."""
    described: Fields = {}
    if use.calls:
        described["calls"] = [_call_fields(call) for call in use.calls]
    if use.echo is not None:
        described["echo"] = {"origin": use.echo.origin, "value": use.echo.value}
    if use.answers is not None:
        described["answers"] = _call_fields(use.answers)
    if use.is_error:
        described["is_error"] = True
    if use.form is not None:
        described["form"] = use.form
    if use.seconds is not None:
        described["seconds"] = use.seconds
    return described


def _call_fields(call: ToolCall) -> Fields:
    """Convert a call; `asdict` takes ten times as long, and a window has hundreds."""
    return {"id": call.id, "name": call.name, "arguments": call.arguments}


def use_from(fields: object) -> ToolUse:
    """Restore from the output of `use_fields`.

    Raises:
        TypeError: The fields are malformed.

    """
    if not isinstance(fields, Mapping):
        raise TypeError("not tool data")
    if not fields:
        return NO_TOOL_USE
    echo, answers = fields.get("echo"), fields.get("answers")
    return ToolUse(
        tuple(_call(call) for call in fields.get("calls", ())),
        Echo(**_texts(echo)) if echo else None,
        _call(answers) if answers else None,
        bool(fields.get("is_error")),
        _form(fields.get("form")),
        _seconds(fields.get("seconds")),
    )


def _form(value: object) -> str | None:
    if value is not None and not isinstance(value, str):
        raise TypeError("not a text")
    return value


def _seconds(value: object) -> float | None:
    if value is not None and not isinstance(value, int | float):
        raise TypeError("not a number")
    return value


def _call(fields: object) -> ToolCall:
    return ToolCall(**_texts(fields))


def _texts(fields: object) -> Mapping[str, str]:
    if not isinstance(fields, Mapping):
        raise TypeError("not a mapping")
    if not all(isinstance(each, str) for each in fields.values()):
        raise TypeError("not texts")
    return fields
