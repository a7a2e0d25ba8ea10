"""Find what is being typed at the cursor of the prompt, and its completions.

`/` starts a command, some of which have an argument; `@` a mode, at the start of the draft, or the
path of a file; `#` a turn, by its number or by a word in it.
"""

import re
from collections.abc import Iterable, Sequence
from dataclasses import dataclass
from enum import Enum, auto
from itertools import islice
from pathlib import Path

from jitchat.files.mentions import BEGINS
from jitchat.files.named import paths_beginning
from jitchat.text.words import fold
from jitchat.tools.approvals import Answer
from jitchat.tui.actions import COMMANDS, Takes
from jitchat.tui.chat.commands import Prompts
from jitchat.values import Mode

MOST = 50
"""Maximum completions offered."""
_PART = 2
"""Minimum letters to find names by a part other than the start."""
_COMMAND = re.compile(r"/([\w:-]*)")
_ARGUMENT = re.compile(r"/([a-z]+)\s+(\S.*|)", re.IGNORECASE)
_NAME = re.compile(BEGINS + r'("[^"]*|[^\s"]*)$')
_TURN = re.compile(r"(?<!\S)#(\w*)$")


class Kind(Enum):
    COMMAND = auto()
    MODE = auto()
    ANSWER = auto()
    PROJECT = auto()
    PERSONA = auto()
    MODEL = auto()
    NAME = auto()
    """A mode or a path."""
    PATH = auto()
    TURN = auto()


_SIGNS = {Kind.COMMAND: "/", Kind.NAME: "@", Kind.PATH: "@", Kind.TURN: "#"}
ARGUMENTS = {
    "mode": Kind.MODE,
    "once": Kind.MODE,
    "allow": Kind.ANSWER,
    "project": Kind.PROJECT,
    "persona": Kind.PERSONA,
    "model": Kind.MODEL,
}
"""The kind of argument that a command takes, by the command's name."""


@dataclass(frozen=True, slots=True)
class Begun:
    """A partly typed text, from a column of the cursor's line up to the cursor."""

    kind: Kind
    start: int
    typed: str
    """Without the sign."""

    @property
    def written(self) -> str:
        return f"{_SIGNS.get(self.kind, '')}{self.typed}"


@dataclass(frozen=True, slots=True)
class Choice:
    text: str
    """The text that replaces the partly typed one, with the sign."""
    about: str = ""
    suffix: str = " "
    """Text that is inserted after it."""


def begun_at(line: str, column: int, *, is_first: bool) -> Begun | None:
    """Find the partly typed text before the cursor; `is_first` is the draft's first line."""
    before = line[:column]
    if line[column : column + 1].strip():
        return None  # in the middle of a word
    if is_first and (found := _COMMAND.fullmatch(before)) is not None:
        return Begun(Kind.COMMAND, 0, found[1])
    if is_first and (found := _ARGUMENT.fullmatch(before)) is not None:
        kind = ARGUMENTS.get(found[1].lower())
        if kind is not None:
            return Begun(kind, found.start(2), found[2])
    if (found := _NAME.search(before)) is not None:
        is_at_start = is_first and not before[: found.start()].strip()
        return Begun(Kind.NAME if is_at_start else Kind.PATH, found.start(), found[1])
    if (found := _TURN.search(before)) is not None:
        return Begun(Kind.TURN, found.start(), found[1])
    return None


def known_choices(begun: Begun, prompts: Prompts) -> list[Choice] | None:
    """Return the completions that need no lookup; None if they have to be looked up."""
    match begun.kind:
        case Kind.COMMAND:
            commands = (
                Choice(f"/{name}", action.sentence, "" if action.takes is Takes.NOTHING else " ")
                for name, action in COMMANDS.items()
            )
            of_servers = (Choice(f"/{name}", about) for name, about in prompts.sentences.items())
            return _fitting(begun, (*commands, *of_servers))
        case Kind.MODE:
            return _fitting(begun, [Choice(mode, mode.description, "") for mode in Mode])
        case Kind.ANSWER:
            answers = [Choice(each.name.lower(), each.value, "") for each in Answer]
            return _fitting(begun, answers)
    return None


def choices_among(begun: Begun, named: Iterable[Choice]) -> list[Choice]:
    """Return the values of an argument that contain the typed text."""
    wanted = fold(begun.typed)
    return list(islice((each for each in named if wanted in fold(each.text)), MOST))


def names_beginning(begun: Begun, folder: Path) -> list[Choice]:
    """Return the modes, if allowed here, and the paths with the typed start. Reads a folder."""
    modes = [Choice(f"@{mode}", mode.description) for mode in Mode]
    fitting = _fitting(begun, modes) if begun.kind is Kind.NAME else []
    paths = paths_beginning(begun.typed.removeprefix('"'), folder, MOST)
    return [*fitting, *map(_choice_of, paths)]


def _choice_of(path: str) -> Choice:
    """Return `@notes.md` or `@"meeting notes.md"`; a folder's path can be continued."""
    is_folder = path.endswith("/")
    quote = '"' if re.search(r"\s", path) else ""
    return Choice(f"@{quote}{path}{'' if is_folder else quote}", "", "" if is_folder else " ")


def _fitting(begun: Begun, choices: Sequence[Choice]) -> list[Choice]:
    """Return choices that start with the typed text, then those that contain it elsewhere."""
    whole, part = begun.written.casefold(), begun.typed.casefold()
    begin = [each for each in choices if each.text.startswith(whole)]
    if len(part) < _PART:
        return begin
    return begin + [each for each in choices if part in each.text and each not in begin]
