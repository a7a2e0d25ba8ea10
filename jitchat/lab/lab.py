"""THE LAB: plant facts, grow the conversation, ask in each mode through the ordinary flow.

Nothing is staged: a conversation is stored and indexed as an imported one is, each question is
sent as the chat sends it, and a cell is right only if the answer that came is.

One event loop runs it all: `Lab.run`, its workers and whom it tells of what happens. What takes
a processor or the disk (making a conversation, storing, indexing, keeping a result)
is done by a thread that the worker waits for, also where it is cancelled.
"""

import time
from collections.abc import Callable, Iterator, Sequence
from contextlib import suppress
from datetime import timedelta
from functools import partial

from jitchat.bench.workers import Workers
from jitchat.errors import BenchFailed, KeyRefused, ProviderError, StoreError
from jitchat.events import RetryScheduled
from jitchat.index.embedder import Embedder
from jitchat.lab import events, planting
from jitchat.lab.asking import OpenConversation, Throttle, stored_and_indexed
from jitchat.lab.experiment import Cell, Verdict
from jitchat.lab.facts import Fact, stems_to_avoid
from jitchat.lab.filler import exchanges
from jitchat.lab.judge import Decision, Judge, decide
from jitchat.lab.run_file import RunFile
from jitchat.memory import Memory
from jitchat.session import Session
from jitchat.threads import to_the_end
from jitchat.values import Turn
from jitchat.window.budget import Budget
from jitchat.window.tokens import TokenCounter, message_tokens

GIVE_UP = 10
"""After so many failures in a row nothing more is asked."""
_LATER = timedelta(hours=1)
"""So long after the last turn of a made-up conversation its questions are asked."""
_WORTH_TELLING = 1.0
"""Seconds of a pause."""
Hear = Callable[[events.LabEvent], object]
_Asked = tuple[Cell, Fact]


