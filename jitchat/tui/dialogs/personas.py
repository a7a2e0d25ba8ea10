"""Picks one of the configured personas, or none, for the conversation on screen."""

from collections.abc import Mapping

from textual import on
from textual.app import ComposeResult
from textual.binding import Binding
from textual.widgets import OptionList
from textual.widgets.option_list import Option

from jitchat.settings.sections import NamedPersona
from jitchat.text.sanitize import one_line, shorten
from jitchat.tui.dialogs.dialog import Dialog, box
from jitchat.tui.drawing import Content
from jitchat.tui.palette import MUTED
from jitchat.tui.widgets.row_list import PointedList

_WORDS = 80
"""Characters shown of a system prompt."""


class PersonasScreen(Dialog[str | None]):
    """Returns the name of a persona, empty for none; None if nothing was chosen."""

    BINDINGS = [  # noqa: RUF012  Textual's own shape
        Binding("escape", "dismiss(None)", "Close", id="personas_close")
    ]

    def __init__(self, personas: Mapping[str, NamedPersona], in_use: str) -> None:
        super().__init__()
        self._personas, self._in_use = personas, in_use
        self._names = ["", *personas]

    def compose(self) -> ComposeResult:
        with box("Personas", "Enter select · /system saves one · Esc close"):
            yield PointedList(id="choices")

    def on_mount(self) -> None:
        choices = self.query_one(PointedList)
        choices.set_options(Option(self._line(name)) for name in self._names)
        choices.highlighted = self._names.index(self._in_use)
        choices.focus()

    def _line(self, name: str) -> Content:
        mark = " · in use" if name == self._in_use else ""
        if not name:
            return Content.assemble(("none", "bold"), (f"  default settings{mark}", MUTED))
        persona = self._personas[name]
        model = one_line(" ".join(filter(None, (persona.provider, persona.model))))
        words = shorten(persona.system, _WORDS)
        about = " · ".join(filter(None, (model, words)))
        return Content.assemble((name, "bold"), (f"  {about}{mark}", MUTED))

    @on(OptionList.OptionSelected)
    def _choose(self, message: OptionList.OptionSelected) -> None:
        self.dismiss(self._names[message.option_index])
