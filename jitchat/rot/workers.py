"""Asking in one conversation, some questions at once; what fails is asked once more."""

from __future__ import annotations

import asyncio
import time
from collections.abc import Callable, Iterator, Sequence
from dataclasses import dataclass

from jitchat.errors import BenchFailed, JitchatError, KeyRefused, ProviderError
from jitchat.events import RetryScheduled
from jitchat.memory.embedding.embedder import Embedder
from jitchat.memory.memory import Memory
from jitchat.rot.cells import Cell
from jitchat.rot.decided import Decision, decided
from jitchat.rot.events import CellBegun, CellEnded, CellRetried, LabEvent, Slowed, TalkReady
from jitchat.rot.judge import Judge
from jitchat.rot.layout import Planting
from jitchat.rot.opened_talk import OpenedTalk, in_thread, stored
from jitchat.rot.planting import Planted
from jitchat.rot.run_file import RunFile
from jitchat.rot.throttle import Throttle
from jitchat.session import Session
from jitchat.window.budget import Budget

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
