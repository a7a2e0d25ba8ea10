"""A form for an MCP server: the input that a tool call requests, or the arguments of a prompt.

Titles and labels come from the server; they are never interpreted as markup, and have bars.
"""

from collections.abc import Sequence

from textual import on
from textual.app import ComposeResult
from textual.binding import Binding
from textual.containers import VerticalScroll
from textual.widgets import Input, Select, Static
from textual.widgets._select import NoSelection

from jitchat.text.sanitize import one_line
from jitchat.tools.mcp.elicitation import Field, Response, Value
from jitchat.tui.dialogs.dialog import Dialog, box
from jitchat.tui.drawing import Content
from jitchat.tui.widgets.foreign_text import ForeignText

_NUMBERS = {"integer": int, "number": float}
_YES, _NO = "yes", "no"
_BOOLEANS = {_YES: True, _NO: False}


class FormScreen(Dialog[Response]):
    BINDINGS = [  # noqa: RUF012  Textual's own shape
        Binding("ctrl+s", "accept", "Answer", id="form_accept", priority=True),
        Binding("escape", "dismiss_with('cancel')", "Cancel", id="form_cancel"),
        Binding("ctrl+d", "dismiss_with('decline')", "Decline", id="form_decline", priority=True),
    ]

    def __init__(
        self,
        title: str,
        message: str,
        fields: Sequence[Field],
        *,
        url: str = "",
        declines: bool = False,
    ) -> None:
        """`declines` tells whether the server distinguishes declining from cancelling."""
        super().__init__()
        self._title, self._message, self._fields, self._url = title, message, fields, url
        self._declines = declines
        self._note = Static(id="form-note")

    def compose(self) -> ComposeResult:
        decline = " · Ctrl+D decline" if self._declines else ""
        with (
            box(one_line(self._title), f"Ctrl+S answer{decline} · Esc cancel"),
            VerticalScroll(id="form"),
        ):
            warning = "Open this address yourself if you trust it:"
            texts = ("", self._message), (warning, self._url)
            yield ForeignText(*texts, id="form-message")
            for number, field in enumerate(self._fields):
                yield ForeignText(("", label_of(field)))
                yield widget_for(field, f"field-{number}")
            yield self._note

    def on_mount(self) -> None:
        """Focus the first field; otherwise the scroll container would have the focus."""
        if self._fields:
            self.query_one("#field-0").focus()

    def check_action(self, action: str, parameters: tuple[object, ...]) -> bool | None:
        return self._declines or (action, parameters) != ("dismiss_with", ("decline",))

    @on(Input.Submitted)
    def action_accept(self) -> None:
        """Submit the form, or show which field is missing or invalid."""
        values: list[tuple[str, Value]] = []
        for number, field in enumerate(self._fields):
            widget = self.query_one(f"#field-{number}")
            value, problem = read_value(field, getattr(widget, "value", None))
            if problem:
                self._note.update(Content(problem))
                widget.focus()
                return
            if value is not None:
                values.append((field.name, value))
        self.dismiss(Response("accept", tuple(values)))

    def action_dismiss_with(self, action: str) -> None:
        self.dismiss(Response("decline" if action == "decline" else "cancel"))


def label_of(field: Field) -> str:
    required = " *" if field.required else ""
    description = f": {one_line(field.description)}" if field.description else ""
    return f"{one_line(field.title)}{required}{description}"


def widget_for(field: Field, identity: str) -> Input | Select[str]:
    made = _widget_for(field)
    made.id, made.compact = identity, True
    return made.add_class("field")


def _widget_for(field: Field) -> Input | Select[str]:
    choices = tuple(_BOOLEANS) if field.kind == "boolean" else field.choices
    if choices and field.kind != "array":
        listed = [(one_line(choice), choice) for choice in choices]
        known = field.default
        if isinstance(known, bool):
            known = _YES if known else _NO
        if known in choices:
            return Select(listed, value=str(known), allow_blank=not field.required)
        return Select(listed)
    hint = ", ".join(field.choices) if field.choices else field.kind
    default = "" if field.default is None else str(field.default)
    return Input(default, placeholder=one_line(hint))


def read_value(field: Field, given: object) -> tuple[Value, str]:
    """Return a field's value and a problem; the problem is empty if the value is valid."""
    text = "" if given is None or isinstance(given, NoSelection) else str(given).strip()
    if not text:
        return None, f"{one_line(field.title)} is required." if field.required else ""
    if field.kind == "array":
        return [part.strip() for part in text.split(",") if part.strip()], ""
    if field.kind == "boolean":
        return _BOOLEANS.get(text), ""
    if field.kind in _NUMBERS:
        try:
            return _NUMBERS[field.kind](text), ""
        except ValueError:
            return None, f"{one_line(field.title)} is not a valid {field.kind}."
    return text, ""
