"""How one question is asked in a conversation of a run, and how fast questions follow."""

import asyncio
import time
from collections.abc import Awaitable, Callable
from contextlib import aclosing
from functools import partial

from jitchat.bench.asking import turns_in_full
from jitchat.bench.workers import Workers
from jitchat.errors import BenchFailed, JitchatError, StoreError
from jitchat.events import AnswerProgress, RetryScheduled, SendFailed
from jitchat.index.embedder import Embedder
from jitchat.lab.events import Slowed
from jitchat.lab.experiment import Cell, Result, Verdict
from jitchat.lab.facts import Fact
from jitchat.lab.planting import MadeConversation
from jitchat.lab.run_file import RunFile
from jitchat.memory import Memory
from jitchat.session import Session
from jitchat.store.path import Path
from jitchat.store.windows import WindowArchive
from jitchat.text.sanitize import repair
from jitchat.threads import to_the_end
from jitchat.values import Conversation, Mode, Turn
from jitchat.window.steering import Once

_BATCHES = 8
"""So many batches are indexed before it is looked whether the run was stopped."""


async def stored_and_indexed(
    file: RunFile, name: str, made: MadeConversation, embedder: Embedder
) -> Memory:
    """Store a conversation, unless it was before, and index it.

    Raises:
        JitchatError: It cannot be, or another one of that name is stored.

    """
    memory = await to_the_end(lambda: Memory(file.store, _stored(file, name, made), embedder))
    while await to_the_end(lambda: list(memory.index.catch_up(batches=_BATCHES))):
        pass
    if memory.index.failure is not None:
        raise memory.index.failure
    return memory


def _stored(file: RunFile, name: str, made: MadeConversation) -> Conversation:
    store = file.store
    with store.database.write():
        known = next((each for each in store.conversations() if each.id == name), None)
        if known is None:
            created = store.create(name, name)
            store.append(created.id, made.turns)
            return store.conversation(created.id)
        whole = Path(((1, len(made.turns)),))
        kept = [turn.content for turn in store.turns_of(name, whole)]
        if kept != [repair(turn.content) for turn in made.turns]:
            raise BenchFailed(
                f"The conversations of {file.run.id} were made in another way than they are now.",
                "Begin a new run.",
            )
        return known


class OpenConversation:
    """Its questions each stand behind the last turn of it, as forks: none sees another."""

    def __init__(self, session: Session, made: MadeConversation) -> None:
        self.session, self._made = session, made
        self._questions: dict[str, Turn] = {}
        """By a fact's name: its question, once it was asked."""

    async def ask(
        self, cell: Cell, fact: Fact, wait: Callable[[RetryScheduled], object]
    ) -> tuple[Result, AnswerProgress]:
        """Ask for a fact as the chat does; the result has no verdict yet.

        `wait` is told when the request has to wait.

        Raises:
            StoreError: What came cannot be stored.

        """
        question = await to_the_end(partial(self._question, fact))
        answer = await self._answer(question, cell.mode, wait)
        if isinstance(answer.error, StoreError):
            raise answer.error
        answer = answer.ended(time.monotonic(), self.session.cost_of(answer.usage), 0)
        window_id = await to_the_end(partial(self._window_id, question, answer))
        window, needed = answer.window, tuple(self._made.needed.get(fact.name, ()))
        return Result(
            cell=cell,
            verdict=Verdict.FAILED,
            rule="no whole answer came",
            question=fact.question,
            expected=fact.expected,
            answer=answer.text,
            conversation=self.session.memory.conversation.id,
            said=question.position,
            needed=needed,
            held=None if window is None else len(turns_in_full(window).intersection(needed)),
            window_id=window_id,
            tokens=None if window is None else window.used,
            usage=answer.usage,
            to_first=answer.to_first,
            seconds=answer.took,
            cost=answer.cost,
        ), answer

    def _question(self, fact: Fact) -> Turn:
        """Say it, or go to where it was said: every mode answers the very same turn."""
        memory = self.session.memory
        question = self._questions.get(fact.name)
        if question is None:
            question = memory.add_user_turn(fact.question, self._made.ends[fact.name])
            self._questions[fact.name] = question
        else:
            memory.switch_to(question.position)
        return question

    async def _answer(
        self, question: Turn, mode: Mode, wait: Callable[[RetryScheduled], object]
    ) -> AnswerProgress:
        answer, text = AnswerProgress(mode), question.content
        try:
            async with aclosing(self.session.send(text, mode, Once(again=question))) as events:
                async for event in events:
                    if isinstance(event, RetryScheduled):
                        wait(event)
                    answer = answer.after(event, time.monotonic())
        except JitchatError as error:
            answer = answer.after(SendFailed(error, text), time.monotonic())
        return answer

    def _window_id(self, question: Turn, answer: AnswerProgress) -> int | None:
        if answer.reply is None:
            return None
        return WindowArchive(self.session.memory.store.database).window_id(question, answer.reply)


_LONGEST, _LEAST = 60.0, 0.05
"""Seconds of pause ahead of a request; a shorter one is none."""
_FASTER = 0.5
"""Of the pause is left after an answer that came at once."""
_MANY = 20


class Throttle:
    """How many requests leave at once, and the pause ahead of each."""

    def __init__(
        self, workers: Workers, sleep: Callable[[float], Awaitable[object]] = asyncio.sleep
    ) -> None:
        self._workers, self._most, self._sleep = workers, workers.parallel, sleep
        self.pause = 0.0
        """Seconds ahead of a request."""
        self._in_a_row = 0
        """Answers that came at once."""
        self._is_slowed = False
        """Whether no answer came since it was slowed down: a burst of refusals is one."""

    async def wait(self) -> None:
        if self.pause:
            await self._sleep(self.pause)

    def slow_down(self, retry: RetryScheduled) -> Slowed:
        """Ask less at once and wait longer from now on, for a request has to be sent again."""
        workers = self._workers
        if not self._is_slowed:
            workers.parallel = max(1, workers.parallel - 1)
            self.pause *= 2
        self._is_slowed, self._in_a_row = True, 0
        self.pause = min(_LONGEST, max(self.pause, retry.seconds))
        return Slowed(retry.seconds, retry.why, workers.parallel)

    def answered(self) -> None:
        """Wait less ahead of the next ones, and ask more at once after many of them."""
        self._is_slowed = False
        self._in_a_row += 1
        if self._in_a_row % _MANY == 0:
            self._workers.parallel = min(self._most, self._workers.parallel + 1)
        self.pause *= _FASTER
        if self.pause < _LEAST:
            self.pause = 0.0
