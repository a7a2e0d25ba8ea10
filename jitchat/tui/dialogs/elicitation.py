"""A form that a server of tools asks the user to fill in, in the middle of a call.

Its words are the server's: shown as such, and never as markup.
"""

from textual import on
from textual.app import ComposeResult
from textual.binding import Binding
from textual.containers import VerticalScroll
from textual.content import Content
from textual.widgets import Checkbox, Input, Label, Select, Static
from textual.widgets._select import NoSelection

from jitchat.text.sanitize import for_terminal, one_line
from jitchat.tools.mcp.elicitation import Field, Request, Response, Value
from jitchat.tui.dialogs.dialog import Dialog, box

_NUMBERS = {"integer": int, "number": float}


class ElicitationScreen(Dialog[Response]):
    BINDINGS = [  # noqa: RUF012  Textual's own shape
        Binding("ctrl+s", "accept", "Answer", id="elicitation_accept", priority=True),
        Binding("escape", "dismiss_with('cancel')", "Cancel", id="elicitation_cancel"),
        Binding("ctrl+d", "dismiss_with('decline')", "Decline", id="elicitation_decline"),
    ]

    def __init__(self, request: Request) -> None:
        super().__init__()
        self._request = request
        self._note = Static(id="elicitation-note")

    def compose(self) -> ComposeResult:
        asks = f"{one_line(self._request.server)} asks"
        with box(asks, "Ctrl+S answer · Ctrl+D decline · Esc cancel"), VerticalScroll():
            yield Static(Content(for_terminal(self._request.message)), id="elicitation-message")
            if self._request.url:
                address = for_terminal(self._request.url)
                yield Static(Content(f"Open this address yourself, if you trust it: {address}"))
            for number, field in enumerate(self._request.fields):
                yield Label(Content(label_of(field)))
                yield widget_for(field, f"field-{number}")
            yield self._note

    @on(Input.Submitted)
    def action_accept(self) -> None:
        """Answer; what lacks or cannot be is said."""
        values: list[tuple[str, Value]] = []
        for number, field in enumerate(self._request.fields):
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
    needed = " *" if field.required else ""
    told = f": {one_line(field.description)}" if field.description else ""
    return f"{one_line(field.title)}{needed}{told}"


def widget_for(field: Field, identity: str) -> Input | Select[str] | Checkbox:
    if field.kind == "boolean":
        return Checkbox(value=bool(field.default), id=identity)
    if field.choices and field.kind != "array":
        listed = [(one_line(choice), choice) for choice in field.choices]
        known = field.default if field.default in field.choices else None
        if known is not None:
            return Select(listed, value=str(known), id=identity, allow_blank=not field.required)
        return Select(listed, id=identity)
    hint = ", ".join(field.choices) if field.choices else field.kind
    default = "" if field.default is None else str(field.default)
    return Input(default, placeholder=one_line(hint), id=identity)


def read_value(field: Field, given: object) -> tuple[Value, str]:
    """Read what was filled in; the value, and what is wrong with it, empty for nothing."""
    if isinstance(given, bool):
        return given, ""
    text = "" if given is None or isinstance(given, NoSelection) else str(given).strip()
    if not text:
        return None, f"{one_line(field.title)} is required." if field.required else ""
    if field.kind == "array":
        return [part.strip() for part in text.split(",") if part.strip()], ""
    if field.kind in _NUMBERS:
        try:
            return _NUMBERS[field.kind](text), ""
        except ValueError:
            return None, f"{one_line(field.title)} is no {field.kind}."
    return text, ""
