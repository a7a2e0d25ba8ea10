"""What the prompt takes for an action: `/` and the name of one, alone or before an argument.

So are the prompts of servers, as `/server:name`. What begins with one is never a message, and no
window is planned for it; with a blank ahead of it, it is.
"""

import re
from collections.abc import Mapping
from dataclasses import dataclass, field

from jitchat.text.sanitize import one_line
from jitchat.tui.actions import COMMANDS, Action, Takes
from jitchat.values import Mode

_ADDRESS = re.compile(rf"\s*@({'|'.join(Mode)})(?:\s+|$)", re.IGNORECASE)
_BEGINS = re.compile(r"/([a-z]*)(\s|$)", re.IGNORECASE)
_PROMPT = re.compile(r"/([\w-]+:\S*)(?:\s+|$)")
_MODE_WITHIN = re.compile(rf"(?<!\S)@({'|'.join(Mode)})(?!\S)", re.IGNORECASE)
_SEARCHED = 10_000
"""Characters of a draft in which a mode is looked for."""
_TURN = re.compile(r"#?(\d{1,18})(?:\s+|$)", re.ASCII)


@dataclass(frozen=True, slots=True)
class Prompts:
    """The prompts of servers, as they are typed."""

    servers: frozenset[str] = frozenset()
    """All that are configured; the prompts of one that does not run are not known."""
    sentences: Mapping[str, str] = field(default_factory=dict)
    """What each takes and does, by `server:name`."""


NONE = Prompts()


@dataclass(frozen=True, slots=True)
class Command:
    name: str
    """Of an action, or of a prompt of a server."""
    argument: str = ""

    @property
    def action(self) -> Action:
        return COMMANDS[self.name]


@dataclass(frozen=True, slots=True)
class Addressed:
    """A draft, and the mode that it is to be sent in, whatever the screen's is."""

    text: str
    mode: Mode | None = None


def addressed_in(draft: str) -> Addressed:
    """Read a mode for one message off its beginning: `@full and now?`."""
    found = _ADDRESS.match(draft)
    return Addressed(draft[found.end() :], Mode(found[1].lower())) if found else Addressed(draft)


def command_in(draft: str, prompts: Prompts = NONE) -> Command | None:
    """Read a command; None for what is a message, such as a path, or for what is misspelt."""
    if (prompt := _PROMPT.match(draft)) is not None and prompt[1] in prompts.sentences:
        return Command(prompt[1], draft[prompt.end() :].strip())
    found = _BEGINS.match(draft)
    if found is None or found[1].lower() not in COMMANDS:
        return None
    name, argument = found[1].lower(), draft[found.end() :].strip()
    takes, words = COMMANDS[name].takes, argument.split()
    if takes in (Takes.MESSAGE, Takes.TEXT):
        return Command(name, argument)
    is_fit = not words or takes is Takes.WORDS or (takes is Takes.WORD and len(words) == 1)
    return Command(name, " ".join(words)) if is_fit and "\n" not in draft.strip() else None


def is_command(draft: str, prompts: Prompts = NONE) -> bool:
    """Whether a draft begins with a command, or is all that there is of one: no message then."""
    if _unknown_prompt(draft, prompts) or command_in(draft, prompts) is not None:
        return True
    found = _BEGINS.match(draft)
    return found is not None and (found[1].lower() in COMMANDS or not draft[found.end() :].strip())


def beginning_of(line: str, prompts: Prompts = NONE) -> tuple[int, int] | None:
    """Find the command or the mode that a draft's first line begins with; where it stands."""
    if (mode := _ADDRESS.match(line)) is not None:
        return mode.start(1) - 1, mode.end(1)
    if (prompt := _PROMPT.match(line)) is not None and prompt[1] in prompts.sentences:
        return 0, prompt.end(1)
    found = _BEGINS.match(line)
    return (0, found.end(1)) if found is not None and found[1].lower() in COMMANDS else None


def _unknown_prompt(draft: str, prompts: Prompts) -> str:
    """Read a prompt that its server does not have, or not yet; empty where no server is named."""
    found = _PROMPT.match(draft)
    if found is None or found[1] in prompts.sentences:
        return ""
    return found[1] if found[1].partition(":")[0] in prompts.servers else ""


def message_in(draft: str, prompts: Prompts = NONE) -> str:
    """Take a draft for what would be sent: empty for a command."""
    return "" if is_command(draft, prompts) else draft


def turn_ahead(argument: str) -> tuple[str, str]:
    """Cut `#12 which port?` in the turn's id and the text; the id is empty where none is given."""
    found = _TURN.match(argument)
    return (found[1], argument[found.end() :]) if found else ("", argument)


def mistyped(draft: str, prompts: Prompts = NONE) -> str:
    """Tell of what begins with a command, or looks like one, and is none; empty for the rest."""
    if unknown := _unknown_prompt(draft, prompts):
        return f"There is no /{one_line(unknown)}, or its server is not ready. It was not sent."
    if not is_command(draft, prompts) or command_in(draft, prompts) is not None:
        return ""
    found = _BEGINS.match(draft)
    name = found[1].lower() if found is not None else ""
    if name in COMMANDS:
        takes = "one word" if COMMANDS[name].takes is Takes.WORD else "nothing"
        return f"/{name} takes {takes} behind it. With a blank ahead of it, it is a message."
    return f"There is no command /{name}. It was not sent: there are /{', /'.join(COMMANDS)}."


def mode_within(draft: str) -> str:
    """Say that a mode counts at the beginning only, where a draft has one elsewhere."""
    found = _MODE_WITHIN.search(addressed_in(draft[:_SEARCHED]).text)
    return f"{found[0]} counts at the beginning only: here it is text" if found else ""


def hint_on(draft: str, prompts: Prompts = NONE) -> str:
    """Say what Enter does with a command as far as it is typed; empty for a message."""
    command = command_in(draft, prompts)
    if command is not None and command.name in prompts.sentences:
        return f"/{command.name} · {prompts.sentences[command.name]}"
    begun = [each for each in prompts.sentences if each.startswith(draft[1:])]
    if draft[:1] == "/" and begun:
        named = [each for each in COMMANDS if each.startswith(draft[1:])]
        return "  ".join(f"/{each}" for each in (*named, *begun))
    return _hint_on_action(draft)


def _hint_on_action(draft: str) -> str:
    if not is_command(draft):
        return ""
    name = draft[1:].split(maxsplit=1)[0].lower() if draft[1:].strip() else ""
    if name not in COMMANDS:
        fitting = [f"/{each}" for each in COMMANDS if each.startswith(name)]
        return "  ".join(fitting) if fitting else f"/{name} is no command · /help lists them"
    return mistyped(draft) or f"/{name} · {COMMANDS[name].sentence}"
