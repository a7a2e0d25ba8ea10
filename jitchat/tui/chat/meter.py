"""What the conversation cost, and the exact tokens of a window, on request."""

from __future__ import annotations

import asyncio
from collections.abc import Sequence
from dataclasses import dataclass
from itertools import islice
from typing import TYPE_CHECKING

from jitchat.errors import JitchatError, StoreError
from jitchat.store.windows import Ending, WindowArchive
from jitchat.text.figures import total_of
from jitchat.tui.chat.host import Host
from jitchat.tui.chat.messages import CostSummed, WindowCounted
from jitchat.tui.chat.opening import Opening
from jitchat.tui.chat.previews import Previews
from jitchat.tui.chat.steering import Steering
from jitchat.tui.chat.surfaces import Surfaces
from jitchat.tui.send_figures import usage_sentence
from jitchat.tui.turn_details import is_broken_off
from jitchat.values import Role, Turn
from jitchat.window.window import ContextWindow

if TYPE_CHECKING:
    from jitchat.session import Session
    from jitchat.tui.backend import Backend

_LOOKED_BACK = 50
"""Messages among which the one that was sent last is looked for: what is imported was not sent."""


@dataclass(eq=False)
class Meter:
    """Accounts for tokens and dollars: of the conversation, of one send, of the next window."""

    host: Host
    backend: Backend
    surfaces: Surfaces
    opening: Opening
    steering: Steering
    previews: Previews

    def sum_up(self) -> None:
        """Look up what the conversation cost, off the event loop."""
        conversation, number = self.opening.conversation.id, self.opening.number

        def look_up() -> None:
            try:
                spent = WindowArchive(self.backend.store.database).spent(conversation)
            except StoreError:
                return  # a store that cannot be read is told of by what needs it
            self.host.post(CostSummed(number, spent))

        self.host.in_thread(look_up, "cost", exclusive=True)

    def show_cost(self, message: CostSummed) -> None:
        self.previews.know_sends(message.spent.sends)
        self.surfaces.top.show_cost(total_of(message.spent.amount, message.spent.unknown))

    def leave(self) -> None:
        """Show and await no figure of a conversation that is left."""
        self.host.cancel("cost", "count")
        self.surfaces.top.show_cost("")

    async def show_sent(self, session: Session, turn: Turn, reply: Turn | None) -> bool:
        """Show the window that brought a reply; without one, what was sent for the user's `turn`.

        Returns whether any window was sent.
        """
        sent = await asyncio.to_thread(session.sent_on_path, turn, reply)
        if sent is None:
            return False
        window, ending = sent
        usage, cost = (ending.usage, ending.cost) if ending is not None else (None, None)
        self.previews.forget()
        self.previews.show_sent(window, turn, usage)
        broken = _is_broken_off(session, ending)
        self.surfaces.hint.show_cost(usage_sentence(usage, cost, window, is_broken_off=broken))
        return True

    async def show_last_sent(self, session: Session) -> bool:
        """Show the window that was sent last on the path; whether there is one."""
        last = await asyncio.to_thread(_last_sent, session)
        is_open = session is self.opening.session
        return last is not None and is_open and await self.show_sent(session, last, None)

    def count_exactly(self, session: Session) -> None:
        """Have the provider count the window that would be sent; the message stays here."""
        hint, message, number = self.surfaces.hint, self.steering.next_message, self.opening.number
        before = hint.sentences

        async def count() -> None:
            outcome: tuple[ContextWindow, int] | JitchatError
            try:
                window = await asyncio.to_thread(
                    session.preview, message.text, message.mode, message.once
                )
                outcome = window, await self.backend.count_exactly(session, window.messages())
            except JitchatError as error:
                outcome = error
            self.host.post(WindowCounted(number, message, outcome, before))

        self.host.run(count(), "count", exclusive=True)
        hint.show_cost(_asking(session))

    def take_count(self, message: WindowCounted) -> None:
        """Show the count, unless something else would be sent by now."""
        current = (self.opening.number, self.steering.next_message)
        if isinstance(message.outcome, JitchatError):
            self.host.tell(message.outcome)
            self._restore_hint(message.hint)
        elif (message.opening, message.counted) == current and not self.steering.busy:
            self.previews.show_counted(*message.outcome)

    def _restore_hint(self, before: Sequence[str]) -> None:
        session, hint = self.opening.session, self.surfaces.hint
        if session is not None and hint.sentences == (_asking(session),):
            hint.show_cost(*before)


def _last_sent(session: Session) -> Turn | None:
    """Find the last message on the path that a window was sent for. Slow."""
    messages = (turn for turn in reversed(session.memory.turns) if turn.role is Role.USER)
    latest = islice(messages, _LOOKED_BACK)
    return next((turn for turn in latest if session.sent_on_path(turn) is not None), None)


def _is_broken_off(session: Session, ending: Ending | None) -> bool:
    """Whether nothing came of a window, or a reply that the model did not end."""
    if ending is None or ending.reply_id is None:
        return True
    replies = (turn for turn in session.memory.turns if turn.id == ending.reply_id)
    return any(is_broken_off(reply, ending.stop) for reply in replies)


def _asking(session: Session) -> str:
    return f"asking {session.provider.name} to count…"
