"""A turn's tool data as plain data for the cold store and JSON, and back."""

from typing import Any

from jitchat.typed_data import INVALID, read
from jitchat.values import NO_TOOL_USE, Form, Shortened, ToolCall, ToolUse

Fields = dict[str, Any]


def use_fields(use: ToolUse) -> Fields:
    """Convert to a dict; absent fields are left out."""
    described: Fields = {}
    if use.calls:
        described["calls"] = [_call_fields(call) for call in use.calls]
    if use.echo is not None:
        described["echo"] = {"origin": use.echo.origin, "value": use.echo.value}
        if use.echo.tokens is not None:
            described["echo"]["tokens"] = use.echo.tokens
    if use.answers is not None:
        described["answers"] = _call_fields(use.answers)
    if use.is_error:
        described["is_error"] = True
    if use.form is not None:
        described["form"] = _form_fields(use.form)
    if use.seconds is not None:
        described["seconds"] = use.seconds
    return described


def _form_fields(form: Shortened) -> Fields | str:
    """Convert a shortened text; a preview is its text alone, as earlier versions wrote any."""
    is_preview = form.form is Form.PREVIEW
    return form.text if is_preview else {"text": form.text, "form": form.form.value}


def _call_fields(call: ToolCall) -> Fields:
    """Convert a call; `asdict` takes ten times as long, and a window has hundreds."""
    return {"id": call.id, "name": call.name, "arguments": call.arguments}


def use_from(fields: object) -> ToolUse:
    """Restore from the output of `use_fields`.

    Raises:
        TypeError: The fields are malformed.

    """
    if fields == {}:
        return NO_TOOL_USE
    if isinstance(fields, dict) and isinstance(fields.get("form"), str):
        fields = {**fields, "form": {"text": fields["form"]}}
    try:
        return read(ToolUse, fields)
    except INVALID as error:
        raise TypeError("not tool data") from error
