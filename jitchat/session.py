"""THE FLOW: what happens to a message, from Enter to the indexed reply.

`Session.send` is the whole life of a turn, one stage a line. Front ends watch its events and
decide nothing. The user's turn is durable before the request leaves; whatever goes wrong, it
ends as an event that carries the draft back, and what came of the reply is kept.
"""

from __future__ import annotations

import asyncio
import threading
import time
from collections.abc import AsyncGenerator, Callable, Iterator
from contextlib import aclosing, contextmanager, suppress
from dataclasses import dataclass, field
from types import TracebackType

from jitchat.errors import EmptyDraft, JitchatError, NotAnAnswer, StoreError
from jitchat.events import (
    Event,
    ReplyDelta,
    SendFailed,
    TurnIndexed,
    TurnsRetrieved,
    TurnStored,
    UsageReported,
    WindowBuilt,
)
from jitchat.memory.archive import WindowRecord
from jitchat.memory.memory import Memory
from jitchat.memory.replies import ReplyWriter
from jitchat.providers.provider import Finished, Options, Piece, Provider
from jitchat.text.safe import repaired
from jitchat.turn import IndexEntry, Mode, Retrieval, Role, Status, Turn, Usage
from jitchat.window.budget import Budget
from jitchat.window.history import History
from jitchat.window.plan import SYSTEM_PROMPT, Sources, plan
from jitchat.window.record import header_fields, ledger_fields, segment_fields, window_from
from jitchat.window.tokens import TokenCounter, message_tokens
from jitchat.window.window import ContextWindow


@dataclass(frozen=True, slots=True)
class SessionOptions:
    """What a session does not decide by itself."""

    budget: Budget = field(default_factory=Budget)
    system: str = SYSTEM_PROMPT
    request: Options = field(default_factory=Options)


class Session:
    """A conversation in use: its memory, who answers, and how much fits."""

    def __init__(
        self, memory: Memory, provider: Provider, counter: TokenCounter, options: SessionOptions
    ) -> None:
        self.memory, self.provider, self.counter = memory, provider, counter
        self.options = options
        self._lock = threading.Lock()
        self._history = History()

    async def send(self, draft: str, mode: Mode) -> AsyncGenerator[Event, None]:
        """Send a message; closing the generator cancels the reply and keeps what came."""
        exchange = _Exchange(self.memory, draft)
        with exchange:
            said = await asyncio.to_thread(exchange.store_draft)
            yield TurnStored(said)
            found = await asyncio.to_thread(self._retrieve, said)
            yield found
            built = await asyncio.to_thread(self._build, said, found.retrieval, mode)
            await asyncio.to_thread(exchange.store_window, said, built)
            yield built
            pieces = self.provider.stream(built.window.messages(), self.options.request)
            async with aclosing(pieces):
                async for piece in pieces:
                    for event in exchange.take(piece):
                        yield event
                    if exchange.is_due:
                        await asyncio.to_thread(exchange.save)
            await asyncio.to_thread(exchange.finish)
        for event in exchange.outcome():
            yield event
        for event in await asyncio.to_thread(exchange.index, self.index_replies):
            yield event

    def preview(self, draft: str, mode: Mode, budget: Budget | None = None) -> ContextWindow:
        """Plan the window that `send` would build now. Changes nothing; takes a thread's time.

        Raises:
            WindowOverflow: What the mode must send does not fit.

        """
        self.memory.refresh()
        said = self._draft_turn(repaired(draft))
        retrieval = Retrieval()
        if said.content.strip():
            retrieval = self.memory.retrieve(said.content, said.position)
        return self._plan(said, retrieval, mode, budget or self.options.budget)

    def index_replies(self) -> list[IndexEntry]:
        """Index what is not yet; the new entries."""
        return [entry for batch in self.memory.catch_up() for entry in batch]

    def sent_window(self, turn: Turn) -> ContextWindow | None:
        """Load the window that was sent for a user's turn, as it was."""
        record = self.memory.archive.get(turn.id)
        return window_from(record.header, record.segments, record.ledger) if record else None

    def _draft_turn(self, content: str) -> Turn:
        """Make the turn that the draft will be; sent again, an unanswered one is that turn."""
        turns = self.memory.turns
        last = turns[-1] if turns else None
        if last and last.status is Status.UNANSWERED and last.content == content:
            return last
        return Turn(last.position + 1 if last else 1, Role.USER, content, self.memory.store.now())

    def _retrieve(self, said: Turn) -> TurnsRetrieved:
        started = time.perf_counter()
        retrieval = self.memory.retrieve(said.content, said.position)
        return TurnsRetrieved(retrieval, time.perf_counter() - started)

    def _build(self, said: Turn, retrieval: Retrieval, mode: Mode) -> WindowBuilt:
        window = self._plan(said, retrieval, mode, self.options.budget)
        return WindowBuilt(window, window.digest)

    def _plan(self, said: Turn, retrieval: Retrieval, mode: Mode, budget: Budget) -> ContextWindow:
        history = self._history_before(said.position)
        sources = Sources(history, said, self.provider.model, self.options.system, retrieval)
        return plan(mode, sources, budget, self.counter)

    def _history_before(self, position: int) -> History:
        """Price the turns ahead of a draft; each is priced once."""
        with self._lock:
            ahead = (turn for turn in self.memory.turns if turn.position < position)
            self._history = self._history.following(ahead, self._price)
            return self._history

    def _price(self, text: str) -> int:
        return message_tokens(self.counter, text)


