"""The end of a session: when it is over, the memory document is written from all of its turns.

A session of a conversation consists of the turns after the last one that the document was written
from. Nothing is written before its end, and nothing is lost if the end never comes: the turns stay
in every window, and the next start ends the session. It is written in batches, so that writing can
be stopped between two of them; what was written by then is stored.
"""

import asyncio
from collections.abc import Sequence
from contextlib import suppress
from dataclasses import dataclass, replace
from datetime import timedelta

from jitchat.errors import StaleDocument, StoreError
from jitchat.memory import Memory
from jitchat.statements import MemoryDocument
from jitchat.store.documents import Operation, spoken_since, unwritten_sessions
from jitchat.store.store import ColdStore
from jitchat.store.turn_cache import behind
from jitchat.synthesis import document_writer as writing
from jitchat.synthesis.document_writer import SessionTurns, Written
from jitchat.text.figures import plural
from jitchat.values import Status, Turn
from jitchat.window.steering import Hold

IDLE = timedelta(minutes=20)
"""A session is over when nothing has been said for this long."""
_BATCH = 200
"""Turns that are written at once."""
_MOST_LEFT = 5
"""Maximum number of conversations whose sessions are ended at a start."""
_EVERYTHING = 2**62


@dataclass(frozen=True, slots=True)
class SessionEnded:
    """The result of ending a session."""

    written: Written
    before: MemoryDocument
    """The version that the session read."""
    turns: int
    """Number of the session's turns that are in the document now."""
    left: int
    """Number of the session's turns that are not, because time ran out."""
    operations: tuple[Operation, ...]
    """Operations on the store, in order."""

    @property
    def document(self) -> MemoryDocument:
        return self.written.document

    @property
    def sentence(self) -> str:
        """Describe it in a line: `memory document: version 3, 12 turns added by built in · 3 …`."""
        version, count = self.document.version, plural(len(self.operations), "store operation")
        what = f"version {version:,}" if version != self.before.version else "unchanged"
        by = f" by {self.written.made_by}" if self.turns else ""
        why = f" ({self.written.why})" if self.written.why else ""
        left = f", {plural(self.left, 'turn')} left for later" if self.left else ""
        return (
            f"memory document: {what}, {plural(self.turns, 'turn')} added{by}{why}{left} · {count}"
        )


class SessionEnd:
    """Ends the sessions of one conversation, one after the other."""

    def __init__(self, memory: Memory, writer: writing.DocumentWriter | None = None) -> None:
        self._memory, self._writer = memory, writer or writing.ExtractiveWriter()
        self._ending = asyncio.Lock()
        self.last: SessionEnded | None = None
        """The result of the last end; None before the first one."""

    def turns(self) -> SessionTurns:
        """Return the turns of this session, with the positions that the user keeps out."""
        covered = self._memory.distilled(_EVERYTHING).in_document
        return self._session(behind(self._memory.turns, covered))

    def is_due(self) -> bool:
        """Whether something was sent, not imported, that is in no document. Slow."""
        context, memory = self._memory.context, self._memory
        if context is None or memory.store.database.refusal is not None:
            return False
        through = memory.distilled(_EVERYTHING).in_document
        return spoken_since(memory.store.database, memory.conversation.id, through)

    def is_over(self) -> bool:
        """Whether it is due, and nothing has been said for `IDLE`. Slow."""
        said = (turn.created_at for turn in reversed(self._memory.turns) if turn.created_at)
        last = next(said, None)
        return last is not None and self._memory.store.now() - last >= IDLE and self.is_due()

    async def end(self, within: float | None = None) -> SessionEnded | None:
        """Write the document; return None if the conversation is temporary and has none.

        Nothing is written after `within` seconds. If another process wrote meanwhile, its version
        is read and this session is added to it.

        Raises:
            StoreError: The document cannot be read or stored. The session keeps its turns.

        """
        async with self._ending:
            try:
                ended = await self._end(within)
            except StaleDocument:
                await asyncio.to_thread(self._memory.begin_session)
                ended = await self._end(within)
            finally:
                await asyncio.to_thread(self._begin_next)
            self.last = ended or self.last
            return ended

    def _begin_next(self) -> None:
        context = self._memory.context
        if context is not None and context.is_over:
            self._memory.begin_session()

    async def end_if_due(self, within: float | None = None) -> SessionEnded | None:
        """End the session if anything was sent in it; if the store fails, leave it as it is."""
        with suppress(StoreError):  # the session keeps its turns: the next end writes them
            return await self.end(within) if await self.wants_end() else None
        return None

    async def wants_end(self) -> bool:
        """Whether the session is due; False if the store cannot be read."""
        with suppress(StoreError):
            return await asyncio.to_thread(self.is_due)
        return False

    async def aclose(self) -> None:
        await self._writer.aclose()

    async def _end(self, within: float | None) -> SessionEnded | None:
        context = self._memory.context
        if context is None:
            return None
        before, session = await asyncio.to_thread(self._read)
        written, done = Written(before, "nobody"), 0
        with suppress(TimeoutError):
            async with asyncio.timeout(within):
                for start in range(0, len(session.turns), _BATCH):
                    part = replace(session, turns=session.turns[start : start + _BATCH])
                    made = await self._writer.write(written.document, part)
                    calls = made.calls + written.calls
                    sent = made.input_tokens + written.input_tokens
                    got = made.output_tokens + written.output_tokens
                    written = replace(made, calls=calls, input_tokens=sent, output_tokens=got)
                    done += len(part.turns)
        stored = await asyncio.to_thread(context.put_context, written.document, written.made_by)
        left = len(session.turns) - done
        result = replace(written, document=stored)
        return SessionEnded(result, before, done, left, context.operations)

    def _read(self) -> tuple[MemoryDocument, SessionTurns]:
        """Read the document, without lines from abandoned branches, and the session."""
        memory = self._memory
        memory.refresh()
        distilled = memory.distilled(_EVERYTHING)
        holds = memory.context.document if memory.context is not None else MemoryDocument()
        said = set(distilled.document.lines)
        lines = tuple(line for line in holds.lines if line.is_kept or line in said)
        session = self._session(behind(memory.turns, distilled.in_document))
        return replace(holds, lines=lines), session

    def _session(self, turns: Sequence[Turn]) -> SessionTurns:
        conversation, held = self._memory.conversation, self._memory.pins
        out = frozenset(at for at, hold in held.items() if hold == Hold.EXCLUDED)
        if turns and turns[-1].status is Status.STREAMING:
            turns = turns[:-1]
        return SessionTurns(conversation.id, conversation.title, turns, out)


async def end_left_sessions(
    store: ColdStore, writer: writing.DocumentWriter, open_conversation: str
) -> list[SessionEnded]:
    """End the sessions of other conversations that a crash or a short exit left unwritten.

    Sessions that may still be in use are left alone.
    """
    if store.database.refusal is not None:
        return []
    before = store.now() - IDLE
    left = await asyncio.to_thread(unwritten_sessions, store.database, before, _MOST_LEFT + 1)
    ended: list[SessionEnded | None] = []
    for name in [name for name in left if name != open_conversation][:_MOST_LEFT]:
        conversation = await asyncio.to_thread(store.conversation, name)
        memory = await asyncio.to_thread(Memory, store, conversation)
        ended.append(await SessionEnd(memory, writer).end_if_due())
    return [session for session in ended if session is not None]
