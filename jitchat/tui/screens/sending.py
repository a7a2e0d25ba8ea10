"""A message on its way: what is drawn as it is stored, sent and answered, and how it ends."""

from __future__ import annotations

import asyncio
from collections.abc import AsyncGenerator
from contextlib import aclosing, suppress
from typing import TYPE_CHECKING

from textual import events, on, work
from textual.timer import Timer
from textual.worker import Worker, WorkerError, get_current_worker

from jitchat.errors import JitchatError, StoreError
from jitchat.events import (
    Event,
    LimitLearnt,
    ReasoningDelta,
    ReasoningFound,
    ReplyDelta,
    RequestAdapted,
    RetryScheduled,
    SendFailed,
    TurnStored,
    UsageReported,
    WindowBuilt,
)
from jitchat.providers.catalogue.table import PRESETS
from jitchat.text.sanitize import one_line, shortened
from jitchat.tui.batches import reply_batcher
from jitchat.tui.messages import ReplyRefused, ReplyStored, SendEnded, SessionReported
from jitchat.tui.notices import READ_SECONDS, reports_errors
from jitchat.tui.screens.forked import ForkedScreen
from jitchat.tui.send_figures import usage_sentence
from jitchat.tui.turn_details import is_broken_off
from jitchat.tui.widgets.hint_line import AWAITED, LOADING, HintLine
from jitchat.tui.widgets.prompt import Prompt
from jitchat.tui.widgets.top_line import TopLine
from jitchat.tui.widgets.transcript import Transcript
from jitchat.values import Conversation, Mode, Role, Turn
from jitchat.window.steering import NO_MORE, Once

if TYPE_CHECKING:
    from jitchat.session import Session
    from jitchat.tui.backend import Backend

NEW_TITLE = "New conversation"
TITLE_WIDTH = 60
STORE_AGAIN = 5.0
"""Seconds until a reply that could not be stored is tried again."""
_UNSTORED = "it will be, as soon as there is room. Until then, Enter and Y copy it."
_MISSING = "Alt+W points at the turn that was missing"