class _Exchange:
    """One message and its reply on their way into the cold store.

    Leaving it commits how it ended, without an await, so that nothing can cancel that. A thread
    that a cancelled task left behind may still be writing: the lock makes leaving wait for it,
    and one that starts later writes nothing.
    """

    def __init__(self, memory: Memory, draft: str) -> None:
        self._memory, self._draft = memory, draft
        self._lock = threading.Lock()
        self._said: Turn | None = None
        self._window_id: int | None = None
        self._writer: ReplyWriter | None = None
        self._saved = False
        self._finished: Finished | None = None
        self._usage: Usage | None = None
        self._reply: Turn | None = None
        self._error: JitchatError | None = None
        self.is_due = False
        """Whether the growing reply is to be saved now."""
        self.is_over = False

    def __enter__(self) -> None:
        """Nothing is open before the draft is stored."""

    def __exit__(
        self, _: type[BaseException] | None, error: BaseException | None, __: TracebackType | None
    ) -> bool:
        """Commit what came, however it ended. An error of ours is kept for `outcome`."""
        if isinstance(error, JitchatError):
            self._error = error
        with self._lock:
            try:
                self._commit(error)
            except StoreError as refused:
                self._error = self._error or refused
                self._give_up()
            self.is_over = True
        return isinstance(error, JitchatError)

    def store_draft(self) -> Turn:
        """Commit what the user says."""
        if not self._draft.strip():
            raise EmptyDraft("There is nothing to send.", "Type a message first.")
        with self._writing():
            self._said = self._memory.add_user_turn(self._draft)
            return self._said

    def store_window(self, said: Turn, built: WindowBuilt) -> None:
        """Commit the window that is about to leave."""
        ids = {turn.position: turn.id for turn in self._memory.turns}
        segments = [
            segment_fields(segment) | {"turn_id": ids.get(segment.turn or 0)}
            for segment in built.window.segments
        ]
        ledger = [ledger_fields(row) for row in built.window.ledger]
        record = WindowRecord(built.digest, header_fields(built.window), segments, ledger)
        with self._writing():
            self._window_id = self._memory.archive.put(said.id, record)

    def take(self, piece: Piece) -> Iterator[Event]:
        """Keep a piece of the stream and report it."""
        if isinstance(piece, Finished):
            self._finished = self._finished or piece
        elif isinstance(piece, Usage):
            self._usage = piece
            yield UsageReported(piece)
        elif piece.text:
            self._writer = self._writer or self._memory.begin_reply()
            self.is_due = self._writer.add(piece.text)
            yield ReplyDelta(piece.text)

    def save(self) -> None:
        """Make what arrived durable. If that fails, the answer goes on: `finish` will tell."""
        with self._writing(), suppress(StoreError):
            if self._writer is not None:
                self._writer.save()
                self._saved = True
        self.is_due = False

    def finish(self) -> None:
        """Commit the whole reply."""
        if self._writer is None:
            raise NotAnAnswer("The model answered with nothing.", "Send again.")
        with self._writing():
            self._commit(None)
            self.is_over = True

    def outcome(self) -> Iterator[Event]:
        """Report how it ended."""
        if self._reply is not None:
            yield TurnStored(self._reply)
        if self._error is not None:
            yield SendFailed(self._error, self._draft)

    def index(self, index_replies: Callable[[], list[IndexEntry]]) -> list[Event]:
        """Index the reply; a store that refuses is told once."""
        try:
            return [TurnIndexed(entry) for entry in index_replies()]
        except JitchatError as error:
            return [] if self._error else [SendFailed(error, self._draft)]

    @contextmanager
    def _writing(self) -> Iterator[None]:
        with self._lock:
            if self.is_over:
                raise RuntimeError("the exchange was left while a thread was on its way")
            yield

    def _commit(self, error: BaseException | None) -> None:
        """Write how it ended; may be done again."""
        if self.is_over:
            return
        if self._writer is not None:
            self._reply = self._writer.finish(self._status(error))
            self._memory.refresh()
        elif self._said is not None:
            self._memory.mark_unanswered(self._said)
        if self._window_id is not None:
            reply_id = self._reply.id if self._reply else None
            self._memory.archive.close(self._window_id, reply_id, self._usage)

    def _give_up(self) -> None:
        """No reply can be stored: without one, the user's turn is unanswered."""
        if self._said is not None and self._reply is None and not self._saved:
            with suppress(StoreError):
                self._memory.mark_unanswered(self._said)

    def _status(self, error: BaseException | None) -> Status:
        if self._finished is not None:
            return Status.COMPLETE if self._finished.is_whole else Status.CUT
        stopped = isinstance(error, GeneratorExit | asyncio.CancelledError)
        return Status.CANCELLED if stopped else Status.CUT
