"""What can be completed at the cursor of the prompt, and by what.

`/` begins a command, and behind some commands an argument; `@` a mode, at the beginning, or the
path of a file; `#` a turn, by its number or by a word of it.
"""

import re
from collections.abc import Iterable, Sequence
from dataclasses import dataclass
from enum import Enum, auto
from itertools import islice
from pathlib import Path

from jitchat.files.mentions import paths_beginning
from jitchat.text.words import fold
from jitchat.tools.approvals import Answer
from jitchat.tui.actions import COMMANDS, Takes
from jitchat.tui.chat.commands import Prompts
from jitchat.values import Mode

MOST = 50
"""So many are offered."""
_PART = 2
"""Letters from which names are found by a part."""
_COMMAND = re.compile(r"/([\w:-]*)")
_ARGUMENT = re.compile(r"/([a-z]+)\s+(\S.*|)", re.IGNORECASE)
_NAME = re.compile(r'(?<!\S)@("[^"]*|[^\s"]*)$')
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
"""What some commands take, by their names."""


@dataclass(frozen=True, slots=True)
class Begun:
    """What was begun, from a column of the cursor's line up to the cursor."""

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
    """What stands in the place of what was begun, with the sign."""
    about: str = ""
    behind: str = " "
    """What is typed behind it, as there is nothing yet."""


def begun_at(line: str, column: int, *, is_first: bool) -> Begun | None:
    """Find what is begun ahead of the cursor, in the first line of the draft or another one."""
    ahead = line[:column]
    if line[column : column + 1].strip():
        return None  # in the middle of a word
    if is_first and (found := _COMMAND.fullmatch(ahead)) is not None:
        return Begun(Kind.COMMAND, 0, found[1])
    if is_first and (found := _ARGUMENT.fullmatch(ahead)) is not None:
        kind = ARGUMENTS.get(found[1].lower())
        if kind is not None:
            return Begun(kind, found.start(2), found[2])
    if (found := _NAME.search(ahead)) is not None:
        is_ahead = is_first and not ahead[: found.start()].strip()
        return Begun(Kind.NAME if is_ahead else Kind.PATH, found.start(), found[1])
    if (found := _TURN.search(ahead)) is not None:
        return Begun(Kind.TURN, found.start(), found[1])
    return None


def known_choices(begun: Begun, prompts: Prompts) -> list[Choice] | None:
    """List what completes it of what is always known; None for what has to be looked up."""
    match begun.kind:
        case Kind.COMMAND:
            commands = (
                Choice(f"/{name}", action.sentence, "" if action.takes is Takes.NOTHING else " ")
                for name, action in COMMANDS.items()
            )
            of_servers = (Choice(f"/{name}", told) for name, told in prompts.sentences.items())
            return _fitting(begun, (*commands, *of_servers))
        case Kind.MODE:
            return _fitting(begun, [Choice(mode, mode.description, "") for mode in Mode])
        case Kind.ANSWER:
            answers = [Choice(each.name.lower(), each.value, "") for each in Answer]
            return _fitting(begun, answers)
    return None


def choices_among(begun: Begun, named: Iterable[Choice]) -> list[Choice]:
    """Choose those of an argument's values that have what is typed in them."""
    wanted = fold(begun.typed)
    return list(islice((each for each in named if wanted in fold(each.text)), MOST))


def names_beginning(begun: Begun, folder: Path) -> list[Choice]:
    """List the modes, where one may stand, and the paths that begin so. Reads a folder."""
    modes = [Choice(f"@{mode}", mode.description) for mode in Mode]
    fitting = _fitting(begun, modes) if begun.kind is Kind.NAME else []
    paths = paths_beginning(begun.typed.removeprefix('"'), folder, MOST)
    return [*fitting, *map(_choice_of, paths)]


def _choice_of(path: str) -> Choice:
    """Write `@notes.md` or `@"meeting notes.md"`; a folder is gone on with."""
    is_folder = path.endswith("/")
    quote = '"' if re.search(r"\s", path) else ""
    return Choice(f"@{quote}{path}{'' if is_folder else quote}", "", "" if is_folder else " ")


def _fitting(begun: Begun, choices: Sequence[Choice]) -> list[Choice]:
    """Choose those that begin so, ahead of those that have what is typed elsewhere in the name."""
    whole, part = begun.written.casefold(), begun.typed.casefold()
    begin = [each for each in choices if each.text.startswith(whole)]
    if len(part) < _PART:
        return begin
    return begin + [each for each in choices if part in each.text and each not in begin]
