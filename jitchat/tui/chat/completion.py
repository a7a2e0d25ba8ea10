"""What is recognised in the prompt: highlights, and the completions at the cursor with their keys.

`/` starts a command, some of which have an argument; `@` a mode, at the start of the draft, or the
path of a file; `#` a turn, by its number or by a word in it.

The list opens while the user types, not on a paste or when the cursor moves to a text, and closes
when the cursor leaves the partly typed text. Lookups that may wait for a disk run in a thread.
"""

from __future__ import annotations

import re
from contextlib import suppress
from dataclasses import dataclass, field
from enum import Enum, auto
from itertools import islice
from typing import TYPE_CHECKING

from jitchat.errors import FileRefused, JitchatError
from jitchat.files.named import BEGINS, find_mention, mentions_in, paths_beginning
from jitchat.paths import current_folder
from jitchat.text.figures import plural
from jitchat.text.sanitize import shorten
from jitchat.text.sentences import reference_spans
from jitchat.text.words import fold
from jitchat.tools.approvals import Answer
from jitchat.tui.actions import COMMANDS, Takes
from jitchat.tui.chat.commands import Prompts, beginning_of
from jitchat.tui.chat.host import Controller
from jitchat.tui.chat.opening import Opening
from jitchat.tui.chat.personas import NONE
from jitchat.turn_list import positions_of, up_to
from jitchat.values import AUTO, Mode

if TYPE_CHECKING:
    from collections.abc import Iterable, Iterator, Sequence
    from pathlib import Path

    from jitchat.session import Session

_SEARCHED = 10_000
"""Maximum characters of a line or draft that are searched."""
Span = tuple[int, int]


@dataclass(eq=False)
class Highlights(Controller):
    opening: Opening
    _paths: dict[str, bool] = field(default_factory=dict)
    """Whether each path mentioned in the draft exists."""

    def __post_init__(self) -> None:
        self.surfaces.prompt.recognised = self.spans

    def follow(self) -> None:
        """Look up newly typed paths; clearing the prompt forgets all of them."""
        draft = self.surfaces.prompt.message.typed[:_SEARCHED]
        if not draft:
            self._paths.clear()
        mentions = (mention.name for mention in mentions_in(draft))
        unknown = [path for path in mentions if path not in self._paths]
        if unknown:
            self._paths |= dict.fromkeys(unknown, False)
            self.host.in_thread(lambda: self._look_up(unknown), "paths")

    def _take(self, paths: dict[str, bool]) -> None:
        self._paths |= paths
        self.surfaces.prompt.draw_marks()

    def spans(self, line: str, typed: str, *, is_first: bool) -> Iterator[Span]:
        """Yield the spans to highlight in a line of the prompt; `is_first` is the first line.

        `typed` is the line without its foreign text, which attaches nothing.
        """
        line = line[:_SEARCHED]
        if is_first and (found := beginning_of(line, self.surfaces.prompts)) is not None:
            yield found
        mentions = mentions_in(typed[:_SEARCHED])
        yield from ((m.start, m.end) for m in mentions if self._paths.get(m.name))
        session = self.opening.session
        turns = session.memory.snapshot.turns if session is not None else ()
        for span, position in reference_spans(line):
            if up_to(turns, position) > up_to(turns, position - 1):
                yield span

    def _look_up(self, paths: list[str]) -> None:
        self.host.later(self._take, {path: is_there(path) for path in paths})


def is_there(mention: str) -> bool:
    """Whether a mention names a file that can be attached. Slow."""
    try:
        return bool(find_mention(mention, current_folder()).files)
    except FileRefused:  # too many files, which is reported when the message is sent
        return True


MOST = 50
"""Maximum completions offered."""
_PART = 2
"""Minimum letters to find names by a part other than the start."""
_COMMAND = re.compile(r"/([\w:-]*)")
_ARGUMENT = re.compile(r"/([a-z]+)\s+(\S.*|)", re.IGNORECASE)
_NAME = re.compile(BEGINS + r'("[^"]*|[^\s"]*)$')
_TURN = re.compile(r"(?<!\S)#(\w*)$")
_SHOWN = 120
"""Maximum characters of a turn or persona in the list."""


class Kind(Enum):
    COMMAND = auto()
    MODE = auto()
    ANSWER = auto()
    PROJECT = auto()
    PERSONA = auto()
    MODEL = auto()
    SIZE = auto()
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
    "size": Kind.SIZE,
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
        case Kind.SIZE:
            return _fitting(begun, [Choice(AUTO, "usual for the model", "")])
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


