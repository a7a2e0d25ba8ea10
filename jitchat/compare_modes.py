"""One message answered in several modes at once: one user turn, with a reply for each mode.

Each reply is an ordinary `Session.send` of a turn that is stored first, so each window is kept, and
a mode that fails does not affect the others. If stopped, partial replies are kept; a message
without any reply is marked unanswered.
"""

import asyncio
import time
from collections.abc import Callable, Sequence
from contextlib import aclosing, suppress
from dataclasses import replace

from jitchat.errors import EmptyDraft, JitchatError, StoreError
from jitchat.events import AnswerProgress, Event, SendFailed
from jitchat.metering import MessageAccount
from jitchat.session import Session
from jitchat.threads import to_the_end
from jitchat.values import Mode, Turn
from jitchat.window.steering import NO_MORE, Once

Hear = Callable[[Mode, Event], object]
"""Called with each event and the mode that it belongs to."""


JIT_FIRST = (Mode.JIT, *(mode for mode in Mode if mode is not Mode.JIT))


class ModeComparison:
    """Sends one message in several modes. Used once, in one event loop."""

    def __init__(
        self,
        session: Session,
        draft: str,
        once: Once = NO_MORE,
        modes: Sequence[Mode] = JIT_FIRST,
        clock: Callable[[], float] = time.monotonic,
    ) -> None:
        """The conversation continues with the reply of the first of `modes`.

        `once.again` is an existing turn, which gets these replies in addition to its own.
        """
        self._session, self._draft, self._once = session, draft, once
        self._preferred, self._clock = modes[0], clock
        self._last = 0
        """The conversation's last position before the first reply."""
        self.account = MessageAccount()
        """The account of the message, with all its answers."""
        self.said: Turn | None = None
        """The user's turn; None before it is stored."""
        self.answers = {mode: AnswerProgress(mode) for mode in Mode if mode in modes}
        self.replies: dict[Mode, int] = {}
        """The positions of the replies kept, whole or partial; empty until the end."""
        self.error: JitchatError | None = None
        """Why the outcome could not be stored."""

    @property
    def goes_on(self) -> int | None:
        """The position of the reply with which the conversation continues; None if there is none.

        The first mode's reply, otherwise the last one.
        """
        return self.replies.get(self._preferred, max(self.replies.values(), default=None))

    async def run(self, hear: Hear) -> None:
        """Send in all modes; cancelling stops every reply and keeps what was received.

        Raises:
            EmptyDraft: The message is empty.
            StoreError: The message cannot be stored.

        """
        try:
            said = await to_the_end(self._store)
            async with asyncio.TaskGroup() as group:
                for mode in self.answers:
                    group.create_task(self._ask(mode, said, hear))
        finally:
            await to_the_end(self._end)

    async def _ask(self, mode: Mode, said: Turn, hear: Hear) -> None:
        once, account = replace(self._once, after=None, again=said), self.account.part()
        sent = self._session.send(said.content, mode, once, account=account)
        try:
            async with aclosing(sent) as events:
                async for event in events:
                    self._take(mode, event, hear)
        except JitchatError as error:
            self._take(mode, SendFailed(error, self._draft), hear)
        finally:
            # marked as ended first: counting in the thread may be cancelled
            answer, session = self.answers[mode], self._session
            over = self.answers[mode] = answer.ended(self._clock(), None, 0)
            counted = await asyncio.to_thread(session.counter.count, answer.text)
            self.answers[mode] = over = replace(over, counted=counted)
            with suppress(StoreError):  # the cost stays unknown
                cost = await asyncio.to_thread(account.cost)
                self.answers[mode] = replace(over, cost=cost)

    def _take(self, mode: Mode, event: Event, hear: Hear) -> None:
        self.answers[mode] = self.answers[mode].after(event, self._clock())
        hear(mode, event)

    def _store(self) -> Turn:
        """Commit the user's turn, once for all replies."""
        if not self._draft.strip():
            raise EmptyDraft("The message is empty.", "Type a message first.")
        memory, once = self._session.memory, self._session.planning.attached(self._once)
        message = self._draft, once.after, None, once.files
        self.said = said = once.again or memory.add_user_turn(*message)
        self._last = memory.store.tree(memory.conversation.id).last
        self.account = self._session.spending.begin_message()
        return said

    def _end(self) -> None:
        if self.said is None:
            return
        memory = self._session.memory
        try:
            self.replies = memory.archive.replies_by_mode(self.said.id, self._last)
            if self.goes_on is not None:
                memory.switch_to(self.goes_on)
            elif self._once.again is None:
                memory.mark_unanswered(self.said)
        except StoreError as refused:
            self.error = refused