class Lab:
    """A run that is asked. Lives in one event loop, and is run once."""

    def __init__(  # noqa: PLR0913  all that it is made of
        self,
        file: RunFile,
        open_session: Callable[[Memory], Session],
        embedder: Embedder,
        counter: TokenCounter,
        *,
        judge: Judge | None = None,
        parallel: int = 1,
        own: Sequence[Turn] = (),
        clock: Callable[[], float] = time.monotonic,
    ) -> None:
        """`own` are the turns of the user's conversation, where that is the filler."""
        self.file, self._open_session, self._embedder = file, open_session, embedder
        self._counter, self._judge, self._own, self._clock = counter, judge, own, clock
        self._workers = Workers(parallel, GIVE_UP, "What came is kept: resume the run to go on.")
        self._throttle = Throttle(self._workers)
        self._hear: Hear = lambda _: None
        self._learnt: Budget | None = None
        """What a refusal taught of the model's limit; None where none did."""

    async def run(self, hear: Hear) -> None:
        """Ask every cell that has no answer, and tell what happens; cancelled, keep what came.

        A cell whose request fails is asked once more, and then marked; where going on is no use
        the run is given up, and can be resumed.

        Raises:
            JitchatError: Results cannot be kept, or nothing can be asked.

        """
        begun_at, self._hear = self._clock(), hear
        try:
            await self._ask_all()
        finally:
            with suppress(StoreError):  # the answers are kept, and why no more are is told
                self.file.spend(self._clock() - begun_at)
            if self._judge is not None:
                await self._judge.provider.aclose()

    async def _ask_all(self) -> None:
        left = await to_the_end(self._left)
        for number, (plan, cells) in enumerate(left, start=1):
            self._hear(events.ConversationBegun(number, len(left), plan.length))
            made = await to_the_end(partial(self._made, plan))
            last = made.turns[-1].created_at
            self.file.clock.moment = last + _LATER if last is not None else None
            await self._workers.run(cells, partial(self._work, number, plan.name, made))
            if isinstance(self._workers.error, StoreError):
                raise self._workers.error
            if self._workers.error is not None:
                self._hear(events.RunEnded(str(self._workers.error)))
                return
        if left or self.file.run.ended_at is None:
            await to_the_end(self.file.end)
        self._hear(events.RunEnded())

    def _left(self) -> list[tuple[planting.ConversationPlan, list[_Asked]]]:
        """List the conversations with the cells that are still to be asked."""
        experiment, results = self.file.run.experiment, self.file.results()
        done = {each.cell for each in results if each.verdict is not Verdict.FAILED}
        laid_out = (
            (plan, [each for each in plan.cells(experiment.modes) if each[0] not in done])
            for plan in planting.plans(experiment, self._price)
        )
        return [(plan, cells) for plan, cells in laid_out if cells]

    def _made(self, plan: planting.ConversationPlan) -> planting.MadeConversation:
        if not self._own:
            avoided = frozenset[str]().union(*(stems_to_avoid(each.fact) for each in plan.facts))
            filler = exchanges(f"{self.file.run.experiment.seed} {plan.name}", avoided)
            return planting.made_up(plan, filler, self._price)
        try:
            return planting.made_of_own(plan, self._own, self._price)
        except ValueError as short:
            raise BenchFailed(
                f"Your conversation does not make {plan.length:,} tokens of messages that are short"
                f" enough to plant facts between ({short}).",
                "Choose a shorter length, or a longer conversation.",
            ) from short

    def _price(self, text: str) -> int:
        return message_tokens(self._counter, text)

    async def _work(
        self,
        number: int,
        name: str,
        made: planting.MadeConversation,
        worker: int,
        cells: Iterator[_Asked],
    ) -> None:
        """Ask a worker's share of the cells; each has a copy of the conversation to itself."""
        begun = time.monotonic()
        copy = f"{name}-copy-{worker}" if worker else name
        memory = await stored_and_indexed(self.file, copy, made, self._embedder)
        session = await to_the_end(partial(self._open_session, memory))
        try:
            if self._learnt is not None:
                session.take_budget(self._learnt)
            if worker == 0:
                seconds = time.monotonic() - begun
                self._hear(events.ConversationReady(number, len(made.turns), seconds))
            conversation = OpenConversation(session, made)
            for cell, fact in cells:
                await self._ask(conversation, cell, fact)
        finally:
            await session.aclose()

    async def _ask(self, conversation: OpenConversation, cell: Cell, fact: Fact) -> None:
        """Ask, and once more where that fails, unless it is sure to fail again; keep what came."""
        await self._pause()
        self._hear(events.CellBegun(cell))
        decision = await self._decision(conversation, cell, fact)
        if decision.failure is not None and not _is_final(decision.failure):
            self._hear(events.CellRetried(cell, decision.failure.what))
            await self._pause()
            decision = await self._decision(conversation, cell, fact)
        await to_the_end(partial(self._keep, decision, conversation.session))
        self._hear(events.CellEnded(decision.result))
        if decision.failure is None:
            self._workers.succeeded()
            self._throttle.answered()
        elif _is_final(decision.failure):
            raise decision.failure
        else:
            self._workers.failed(decision.failure)

    async def _decision(self, conversation: OpenConversation, cell: Cell, fact: Fact) -> Decision:
        asked, answer = await conversation.ask(cell, fact, self._slow_down)
        return await decide(asked, fact, answer, self._judge)

    def _keep(self, decision: Decision, session: Session) -> None:
        """Keep what came, and a limit that a refusal taught: the next conversation has it."""
        budget = session.options.budget
        self.file.keep(decision.result)
        if budget.limit < self.file.run.limit:
            self._learnt = budget
            self.file.relimit(budget.limit)

    async def _pause(self) -> None:
        """Wait where that is wanted, and say so where somebody would wonder."""
        if self._throttle.pause >= _WORTH_TELLING:
            parallel = self._workers.parallel
            self._hear(events.Slowed(self._throttle.pause, "fewer requests were wanted", parallel))
        await self._throttle.wait()

    def _slow_down(self, retry: RetryScheduled) -> None:
        """Ask less where the server wants that; one that merely failed is asked as before."""
        if retry.asks_for_less:
            self._hear(self._throttle.slow_down(retry))


def _is_final(failure: ProviderError) -> bool:
    """Whether the same request is sure to fail again now: of the key, or by a long wait."""
    return isinstance(failure, KeyRefused) or failure.retry_after is not None
