"""End sessions: when the conversation or the app is left, after twenty idle minutes, or on /end.

The memory document is then written in the background. Only closing the app waits for it, and not
for long; if it is not written by then, the next start ends the session.
"""

from __future__ import annotations

import asyncio
import time
from dataclasses import dataclass, field
from functools import partial
from typing import TYPE_CHECKING

from textual.message import Message

from jitchat.errors import JitchatError, StoreError
from jitchat.synthesis.document_writer import ExtractiveWriter
from jitchat.synthesis.session_end import IDLE, end_left_sessions
from jitchat.tui.alarm import Alarm
from jitchat.tui.chat.host import Controller

if TYPE_CHECKING:
    from jitchat.session import Session
    from jitchat.synthesis.session_end import SessionEnded

CLOSING_SECONDS = 1.5
"""Maximum seconds that closing the app waits for a document."""
TEMPORARY = "This conversation is temporary: it has no memory document."


@dataclass(eq=False)
class Ending(Controller):
    """Ends the session on screen, and those of conversations that were left."""

    @dataclass
    class Ended(Message):
        """A session was ended: its memory document was written, or could not be."""

        session: Session | None
        """The session; None if an earlier run of the app left it."""
        ended: SessionEnded | None
        """The outcome; None if there was nothing to write."""
        error: JitchatError | None = None

    _session: Session | None = None
    _idle: Alarm = field(default_factory=Alarm)
    _active_at: float = field(default_factory=time.monotonic)
    _looked_back: bool = False
    """Whether sessions left by earlier runs were already searched for."""

    def begin(self, session: Session) -> None:
        """Watch an opened conversation; first end the sessions that an earlier run left."""
        self._session = session
        self.attend()
        self._wait(IDLE.total_seconds())
        self.host.run(partial(self._catch_up, session), "ending")

    def attend(self) -> None:
        """Record activity of the user."""
        self._active_at = time.monotonic()

    def end_now(self, session: Session) -> None:
        """End the session at the user's request."""
        self.host.run(partial(self._end, session), "ending")

    async def leave(self, session: Session) -> None:
        """End the session of a conversation that is left, in the background."""
        self._stop()
        if await session.ending.wants_end():
            self.host.run(partial(self._end_and_close, session), "ending")
        else:
            await session.aclose()

    async def close(self, session: Session) -> None:
        """End the session while the app closes, if anything was sent and there is time."""
        self._stop()
        if session.has_sent:
            await session.ending.end_if_due(CLOSING_SECONDS)
        await session.aclose()

    def _stop(self) -> None:
        self._session = None
        self._idle.stop()

    def _wait(self, seconds: float) -> None:
        self._idle.set(self.host.after(seconds, self._look))

    def _look(self) -> None:
        """End the session if the user was idle for twenty minutes; otherwise check again later."""
        if self._session is None:
            return
        left = IDLE.total_seconds() - (time.monotonic() - self._active_at)
        if left > 0:
            self._wait(left)
        else:
            self.host.run(partial(self._end_idle, self._session), "ending")
            self._wait(IDLE.total_seconds())

    async def _catch_up(self, session: Session) -> None:
        try:
            is_over = await asyncio.to_thread(session.ending.is_over)
        except StoreError:  # reported by features that need the store
            return
        if is_over:
            await self._end(session)
        if not self._looked_back:
            self._looked_back = True
            writer = session.options.writer or ExtractiveWriter()
            store, here = self.backend.store, session.memory.conversation.id
            for ended in await end_left_sessions(store, writer, here):
                self.host.post(self.Ended(None, ended))

    async def _end_idle(self, session: Session) -> None:
        if await session.ending.wants_end():
            await self._end(session)

    async def _end(self, session: Session) -> None:
        try:
            self.host.post(self.Ended(session, await session.ending.end()))
        except JitchatError as error:
            self.host.post(self.Ended(session, None, error))

    async def _end_and_close(self, session: Session) -> None:
        await self._end(session)
        await session.aclose()

    def take(self, message: Ended) -> bool:
        """Report the outcome. Return whether it changes the windows of the session on screen."""
        if message.error is not None:
            self.host.show_error(message.error)
        elif message.ended is not None:
            self.host.say(message.ended.sentence.capitalize())
        elif message.session is not None:
            self.host.say(TEMPORARY)
        return message.session is not None and message.session is self._session
