"""The keys and commands that change the next window; the window is re-planned after each."""

from __future__ import annotations

import asyncio
from contextlib import suppress
from dataclasses import dataclass, field
from typing import TYPE_CHECKING

from jitchat.errors import StoreError
from jitchat.store.pins import ScreenState
from jitchat.tui.chat.host import Controller
from jitchat.tui.chat.opening import Opening
from jitchat.tui.chat.previews import Previews
from jitchat.tui.chat.steering import Steering, pin_effect, planned_or_overflow
from jitchat.values import Mode
from jitchat.window.steering import Hold

if TYPE_CHECKING:
    from jitchat.session import Session

_NAME, _OPEN, _SHUT = "inspector", "open", "shut"
LESSON = "{inspector} shows why"


@dataclass(eq=False)
class Levels(Controller):
    """Shows and hides the inspector, and remembers which."""

    def begin(self, *, has_room: bool) -> None:
        """Show the inspector, if there is room, as set in the settings or as the user left it."""
        left, wanted = "", self.backend.settings.screen.inspector
        with suppress(StoreError):  # then as at the first start
            left = self._state.get(_NAME)
        self.surfaces.hint.lesson = "" if left else self.keys.tell(LESSON)
        is_open = left == _OPEN if wanted is None else wanted
        self.surfaces.show_inspector(shown=is_open and has_room)

    def show(self, *, shown: bool) -> None:
        """Show or hide the inspector for the user, and remember this for the next start."""
        self.surfaces.hint.lesson = ""
        self.surfaces.show_inspector(shown=shown)
        self.host.in_thread(lambda: self._keep(_OPEN if shown else _SHUT), "inspector")

    @property
    def _state(self) -> ScreenState:
        return ScreenState(self.backend.store.database)

    def _keep(self, state: str) -> None:
        with suppress(StoreError):  # nothing that the user wrote is lost
            self._state.put(_NAME, state)


NOTHING_TO_UNDO = "Nothing to undo: no turn was pinned or excluded."
NO_TURN = "Select a turn first: Tab goes to the conversation. Or name a turn: /pin 12."


@dataclass(eq=False)
class Choices(Controller):
    """Modes, pins and exclusions that the user sets."""

    opening: Opening
    steering: Steering
    previews: Previews
    _order: asyncio.Lock = field(default_factory=asyncio.Lock)
    """Serialises changes in the order of key presses, so that a second press sees the first."""

    def cycle_mode(self) -> None:
        modes = list(Mode)
        self.use_mode(modes[(modes.index(self.steering.mode) + 1) % len(modes)].value)

    def use_mode(self, name: str = "") -> None:
        if self._is_mode(name, "mode"):
            self.steering.use_mode(Mode(name))
            self.previews.plan()

    def use_once(self, name: str = "") -> None:
        if self._is_mode(name, "once"):
            self.steering.use_mode_once(Mode(name))
            self.previews.plan(afresh=True)

    def _is_mode(self, name: str, command: str) -> bool:
        """Whether a mode has this name; if not, the user is notified."""
        is_one = name in list(Mode)
        if not is_one:
            self.host.say(f"/{command} takes one of {', '.join(Mode)}.")
        return is_one

    def hold(self, session: Session, hold: str, typed: str = "") -> None:
        """Pin or exclude the turn with the `typed` id or under the cursor, or undo that."""
        position = _position_in(typed) if typed else self._pointed_at()
        if position is None:
            self.host.say(NO_TURN)
        else:
            self._start_change(session, position, Hold(hold))

    def _pointed_at(self) -> int | None:
        inspector, chosen = self.surfaces.inspector, self.surfaces.transcript.chosen
        if inspector.has_focus_within:
            return inspector.chosen
        return chosen.position if chosen is not None else None

    def undo_hold(self, session: Session) -> None:
        """Undo the last pin or exclusion."""
        changes = self.steering.pins.changes
        if changes:
            last = changes.pop()
            self._start_change(session, last.turn, last.before, undoes=True)
        else:
            self.host.say(NOTHING_TO_UNDO)

    def _start_change(
        self, session: Session, turn: int, hold: Hold | None, *, undoes: bool = False
    ) -> None:
        """Pin or exclude a turn, or undo that, and describe the effect on the next message."""
        steering, number = self.steering, self.opening.number
        message = None if steering.busy else steering.next_message

        def change() -> str:
            before = planned_or_overflow(session, message)
            hold_change = steering.pins.make(session, turn, hold, undoes=undoes)
            mode = message.mode if message is not None else Mode.JIT
            return pin_effect(hold_change, mode, before, planned_or_overflow(session, message))

        async def change_and_tell() -> None:
            try:
                async with self._order:
                    sentence = await asyncio.to_thread(change)
            except LookupError:
                self.host.say(f"There is no #{turn} here.")
                return
            if number == self.opening.number:
                self.opening.show_holds()
                self.host.say(sentence)
                self.previews.plan(afresh=True)

        self.host.run(change_and_tell, "hold")

    def toggle_once(self, session: Session, turn: int | None, *, is_there: bool) -> None:
        """Leave a turn out of the next message or include it, for that message only."""
        if self.steering.toggle_once(session, turn, is_there=is_there):
            self.previews.plan(afresh=True)


def _position_in(typed: str) -> int | None:
    """Read a turn's id, as `12` or `#12`."""
    digits = typed.removeprefix("#")
    is_id = digits.isascii() and digits.isdigit() and len(digits) <= 18
    return int(digits) if is_id else None
