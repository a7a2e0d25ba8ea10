"""The conversation on screen: its session, its draft, and its indexing in the background.

Workers report the number of the `opening` that they ran for, so that results for a conversation
that was left are not mistaken for those of the one on screen.
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
from textual.worker import Worker, get_current_worker

from jitchat.crash import holds_secret
from jitchat.draft import EMPTY, Draft, joined
from jitchat.errors import JitchatError, StoreBusy, StoreError
from jitchat.store.deletion import delete_conversation
from jitchat.store.drafts import Drafts, sent_drafts
from jitchat.tui import garbage
from jitchat.tui.alarm import Alarm
from jitchat.tui.chat.ending import Ending
from jitchat.tui.chat.host import Controller, Host
from jitchat.tui.widgets.turn_details import TurnDetails
from jitchat.values import Conversation, Reach, Turn
from jitchat.window.steering import Steering

if TYPE_CHECKING:
    from jitchat.index.embedder import Embedder
    from jitchat.index.indexer import Progress
    from jitchat.session import Session
    from jitchat.small_models.summariser import LinesWritten, Summariser

SHOWN_FIRST = 40
"""Turns that are read and shown before the whole conversation."""
WALKED_PROMPTS = 500
"""Maximum earlier prompts that Up goes through; the search finds more."""
PATIENCE = 0.5
"""Seconds that a search waits for a long conversation's index; the rest loads in the background."""
KEEP_AFTER = 0.5
"""Seconds after the last key until the draft is written."""


class DraftKeeper:
    """Stores the draft while it is typed, so that it survives even a crash.

    A sent message is stored too until its reply begins: if the app crashes before, the message is
    back in the prompt. When the app ends normally, it is stored only if it is not yet a turn. A
    text that contains a known key is not stored.
    """

    def __init__(
        self,
        host: Host,
        drafts: Drafts,
        typed: Callable[[], Draft],
        secrets: Callable[[], list[str]],
    ) -> None:
        """`typed` returns the draft in the prompt, and `secrets` the keys in use."""
        self._host = host
        self._drafts, self._typed, self._secrets = drafts, typed, secrets
        self._timer = Alarm()
        self._lock = threading.Lock()
        self._conversation = ""
        self._stored = self._wanted = self._under_way = self._returned = EMPTY
        self._is_turn = False
        """Whether the message being sent is stored as a turn."""

    def open(self, conversation: str) -> Draft:
        """Return the stored draft of a conversation, whose draft is kept from now on."""
        with self._lock:
            self._conversation = conversation
            self._under_way = EMPTY
            try:
                self._stored = self._drafts.get(conversation)
            except StoreError:  # reported by features that need the store
                self._stored = EMPTY
            self._wanted = self._returned = self._stored
            return self._stored

    def is_back(self) -> bool:
        """Whether the prompt holds the restored draft, unchanged."""
        return bool(self._returned) and self._typed() == self._returned

    def send(self, draft: Draft) -> None:
        """Keep a message that is being sent until its reply begins."""
        self._under_way, self._is_turn = draft, False

    def mark_stored(self) -> None:
        """Record that the message is stored as a turn and waits for its reply; from any thread."""
        self._is_turn = True

    def let_go(self) -> None:
        """Stop keeping a message, which has a reply or is back in the prompt."""
        self._under_way = EMPTY

    def keep_soon(self) -> None:
        """Write the draft in a thread after a pause in typing."""
        self._timer.set(self._host.after(KEEP_AFTER, self.keep_in_background))

    def keep_in_background(self) -> None:
        self._note(leaving=False)
        self._host.in_thread(self._flush, "draft")

    async def keep_now(self) -> None:
        """Write the draft before returning. Raises StoreBusy if another program writes for long."""
        self._timer.stop()
        self._note(leaving=False)
        await asyncio.to_thread(self._flush, StoreBusy)

    async def keep_at_exit(self, *, is_temporary: bool) -> None:
        """Write the draft, if need be outside of the database.

        A sent message that is already a turn is not kept as a draft too.
        """
        self._timer.stop()
        self._note(leaving=True)
        await asyncio.to_thread(self._flush)
        if not is_temporary and self._wanted != self._stored:
            draft = self._without_secret(self._wanted)
            await asyncio.to_thread(self._drafts.set_aside, self._conversation, draft)

    def _note(self, *, leaving: bool) -> None:
        under_way = EMPTY if leaving and self._is_turn else self._under_way
        drafts = (under_way, self._typed())
        self._wanted = joined(draft for draft in drafts if draft.text.strip() or draft.files)

    def _flush(self, *raised: type[StoreError]) -> None:
        """Write the noted draft if it has changed; from any thread. Only these errors are raised.

        After the others, it is written with the next text; a send reports them.
        """
        with self._lock:
            wanted = self._wanted
            if wanted == self._stored:
                return
            try:
                self._drafts.put(self._conversation, self._without_secret(wanted))
            except StoreError as error:
                if isinstance(error, raised):
                    raise
                return
            self._stored = wanted

    def _without_secret(self, draft: Draft) -> Draft:
        return EMPTY if holds_secret(draft.text, self._secrets()) else draft


