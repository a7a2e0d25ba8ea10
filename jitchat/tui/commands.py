"""What the prompt takes for an action: `/` and the name of one, alone or before an argument."""

from __future__ import annotations

import re
from dataclasses import dataclass

from jitchat.turn import Mode

COMMANDS = {
    "model": "models",
    "mode": "use_mode",
    "once": "use_once",
    "new": "new_conversation",
    "resume": "resume",
    "retry": "regenerate",
    "edit": "edit",
    "continue": "go_on",
    "inspect": "toggle_inspector",
    "count": "count_exactly",
    "ledger": "view('ledger')",
    "why": "why",
    "compare": "view('what_if')",
    "askall": "view('ask_all')",
    "budget": "view('budget')",
    "sends": "view('sends')",
    "wire": "view('wire')",
    "history": "view('history')",
    "mattered": "view('mattered')",
    "wrong": "view('miss')",
    "check": "view('cases')",
    "rot": "rot",
    "pin": "hold('pinned')",
    "exclude": "hold('excluded')",
    "undo": "undo_hold",
    "help": "help",
    "quit": "app.quit",
}
"""By what is typed: the action of the chat screen."""
TAKES_WORD, TAKES_WORDS = frozenset({"mode", "once", "pin", "exclude", "why"}), frozenset({"model"})
_ADDRESS = re.compile(rf"\s*@({'|'.join(Mode)})(?:\s+|$)", re.IGNORECASE)
_COMMAND = re.compile(r"/([a-z]+)(?:[ \t]+(\S.*))?", re.IGNORECASE)


@dataclass(frozen=True, slots=True)
class Command:
    """An action that was typed."""

    name: str
    argument: str = ""


@dataclass(frozen=True, slots=True)
class Addressed:
    """A draft, and the mode that it is to be sent in, whatever the screen's is."""

    text: str
    mode: Mode | None = None


def addressed_in(draft: str) -> Addressed:
    """Read a mode for one message off its beginning: `@full and now?`."""
    found = _ADDRESS.match(draft)
    return Addressed(draft[found.end() :], Mode(found[1].lower())) if found else Addressed(draft)


def command_in(draft: str) -> Command | None:
    """Read a command; None for what is a message, such as a path, a sentence or two lines."""
    found = _COMMAND.fullmatch(draft.strip())
    if found is None or found[1].lower() not in COMMANDS:
        return None
    name, given = found[1].lower(), (found[2] or "").split()
    is_fit = not given or name in TAKES_WORDS or (name in TAKES_WORD and len(given) == 1)
    return Command(name, " ".join(given)) if is_fit else None


def mistyped(draft: str) -> str:
    """Tell of what looks like a command and is none; empty for a message.

    To send such a word as it stands, it takes a second word.
    """
    found = _COMMAND.fullmatch(draft.strip())
    if found is None or found[2] or found[1].lower() in COMMANDS:
        return ""
    return f"There is no command /{found[1]}. It was not sent: there are /{', /'.join(COMMANDS)}."
