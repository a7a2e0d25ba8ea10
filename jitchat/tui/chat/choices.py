"""The keys and commands that change the next window; the window is re-planned after each."""

from __future__ import annotations

from dataclasses import dataclass
from typing import TYPE_CHECKING

from jitchat.tui.chat.host import Controller
from jitchat.tui.chat.opening import Opening
from jitchat.tui.chat.previews import Previews
from jitchat.tui.chat.steering import Steering
from jitchat.values import Mode
from jitchat.window.steering import Hold

if TYPE_CHECKING:
    from jitchat.session import Session

NO_TURN = "Select a turn first: Tab goes to the conversation. Or name a turn: /pin 12."


@dataclass(eq=False)
class Choices(Controller):
    """Modes, pins and exclusions that the user sets."""

    opening: Opening
    steering: Steering
    previews: Previews

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
            self.steering.hold(session, Hold(hold), position, self.opening.number)

    def _pointed_at(self) -> int | None:
        inspector, chosen = self.surfaces.inspector, self.surfaces.transcript.chosen
        if inspector.has_focus_within:
            return inspector.chosen
        return chosen.position if chosen is not None else None

    def undo_hold(self, session: Session) -> None:
        self.steering.undo_hold(session, self.opening.number)

    def take_hold(self, message: Steering.HoldChanged) -> None:
        if message.opening == self.opening.number:
            self.opening.show_holds()
            self.host.say(message.sentence)
            self.previews.plan(afresh=True)

    def toggle_once(self, session: Session, turn: int | None, *, is_there: bool) -> None:
        """Leave a turn out of the next message or include it, for that message only."""
        if self.steering.toggle_once(session, turn, is_there=is_there):
            self.previews.plan(afresh=True)


def _position_in(typed: str) -> int | None:
    """Read a turn's id, as `12` or `#12`."""
    digits = typed.removeprefix("#")
    is_id = digits.isascii() and digits.isdigit() and len(digits) <= 18
    return int(digits) if is_id else None
