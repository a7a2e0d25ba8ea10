"""The meter, on request: what the conversation cost, and what was sent or would be, exactly."""

from __future__ import annotations

import asyncio
from collections.abc import Sequence
from itertools import islice
from typing import TYPE_CHECKING

from textual import on, work

from jitchat.errors import JitchatError, StoreError
from jitchat.events import UsageReported
from jitchat.store.windows import Ending
from jitchat.text.figures import total_of
from jitchat.tui.figures import exact_sentence
from jitchat.tui.messages import (
    Asked,
    CostSummed,
    SendEnded,
    SessionReady,
    SessionReported,
    WindowCounted,
)
from jitchat.tui.notices import reports_errors
from jitchat.tui.screens.sending import SendingScreen
from jitchat.tui.send_figures import usage_sentence
from jitchat.tui.turn_details import is_broken_off
from jitchat.tui.widgets.hint_line import HintLine
from jitchat.tui.widgets.inspector import Inspector
from jitchat.tui.widgets.top_line import TopLine
from jitchat.tui.widgets.transcript import Transcript
from jitchat.values import Conversation, Role, Turn, Usage
from jitchat.window.window import ContextWindow

if TYPE_CHECKING:
    from jitchat.session import Session
    from jitchat.tui.backend import Backend


_LOOKED_BACK = 50
"""Messages among which the one that was sent last is looked for: what is imported was not sent."""


class MeteredScreen(SendingScreen):
    """A conversation whose tokens and dollars can be accounted for."""

    def __init__(self, backend: Backend, conversation: Conversation) -> None:
        super().__init__(backend, conversation)
        self.has_sends = False
        """Whether anything was sent in this conversation."""
        self.wants_next = False
        """Whether the user switched from the sent window to the next one."""
        self._exact: tuple[ContextWindow, int] | None = None
        """What the provider counted last, and of which window."""

    def show_window(self, window: ContextWindow, *, sent: bool, usage: Usage | None = None) -> None:
        """One window on every surface; one that was counted exactly says so when it comes back."""
        super().show_window(window, sent=sent, usage=usage)
        if sent:
            self.wants_next = False
            self.know_sends(1)
        if not sent and self._exact is not None and self._exact[0] == window:
            self.query_one(HintLine).show_cost(exact_sentence(*self._exact))

    async def leave(self) -> None:
        """What is summed up or counted is of the conversation that is left."""
        for group in ("cost", "count"):
            self.workers.cancel_group(self, group)
        self.query_one(TopLine).show_cost("")
        self.know_sends(0)
        self.wants_next = False
        await super().leave()

    @on(SessionReported)
    def _usage_reported(self, message: SessionReported) -> None:
        """What was cached of the window that was sent."""
        if message.worker is self._sending and isinstance(message.event, UsageReported):
            self.query_one(Inspector).report(message.event.usage)

    @on(SessionReady)
    @on(SendEnded)
    def sum_up(self) -> None:
        """Tell anew what the conversation cost, off the event loop."""
        self._sum_up(self.conversation.id, self.opening)

    @work(thread=True, exclusive=True, group="cost")
    def _sum_up(self, conversation: str, opening: int) -> None:
        from jitchat.store.windows import Costs  # noqa: PLC0415  not on the first frame

        try:
            spent = Costs(self.backend.store.database).of(conversation)
        except StoreError:
            return  # a store that cannot be read is told of by what needs it
        self.post_message(CostSummed(opening, spent))

    @on(CostSummed)
    def _cost_summed(self, message: CostSummed) -> None:
        if message.opening == self.opening:
            self.know_sends(message.spent.sends)
            told = total_of(message.spent.amount, message.spent.unknown)
            self.query_one(TopLine).show_cost(told)

    def know_sends(self, sends: int) -> None:
        """Whether there is a window that was sent, for the inspector to switch to."""
        self.has_sends = sends > 0
        self.query_one(Inspector).offer_switch(self.has_sends)

    @reports_errors
    async def action_switch_window(self) -> None:
        """Show the window that was sent last, or else the next one; the draft stays."""
        if self.session is None or self.waits():
            return
        if self.sent is not None:
            self.wants_next = True
            self.plan_now(afresh=True)
            return
        last = await asyncio.to_thread(last_sent, self.session)
        if last is None or not await self.show_sent(self.session, last, None):
            self.notify("Nothing was sent here yet.", markup=False)

    @reports_errors
    async def action_sent_window(self) -> None:
        """Show the window that was sent for the chosen turn, and what was reported for it."""
        session = self.session
        if session is None or self.waits():
            return
        said = self._asked(session)
        chosen = self.query_one(Transcript).chosen
        if said is None or not await self.show_sent(session, said, chosen):
            self.notify("No window was sent for this turn.", markup=False)

    async def show_sent(self, session: Session, said: Turn, chosen: Turn | None) -> bool:
        """Show what brought the chosen reply; without one, what was sent for `said`.

        Tells whether any window was.
        """
        sent = await asyncio.to_thread(session.sent_on_path, said, chosen)
        if sent is None:
            return False
        window, ending = sent
        usage, cost = (ending.usage, ending.cost) if ending is not None else (None, None)
        self.forget_window()
        self.sent, self.sent_for = window, said
        self.show_window(window, sent=True, usage=usage)
        broken = _is_broken_off(session, ending)
        told = usage_sentence(usage, cost, window, is_broken_off=broken)
        self.query_one(HintLine).show_cost(told)
        return True

    def action_count_exactly(self) -> None:
        """Have the provider count the window that would be sent; the message stays here."""
        if self.session is None or self.waits():
            return
        hint = self.query_one(HintLine)
        asked = Asked(self.opening, self.draft, self.next_mode, self.once)
        self._count(self.session, asked, hint.sentences)
        hint.show_cost(_asking(self.session))

    @work(exclusive=True, group="count")
    async def _count(self, session: Session, asked: Asked, told: Sequence[str]) -> None:
        outcome: tuple[ContextWindow, int] | JitchatError
        try:
            window = await asyncio.to_thread(session.preview, asked.draft, asked.mode, asked.once)
            outcome = window, await self.backend.count_exactly(session, window.messages())
        except JitchatError as error:
            outcome = error
        self.post_message(WindowCounted(asked, outcome, told))

    @on(WindowCounted)
    def _window_counted(self, message: WindowCounted) -> None:
        """Tell it; not where something else would be sent by now."""
        now = Asked(self.opening, self.draft, self.next_mode, self.once)
        is_current = message.asked == now and not self.busy
        if isinstance(message.outcome, JitchatError):
            self.tell(message.outcome)
            hint = self.query_one(HintLine)
            if self.session is not None and hint.sentences == (_asking(self.session),):
                hint.show_cost(*message.told)
        elif is_current:
            self.sent, self._exact = None, message.outcome
            self.show_window(message.outcome[0], sent=False)


def last_sent(session: Session) -> Turn | None:
    """Look up the last message on the path that a window was sent for. Slow."""
    said = (turn for turn in reversed(session.memory.turns) if turn.role is Role.USER)
    latest = islice(said, _LOOKED_BACK)
    return next((turn for turn in latest if session.sent_on_path(turn) is not None), None)


def _is_broken_off(session: Session, ending: Ending | None) -> bool:
    """Whether nothing came of a window, or a reply that the model did not end."""
    if ending is None or ending.reply_id is None:
        return True
    replies = (turn for turn in session.memory.turns if turn.id == ending.reply_id)
    return any(is_broken_off(reply, ending.stop) for reply in replies)


def _asking(session: Session) -> str:
    return f"asking {session.provider.name} to count…"
