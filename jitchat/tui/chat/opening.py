"""The conversation on screen: its session, its draft, and what goes on behind it.

Workers report with the number of the `opening` that they ran for, so that nothing of a
conversation that was left is taken for the one on screen.
"""

from __future__ import annotations

import asyncio
import threading
from collections.abc import Callable
from contextlib import aclosing
from dataclasses import dataclass
from functools import partial
from typing import TYPE_CHECKING

from textual.message import Message
from textual.timer import Timer
from textual.worker import Worker, get_current_worker

from jitchat.crash import holds_secret
from jitchat.errors import JitchatError, StoreError
from jitchat.store.deletion import delete_conversation
from jitchat.store.pins import Drafts
from jitchat.tui import garbage
from jitchat.tui.chat.ending import Ending
from jitchat.tui.chat.host import Controller, Host
from jitchat.tui.widgets.turn_view import TurnDetails
from jitchat.values import Conversation, Reach
from jitchat.window.steering import Steering

if TYPE_CHECKING:
    from jitchat.index.embedder import Embedder
    from jitchat.index.indexer import Progress
    from jitchat.session import Session
    from jitchat.small_models.summariser import LinesWritten, Summariser

SHOWN_FIRST = 40
"""Turns that are read before the whole conversation is."""
WALKED_PROMPTS = 500
"""So many are walked by Up; Ctrl+S searches more."""
PATIENCE = 0.5
"""Seconds that a search waits for the index of a long conversation; the rest is loaded behind."""
KEEP_AFTER = 0.5
"""Seconds of silence after a key until the draft is written."""


class DraftKeeper:
    """Keeps the draft while it is typed, so that it survives any end.

    A message that was sent is kept as well until its reply begins: it is back in the prompt if the
    app dies before. Where the app ends in order, it is kept only if it is not a turn. A text that
    holds a known key is not kept.
    """

    def __init__(
        self, host: Host, drafts: Drafts, typed: Callable[[], str], secrets: Callable[[], list[str]]
    ) -> None:
        """`typed` reads what is in the prompt, and `secrets` the keys that are in use."""
        self._host = host
        self._drafts, self._typed, self._secrets = drafts, typed, secrets
        self._timer: Timer | None = None
        self._lock = threading.Lock()
        self._conversation: str | None = None
        self._stored = self._wanted = self._under_way = self._returned = ""
        self._is_turn = False
        """Whether what is under way is stored in the conversation."""

    def open(self, conversation: str) -> str:
        """Look up the draft that was left in a conversation, and keep that from now on."""
        with self._lock:
            self._conversation = conversation
            self._under_way = ""
            try:
                self._stored = self._drafts.get(conversation)
            except StoreError:  # told by what needs the store
                self._stored = ""
            self._wanted = self._returned = self._stored
            return self._stored

    def is_back(self) -> bool:
        """Whether the prompt holds the draft of last time, and nothing else was typed."""
        return bool(self._returned) and self._typed() == self._returned

    def send(self, text: str) -> None:
        """Keep a message that leaves the prompt until its reply begins."""
        self._under_way, self._is_turn = text, False

    def mark_stored(self) -> None:
        """The message is a turn, and waits for its reply; from any thread."""
        self._is_turn = True

    def let_go(self) -> None:
        """Keep a message no longer that is a turn with a reply, or back in the prompt."""
        self._under_way = ""

    def keep_soon(self) -> None:
        """Write the draft once the keys rest, in a thread."""
        self._stop_timer()
        self._timer = self._host.after(KEEP_AFTER, self.keep_behind)

    def keep_behind(self) -> None:
        self._note(leaving=False)
        self._host.in_thread(self._flush, "draft")

    def keep_now(self, *, leaving: bool = False) -> None:
        """Write the draft before anything else happens.

        Once the conversation is left, and no send is under way, a turn is found where it stands.
        """
        self._stop_timer()
        self._note(leaving=leaving)
        self._flush()

    def _note(self, *, leaving: bool) -> None:
        under_way = "" if leaving and self._is_turn else self._under_way
        self._wanted = "\n".join(filter(str.strip, (under_way, self._typed())))

    def _stop_timer(self) -> None:
        if self._timer is not None:
            self._timer.stop()

    def _flush(self) -> None:
        """Write what was noted, if it is another text than before; from any thread."""
        with self._lock:
            wanted = self._wanted
            if self._conversation is None or wanted == self._stored:
                return
            text = "" if holds_secret(wanted, self._secrets()) else wanted
            try:
                self._drafts.put(self._conversation, text)
            except StoreError:  # the next text is tried again; a send tells of it
                return
            self._stored = wanted


