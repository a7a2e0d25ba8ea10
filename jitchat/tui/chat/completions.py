"""The completion list: when it opens, its keys, and its sources.

The list opens while the user types, not on a paste or when the cursor moves to a text, and closes
when the cursor leaves the partly typed text. Lookups that may wait for a disk run in a thread.
"""

from __future__ import annotations

from contextlib import suppress
from dataclasses import dataclass
from itertools import islice
from pathlib import Path
from typing import TYPE_CHECKING

from jitchat.errors import JitchatError
from jitchat.text.figures import plural
from jitchat.text.sanitize import shorten
from jitchat.tui.chat.completion import (
    MOST,
    Begun,
    Choice,
    Kind,
    begun_at,
    choices_among,
    known_choices,
    names_beginning,
)
from jitchat.tui.chat.host import Controller
from jitchat.tui.chat.opening import Opening
from jitchat.tui.chat.personas import NONE
from jitchat.turn_list import positions_of

if TYPE_CHECKING:
    from collections.abc import Iterable, Sequence

    from jitchat.session import Session

_SHOWN = 120
"""Maximum characters of a turn or persona in the list."""


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
        self.surfaces.hint.show_listed(is_listed=begun.kind is Kind.COMMAND)

    def close(self) -> None:
        self._shown = None
        self.surfaces.completions.display = False
        self.surfaces.hint.show_listed(is_listed=False)

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
        return names_beginning(begun, Path.cwd())


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
