"""Requests to one model: workers that stop together, and a judge's verdict.

The answer that a judge grades is quoted as JSON, so that it cannot impersonate the judge.
"""

import asyncio
import json
import time
from collections.abc import Awaitable, Callable, Iterator, Mapping, Sequence
from contextlib import aclosing
from dataclasses import dataclass
from typing import TypeVar

from jitchat.bench import prompt
from jitchat.errors import BenchFailed, JitchatError, ProviderError
from jitchat.providers.provider import Finished, Options, Provider, ReasoningDelta, ReplyDelta
from jitchat.providers.writing import stream_written
from jitchat.values import Message, Role, Usage

_Job = TypeVar("_Job")


class Workers:
    """Tasks of one event loop; each takes one job after another."""

    def __init__(self, parallel: int, patience: int, remedy: str) -> None:
        """After `patience` consecutive failures, all stop; `remedy` says how to continue."""
        self.parallel = parallel
        """Maximum parallel jobs. If it is lowered, surplus workers end after their current job."""
        self.error: JitchatError | None = None
        """Why the workers stop; None if there was no error."""
        self._patience, self._remedy = patience, remedy
        self._failures = 0
        """Number of consecutive failures."""

    async def run(
        self, jobs: Sequence[_Job], work: Callable[[int, Iterator[_Job]], Awaitable[None]]
    ) -> None:
        waiting = iter(jobs)

        async def run_worker(worker: int) -> None:
            try:
                await work(worker, self._share(worker, waiting))
            except JitchatError as error:
                self.error = self.error or error

        async with asyncio.TaskGroup() as group:
            for worker in range(min(self.parallel, len(jobs))):
                group.create_task(run_worker(worker))

    def succeeded(self) -> None:
        self._failures = 0

    def failed(self, failure: ProviderError) -> None:
        self._failures += 1
        if self._failures >= self._patience:
            self.error = self.error or BenchFailed(
                f"{self._failures} requests in a row failed; the last: {failure.what}",
                f"{failure.remedy} {self._remedy}".strip(),
            )

    def _share(self, worker: int, waiting: Iterator[_Job]) -> Iterator[_Job]:
        """Yield jobs to a worker while it is among the allowed number of parallel workers."""
        while self.error is None and worker < self.parallel:
            if (job := next(waiting, None)) is None:
                return
            yield job


@dataclass(frozen=True, slots=True)
class Reply:
    text: str
    reason: str
    """The provider's stop reason."""
    usage: Usage | None = None
    """None if the provider did not report it."""
    first: float | None = None
    """When the first text or reasoning arrived, by `time.monotonic`; None if there was none."""


async def reply_to(
    messages: Sequence[Message], provider: Provider, options: Options, longest: int | None = None
) -> Reply:
    """Send a request; a reply of more than `longest` characters is discarded.

    Raises:
        ProviderError: The request failed.

    """
    parts: list[str] = []
    usage: Usage | None = None
    first: float | None = None
    reason, length = "", 0
    async with aclosing(stream_written(provider, messages, options)) as deltas:
        async for delta in deltas:
            if isinstance(delta, ReplyDelta | ReasoningDelta):
                first = first or time.monotonic()
            if isinstance(delta, ReplyDelta):
                parts.append(delta.text)
                length += len(delta.text)
            elif isinstance(delta, Finished):
                reason = reason or delta.reason
            elif isinstance(delta, Usage):
                usage = delta
            if longest is not None and length > longest:
                return Reply("", reason, usage)
    return Reply("".join(parts).strip(), reason, usage, first)


_LABELS = {"CORRECT": True, "WRONG": False}
LONGEST_VERDICT = 20_000
"""Maximum characters of a reply that are searched for a verdict."""


def instructions(rules: str) -> str:
    return prompt("grading").replace("{rules}", rules)


def judge_messages(rules: str, given: Mapping[str, object]) -> tuple[Message, Message]:
    text = json.dumps(given, indent=1, ensure_ascii=False)
    return Message(Role.SYSTEM, instructions(rules)), Message(Role.USER, text)


def verdict(reply: str) -> bool | None:
    """Parse the verdict: whether the answer is correct; None if there is no label, or both.

    Only a JSON object with the label counts, alone or within other text.
    """
    found = (each for each in _objects(reply[:LONGEST_VERDICT]) if "label" in each)
    labels = {str(each["label"]).strip().upper() for each in found}
    return _LABELS.get(labels.pop()) if len(labels) == 1 else None


def _objects(text: str) -> Iterator[dict[str, object]]:
    decoder, start = json.JSONDecoder(), text.find("{")
    while start >= 0:
        try:
            found, end = decoder.raw_decode(text, start)
        except (ValueError, RecursionError):
            end = start + 1
        else:
            yield found
        start = text.find("{", end)
