"""The conversation on screen, and the session through which it is talked to.

Workers report with the number of the opening that they ran for, so that nothing of a
conversation that was left is taken for the one on screen.
"""

from __future__ import annotations

from dataclasses import dataclass, replace
from typing import TYPE_CHECKING

from jitchat.errors import JitchatError
from jitchat.tui.chat.draft_keeper import DraftKeeper
from jitchat.tui.chat.host import Host
from jitchat.tui.chat.messages import ConversationShown, SessionReady, SessionRefused
from jitchat.tui.chat.surfaces import Surfaces
from jitchat.tui.turn_details import TurnDetails
from jitchat.values import Conversation
from jitchat.window.steering import Steering

if TYPE_CHECKING:
    from jitchat.session import Session
    from jitchat.tui.backend import Backend

SHOWN_FIRST = 40
"""Turns that are read before the whole conversation is."""


@dataclass(eq=False)
class Opening:
    """Loads a conversation and closes it; its text is on screen before its session is there."""

    host: Host
    backend: Backend
    surfaces: Surfaces
    keeper: DraftKeeper
    conversation: Conversation

    session: Session | None = None
    number: int = 0
    """Counts the conversations that were opened; see `messages`."""
    refusal: JitchatError | None = None
    """Why nothing can be sent in the conversation, if so."""
    _jump: int | None = None

    async def open(self, conversation: Conversation, at: int | None = None) -> None:
        """Show a conversation, at its end or at one of its turns, and load its session.

        Raises:
            StoreError: It cannot be read.
        """
        self.conversation, self._jump = conversation, at
        store, surfaces = self.backend.store, self.surfaces
        if at is not None and at not in store.path(conversation.id):
            store.switch_to(conversation.id, at)
            self.conversation = conversation = store.conversation(conversation.id)
        path = store.path(conversation.id)
        turns = store.turns_of(conversation.id, path, path.before_last(SHOWN_FIRST))
        surfaces.transcript.details = TurnDetails(store, conversation.id)
        await surfaces.transcript.show(turns)
        surfaces.top.show_title(conversation.title, conversation.turns)
        surfaces.top.show_status("opening…")
        surfaces.prompt.use_history(store.prompts(100))
        self._bring_back(self.keeper.open(conversation.id))
        surfaces.prompt.focus()
        self.host.post(ConversationShown(self.number))
        self.host.after_frame(self._load)

    async def leave(self) -> None:
        """Close the session; what comes late from it is dropped from now on."""
        self.number += 1
        self.host.cancel("load")
        self.refusal = None
        await self.close()
        self.surfaces.transcript.hold(Steering())

    async def close(self) -> None:
        """Leave no thread and no connection behind."""
        session, self.session = self.session, None
        if session is not None:
            session.memory.index.throttle.halt()
            await session.aclose()

    async def take(self, session: Session) -> None:
        """Use a session that was loaded for the conversation, and show all of its turns."""
        self.session = session
        turns = session.memory.turns
        if self._jump is not None:
            await self.surfaces.transcript.show(turns, self._jump)
        else:
            await self.surfaces.transcript.know(turns)

    def refuse(self, error: JitchatError) -> None:
        """Say that nothing can be sent; the conversation can still be read."""
        self.refusal = error
        self.surfaces.top.show_status("cannot send")

    def know(self, conversation: Conversation) -> None:
        """Show the conversation's title and size as they are stored."""
        self.conversation = conversation
        self.surfaces.top.show_title(conversation.title, conversation.turns)

    def show_size(self, turns: int) -> None:
        self.know(replace(self.conversation, turns=turns))

    def show_holds(self) -> None:
        """Show in the transcript which turns are pinned or excluded."""
        if self.session is not None:
            self.surfaces.transcript.hold(self.session.steering)

    def _load(self) -> None:
        conversation, number = self.conversation, self.number

        def load() -> None:
            try:
                session = self.backend.open_session(conversation)
            except JitchatError as error:
                self.host.post(SessionRefused(number, error))
            else:
                self.host.post(SessionReady(number, session))

        self.host.in_thread(load, "load", exclusive=True)

    def _bring_back(self, draft: str) -> None:
        """Put the draft of a conversation into the prompt; at the start, ahead of keys."""
        if self.number > 1:
            self.surfaces.prompt.swap(draft)
        elif draft:
            self.surfaces.prompt.give_back(draft)
