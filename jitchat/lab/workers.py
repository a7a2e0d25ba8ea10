"""Asks the questions of a run: workers that share a throttle, each question a fork of its talk."""

import asyncio
import time
from collections.abc import Awaitable, Callable, Iterator, Sequence
from contextlib import aclosing
from dataclasses import dataclass, replace
from typing import TypeVar

from jitchat.bench.questions import held
from jitchat.errors import (
    BenchFailed,
    ContextOverflow,
    JitchatError,
    KeyRefused,
    ProviderError,
    StoreError,
    WindowOverflow,
)
from jitchat.events import RetryScheduled, SendFailed
from jitchat.index.embedder import Embedder
from jitchat.lab.events import CellBegun, CellEnded, CellRetried, LabEvent, Slowed, TalkReady
from jitchat.lab.experiment import Cell, Result, Verdict
from jitchat.lab.facts import Fact
from jitchat.lab.grade import grade
from jitchat.lab.judge import Judge
from jitchat.lab.planting import Planted, Planting
from jitchat.lab.run_file import RunFile
from jitchat.memory import Memory
from jitchat.recorder import Answer, answer_after
from jitchat.session import Session
from jitchat.store.path import Path
from jitchat.store.windows import Sends
from jitchat.text.sanitize import repair
from jitchat.values import Mode, Status, Turn
from jitchat.window.budget import Budget
from jitchat.window.steering import Once

_LONGEST = 60.0
"""Seconds of pause ahead of a request, at the most."""
_FASTER = 0.5
"""Of the pause is left after an answer that came at once."""
_LEAST = 0.05
_MANY = 20


class Throttle:
    """Requests at once, and the pause ahead of each."""

    def __init__(
        self, parallel: int, sleep: Callable[[float], Awaitable[object]] = asyncio.sleep
    ) -> None:
        self.parallel = self._most = parallel
        self._sleep = sleep
        self._pause = 0.0
        self._in_a_row = 0
        """Answers that came at once."""
        self._is_slowed = False
        """Whether no answer came since it was slowed down: a burst of refusals is one."""

    @property
    def pause(self) -> float:
        """Seconds ahead of a request."""
        return self._pause

    async def wait(self) -> None:
        """Wait before a request, where that is wanted."""
        if self._pause:
            await self._sleep(self._pause)

    def slow_down(self, retry: RetryScheduled) -> Slowed:
        """Ask less at once and wait longer from now on, for a request has to be sent again."""
        if not self._is_slowed:
            self.parallel = max(1, self.parallel - 1)
            self._pause *= 2
        self._is_slowed, self._in_a_row = True, 0
        self._pause = min(_LONGEST, max(self._pause, retry.seconds))
        return Slowed(retry.seconds, retry.why, self.parallel)

    def answered(self) -> None:
        """Wait less ahead of the next ones, and ask more at once after many of them."""
        self._is_slowed = False
        self._in_a_row += 1
        if self._in_a_row % _MANY == 0:
            self.parallel = min(self._most, self.parallel + 1)
        self._pause *= _FASTER
        if self._pause < _LEAST:
            self._pause = 0.0


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
    if said != [repair(turn.content) for turn in planted.turns]:
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


_CUT = "The answer was cut where it was to end at the latest."
_OVERFLOWS = (WindowOverflow, ContextOverflow)


@dataclass(frozen=True, slots=True)
class Decision:
    """What came of a cell."""

    result: Result
    failure: ProviderError | None = None
    """Why nothing is decided: of who answers, or of the judge; None where all is well."""


async def decided(cell: Cell, fact: Fact, asked: Asked, judge: Judge | None) -> Decision:
    """Judge an answer by rule, and where that finds it wrong, by the judge that there is.

    An answer that the judge could not be asked about is not decided.
    """
    error = asked.answer.error
    if error is not None:
        return Decision(_unanswered(cell, fact, asked, error), asked.failure)
    ruling = grade(fact, asked.answer.text)
    if judge is not None and not ruling.is_right:
        try:
            ruling = await judge.ruling(fact, asked.answer.text, ruling)
        except ProviderError as failed:
            note = f"The judge could not be asked: {failed}"
            undecided = replace(_asked(cell, fact, asked), rule="not judged", note=note)
            return Decision(undecided, failed)
    verdict = Verdict.RIGHT if ruling.is_right else Verdict.WRONG
    reply = asked.answer.reply
    is_cut = reply is not None and reply.status is Status.CUT
    note = _CUT if is_cut and not ruling.is_right else ""
    return Decision(
        replace(_asked(cell, fact, asked), verdict=verdict, rule=ruling.rule, note=note)
    )


def _unanswered(cell: Cell, fact: Fact, asked: Asked, error: JitchatError) -> Result:
    found = replace(_asked(cell, fact, asked), note=str(error))
    if isinstance(error, _OVERFLOWS):
        return replace(found, verdict=Verdict.UNFIT, rule="the window does not fit")
    return found


