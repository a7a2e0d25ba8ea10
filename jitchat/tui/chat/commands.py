"""Parse commands in the prompt: `/` and the name of an action, alone or before an argument.

Prompts of MCP servers are typed as `/server:name`. A draft that begins with a command is never
sent as a message, and no window is planned for it, unless there is a space before the `/`.
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
"""Maximum characters of a draft that are searched for a mode."""
_TURN = re.compile(r"#?(\d{1,18})(?:\s+|$)", re.ASCII)


@dataclass(frozen=True, slots=True)
class Prompts:
    """The prompts of MCP servers, as typed by the user."""

    servers: frozenset[str] = frozenset()
    """All configured servers; the prompts of a server that is not running are unknown."""
    sentences: Mapping[str, str] = field(default_factory=dict)
    """Arguments and description of each prompt, by `server:name`."""


NONE = Prompts()


@dataclass(frozen=True, slots=True)
class Command:
    name: str
    """The command of an action, or a server's prompt as `server:name`."""
    argument: str = ""

    @property
    def action(self) -> Action:
        return COMMANDS[self.name]


@dataclass(frozen=True, slots=True)
class Addressed:
    """A draft and the mode to send it in; with None, the current mode is used."""

    text: str
    mode: Mode | None = None


def addressed_in(draft: str) -> Addressed:
    """Split a mode for one message off the start of a draft: `@full and now?`."""
    found = _ADDRESS.match(draft)
    return Addressed(draft[found.end() :], Mode(found[1].lower())) if found else Addressed(draft)


def command_in(draft: str, prompts: Prompts = NONE) -> Command | None:
    """Parse a command; None for a message, such as a path, or a misspelt command."""
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
    """Whether a draft begins with a command or is an incomplete one, and so is not a message."""
    if _unknown_prompt(draft, prompts) or command_in(draft, prompts) is not None:
        return True
    found = _BEGINS.match(draft)
    return found is not None and (found[1].lower() in COMMANDS or not draft[found.end() :].strip())


def beginning_of(line: str, prompts: Prompts = NONE) -> tuple[int, int] | None:
    """Return the span of the command or mode at the start of a draft's first line, or None."""
    if (mode := _ADDRESS.match(line)) is not None:
        return mode.start(1) - 1, mode.end(1)
    if (prompt := _PROMPT.match(line)) is not None and prompt[1] in prompts.sentences:
        return 0, prompt.end(1)
    found = _BEGINS.match(line)
    return (0, found.end(1)) if found is not None and found[1].lower() in COMMANDS else None


def _unknown_prompt(draft: str, prompts: Prompts) -> str:
    """Return a server's prompt that is not known (yet); empty if the draft names no server."""
    found = _PROMPT.match(draft)
    if found is None or found[1] in prompts.sentences:
        return ""
    return found[1] if found[1].partition(":")[0] in prompts.servers else ""


def message_in(draft: str, prompts: Prompts = NONE) -> str:
    """Return the draft if it would be sent; empty for a command."""
    return "" if is_command(draft, prompts) else draft


def turn_ahead(argument: str) -> tuple[str, str]:
    """Split `#12 which port?` into the turn's id and the text; the id is empty if there is none."""
    found = _TURN.match(argument)
    return (found[1], argument[found.end() :]) if found else ("", argument)


def mistyped(draft: str, prompts: Prompts = NONE) -> str:
    """Explain why a draft that looks like a command is not one; empty for other drafts."""
    if unknown := _unknown_prompt(draft, prompts):
        return f"Not sent: there is no /{one_line(unknown)}, or its server is not ready."
    if not is_command(draft, prompts) or command_in(draft, prompts) is not None:
        return ""
    found = _BEGINS.match(draft)
    name = found[1].lower() if found is not None else ""
    if name in COMMANDS:
        takes = "one word" if COMMANDS[name].takes is Takes.WORD else "no argument"
        return f"/{name} takes {takes}. To send this as a message, put a space before it."
    return f"Not sent: there is no command /{name}. Commands: /{', /'.join(COMMANDS)}."


def mode_within(draft: str) -> str:
    """Warn about a mode that is not at the start of a draft; empty if there is none."""
    found = _MODE_WITHIN.search(addressed_in(draft[:_SEARCHED]).text)
    return f"{found[0]} only works at the start; here it is text" if found else ""


def hint_on(draft: str, prompts: Prompts = NONE) -> str:
    """Describe the command being typed, or list those it may become; empty for a message."""
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
        return "  ".join(fitting) if fitting else f"no command /{name} · /help lists commands"
    return mistyped(draft) or f"/{name} · {COMMANDS[name].sentence}"
