"""The conversation on the screen: opened and left, indexed behind what the user does.

Workers report with the number of the opening that they ran for, so that nothing of a
conversation that was left is taken for the one on screen.
"""

from __future__ import annotations

from dataclasses import replace
from typing import TYPE_CHECKING

from textual import on, work
from textual.timer import Timer
from textual.worker import get_current_worker

from jitchat.errors import JitchatError
from jitchat.tui import garbage
from jitchat.tui.draft_keeper import KEEP_AFTER
from jitchat.tui.messages import (
    BacklogEnded,
    BacklogMoved,
    PreviewReady,
    SessionReady,
    SessionRefused,
)
from jitchat.tui.notices import READ_SECONDS, reports_errors
from jitchat.tui.screens.previewing import PreviewingScreen
from jitchat.tui.turn_details import TurnDetails
from jitchat.tui.widgets.model_fetch import ModelFetch
from jitchat.tui.widgets.prompt import Prompt
from jitchat.tui.widgets.top_line import TopLine
from jitchat.tui.widgets.transcript import Transcript
from jitchat.values import Conversation

if TYPE_CHECKING:
    from jitchat.index.embedder import Embedder
    from jitchat.index.indexer import Progress
    from jitchat.session import Session
    from jitchat.tui.backend import Backend

SHOWN_FIRST = 40
"""Turns that are read before the whole conversation is."""

READ_ONLY = "What is stored can be read; nothing can be sent."


