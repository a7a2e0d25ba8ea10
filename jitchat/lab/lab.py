"""THE LAB: plant facts, grow the conversation, ask in each mode through the ordinary flow.

Nothing is staged: a conversation is stored and indexed as an imported one is, each question is
sent as the chat sends it, and a cell is right only if the answer that came is.
"""

import asyncio
import time
from collections.abc import AsyncGenerator, Callable, Sequence
from contextlib import suppress
from datetime import timedelta
from functools import partial

from jitchat.errors import BenchFailed, JitchatError, StoreError
from jitchat.index.embedder import Embedder
from jitchat.lab.events import LabEvent, RunEnded, TalkBegun
from jitchat.lab.experiment import Cell, Verdict
from jitchat.lab.facts import avoided
from jitchat.lab.filler import exchanges
from jitchat.lab.judge import Judge
from jitchat.lab.planting import Planted, Planting, Talk, planted, planted_in, talks
from jitchat.lab.run_file import RunFile
from jitchat.lab.workers import Hear, Means, Throttle, Workers, in_thread
from jitchat.memory import Memory
from jitchat.session import Session
from jitchat.values import Turn
from jitchat.window.tokens import TokenCounter, message_tokens

_LATER = timedelta(hours=1)
"""So long after the last turn of a made-up conversation its questions are asked."""


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
        self.file, self._clock = file, clock
        self._means = Means(file, open_session, embedder, judge)
        self._counter, self._own = counter, own
        self._throttle = Throttle(parallel)

    async def run(self) -> AsyncGenerator[LabEvent, None]:
        """Ask every cell that has no answer; closing the generator stops, and keeps what came.

        A cell whose request fails is asked once more, and then marked; where going on is no use
        the run is given up, and can be resumed.

        Raises:
            JitchatError: Results cannot be kept, or nothing can be asked.

        """
        begun_at = self._clock()
        heard: asyncio.Queue[LabEvent | None] = asyncio.Queue()
        work = asyncio.create_task(self._work(heard.put_nowait))
        work.add_done_callback(lambda _: heard.put_nowait(None))
        try:
            while (event := await heard.get()) is not None:
                yield event
            await work
        finally:
            work.cancel()
            with suppress(asyncio.CancelledError, JitchatError):
                await work
            with suppress(StoreError):  # the answers are kept, and why no more are is told
                self.file.spend(self._clock() - begun_at)
            if self._means.judge is not None:
                await self._means.judge.provider.aclose()

    async def _work(self, hear: Hear) -> None:
        waiting = await in_thread(self._waiting)
        workers = Workers(self._means, self._throttle, hear)
        for number, (talk, cells) in enumerate(waiting, start=1):
            hear(TalkBegun(number, len(waiting), talk.length))
            grown = await in_thread(partial(self._grown, talk))
            last = grown.turns[-1].created_at
            self.file.clock.moment = last + _LATER if last is not None else None
            await workers.ask_in(number, talk.name, grown, cells)
            if isinstance(workers.over, StoreError):
                raise workers.over
            if workers.over is not None:
                hear(RunEnded(str(workers.over)))
                return
        if waiting or self.file.run.ended_at is None:
            await in_thread(self.file.end)
        hear(RunEnded())

    def _waiting(self) -> list[tuple[Talk, list[tuple[Cell, Planting]]]]:
        """List the conversations with the cells that are still to be asked."""
        experiment, results = self.file.run.experiment, self.file.results()
        done = {each.cell for each in results if each.verdict is not Verdict.FAILED}
        laid_out = (
            (talk, [each for each in talk.cells(experiment.modes) if each[0] not in done])
            for talk in talks(experiment, self._price)
        )
        return [(talk, cells) for talk, cells in laid_out if cells]

    def _grown(self, talk: Talk) -> Planted:
        if self._own:
            return self._grown_of_own(talk)
        facts = (each.fact for each in talk.plantings)
        without = frozenset[str]().union(*map(avoided, facts))
        seed = f"{self.file.run.experiment.seed} {talk.name}"
        return planted(talk, exchanges(seed, without), self._price)

    def _grown_of_own(self, talk: Talk) -> Planted:
        try:
            return planted_in(talk, self._own, self._price)
        except ValueError as short:
            raise BenchFailed(
                f"Your conversation does not make {talk.length:,} tokens of messages that are short"
                f" enough to plant facts between ({short}).",
                "Choose a shorter length, or a longer conversation.",
            ) from short

    def _price(self, text: str) -> int:
        return message_tokens(self._counter, text)
