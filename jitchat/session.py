"""THE FLOW: what happens to a message, from Enter to the indexed reply.

`Session.send` is the whole life of a turn, one stage a line. Front ends watch its events and
decide nothing. The user's turn is durable before the request leaves; whatever goes wrong, it
ends as an event that carries the draft back, and what came of the reply is kept.
"""

from __future__ import annotations

import asyncio
import threading
import time
from collections.abc import AsyncIterator, Iterator
from contextlib import aclosing
from dataclasses import dataclass, field

from jitchat.errors import EmptyDraft, JitchatError, StoreError
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
from jitchat.providers.provider import Delta, Finished, Options, Piece, Provider
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

    async def send(self, draft: str, mode: Mode) -> AsyncIterator[Event]:
        """Send a message; closing the generator cancels the reply and keeps what came."""
        exchange = _Exchange(self.memory, draft)
        try:
            yield TurnStored(said := await asyncio.to_thread(exchange.store_draft))
            yield (found := await asyncio.to_thread(self._retrieve, said))
            yield (built := await asyncio.to_thread(self._build, said, found.retrieval, mode))
            await asyncio.to_thread(exchange.store_window, built, self._history)
            pieces = self.provider.stream(built.window.messages(), self.options.request)
            async with aclosing(pieces):  # type: ignore[type-var]  # providers are generators
                async for piece in pieces:
                    for event in exchange.take(piece):
                        yield event
        except JitchatError as error:
            exchange.fail(error)
        finally:
            exchange.close()
        for event in exchange.outcome():
            yield event
        for entry in await asyncio.to_thread(self.index_replies):
            yield TurnIndexed(entry)

    def preview(self, draft: str, mode: Mode, budget: Budget | None = None) -> ContextWindow:
        """The window that `send` would build now. Changes nothing; takes a thread's time."""
        self.memory.refresh()
        turns = self.memory.turns
        position = turns[-1].position + 1 if turns else 1
        said = Turn(position, Role.USER, repaired(draft), self.memory.store.now())
        retrieval = self.memory.retrieve(draft, position) if draft.strip() else Retrieval()
        return self._plan(said, retrieval, mode, budget or self.options.budget)

    def index_replies(self) -> list[IndexEntry]:
        """Index what is not yet; the new entries."""
        return [entry for batch in self.memory.catch_up() for entry in batch]

    def sent_window(self, turn: Turn) -> ContextWindow | None:
        """The window that was sent for a user's turn, as it was."""
        record = self.memory.archive.get(turn.id)
        return window_from(record.header, record.segments, record.ledger) if record else None

    def _retrieve(self, said: Turn) -> TurnsRetrieved:
        started = time.perf_counter()
        retrieval = self.memory.retrieve(said.content, said.position)
        return TurnsRetrieved(retrieval, time.perf_counter() - started)

    def _build(self, said: Turn, retrieval: Retrieval, mode: Mode) -> WindowBuilt:
        window = self._plan(said, retrieval, mode, self.options.budget)
        return WindowBuilt(window, window.digest)

    def _plan(self, said: Turn, retrieval: Retrieval, mode: Mode, budget: Budget) -> ContextWindow:
        history = self._history_before(said.position)
        sources = Sources(
            history, said, self.provider.model, self.options.system, retrieval
        )
        return plan(mode, sources, budget, self.counter)

    def _history_before(self, position: int) -> History:
        """The turns ahead of a draft, with their prices; each turn is priced once."""
        with self._lock:
            known = self._history.until(position)
            last = known.last()
            after = last.position if last else 0
            fresh = [t for t in self.memory.turns if after < t.position < position]
            self._history = known.extended(fresh, self._price)
            return self._history

    def _price(self, text: str) -> int:
        return message_tokens(self.counter, text)


class _Exchange:
    """One message and its reply on their way into the cold store."""

    def __init__(self, memory: Memory, draft: str) -> None:
        self._memory, self._draft = memory, draft
        self._said: Turn | None = None
        self._reply: Turn | None = None
        self._writer = memory.begin_reply()
        self._window_id: int | None = None
        self._usage: Usage | None = None
        self._status = Status.CANCELLED
        self._error: JitchatError | None = None

    def store_draft(self) -> Turn:
        """Commit what the user says."""
        if not self._draft.strip():
            raise EmptyDraft("There is nothing to send.", "Type a message first.")
        self._said = self._memory.add_user_turn(self._draft)
        return self._said

    def store_window(self, built: WindowBuilt, history: History) -> None:
        """Commit the window that is about to leave."""
        window = built.window
        ids = {turn.position: turn.id for turn in history.turns}
        segments = [
            segment_fields(segment) | {"turn_id": ids.get(segment.turn or 0)}
            for segment in window.segments
        ]
        ledger = [ledger_fields(row) for row in window.ledger]
        record = WindowRecord(built.digest, header_fields(window), segments, ledger)
        assert self._said is not None
        self._window_id = self._memory.archive.put(self._said.id, record)

    def take(self, piece: Piece) -> Iterator[Event]:
        """Keep a piece of the stream and report it."""
        if isinstance(piece, Delta):
            if self._writer.add(piece.text):
                self._writer.save()
            yield ReplyDelta(piece.text)
        elif isinstance(piece, Usage):
            self._usage = piece
            yield UsageReported(piece)
        elif isinstance(piece, Finished):
            self._status = Status.COMPLETE if piece.reason == "stop" else Status.CUT

    def fail(self, error: JitchatError) -> None:
        """The exchange ended with an error."""
        self._error, self._status = error, Status.CUT

    def close(self) -> None:
        """Commit how it ended. Never raises: what cannot be stored is reported instead."""
        try:
            if self._writer.text:
                self._reply = self._writer.finish(self._status)
                self._memory.refresh()
            elif self._said is not None:
                self._memory.mark_unanswered(self._said)
            if self._window_id is not None:
                reply_id = self._reply.id if self._reply else None
                self._memory.archive.close(self._window_id, reply_id, self._usage)
        except StoreError as error:
            self._error = self._error or error

    def outcome(self) -> Iterator[Event]:
        """What to report once it is over."""
        if self._reply is not None:
            yield TurnStored(self._reply)
        if self._error is None and self._reply is None:
            self._error = JitchatError("The model answered with nothing.", "Send again.")
        if self._error is not None:
            yield SendFailed(self._error, self._draft)
