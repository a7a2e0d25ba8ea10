"""Many requests to one provider, some at once."""

from __future__ import annotations

import asyncio
from collections.abc import Callable, Iterator, Sequence
from contextlib import aclosing

from jitchat.bench.replies import Job, Reply, ReplyLog
from jitchat.errors import BenchFailed, NotAnAnswer, ProviderError
from jitchat.providers.provider import Delta, Finished, Options, Provider
from jitchat.turn import Message, Usage

GIVE_UP = 5
"""After so many failures in a row nothing more is sent."""


class Asker:
    """Sends requests and keeps each reply as it comes."""

    def __init__(self, provider: Provider, options: Options, parallel: int, log: ReplyLog) -> None:
        self._provider, self._options = provider, options
        self._parallel, self._log = parallel, log
        self._in_a_row = 0
        self._stopped: BenchFailed | None = None

    async def ask(self, jobs: Sequence[Job], advance: Callable[[int], None]) -> None:
        """Send them all; one that fails is noted, and the others go on.

        Raises:
            BenchFailed: Too many failed in a row, or a reply cannot be kept.

        """
        waiting = iter(jobs)
        async with asyncio.TaskGroup() as group:
            for _ in range(self._parallel):
                group.create_task(self._work(waiting, advance))
        if self._stopped is not None:
            raise self._stopped

    async def _work(self, waiting: Iterator[Job], advance: Callable[[int], None]) -> None:
        """Take one request after the other; all workers share what is waiting."""
        for job in waiting:
            try:
                await self._take(job)
            except BenchFailed as error:
                self._stopped = self._stopped or error
            if self._stopped is not None:
                return
            advance(1)

    async def _take(self, job: Job) -> None:
        try:
            reply = await self._reply(job.messages)
        except ProviderError as error:
            self._log.add_failure(job, error)
            self._in_a_row += 1
            if self._in_a_row >= GIVE_UP:
                raise self._given_up(error) from error
        else:
            self._in_a_row = 0
            self._log.add(job, reply)

    async def _reply(self, messages: Sequence[Message]) -> Reply:
        parts: list[str] = []
        usage: Usage | None = None
        reason = ""
        async with aclosing(self._provider.stream(messages, self._options)) as pieces:
            async for piece in pieces:
                if isinstance(piece, Delta):
                    parts.append(piece.text)
                elif isinstance(piece, Finished):
                    reason = reason or piece.reason
                elif isinstance(piece, Usage):
                    usage = piece
        text = "".join(parts).strip()
        if not text:
            raise NotAnAnswer("The model answered with nothing.")
        return Reply(text, reason, usage)

    def _given_up(self, error: ProviderError) -> BenchFailed:
        return BenchFailed(
            f"{self._in_a_row} requests in a row failed; the last: {error.what}",
            f"{error.remedy} What came is kept in {self._log.path}; run it again to go on.".strip(),
        )
