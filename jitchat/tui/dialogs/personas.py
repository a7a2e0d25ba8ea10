"""The personas that the conversation on screen can use."""

from collections.abc import Mapping

from jitchat.settings.sections import NamedPersona
from jitchat.text.sanitize import one_line, shorten
from jitchat.tui.dialogs.choice import ChoiceScreen, titled
from jitchat.tui.drawing import Content

_WORDS = 80
"""Characters shown of a system prompt."""


def personas_screen(personas: Mapping[str, NamedPersona], in_use: str) -> ChoiceScreen[str]:
    """Return a dialog for the name of a persona, empty for none."""
    names = ["", *personas]

    def row(name: str) -> Content:
        mark = " · in use" if name == in_use else ""
        if not name:
            return titled("none", f"default settings{mark}")
        persona = personas[name]
        model = one_line(" ".join(filter(None, (persona.provider, persona.model))))
        about = " · ".join(filter(None, (model, shorten(persona.system, _WORDS))))
        return titled(name, f"{about}{mark}")

    keys = "Enter select · /system saves one · Esc close"
    rows = [(row(name), name) for name in names]
    return ChoiceScreen("Personas", keys, rows, at=names.index(in_use))