def _asked(cell: Cell, fact: Fact, asked: Asked) -> Result:
    """Say what was asked and what came, without any verdict on it yet."""
    answer, window = asked.answer, asked.answer.window
    return Result(
        cell=cell,
        verdict=Verdict.FAILED,
        rule="no whole answer came",
        question=fact.question,
        expected=fact.expected,
        answer=answer.text,
        conversation=asked.conversation,
        said=asked.said.position,
        needed=asked.needed,
        held=asked.held,
        window_id=asked.window_id,
        tokens=window.used if window is not None else None,
        usage=answer.usage,
        to_first=answer.to_first,
        seconds=answer.took,
        cost=answer.cost,
    )


GIVE_UP = 10
"""After so many failures in a row nothing more is asked."""
_TOLD_FROM = 1.0
_WANTED = "fewer requests were wanted"
Hear = Callable[[LabEvent], None]
Waiting = Iterator[tuple[Cell, Planting]]


@dataclass(frozen=True, slots=True)
class Means:
    """What a question is asked with."""

    file: RunFile
    open_session: Callable[[Memory], Session]
    embedder: Embedder
    judge: Judge | None


class Workers:
    """Those who ask. They share what is waiting, and stop together."""

    def __init__(self, means: Means, throttle: Throttle, hear: Hear) -> None:
        self._means, self._throttle, self._hear = means, throttle, hear
        self._in_a_row = 0
        self._learnt: Budget | None = None
        """What a refusal taught; None where none did."""
        self.over: JitchatError | None = None
        """Why nothing more is asked; None while all is well."""

    async def ask_in(
        self, number: int, name: str, planted: Planted, cells: Sequence[tuple[Cell, Planting]]
    ) -> None:
        """Ask all cells of a conversation; each worker has a copy of it to itself."""
        waiting = iter(cells)
        async with asyncio.TaskGroup() as group:
            for worker in range(min(self._throttle.parallel, len(cells))):
                copy = f"{name}-copy-{worker}" if worker else name
                group.create_task(self._work(worker, number, copy, planted, waiting))

    async def _work(
        self, worker: int, number: int, name: str, planted: Planted, waiting: Waiting
    ) -> None:
        """Take one cell after the other, as long as so many are to ask at once."""
        try:
            talk = await self._opened(worker, number, name, planted)
            try:
                while self.over is None and worker < self._throttle.parallel:
                    cell, planting = next(waiting, (None, None))
                    if cell is None or planting is None:
                        return
                    await self._decide(talk, cell, planting)
            finally:
                await talk.session.aclose()
        except JitchatError as error:
            self.over = self.over or error

    async def _opened(self, worker: int, number: int, name: str, planted: Planted) -> OpenedTalk:
        begun, means = time.monotonic(), self._means
        memory = await stored(means.file, name, planted, means.embedder)
        session = await in_thread(lambda: means.open_session(memory))
        if self._learnt is not None:
            session.take_budget(self._learnt)
        if worker == 0:
            self._hear(TalkReady(number, len(planted.turns), time.monotonic() - begun))
        return OpenedTalk(session, planted)

    async def _decide(self, talk: OpenedTalk, cell: Cell, planting: Planting) -> None:
        """Ask, and once more where that fails, unless it is sure to fail again."""
        await self._wait()
        self._hear(CellBegun(cell))
        decision = await self._decision(talk, cell, planting)
        failure = decision.failure
        if failure is not None and not _is_final(failure):
            self._hear(CellRetried(cell, failure.what))
            await self._wait()
            decision = await self._decision(talk, cell, planting)
        await in_thread(lambda: self._keep(decision, talk.session))
        self._hear(CellEnded(decision.result))
        if decision.failure is not None:
            self._count_failure(decision.failure)
        else:
            self._in_a_row = 0
            self._throttle.answered()

    async def _decision(self, talk: OpenedTalk, cell: Cell, planting: Planting) -> Decision:
        asked = await talk.ask(planting.fact, cell.mode, self._slow_down)
        return await decided(cell, planting.fact, asked, self._means.judge)

    def _keep(self, decision: Decision, session: Session) -> None:
        """Keep what came, and a limit that a refusal taught: the next talk has it at once."""
        file, budget = self._means.file, session.options.budget
        file.keep(decision.result)
        if budget.limit < file.run.limit:
            self._learnt = budget
            file.relimit(budget.limit)

    async def _wait(self) -> None:
        """Pause where that is wanted, and say so where somebody would wonder."""
        if self._throttle.pause >= _TOLD_FROM:
            self._hear(Slowed(self._throttle.pause, _WANTED, self._throttle.parallel))
        await self._throttle.wait()

    def _slow_down(self, retry: RetryScheduled) -> None:
        """Ask less where the server wants that; one that merely failed is asked as before."""
        if retry.asks_for_less:
            self._hear(self._throttle.slow_down(retry))

    def _count_failure(self, failure: ProviderError) -> None:
        """Give up where going on is no use: now, or after too many in a row."""
        self._in_a_row += 1
        if _is_final(failure):
            self.over = failure
        elif self._in_a_row >= GIVE_UP:
            self.over = BenchFailed(
                f"{self._in_a_row} requests in a row failed; the last: {failure.what}",
                f"{failure.remedy} What came is kept: resume the run to go on.".strip(),
            )


def _is_final(failure: ProviderError) -> bool:
    """Whether the same request is sure to fail again now: of the key, or by a long wait."""
    return isinstance(failure, KeyRefused) or failure.retry_after is not None
