"""Steering: pins and exclusions that last, turns in and out for one message, a mode for one."""

from __future__ import annotations

import asyncio
from dataclasses import replace
from typing import TYPE_CHECKING

from textual import on, work

from jitchat.errors import JitchatError, WindowOverflow
from jitchat.tui.messages import HoldMade
from jitchat.tui.notices import notify_error
from jitchat.tui.screens.metered import MeteredScreen
from jitchat.tui.widgets.inspector import Inspector
from jitchat.tui.widgets.transcript import Transcript
from jitchat.values import Conversation, Mode
from jitchat.window.steering import NO_MORE, Held, Hold, Once, Steering

if TYPE_CHECKING:
    from jitchat.planning import Planned
    from jitchat.session import Session
    from jitchat.tui.backend import Backend

HOLDS = {"pin": Hold.PINNED, "exclude": Hold.EXCLUDED}
"""By command."""
_NOBODY = "Choose a turn first: F6 goes to the conversation. Or name one: /pin 12."


class SteeredScreen(MeteredScreen):
    """A conversation whose windows the user has a say in."""

    def __init__(self, backend: Backend, conversation: Conversation) -> None:
        super().__init__(backend, conversation)
        self._made: list[Held] = []
        """What was decided since the conversation was opened, and not taken back."""
        self._holding = asyncio.Lock()
        self._sent_once: tuple[Once, Mode | None] = NO_MORE, None
        """What held for the message that was sent last."""

    def start(
        self, session: Session, draft: str, once: Once = NO_MORE, mode: Mode | None = None
    ) -> None:
        """Send; what holds for this message comes back with it if it is not answered."""
        self._sent_once = once, mode
        super().start(session, draft, once, mode)

    def _return(self, draft: str) -> None:
        super()._return(draft)
        if not self._answered and not self._again:
            once, self.once_mode = self._sent_once
            self.once = replace(once, after=self.once.after, again=None)
            self.show_mode()

    async def leave(self) -> None:
        """What was decided is of the conversation that is left."""
        self._made.clear()
        self.once = replace(NO_MORE, after=self.once.after)
        self.once_mode = None
        self.show_mode()
        await super().leave()
        self.query_one(Transcript).hold(Steering())

    def action_use_once(self, mode: str) -> None:
        """Use a mode for the next message."""
        self.once_mode = Mode(mode)
        self.show_mode()
        self.plan_now(afresh=True)

    def action_hold(self, hold: str) -> None:
        """Pin or exclude the chosen turn; a second time takes that back."""
        inspector, transcript = self.query_one(Inspector), self.query_one(Transcript)
        if inspector.has_focus_within:
            position = inspector.chosen
        else:
            position = transcript.chosen.position if transcript.chosen is not None else None
        self._hold_at(Hold(hold), position)

    def hold_named(self, hold: Hold, name: str) -> None:
        """Do it to the turn that is named: `12` or `#12`."""
        digits = name.removeprefix("#")
        is_id = digits.isascii() and digits.isdigit() and len(digits) <= 18
        self._hold_at(hold, int(digits) if is_id else None)

    def _hold_at(self, hold: Hold, position: int | None) -> None:
        if self.session is None:
            self.notify("The conversation is still being opened.", markup=False)
        elif position is None:
            self.notify(_NOBODY, markup=False)
        else:
            self._hold(self.session, position, hold)

    def action_undo_hold(self) -> None:
        """Take the last pin or exclusion back."""
        if self.session is None or not self._made:
            self.notify("Nothing was pinned or excluded since this was opened.", markup=False)
        else:
            last = self._made.pop()
            self._hold(self.session, last.turn, last.before, undoes=True)

    @work(group="hold")
    async def _hold(
        self, session: Session, position: int, hold: Hold | None, *, undoes: bool = False
    ) -> None:
        """One at a time, in the order of the keys; the second press sees the first."""
        opening, draft, mode, once = self.opening, self.draft, self.next_mode, self.once
        async with self._holding:
            busy = self.busy

            def held() -> tuple[Held, str]:
                from jitchat.tui.pin_effect import pin_effect  # noqa: PLC0415  not on the first frame

                change = session.hold if undoes else session.toggle_hold
                before = None if busy else _planned(session, draft, mode, once)
                made = change(position, hold)
                after = None if busy else _planned(session, draft, mode, once)
                return made, pin_effect(made, mode, before, after)

            try:
                made, told = await asyncio.to_thread(held)
            except JitchatError as error:
                notify_error(self, error)
            except LookupError:
                self.notify(f"There is no #{position} here.", markup=False)
            else:
                self.post_message(HoldMade(opening, made, undoes, told))

    @on(HoldMade)
    def _hold_made(self, message: HoldMade) -> None:
        if message.opening != self.opening:
            return
        if not message.undoes:
            self._made.append(message.held)
        self.show_holds()
        self.notify(message.told, markup=False)
        self.plan_now(afresh=True)

    @on(Inspector.RowToggled)
    def _row_toggled(self, message: Inspector.RowToggled) -> None:
        """Out of the next message or into it, and no further."""
        turn = message.turn
        if self.session is None or self.waits():
            return
        if turn is None:
            self.notify("This row is not a turn that can be taken out or in.", markup=False)
        elif turn in self.session.steering.excluded:
            self.notify(f"#{turn} is excluded: X takes that back.", markup=False)
        else:
            self.once = self.once.toggled(turn, is_there=message.is_there)
            self.plan_now(afresh=True)


def _planned(session: Session, draft: str, mode: Mode, once: Once) -> Planned:
    try:
        return session.preview(draft, mode, once)
    except WindowOverflow as overflow:
        return overflow