@dataclass(eq=False)
class Opening(Controller):
    """Opens and closes conversations; the text is shown before the session is loaded."""

    @dataclass
    class Shown(Message):
        """A conversation is on screen; its session is being loaded."""

        opening: int

    @dataclass
    class Ready(Message):
        """The session of a conversation is loaded, so that messages can be sent."""

        opening: int
        session: Session

    @dataclass
    class Refused(Message):
        """The session of a conversation cannot be opened with the current settings."""

        opening: int
        error: JitchatError

    keeper: DraftKeeper
    ending: Ending
    conversation: Conversation

    session: Session | None = None
    number: int = 0
    """Number of conversations opened so far; messages carry the number of their opening."""
    refusal: JitchatError | None = None
    """Why nothing can be sent in the conversation; None if messages can be sent."""
    _jump: int | None = None

    async def open(self, conversation: Conversation, at: int | None, kept: Draft) -> None:
        """Show a conversation, at its end or at one of its turns, and load its session.

        `kept` is the draft that is stored for the conversation that was left. If it was changed
        since, it is put into the prompt here, too.

        Raises:
            StoreError: The conversation cannot be read.
        """
        self.conversation, self._jump = conversation, at
        number, store, surfaces = self.number, self.backend.store, self.surfaces
        read = partial(self._read, conversation, at)
        self.conversation, turns, history, draft = await asyncio.to_thread(read)
        if number != self.number:
            return
        surfaces.transcript.details = TurnDetails(store, conversation.id)
        await surfaces.transcript.show(turns)
        await self.show_place()
        surfaces.top.show_status("opening…")
        surfaces.prompt.use_history(history)
        if self.number > 1:
            typed = surfaces.prompt.message
            surfaces.prompt.swap(draft)
            if typed and typed != kept:
                surfaces.prompt.give_back(typed)
        elif draft:  # at the start, before the keys that were pressed meanwhile
            surfaces.prompt.give_back(draft)
        surfaces.prompt.focus()
        self.host.post(self.Shown(self.number))
        self.host.after_frame(self._load)

    def _read(
        self, conversation: Conversation, at: int | None
    ) -> tuple[Conversation, list[Turn], list[Draft], Draft]:
        """Read the conversation as it is shown first, earlier prompts, and its draft."""
        store = self.backend.store
        if at is not None and at not in store.path(conversation.id):
            store.switch_to(conversation.id, at)
            conversation = store.conversation(conversation.id)
        path = store.path(conversation.id)
        turns = store.turns_of(conversation.id, path, path.before_last(SHOWN_FIRST))
        history = sent_drafts(store.database, WALKED_PROMPTS)
        return conversation, turns, history, self.keeper.open(conversation.id)

    async def leave(self) -> None:
        """Close the session; late messages from it are dropped from now on."""
        self.number += 1
        self.host.cancel("load")
        self.refusal = None
        session = self._let_go()
        if session is not None:
            await self.ending.leave(session)
        self.surfaces.transcript.hold(Steering())

    async def close(self) -> None:
        """Close the session and end it, with its threads and connections."""
        session = self._let_go()
        if session is not None:
            await self.ending.close(session)

    async def delete_temporary(self, left: Conversation) -> bool:
        """Delete a conversation that was left, if it is temporary. Return whether it was.

        Raises:
            StoreError: It could not be deleted; the next start will delete it.

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
        """Use the session that was loaded for the conversation, and show all of its turns."""
        self.session = session
        turns = session.memory.turns
        if self._jump is not None:
            await self.surfaces.transcript.show(turns, self._jump)
        else:
            await self.surfaces.transcript.know(turns)

    def refuse(self, error: JitchatError) -> None:
        """Show that nothing can be sent; the conversation can still be read."""
        self.refusal = error
        self.surfaces.top.show_status("cannot send")

    async def know(self, conversation: Conversation) -> None:
        self.conversation = conversation
        await self.show_place()

    async def show_place(self) -> None:
        settings = await asyncio.to_thread(self.backend.settings_for, self.conversation.id)
        persona = settings.chat.persona
        reach = Reach(self.backend.settings.memory.recall)
        self.surfaces.top.show_conversation(self.conversation, reach, persona)

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
    """Indexes turns that lack an index entry, a vector or an index line."""

    @dataclass
    class Ended(Message):
        """Indexing has finished or stopped."""

        opening: int
        is_fuller: bool
        """Whether a search can now find more turns than before."""
        error: JitchatError | None = None
        """Why the remaining turns are not indexed until the next start."""

    @dataclass
    class LinesMoved(Message):
        """The summariser wrote some index lines; with None, it has finished or stopped."""

        opening: int
        written: LinesWritten | None
        error: JitchatError | None = None
        """Why the summariser stopped."""

    opening: Opening

    indexed: bool = False
    """Whether every turn is in the hot index."""
    progress: Progress | None = None
    """The progress while turns are being indexed; else None."""
    _settled: bool = False
    _lines: Worker[None] | None = None

    def show_status(self) -> None:
        if self.opening.session is not None:
            self.surfaces.show_status(self.opening.session, self.progress)

    def catch_up(self, embedder: Embedder | None = None) -> None:
        """Index missing turns, replacing a run that is in progress.

        With a different `embedder`, the vectors of all turns are recomputed.
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
        """Show that indexing has ended; `error` is why the remaining turns are not indexed."""
        self.indexed, self.progress = True, None
        self.settle()
        self.show_status()
        if error is not None:
            self.host.show_error(error)

    def settle(self) -> None:
        """Exclude everything loaded so far from garbage collection."""
        if not self._settled:
            self._settled = True
            garbage.freeze()

    def change_embedder(self) -> None:
        """Switch to the downloaded embedding model as soon as every turn has its vector."""

        async def change() -> None:
            try:
                embedder = await asyncio.to_thread(self.backend.better_embedder)
            except JitchatError as error:
                self.end(error)
            else:
                if embedder is not None:
                    self.catch_up(embedder)

        self.host.run(change, "embedder")

    def write_missing_lines(self) -> None:
        """Have the summariser, if there is one, write missing index lines."""
        session = self.opening.session
        summariser = session.summariser if session is not None else None
        is_writing = self._lines is not None and not self._lines.is_finished
        if summariser is not None and not summariser.stopped and not is_writing:
            work = partial(self._write_lines, summariser, self.opening.number)
            self._lines = self.host.run(work, "lines")

    def show_lines(self, message: LinesMoved) -> bool:
        """Show how many index lines are missing. Return whether the summariser has finished."""
        session = self.opening.session
        if session is None or session.summariser is None:
            return False
        if message.written is None:
            self.show_status()
        elif message.written.left and self.progress is None:
            written, name = message.written, session.summariser.name
            state = (
                f"{name} is writing index lines: {written.left:,} to go"
                f" · {written.input_tokens:,} + {written.output_tokens:,} tokens"
            )
            self.surfaces.show_state(state, session)
        if message.error is not None:
            self.host.show_error(message.error)
        return message.written is None

    def _catch_up(self, session: Session, embedder: Embedder | None, number: int) -> None:
        """Index in a thread; if a later call takes over, only that one reports."""
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
