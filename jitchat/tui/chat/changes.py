"""Shows what other programs write to the conversation on screen."""

from __future__ import annotations

from contextlib import suppress
from dataclasses import dataclass
from functools import partial
from typing import TYPE_CHECKING

from textual.message import Message
from textual.worker import Worker

from jitchat.errors import StoreError, UnknownConversation
from jitchat.text.figures import plural
from jitchat.tui.chat.conversations import Conversations
from jitchat.tui.chat.host import Controller
from jitchat.tui.chat.opening import Indexing, Opening
from jitchat.tui.chat.previews import Previews
from jitchat.tui.chat.sends import Sends

if TYPE_CHECKING:
    from jitchat.session import Session
    from jitchat.values import Conversation

LOOK_EVERY = 1.0
"""Seconds between two looks at the database's version."""
DELETED = "Another jitchat deleted this conversation."


@dataclass(eq=False)
class Changes(Controller):
    @dataclass
    class Found(Message):
        """Another program wrote to the database; the session has read it."""

        opening: int
        version: int
        conversation: Conversation | None
        """The conversation as it is now; None if it was deleted."""

    opening: Opening
    indexing: Indexing
    previews: Previews
    sends: Sends
    conversations: Conversations

    _version: int = 0
    """The database's version that is on screen."""
    _worker: Worker[None] | None = None

    def watch(self) -> None:
        """Look for changes until the app ends."""
        self.host.every(LOOK_EVERY, self._look_in_background)

    def _look_in_background(self) -> None:
        session = self.opening.session
        is_looking = self._worker is not None and not self._worker.is_finished
        if session is not None and not self.sends.busy and not is_looking:
            look = partial(self._look, session, self.opening.number)
            self._worker = self.host.in_thread(look, "changes")

    def _look(self, session: Session, opening: int) -> None:
        store = self.backend.store
        with suppress(StoreError):  # reported by the send
            version = store.database.version()
            if version == self._version or store.unstored:  # which is on the screen alone
                return
            conversation = None
            with suppress(UnknownConversation):
                conversation = store.conversation(session.memory.conversation.id)
                session.memory.refresh()
            self.host.post(self.Found(opening, version, conversation))

    async def take(self, message: Found) -> None:
        """Show what was found; while a reply is in progress, that is left to the next look."""
        session = self.opening.session
        if message.opening != self.opening.number or session is None or self.sends.busy:
            return
        self._version = message.version
        if message.conversation is None:
            await self.conversations.refresh()
            self.host.warn(DELETED)
            return
        await self.opening.know(message.conversation)
        if count := await self.surfaces.transcript.take_in(session.memory.turns):
            self.host.say(f"{plural(count, 'new turn')} from another jitchat.")
            self.indexing.catch_up()
            self.previews.plan(afresh=True)
