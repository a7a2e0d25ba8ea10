"""What the prompt takes for an action: `/` and the name of one, alone or before an argument."""

from __future__ import annotations

import re
from dataclasses import dataclass

COMMANDS = {
    "model": "models",
    "mode": "use_mode",
    "new": "new_conversation",
    "resume": "resume",
    "retry": "regenerate",
    "edit": "edit",
    "continue": "go_on",
    "inspect": "toggle_inspector",
    "count": "count_exactly",
    "help": "help",
    "quit": "app.quit",
}
"""By what is typed: the action of the chat screen."""
TAKES_ARGUMENT = frozenset({"model", "mode"})
_COMMAND = re.compile(r"/([a-z]+)(?:[ \t]+(\S+))?\s*", re.IGNORECASE)


@dataclass(frozen=True, slots=True)
class Command:
    """An action that was typed."""

    name: str
    argument: str = ""


def command_in(draft: str) -> Command | None:
    """Read a command; None for what is a message, such as a path or a sentence."""
    found = _COMMAND.fullmatch(draft.strip())
    if found is None or found[1].lower() not in COMMANDS:
        return None
    name, argument = found[1].lower(), found[2] or ""
    return Command(name, argument) if name in TAKES_ARGUMENT or not argument else None