@dataclass(eq=False)
class Opening(Controller):
    """Loads a conversation and closes it; its text is on screen before its session is there."""

    @dataclass
    class Shown(Message):
        """A conversation is on screen; its session is being loaded."""

        opening: int

    @dataclass
    class Ready(Message):
        """A conversation can be talked to."""

        opening: int
        session: Session

    @dataclass
    class Refused(Message):
        """A conversation cannot be opened as the settings ask."""

        opening: int
        error: JitchatError

    keeper: DraftKeeper
    ending: Ending
    conversation: Conversation

    session: Session | None = None
    number: int = 0
    """Counts the conversations that were opened; a message has that of its own."""
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
        self.show_place()
        surfaces.top.show_status("opening…")
        surfaces.prompt.use_history(store.prompts(WALKED_PROMPTS))
        draft = self.keeper.open(conversation.id)
        if self.number > 1:
            surfaces.prompt.swap(draft)
        elif draft:  # at the start, ahead of the keys that were pressed meanwhile
            surfaces.prompt.give_back(draft)
        surfaces.prompt.focus()
        self.host.post(self.Shown(self.number))
        self.host.after_frame(self._load)

    async def leave(self) -> None:
        """Close the session; what comes late from it is dropped from now on."""
        self.number += 1
        self.host.cancel("load")
        self.refusal = None
        session = self._let_go()
        if session is not None:
            await self.ending.leave(session)
        self.surfaces.transcript.hold(Steering())

    async def close(self) -> None:
        """Leave no thread and no connection behind."""
        session = self._let_go()
        if session is not None:
            await self.ending.close(session)

    async def delete_temporary(self, left: Conversation) -> bool:
        """Delete a conversation that was left, if it is temporary; whether it was.

        Raises:
            StoreError: It could not be deleted; the next start does it.

        """
        if left.is_temporary:
            await asyncio.to_thread(delete_conversation, self.backend.store, left.id)
        return left.is_temporary

    def _let_go(self) -> Session | None:
        session, self.session = self.session, None
        if session is not None:
            session.memory.index.throttle.halt()
        return session

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
        self.conversation = conversation
        self.show_place()

    def show_place(self) -> None:
        top, conversation = self.surfaces.top, self.conversation
        persona = self.backend.settings_for(conversation.id).chat.persona
        top.show_title(conversation.title, conversation.turns)
        top.show_marks(conversation, Reach(self.backend.settings.memory.recall), persona)

    def show_holds(self) -> None:
        if self.session is not None:
            self.surfaces.transcript.hold(self.session.steering)

    def _load(self) -> None:
        conversation, number = self.conversation, self.number

        def load() -> None:
            try:
                session = self.backend.open_session(conversation)
                session.memory.index.patience = PATIENCE
            except JitchatError as error:
                self.host.post(self.Refused(number, error))
            else:
                self.host.post(self.Ready(number, session))

        self.host.in_thread(load, "load", exclusive=True)