class SendingScreen(ForkedScreen):
    """A conversation in which one message at a time is sent and answered."""

    def __init__(self, backend: Backend, conversation: Conversation) -> None:
        super().__init__(backend, conversation)
        self._sending: Worker[None] | None = None
        self._said: Turn | None = None
        self._answered = self._again = self._measured = self._stopped = False
        self._place = 0
        """The position that the reply will have."""
        self._retry: Timer | None = None

    @on(events.Mount)
    def _hear_of_replies(self) -> None:
        """Hear of replies that the store refuses, and of those that it takes after all."""
        unstored = self.backend.store.unstored
        unstored.on_kept = lambda: self.post_message(ReplyRefused())
        unstored.on_stored = lambda *stored: self.post_message(ReplyStored(*stored))

    async def on_unmount(self) -> None:
        """Have a send end first: its message is a turn or a draft."""
        if self._sending is not None:
            self._sending.cancel()
            with suppress(WorkerError):
                await self._sending.wait()

    @property
    def busy(self) -> bool:
        """Whether a reply is on its way."""
        return self._sending is not None

    def stop(self) -> None:
        """Stop the reply, keeping what came."""
        if self._sending is not None:
            self._stopped = True
            self._sending.cancel()

    def start(
        self, session: Session, draft: str, once: Once = NO_MORE, mode: Mode | None = None
    ) -> None:
        """Send; in another mode than the screen's where one is given."""
        self.query_one(HintLine).show_keys(busy=True)
        self.query_one(HintLine).wait("looking for what is needed")
        self._said, self._answered, self._again = None, False, once.again is not None
        self._measured = self._stopped = False
        sent = session.send(draft, mode or self.mode, once, self.keeper.stored)
        self._sending = self._send(session, sent, draft)

    @work(group="send")
    async def _send(self, session: Session, sent: AsyncGenerator[Event, None], draft: str) -> None:
        worker, cancelled, error = get_current_worker(), True, None
        batches = reply_batcher(lambda event: self.post_message(SessionReported(worker, event)))
        try:
            async with aclosing(sent) as events:
                async for event in events:
                    batches.take(event)
            cancelled = False
        except JitchatError as refused:
            error = refused
        finally:
            batches.flush()
            self.post_message(SendEnded(worker, session, draft, cancelled, error))

    @on(SessionReported)
    async def _reported(self, message: SessionReported) -> None:
        """Draw what happened; of a message that is over, only what went wrong with it."""
        self.attend()
        if message.worker is self._sending:
            await self._draw(message.event)
        elif isinstance(message.event, SendFailed):
            self.tell(message.event.error)

    async def _draw(self, event: Event) -> None:
        transcript, hint = self.query_one(Transcript), self.query_one(HintLine)
        match event:
            case TurnStored(turn) if turn.role is Role.USER:
                self._said = turn
                self._place = await asyncio.to_thread(self._next_place)
                await transcript.put(turn)
            case WindowBuilt(window, _):
                self.sent, self.sent_for = window, self._said
                self.show_window(window, sent=True)
                hint.wait(AWAITED, LOADING if self._is_local() else "")
            case ReplyDelta() | ReasoningDelta() | ReasoningFound():
                self._answered = True
                self.keeper.answered()
                hint.arrive()
                await self._draw_piece(event, transcript)
            case TurnStored(turn):
                await self._answer_stored(turn)
            case SendFailed(error, draft):
                self.tell(error)
                self._return(draft)
            case _:
                self._draw_figures(event, hint)

    async def _draw_piece(
        self, piece: ReplyDelta | ReasoningDelta | ReasoningFound, transcript: Transcript
    ) -> None:
        match piece:
            case ReplyDelta(text):
                typing = self.query_one(Prompt).typing
                await transcript.stream(text, self._place, typing=typing)
            case ReasoningDelta(text):
                await transcript.think(text, self._place)
            case ReasoningFound():
                await transcript.take_for_reasoning()

    def _draw_figures(self, event: Event, hint: HintLine) -> None:
        match event:
            case UsageReported(usage, cost):
                self._measured = True
                hint.show_cost(usage_sentence(usage, cost, self.sent))
            case RetryScheduled(seconds, why):
                hint.count_down(seconds, why)
            case RequestAdapted(sentence) | LimitLearnt(_, sentence):
                self.notify(one_line(sentence), timeout=READ_SECONDS, markup=False)

    async def _answer_stored(self, turn: Turn) -> None:
        transcript = self.query_one(Transcript)
        await transcript.put(turn)
        if not self._measured:
            note = transcript.detail_of(turn).note
            broken = is_broken_off(turn, note.stop if note is not None else None)
            cost = self.session.cost_of(None) if self.session is not None else None
            told = usage_sentence(None, cost, self.sent, is_broken_off=broken)
            self.query_one(HintLine).show_cost(told)
        await self._offer_miss()
        await self._take_in()
        await self._free()

    async def _take_in(self) -> None:
        """Show what is stored; a reply that is not, stays in view."""
        if self.session is not None and not self.backend.store.unstored:
            await self.query_one(Transcript).take_in(self.session.memory.turns)

    async def _offer_miss(self) -> None:
        """Who says that a reply is wrong may know what it lacked."""
        hint = self.query_one(HintLine)
        if self._said is not None and await asyncio.to_thread(_objects, self._said.content):
            hint.show_cost(*(f"{_MISSING} · {each}" for each in hint.sentences), _MISSING)

    @on(SendEnded)
    async def _ended(self, message: SendEnded) -> None:
        """A send that brought no stored reply is over; a cancelled one keeps what came.

        After a stored reply the prompt is free already, and may have sent the next message.
        """
        if message.worker is not self._sending or message.session is not self.session:
            return
        if message.cancelled and not self._stopped:
            return  # the app ends: `on_unmount` sees to what was sent
        place = self._said.position if self._said else 0
        for turn in message.session.memory.turns[-2:]:
            if place and turn.position >= place:
                await self.query_one(Transcript).put(turn)
        await self.query_one(Transcript).end_stream()
        await self._show_unstored(message.session)
        if message.error is not None:
            self.tell(message.error)
        if message.cancelled:
            self._return(message.draft)
        if not self._answered:
            await self._take_in()
        await self._free()

    async def _show_unstored(self, session: Session) -> None:
        """Say beside a reply that it is not stored."""
        if (place := session.unstored) is not None:
            what = f"Not stored from character {place + 1:,} on" if place else "Not stored"
            await self.query_one(Transcript).warn(f"{what}: {_UNSTORED}")

    @on(ReplyRefused)
    def _try_again(self) -> None:
        """Store it as soon as that can be done."""
        self._retry = self._retry or self.set_interval(STORE_AGAIN, self._store)

    @work(thread=True, exclusive=True, group="store")
    def _store(self) -> None:
        with suppress(StoreError):  # there is no room yet
            self.backend.store.unstored.store_again()

    @on(ReplyStored)
    @reports_errors
    async def _reply_stored(self, message: ReplyStored) -> None:
        """Show it as it is stored; and the conversation anew, where it stands elsewhere in it."""
        if self._retry is not None and not self.backend.store.unstored:
            self._retry.stop()
            self._retry = None
        if message.conversation != self.conversation.id or self.session is None:
            return
        session, transcript = self.session, self.query_one(Transcript)
        if not await transcript.replace_stored(message.turn) and not self.busy:
            await asyncio.to_thread(session.memory.refresh)
            await transcript.show(session.memory.turns)
        self.plan_now(afresh=True)

    def _return(self, draft: str) -> None:
        """A message that was not answered, back into the prompt; not what was said before."""
        if not self._answered and not self._again:
            self.query_one(Prompt).give_back(draft)
            self.keeper.answered()

    def _is_local(self) -> bool:
        """Whether a server on this machine answers, which may load its model first."""
        name = self.session.provider.name if self.session is not None else ""
        return name in PRESETS and PRESETS[name].is_local

    def _next_place(self) -> int:
        return self.backend.store.tree(self.conversation.id).last + 1

    @reports_errors
    async def _free(self) -> None:
        """Ready for the next message; of one that was typed meanwhile, the window is shown."""
        self._sending = None
        self.keeper.answered()
        self._keep_behind()
        self.query_one(HintLine).arrive()
        self.query_one(HintLine).show_keys(busy=False)
        self.follow_again()
        opening = self.opening
        named = await asyncio.to_thread(self._named, self.conversation, self._said)
        if opening == self.opening:
            self.conversation = named
            self.query_one(TopLine).show_title(named.title, named.turns)

    def _named(self, conversation: Conversation, said: Turn | None) -> Conversation:
        """The conversation as it is stored; a new one is named by its first message."""
        store = self.backend.store
        if conversation.title == NEW_TITLE and said is not None:
            store.rename(conversation.id, shortened(said.content, TITLE_WIDTH))
        return store.conversation(conversation.id)


def _objects(text: str) -> bool:
    from jitchat.text.stance import objects  # noqa: PLC0415  10 ms, not on the first frame

    return objects(text)
