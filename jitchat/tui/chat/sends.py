"""Send a message: draw its events as it is stored, sent and answered, and end the send."""

from __future__ import annotations

import asyncio
import re
from collections.abc import AsyncGenerator
from contextlib import aclosing, suppress
from dataclasses import dataclass, field
from functools import partial
from typing import TYPE_CHECKING

from textual.message import Message
from textual.timer import Timer
from textual.worker import Worker, WorkerError, get_current_worker

from jitchat import events
from jitchat.draft import Draft
from jitchat.errors import JitchatError, KeyRefused, StoreError, UnknownConversation
from jitchat.providers.catalogue.table import presets
from jitchat.small_models.summariser import name_new
from jitchat.text.sanitize import one_line
from jitchat.text.stance import objects
from jitchat.tui.batches import reply_batcher
from jitchat.tui.chat.host import Controller
from jitchat.tui.chat.opening import Opening
from jitchat.tui.chat.previews import Previews
from jitchat.tui.chat.steering import Steering
from jitchat.tui.figures import usage_sentence
from jitchat.tui.notices import READ_SECONDS
from jitchat.tui.widgets.hint_line import AWAITED, LOADING
from jitchat.tui.widgets.turn_details import is_broken_off
from jitchat.turn_list import up_to
from jitchat.values import Conversation, Mode, Role, Status, ToolCall, Turn
from jitchat.window.steering import NO_MORE, Once

if TYPE_CHECKING:
    from jitchat.session import Session

STORE_AGAIN = 5.0
"""Seconds between attempts to store a reply that could not be stored."""
ANOTHER_KEY = "/model lets you change the API key."
IN_PROGRESS = "A reply is in progress. {cancel} stops it."
_UNSTORED = "retrying until there is disk space. Until then, {turn_copy} copies the reply."
_MISSING = "/wrong notes the missing turn"
_SEND_AGAIN = re.compile("send again", re.IGNORECASE)