@dataclass(eq=False)
class Completions(Controller):
    opening: Opening

    _begun: Begun | None = None
    """The partly typed text at the cursor."""
    _shown: tuple[Begun, Sequence[Choice]] | None = None
    """What the list shows while it is open; None if it is closed."""
    _is_pointed: bool = False
    """Whether a row was highlighted with an arrow key."""
    _closed: int | None = None
    """Start column of the partly typed text for which the user closed the list."""

    def __post_init__(self) -> None:
        self.surfaces.prompt.ahead = self.takes

    @property
    def is_open(self) -> bool:
        return self._shown is not None

    def follow(self) -> None:
        """Open, narrow or close the list, after the prompt or its cursor changed."""
        prompt, begun = self.surfaces.prompt, self._at_cursor()
        if begun == self._begun:
            return
        self._begun = begun
        if begun is None or begun.start != self._closed:
            self._closed = None
        if begun is None or self._closed is not None or not (self.is_open or prompt.is_by_hand):
            self.close()
        elif (known := self._known(begun)) is not None:
            self._take(begun, known)
        else:
            self.host.in_thread(lambda: self._look_up(begun), "completion", exclusive=True)

    def _known(self, begun: Begun) -> Sequence[Choice] | None:
        """Return the completions in memory; None if they have to be looked up."""
        if begun.kind is Kind.PERSONA:
            personas = self.backend.settings.personas.values()
            named = [Choice(each.name, shorten(each.system, _SHOWN), "") for each in personas]
            return choices_among(begun, [*named, Choice(NONE, "no persona", "")])
        return known_choices(begun, self.surfaces.prompts)

    def _take(self, begun: Begun, choices: Sequence[Choice]) -> None:
        """Show the completions found, unless the typed text has changed since."""
        if begun != self._begun:
            return
        if not choices or [each.text for each in choices] == [begun.written]:
            self.close()
            return
        self._shown, self._is_pointed = (begun, choices), False
        prompt, box = self.surfaces.prompt, self.surfaces.completions
        column = prompt.cursor_screen_offset.x - len(begun.written) - 1
        box.show([(each.text, each.about) for each in choices], prompt, column)
        # After the sign alone no row is highlighted: Enter sends "is it C #" unchanged.
        box.highlighted = 0 if begun.typed or begun.kind is Kind.COMMAND else None
        self.surfaces.hint.is_listed = begun.kind is Kind.COMMAND

    def close(self) -> None:
        self._shown = None
        self.surfaces.completions.display = False
        self.surfaces.hint.is_listed = False

    def takes(self, key: str) -> bool:
        """Handle a key while the list is open. Return False to leave it to the prompt."""
        if self._shown is None:
            return False
        box = self.surfaces.completions
        match key:
            case "up" | "down":
                self._is_pointed = True
                box.action_cursor_up() if key == "up" else box.action_cursor_down()
            case "escape":
                self._closed = self._shown[0].start
                self.close()
            case "tab":
                self.accept(box.highlighted or 0)
            case "enter" if box.highlighted is not None and self._is_fresh():
                if not self._is_pointed and self._is_complete():
                    return False
                self.accept(box.highlighted)
            case _:
                return False
        return True

    def accept(self, number: int) -> None:
        """Insert a row of the list, unless the typed text has changed since it was drawn."""
        if self._shown is not None and self._is_fresh():
            begun, choices = self._shown
            choice = choices[number]
            self.close()
            self.surfaces.prompt.complete(choice.text, begun.start, choice.suffix)

    def _at_cursor(self) -> Begun | None:
        prompt = self.surfaces.prompt
        row, column = prompt.cursor_location
        line = prompt.document.get_line(row)
        return begun_at(line, column, is_first=row == 0) if prompt.selection.is_empty else None

    def _is_fresh(self) -> bool:
        """Whether the typed text is unchanged since the list was drawn."""
        return self._shown is not None and self._shown[0] == self._at_cursor()

    def _is_complete(self) -> bool:
        """Whether the typed text equals one of the choices."""
        begun, choices = self._shown or (None, ())
        typed = begun.written.casefold() if begun is not None else ""
        return any(each.text.casefold() == typed for each in choices)

    def _look_up(self, begun: Begun) -> None:
        found = list[Choice]()
        with suppress(JitchatError, OSError):  # reported by features that need the store
            found = list(self._found_for(begun))
        self.host.later(self._take, begun, found)

    def _found_for(self, begun: Begun) -> Iterable[Choice]:
        """Look up completions. Slow."""
        match begun.kind:
            case Kind.TURN:
                session = self.opening.session
                return turns_for(session, begun.typed) if session is not None else ()
            case Kind.PROJECT:
                counted = self.backend.store.projects().items()
                known = (Choice(name, plural(count, "conversation"), "") for name, count in counted)
                return choices_among(begun, known)
            case Kind.MODEL:
                usable = (each for each in self.backend.choices() if each.is_usable)
                models = (
                    Choice(f"{p.name}/{m.name}", p.title, "") for p in usable for m in p.models
                )
                return choices_among(begun, models)
        return names_beginning(begun, current_folder())


def turns_for(session: Session, typed: str) -> Iterable[Choice]:
    """Find turns by a word or by the start of their number: the exact one, then the newest first.

    Raises:
        StoreError: The turns cannot be read.

    """
    memory = session.memory
    if typed.isdecimal() or not typed:
        newest_first = reversed(positions_of(memory.snapshot.turns))
        beginning = islice((n for n in newest_first if str(n).startswith(typed)), MOST)
        fitting = list(dict.fromkeys([*([int(typed)] if typed else []), *beginning]))
    else:
        found = memory.store.search(typed, MOST, memory.conversation.id)
        fitting = [each.position for each in found]
    for position in fitting:
        if (turn := memory.turn_at(position)) is not None:
            yield Choice(f"#{position}", f"{turn.speaker}: {shorten(turn.content, _SHOWN)}")