@dataclass(eq=False)
class Indexing(Controller):
    """Catches up with the turns that lack an index entry, a vector or an index line."""

    @dataclass
    class Ended(Message):
        """Nothing more is indexed for now."""

        opening: int
        is_fuller: bool
        """Whether a search can find turns that it did not before."""
        error: JitchatError | None = None
        """Why the rest has to wait for the next start."""

    @dataclass
    class LinesMoved(Message):
        """The summariser's model answered; with None, nothing more comes of it for now."""

        opening: int
        written: LinesWritten | None
        error: JitchatError | None = None
        """Why it gave up."""

    opening: Opening

    indexed: bool = False
    """Whether every turn has its place in the hot index."""
    progress: Progress | None = None
    """How far that is, while turns are being indexed."""
    _settled: bool = False
    _lines: Worker[None] | None = None

    def show_status(self) -> None:
        if self.opening.session is not None:
            self.surfaces.show_status(self.opening.session, self.progress)

    def catch_up(self, embedder: Embedder | None = None) -> None:
        """Index what is missing, in place of an indexing that is under way.

        With another `embedder`, every turn gets its vector.
        """
        session, number = self.opening.session, self.opening.number
        if session is not None:
            work = partial(self._catch_up, session, embedder, number)
            self.host.in_thread(work, "backlog", exclusive=True)

    def stop(self) -> None:
        self.host.cancel("backlog", "embedder", "lines")
        self.indexed = self._settled = False
        self.progress = None
        garbage.unfreeze()

    def _take_progress(self, number: int, progress: Progress) -> None:
        if number == self.opening.number:
            self.indexed, self.progress = False, progress
            self.show_status()

    def end(self, error: JitchatError | None) -> None:
        """Nothing more is indexed for now; an error says why the rest has to wait."""
        self.indexed, self.progress = True, None
        self.settle()
        self.show_status()
        if error is not None:
            self.host.tell(error)

    def settle(self) -> None:
        """Have the garbage collector skip all that is loaded by now."""
        if not self._settled:
            self._settled = True
            garbage.freeze()

    def change_embedder(self) -> None:
        """Use an embedding model that was fetched as soon as every turn has its vector."""

        async def change() -> None:
            try:
                embedder = await asyncio.to_thread(self.backend.better_embedder)
            except JitchatError as error:
                self.end(error)
            else:
                if embedder is not None:
                    self.catch_up(embedder)

        self.host.run(change(), "embedder")

    def write_missing_lines(self) -> None:
        """Have the summariser's model write the index lines that are missing, if there is one."""
        session = self.opening.session
        summariser = session.summariser if session is not None else None
        is_writing = self._lines is not None and not self._lines.is_finished
        if summariser is not None and not summariser.stopped and not is_writing:
            work = self._write_lines(summariser, self.opening.number)
            self._lines = self.host.run(work, "lines")

    def show_lines(self, message: LinesMoved) -> bool:
        """Say how many index lines are missing; whether they are all there now."""
        session = self.opening.session
        if session is None or session.summariser is None:
            return False
        if message.written is None:
            self.show_status()
        elif message.written.left and self.progress is None:
            written, name = message.written, session.summariser.name
            state = (
                f"{name} writes index lines… {written.left:,} to go"
                f" · {written.input_tokens:,} + {written.output_tokens:,} tokens"
            )
            self.surfaces.show_state(state, session)
        if message.error is not None:
            self.host.tell(message.error)
        return message.written is None

    def _catch_up(self, session: Session, embedder: Embedder | None, number: int) -> None:
        """Index in a thread, unless a later call takes over: then only that one reports."""
        worker = get_current_worker()

        is_fuller = False

        def report(progress: Progress) -> None:
            nonlocal is_fuller
            is_fuller = True
            if not worker.is_cancelled:
                self.host.later(self._take_progress, number, progress)

        error: JitchatError | None = None
        try:
            for _ in session.memory.index.catch_up(embedder, on_progress=report):
                if worker.is_cancelled:
                    return
            error = session.memory.index.failure
            session.memory.file_parts.index_missing(session.memory.files)
            if session.memory.others is not None:
                session.memory.others.index_missing()
        except JitchatError as refusal:
            error = refusal
        if not worker.is_cancelled:
            self.host.post(self.Ended(number, is_fuller, error))

    async def _write_lines(self, summariser: Summariser, number: int) -> None:
        error: JitchatError | None = None
        try:
            async with aclosing(summariser.write()) as requests:
                async for written in requests:
                    self.host.post(self.LinesMoved(number, written))
        except JitchatError as failure:
            error = failure
        self.host.post(self.LinesMoved(number, None, error))
