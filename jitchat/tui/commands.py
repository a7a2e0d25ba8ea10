"""What the prompt takes for an action: `/` and the name of one, alone or before an argument.

What begins with one is never a message, and no window is planned for it; with a blank ahead of it,
it is.
"""

import re
from dataclasses import dataclass

from jitchat.values import Mode

COMMANDS = {
    "model": "models",
    "mode": "use_mode",
    "once": "use_once",
    "new": "new_conversation",
    "resume": "resume",
    "retry": "ask('regenerate')",
    "edit": "edit",
    "continue": "ask('go_on')",
    "inspect": "toggle_inspector",
    "count": "count_exactly",
    "window": "switch_window",
    "reasoning": "reasoning",
    "ledger": "view('ledger')",
    "why": "view('ledger')",
    "compare": "view('what_if')",
    "askall": "view('ask_all')",
    "budget": "view('budget')",
    "sends": "view('sent_windows')",
    "wire": "view('wire')",
    "history": "view('history')",
    "mattered": "view('leave_one_out')",
    "wrong": "view('missing_turn')",
    "check": "view('regression_cases')",
    "rot": "rot",
    "pin": "hold('pinned')",
    "exclude": "hold('excluded')",
    "undo": "undo_hold",
    "help": "help",
    "quit": "app.quit",
}
"""By what is typed: the action of the chat screen."""
LOOKS = {
    "why": "ledger",
    "ledger": "ledger",
    "compare": "what_if",
    "askall": "ask_all",
    "budget": "budget",
    "wire": "wire",
}
"""Commands that open a view on a window: of the text behind them, else of the last message sent."""
TAKES_WORD = frozenset({"mode", "once", "pin", "exclude"})
TAKES_WORDS = frozenset({"model", *LOOKS})
_ADDRESS = re.compile(rf"\s*@({'|'.join(Mode)})(?:\s+|$)", re.IGNORECASE)
_COMMAND = re.compile(r"/([a-z]*)(?:\s+(\S.*)|\s*)", re.IGNORECASE | re.DOTALL)
_BEGINS = re.compile(r"/([a-z]*)(\s|$)", re.IGNORECASE)
_TURN = re.compile(r"#?(\d{1,18})(?:\s+|$)", re.ASCII)


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
    """Read a command; None for what is a message, such as a path, or for what is misspelt."""
    found = _COMMAND.fullmatch(draft) if is_command(draft) else None
    if found is None or found[1].lower() not in COMMANDS:
        return None
    name, given = found[1].lower(), (found[2] or "").strip()
    if name in LOOKS:
        return Command(name, given)
    words = given.split()
    is_fit = not words or name in TAKES_WORDS or (name in TAKES_WORD and len(words) == 1)
    return Command(name, " ".join(words)) if is_fit and "\n" not in draft.strip() else None


def is_command(draft: str) -> bool:
    """Whether a draft begins with a command, or is all that there is of one: no message then."""
    found = _BEGINS.match(draft)
    return found is not None and (found[1].lower() in COMMANDS or not draft[found.end() :].strip())


def message_in(draft: str) -> str:
    """Take a draft for what would be sent: empty for a command."""
    return "" if is_command(draft) else draft


def turn_ahead(argument: str) -> tuple[str, str]:
    """Cut `#12 which port?` in the turn's id and the text; the id is empty where none is given."""
    found = _TURN.match(argument)
    return (found[1], argument[found.end() :]) if found else ("", argument)


def mistyped(draft: str) -> str:
    """Tell of what begins with a command, or looks like one, and is none; empty for the rest."""
    if not is_command(draft) or command_in(draft) is not None:
        return ""
    found = _BEGINS.match(draft)
    name = found[1].lower() if found is not None else ""
    if name in COMMANDS:
        takes = "one word" if name in TAKES_WORD else "nothing"
        return f"/{name} takes {takes} behind it. With a blank ahead of it, it is a message."
    return f"There is no command /{name}. It was not sent: there are /{', /'.join(COMMANDS)}."
