"""Workers that ask one model: they share what is waiting, and stop together."""

import asyncio
from collections.abc import Awaitable, Callable, Iterator, Sequence
from contextlib import aclosing
from dataclasses import dataclass
from typing import TypeVar

from jitchat.errors import BenchFailed, JitchatError, ProviderError
from jitchat.providers.provider import Finished, Options, Provider, ReplyDelta
from jitchat.values import Message, Usage

_Job = TypeVar("_Job")


class Workers:
    """Tasks of one event loop; each takes one job after the other."""

    def __init__(self, parallel: int, patience: int, way_on: str) -> None:
        """After `patience` failures in a row all stop; `way_on` says how to go on."""
        self.parallel = parallel
        """Jobs at once. Lowered, the workers that are too many end with their job."""
        self.error: JitchatError | None = None
        """Why nothing more is asked; None while all is well."""
        self._patience, self._way_on = patience, way_on
        self._failures = 0
        """In a row."""

    async def run(
        self, jobs: Sequence[_Job], work: Callable[[int, Iterator[_Job]], Awaitable[None]]
    ) -> None:
        waiting = iter(jobs)
        async with asyncio.TaskGroup() as group:
            for worker in range(min(self.parallel, len(jobs))):
                group.create_task(self._run(worker, waiting, work))

    def succeeded(self) -> None:
        self._failures = 0

    def failed(self, failure: ProviderError) -> None:
        self._failures += 1
        if self._failures >= self._patience:
            self.error = self.error or BenchFailed(
                f"{self._failures} requests in a row failed; the last: {failure.what}",
                f"{failure.remedy} {self._way_on}".strip(),
            )

    async def _run(
        self,
        worker: int,
        waiting: Iterator[_Job],
        work: Callable[[int, Iterator[_Job]], Awaitable[None]],
    ) -> None:
        try:
            await work(worker, self._share(worker, waiting))
        except JitchatError as error:
            self.error = self.error or error

    def _share(self, worker: int, waiting: Iterator[_Job]) -> Iterator[_Job]:
        """Give a worker one job after the other, as long as so many are to be done at once."""
        while self.error is None and worker < self.parallel:
            try:
                yield next(waiting)
            except StopIteration:
                return


@dataclass(frozen=True, slots=True)
class Reply:
    text: str
    reason: str
    """Why it ended, in the provider's word."""
    usage: Usage | None = None
    """None where the provider did not report it."""


async def reply_to(
    messages: Sequence[Message], provider: Provider, options: Options, longest: int | None = None
) -> Reply:
    """Send a request; of a reply of more than `longest` characters nothing is kept.

    Raises:
        ProviderError: It failed.

    """
    parts: list[str] = []
    usage: Usage | None = None
    reason, length = "", 0
    async with aclosing(provider.stream(messages, options)) as pieces:
        async for piece in pieces:
            if isinstance(piece, ReplyDelta):
                parts.append(piece.text)
                length += len(piece.text)
            elif isinstance(piece, Finished):
                reason = reason or piece.reason
            elif isinstance(piece, Usage):
                usage = piece
            if longest is not None and length > longest:
                return Reply("", reason, usage)
    return Reply("".join(parts).strip(), reason, usage)