class OpenedScreen(PreviewingScreen):
    """A desk with a conversation on it."""

    def __init__(self, backend: Backend, conversation: Conversation) -> None:
        super().__init__(backend)
        self.conversation = conversation
        self.opening = 0
        """Counts the conversations that were opened; see `messages`."""
        self.refusal: JitchatError | None = None
        """Why the conversation cannot be talked to, if it cannot."""
        self._settled = False
        self._jump: int | None = None
        self._keeping: Timer | None = None

    async def on_mount(self) -> None:
        """Show what can be shown at once; the rest is loaded behind the first frame."""
        self.set_out()
        await self.open(self.conversation)

    @reports_errors
    async def open(self, conversation: Conversation, at: int | None = None) -> None:
        """Another conversation, at its end or at one of its turns."""
        await self.leave()
        self.conversation, self._jump = conversation, at
        store = self.backend.store
        if at is not None and at not in store.path(conversation.id):
            store.switch_to(conversation.id, at)
            self.conversation = conversation = store.conversation(conversation.id)
        path = store.path(conversation.id)
        turns = store.turns_of(conversation.id, path, path.before_last(SHOWN_FIRST))
        transcript = self.query_one(Transcript)
        transcript.details = TurnDetails(store, conversation.id)
        await transcript.show(turns)
        self.query_one(TopLine).show_title(conversation.title, conversation.turns)
        self.query_one(TopLine).show_status("opening…")
        self.query_one(Prompt).use_history(store.prompts(100))
        self._bring_back(self.keeper.open(conversation.id))
        self.query_one(Prompt).focus()
        self.call_after_refresh(self._load, conversation, self.opening)

    async def leave(self) -> None:
        """Nothing of the conversation comes late from now on, or stays on screen."""
        self.opening += 1
        self.keep_draft()
        for group in ("load", "backlog", "embedder"):
            self.workers.cancel_group(self, group)
        self.forget_window()
        self.refusal = None
        self.indexed = self._settled = False
        self.progress = None
        garbage.unfreeze()
        await self._let_go()

    async def on_unmount(self) -> None:
        """Leave no thread and no connection behind, and the draft where it is found again."""
        self.keep_draft(leaving=True)
        await self._let_go()

    async def _let_go(self) -> None:
        left, self.session = self.session, None
        if left is not None:
            left.memory.pace.halt()
            await left.aclose()

    @work(thread=True, exclusive=True, group="load")
    def _load(self, conversation: Conversation, opening: int) -> None:
        try:
            session = self.backend.open_session(conversation)
        except JitchatError as error:
            self.post_message(SessionRefused(opening, error))
            return
        self.post_message(SessionReady(opening, session))

    @on(SessionReady)
    async def _ready(self, message: SessionReady) -> None:
        """The conversation can be talked to."""
        if message.opening != self.opening:
            return
        self.session = message.session
        turns = message.session.memory.turns
        transcript = self.query_one(Transcript)
        if self._jump is not None:
            await transcript.show(turns, self._jump)
        else:
            await transcript.know(turns)
        self.show_status()
        self.plan_now()
        if (refusal := self.backend.store.database.refusal) is None:
            self._catch_up(message.session, None, message.opening)
        else:
            self.indexed = True
            self.notify(f"{READ_ONLY} {refusal}", severity="warning", timeout=60, markup=False)
        if self.backend.warning and message.opening == 1:
            self.notify(
                self.backend.warning, severity="warning", timeout=READ_SECONDS, markup=False
            )
        if self.backend.may_fetch_model:
            self.query_one(ModelFetch).start()

    @on(SessionRefused)
    def _refused(self, message: SessionRefused) -> None:
        """It cannot; the conversation can still be read."""
        if message.opening == self.opening:
            self.refusal = message.error
            self._settle()
            self.query_one(TopLine).show_status("cannot send")
            self.tell(message.error)

    def keep_draft(self, *, leaving: bool = False) -> None:
        """Write the draft now."""
        if self._keeping is not None:
            self._keeping.stop()
        self.keeper.note(leaving=leaving)
        self.keeper.flush()

    def _bring_back(self, draft: str) -> None:
        """Put the draft of a conversation into the prompt; at the start, ahead of keys."""
        if self.opening == 1:
            if draft:
                self._prompt.give_back(draft)
        else:
            self._prompt.swap(draft)

    @on(Prompt.Changed)
    def _draft_to_keep(self) -> None:
        if self._keeping is not None:
            self._keeping.stop()
        self._keeping = self.set_timer(KEEP_AFTER, self._keep_behind)

    def _keep_behind(self) -> None:
        self.keeper.note()
        self._flush_draft()

    @work(thread=True, group="draft")
    def _flush_draft(self) -> None:
        self.keeper.flush()

    def index_missing(self) -> None:
        """Index what a branch may lack."""
        if self.session is not None:
            self._catch_up(self.session, None, self.opening)

    def show_size(self, turns: int) -> None:
        """How many turns the conversation has now."""
        self.conversation = replace(self.conversation, turns=turns)
        self.query_one(TopLine).show_title(self.conversation.title, turns)

    @work(thread=True, exclusive=True, group="backlog")
    def _catch_up(self, session: Session, embedder: Embedder | None, opening: int) -> None:
        """Index what is missing, unless a later call takes over: then only that one is told of."""
        worker = get_current_worker()

        def moved(progress: Progress) -> None:
            if not worker.is_cancelled:
                self.post_message(BacklogMoved(opening, progress))

        indexed = 0
        error: JitchatError | None = None
        try:
            for entries in session.memory.catch_up(embedder, on_progress=moved):
                if worker.is_cancelled:
                    return
                indexed += len(entries)
            error = session.memory.failure
        except JitchatError as refused:
            error = refused
        if not worker.is_cancelled:
            self.post_message(BacklogEnded(opening, indexed, error))

    @on(BacklogMoved)
    def _backlog_moved(self, message: BacklogMoved) -> None:
        """Indexing goes on behind; the window follows when it is done."""
        if message.opening == self.opening:
            self.indexed, self.progress = False, message.progress
            self.show_status()

    @on(BacklogEnded)
    def _backlog_ended(self, message: BacklogEnded) -> None:
        if message.opening != self.opening:
            return
        self.indexed, self.progress = True, None
        self._settle()
        self.show_status()
        if message.error is not None:
            self.tell(message.error)
        if message.indexed:
            self.plan_now()

    @on(ModelFetch.Ended)
    def _fetch_ended(self, message: ModelFetch.Ended) -> None:
        """A model that came is used as soon as every turn has its vector.

        Nobody waits for a download that is tried again at the next start; what came and was
        refused is told.
        """
        if message.asked or message.fetched or not self.backend.may_fetch_model:
            self.notify(message.sentence, markup=False)
        if message.fetched and self.session is not None:
            self._change_embedder(self.session, self.opening)

    @work(thread=True, group="embedder")
    def _change_embedder(self, session: Session, opening: int) -> None:
        try:
            embedder = self.backend.better_embedder()
        except JitchatError as error:
            self.post_message(BacklogEnded(opening, 0, error))
            return
        if embedder is not None:
            self.app.call_from_thread(self._catch_up, session, embedder, opening)

    @on(PreviewReady)
    def _first_preview_ready(self) -> None:
        if self.indexed:
            self._settle()

    def _settle(self) -> None:
        """All that is kept is loaded."""
        if not self._settled:
            self._settled = True
            garbage.freeze()
