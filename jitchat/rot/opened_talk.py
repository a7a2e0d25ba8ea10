"""A conversation of a run: stored, indexed, and asked in through the ordinary flow."""

from __future__ import annotations

import asyncio
import time
from collections.abc import Callable
from contextlib import aclosing
from dataclasses import dataclass
from typing import TypeVar

from jitchat.answer import Answer, answer_after
from jitchat.bench.talk import held
from jitchat.errors import BenchFailed, JitchatError, ProviderError, StoreError
from jitchat.events import RetryScheduled, SendFailed
from jitchat.memory.cold.path import Path
from jitchat.memory.cold.sends import Sends
from jitchat.memory.embedding.embedder import Embedder
from jitchat.memory.memory import Memory
from jitchat.rot.fact import Fact
from jitchat.rot.planting import Planted
from jitchat.rot.run_file import RunFile
from jitchat.session import Session
from jitchat.text.safe import repaired
from jitchat.turn import Mode, Turn
from jitchat.window.steering import Once

_Made = TypeVar("_Made")
_BATCHES = 8
"""So many batches are indexed before it is looked whether the run was stopped."""


@dataclass(frozen=True, slots=True)
class Asked:
    """What came of a question."""

    conversation: str
    """Its id in the store of the run."""
    said: Turn
    answer: Answer
    window_id: int | None
    """The archive's key of the window that brought the reply; None where none came."""
    needed: tuple[int, ...]
    """The positions of the turns that the answer needs."""

    @property
    def held(self) -> int | None:
        """Count those that the window held at full text; None where none was sent."""
        window = self.answer.window
        return None if window is None else len(held(window).intersection(self.needed))

    @property
    def failure(self) -> ProviderError | None:
        """Why no whole answer came from the provider; None where one did."""
        error = self.answer.error
        return error if isinstance(error, ProviderError) else None


class OpenedTalk:
    """Its questions each stand behind the last turn of it, as forks: none sees another."""

    def __init__(self, session: Session, planted: Planted) -> None:
        self.session, self._planted = session, planted
        self._said: dict[str, Turn] = {}
        """By a fact's name: its question, once it was asked."""

    async def ask(self, fact: Fact, mode: Mode, wait: Callable[[RetryScheduled], object]) -> Asked:
        """Ask for a fact in one mode; `wait` is told when the request has to wait.

        Raises:
            StoreError: What came cannot be stored.

        """
        said = await in_thread(lambda: self._question(fact))
        answer, session = Answer(mode), self.session
        try:
            async with aclosing(session.send(said.content, mode, Once(again=said))) as events:
                async for event in events:
                    if isinstance(event, RetryScheduled):
                        wait(event)
                    answer = answer_after(answer, event, time.monotonic())
        except JitchatError as error:
            failed = SendFailed(error, said.content)
            answer = answer_after(answer, failed, time.monotonic())
        if isinstance(answer.error, StoreError):
            raise answer.error
        over = answer.ended(time.monotonic(), session.cost_of(answer.usage), 0)
        window_id = await in_thread(lambda: self._window_id(said, over))
        conversation = session.memory.conversation.id
        return Asked(conversation, said, over, window_id, self._planted.needed.get(fact.name, ()))

    def _question(self, fact: Fact) -> Turn:
        """Say it, or go to where it was said: every mode answers the very same turn."""
        memory = self.session.memory
        said = self._said.get(fact.name)
        if said is None:
            said = memory.add_user_turn(fact.question, self._planted.ends[fact.name])
            self._said[fact.name] = said
        else:
            memory.switch_to(said.position)
        return said

    def _window_id(self, said: Turn, answer: Answer) -> int | None:
        if answer.reply is None:
            return None
        return Sends(self.session.memory.store.database).window_id(said, answer.reply)


async def stored(file: RunFile, name: str, planted: Planted, embedder: Embedder) -> Memory:
    """Store a conversation, unless it was before, and index it."""
    memory = await in_thread(lambda: _memory(file, name, planted, embedder))
    while await in_thread(lambda: list(memory.catch_up(batches=_BATCHES))):
        pass
    if memory.failure is not None:
        raise memory.failure
    return memory


def _memory(file: RunFile, name: str, planted: Planted, embedder: Embedder) -> Memory:
    store = file.store
    with store.database.write():
        known = {each.id: each for each in store.conversations()}
        if name not in known:
            made = store.create(name, name)
            store.append(made.id, planted.turns)
            known[name] = store.conversation(made.id)
        else:
            _require_same(file, known[name].id, planted)
    return Memory(store, known[name], embedder)


def _require_same(file: RunFile, conversation: str, planted: Planted) -> None:
    """Refuse to ask in a conversation that is not the one that its facts were planted in."""
    whole = Path(((1, len(planted.turns)),))
    said = [turn.content for turn in file.store.turns_of(conversation, whole)]
    if said != [repaired(turn.content) for turn in planted.turns]:
        raise BenchFailed(
            f"The conversations of {file.run.id} were made in another way than they are now.",
            "Begin a new run.",
        )


async def in_thread(work: Callable[[], _Made]) -> _Made:
    """Work in a thread; cancelled, wait for its end, so that it never meets a closed file."""
    future = asyncio.ensure_future(asyncio.to_thread(work))
    try:
        return await asyncio.shield(future)
    except asyncio.CancelledError:
        await asyncio.wait([future])
        raise