@dataclass(eq=False)
class Sends(Controller):
    """Sends one message at a time. Its worker posts events to the screen, which dispatches them."""

    @dataclass
    class Reported(Message):
        """An event of the message being sent."""

        worker: Worker[None]
        """The worker that posted the event; another send may be in progress by now."""
        event: events.Event

    @dataclass
    class Ended(Message):
        """A send has ended, successfully or not."""

        worker: Worker[None]
        session: Session
        cancelled: bool
        error: JitchatError | None = None
        """Why a cancelled reply could not be stored, or what failed after a reply."""

    class PromptFreed(Message):
        """A send has ended, and the next message can be sent."""

    opening: Opening
    steering: Steering
    previews: Previews

    prepares: bool = False
    """Whether a message was submitted that is not sent yet."""
    _worker: Worker[None] | None = None
    _turn: Turn | None = None
    """The user's turn, once it is stored."""
    _reply_position: int = 0
    _returned: Draft | None = None
    """The message that returns to the prompt if it is not answered; None if it stays a turn."""
    _options: tuple[Once, Mode | None] = NO_MORE, None
    """The choices made for the last message sent."""
    _answered: bool = False
    _measured: bool = False
    _stopped: bool = False
    _running: list[ToolCall] = field(default_factory=list)
    """Tool calls that are running."""
    _retry: Timer | None = None
    _refusals: set[str] = field(default_factory=set)
    """The notices of messages that were not answered, until one is."""

    @property
    def busy(self) -> bool:
        """Whether a reply is in progress, or a message that will have one is being prepared."""
        return self._worker is not None or self.prepares

    def waits(self) -> bool:
        """Whether a reply is in progress, which blocks the caller; if so, notify the user."""
        if self.busy:
            self.host.say(self.keys.tell(IN_PROGRESS))
        return self.busy

    def watch_store(self) -> None:
        """Listen for replies that the store refuses, and for those that are stored later."""
        unstored = self.backend.store.unstored
        unstored.on_kept = partial(self.host.later, self.retry_storing)
        unstored.on_stored = partial(self.host.later, self._show_stored_late)

    def start(
        self,
        session: Session,
        draft: Draft,
        once: Once = NO_MORE,
        mode: Mode | None = None,
        *,
        is_returned: bool = True,
    ) -> None:
        """Send a message, in `mode` or, if that is None, in the current mode.

        If it is not answered, it returns to the prompt, unless it was not written there.
        """
        hint = self.surfaces.hint
        hint.show_keys(busy=True)
        hint.wait("retrieving turns")
        self._turn, self._options = None, (once, mode)
        self._returned = draft if is_returned and once.again is None else None
        self._answered = self._measured = self._stopped = False
        self._running = []
        self.steering.busy = True
        sent = session.send(
            draft.text, mode or self.steering.mode, once, self.opening.keeper.mark_stored
        )
        self._worker = self.host.run(partial(self._send, session, sent), "send")

    def stop(self) -> None:
        if self._worker is not None:
            self._stopped = True
            self._worker.cancel()

    async def close(self) -> None:
        """Cancel a send and wait for its end: its message is then a turn or a draft."""
        if self._worker is not None:
            self._worker.cancel()
            with suppress(WorkerError):
                await self._worker.wait()

    async def take(self, message: Reported) -> None:
        """Draw an event; of a send that has ended, only show its error."""
        event, is_current = message.event, message.worker is self._worker
        if isinstance(event, events.SendFailed):
            is_returned = is_current and await self._return_draft()
            if not is_returned:
                again = f"{self.keys['regenerate']} sends the message again"
                event.error.remedy = _SEND_AGAIN.sub(again, event.error.remedy)
            self.host.show_error(event.error)
            self._refusals.add(str(event.error))
            if isinstance(event.error, KeyRefused):
                self.host.say(ANOTHER_KEY, seconds=READ_SECONDS)
                self._refusals.add(ANOTHER_KEY)
        elif is_current:
            await self._draw(event)

    async def end(self, message: Ended) -> None:
        """End a send without a stored reply; if cancelled, the partial reply is kept.

        After a stored reply, the prompt is already free and the next message may have been sent;
        then only an error after the reply is reported.
        """
        if message.error is not None:
            self.host.show_error(message.error)
        if message.worker is not self._worker or message.session is not self.opening.session:
            return
        if message.cancelled and not self._stopped:
            return  # the app is closing: `close` handles the message
        position = self._turn.position if self._turn else 0
        turns = message.session.memory.turns
        for place in range(up_to(turns, position - 1) if position else len(turns), len(turns)):
            await self.surfaces.transcript.put(turns[place])
        await self.surfaces.transcript.end_stream()
        await self._warn_of_unstored(message.session)
        if message.cancelled:
            await self._return_draft()
        if not self._answered:
            await self._show_stored()
        await self.release()

    async def end_worker(self, worker: Worker[None]) -> None:
        """End a send that was cancelled before it began, and so has not reported its end."""
        session = self.opening.session
        if worker is self._worker and worker.is_finished and session is not None:
            await self.end(self.Ended(worker, session, cancelled=True))

    async def release(self, turn: Turn | None = None) -> None:
        """Get ready for the next message; if one was typed meanwhile, its window is shown.

        `turn` is a message that was sent by other means, such as by a view.
        """
        self._worker, self.steering.busy = None, False
        self._turn = turn or self._turn
        self.opening.keeper.let_go()
        self.opening.keeper.keep_in_background()
        self.surfaces.hint.arrive()
        self.surfaces.hint.show_keys(busy=False)
        self.previews.plan(afresh=self.previews.working)
        self.host.post(self.PromptFreed())
        number = self.opening.number
        named = await asyncio.to_thread(self._named, self.opening.conversation, self._turn)
        if number == self.opening.number:
            await self.opening.know(named)

    def retry_storing(self) -> None:
        """Retry at intervals to store a reply that could not be stored."""

        def store() -> None:
            with suppress(StoreError):  # still no disk space
                self.backend.store.unstored.store_again()

        start = partial(self.host.in_thread, store, "store", exclusive=True)
        self._retry = self._retry or self.host.every(STORE_AGAIN, start)

    async def _show_stored_late(self, conversation: str, turn: Turn) -> None:
        """Show a reply that was stored late; if it is at another position, redraw all turns.

        Raises:
            StoreError: The conversation cannot be read.
        """
        if self._retry is not None and not self.backend.store.unstored:
            self._retry.stop()
            self._retry = None
        session, transcript = self.opening.session, self.surfaces.transcript
        if conversation != self.opening.conversation.id or session is None:
            return
        if not await transcript.replace_stored(turn) and not self.busy:
            await asyncio.to_thread(session.memory.refresh)
            await transcript.show(session.memory.turns)
        self.previews.plan(afresh=True)

    async def _send(self, session: Session, sent: AsyncGenerator[events.Event, None]) -> None:
        worker, cancelled, error = get_current_worker(), True, None
        batches = reply_batcher(lambda event: self.host.post(self.Reported(worker, event)))
        try:
            async with aclosing(sent) as stream:
                async for event in stream:
                    batches.take(event)
            cancelled = False
        except JitchatError as refusal:
            error = refusal
        finally:
            batches.flush()
            self.host.post(self.Ended(worker, session, cancelled, error))

    async def _draw(self, event: events.Event) -> None:
        transcript, hint = self.surfaces.transcript, self.surfaces.hint
        match event:
            case events.TurnStored(turn) if turn.role is Role.USER:
                self._turn = turn
                await self._know_sent(turn)
                await self._find_reply_position()
                await transcript.put(turn)
            case events.WindowBuilt(window):
                if window.step:
                    await self._find_reply_position()
                if event.warning:
                    self.host.warn(one_line(event.warning))
                self.previews.show_sent(window, self._turn, None)
                hint.wait(AWAITED, LOADING if self._is_local() else "")
            case events.ReplyDelta() | events.ReasoningDelta() | events.ReasoningFound():
                self._answered = True
                self.opening.keeper.let_go()
                hint.arrive()
                await self._draw_delta(event)
            case events.TurnStored(turn):
                await self._show_reply(turn)
            case events.StepStored(turn) | events.ToolReturned(turn):
                self._answered = True
                await transcript.put(turn)
                self._running = [call for call in self._running if call != turn.use.answers]
                self._wait_for_tools()
            case _:
                self._draw_rest(event)

    async def _know_sent(self, turn: Turn) -> None:
        session = self.opening.session
        if session is not None and self._returned is not None:
            draft = await asyncio.to_thread(session.memory.draft_of, turn)
            self.surfaces.prompt.know_sent(draft)

    async def _find_reply_position(self) -> None:
        """Determine the reply's position, assuming that no other writer adds a turn first."""
        name = self.opening.conversation.id
        tree = await asyncio.to_thread(self.backend.store.tree, name)
        self._reply_position = tree.last + 1

    async def _draw_delta(
        self, delta: events.ReplyDelta | events.ReasoningDelta | events.ReasoningFound
    ) -> None:
        transcript = self.surfaces.transcript
        match delta:
            case events.ReplyDelta(text):
                typing = self.surfaces.prompt.typing
                await transcript.stream(text, self._reply_position, typing=typing)
            case events.ReasoningDelta(text):
                await transcript.think(text, self._reply_position)
            case events.ReasoningFound():
                await transcript.take_for_reasoning()

    def _draw_rest(self, event: events.Event) -> None:
        match event:
            case events.TurnsRetrieved():
                session = self.opening.session
                picker = session.picker if session is not None else None
                if picker is not None and self.steering.mode.recalls:
                    self.surfaces.hint.wait(f"asking {picker.name} to choose turns")
            case events.ToolCalled() | events.ToolApproved():
                self._draw_call(event)
            case events.UsageReported(usage, cost):
                self._measured = True
                self.surfaces.inspector.report(usage)
                self.surfaces.hint.show_usage(usage_sentence(usage, cost, self.previews.sent))
            case events.RetryScheduled(seconds, why):
                self.surfaces.hint.count_down(seconds, why)
            case events.RequestAdapted(sentence) | events.LimitLearnt(_, sentence):
                self.host.say(one_line(sentence), seconds=READ_SECONDS)

    def _draw_call(self, event: events.ToolCalled | events.ToolApproved) -> None:
        runs = isinstance(event, events.ToolApproved)
        self.surfaces.transcript.show_call(event.turn, event.call, runs=runs)
        if runs:
            self._running.append(event.call)
            self._wait_for_tools()

    def _wait_for_tools(self) -> None:
        """Show which tools are running, unless a question is open."""
        names = [one_line(call.name) for call in self._running]
        if names and not self.surfaces.approval.display:
            state = f"{names[0]} is running; {self.keys['cancel']} stops it"
            if names[1:]:
                state = f"{len(names)} tools are running; {self.keys['cancel']} stops them"
            self.surfaces.hint.wait(state)

    async def _show_reply(self, turn: Turn) -> None:
        transcript = self.surfaces.transcript
        await transcript.put(turn)
        if turn.status is Status.COMPLETE:
            self.host.end_notices(self._refusals)
        if not self._measured:
            note = transcript.detail_of(turn).note
            broken = is_broken_off(turn, note.stop if note is not None else None)
            cost = note.cost if note is not None else None
            sent = self.previews.sent
            self.surfaces.hint.show_usage(usage_sentence(None, cost, sent, is_broken_off=broken))
        await self._offer_missing_turn()
        await self._show_stored()
        await self.release()

    async def _show_stored(self) -> None:
        """Show the stored turns, unless a reply is still unstored."""
        session = self.opening.session
        if session is not None and not self.backend.store.unstored:
            await self.surfaces.transcript.take_in(session.memory.turns)

    async def _offer_missing_turn(self) -> None:
        """Suggest Missing turn if the user's message says that a reply was wrong."""
        hint = self.surfaces.hint
        if self._turn is not None and await asyncio.to_thread(objects, self._turn.content):
            hint.put_ahead(_MISSING)

    async def _warn_of_unstored(self, session: Session) -> None:
        if (place := session.unstored) is not None:
            what = f"Not stored from character {place + 1:,} on" if place else "Not stored"
            await self.surfaces.transcript.warn(f"{what}: {self.keys.tell(_UNSTORED)}")

    async def _return_draft(self) -> bool:
        """Put an unanswered message back, with its choices, if it was written in the prompt.

        Once it is stored, its files are those of the turn. Return whether it was put back.
        """
        draft = self._returned
        session = self.opening.session
        if self._answered or draft is None:
            return False
        if self._turn is not None and session is not None:
            draft = await asyncio.to_thread(session.memory.draft_of, self._turn)
        self.surfaces.prompt.give_back(draft)
        self.opening.keeper.let_go()
        self.steering.give_back(*self._options)
        return True

    def _is_local(self) -> bool:
        """Whether the model runs on this machine, where it may have to be loaded first."""
        session = self.opening.session
        preset = presets().get(session.provider.name) if session is not None else None
        return preset is not None and preset.is_local

    def _named(self, conversation: Conversation, turn: Turn | None) -> Conversation:
        """Return the stored conversation; a new one is named after its first message.

        If it was deleted meanwhile, return it unchanged: the send reports the deletion.
        """
        store = self.backend.store
        if turn is not None:
            name_new(store, conversation, turn.content)
        with suppress(UnknownConversation):
            return store.conversation(conversation.id)
        return conversation
