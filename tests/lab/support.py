"""Helpers of the lab's tests: small experiments, a lab for them, and a model that forgets."""

from __future__ import annotations

import asyncio
from contextlib import suppress
from dataclasses import dataclass, field
from datetime import UTC, datetime
from time import monotonic
from typing import TYPE_CHECKING

from jitchat.index.embedder import NoEmbedder
from jitchat.lab.events import CellEnded, LabEvent
from jitchat.lab.lab import Lab
from jitchat.lab.planting import plans
from jitchat.lab.run_file import Run, Runs
from jitchat.providers.provider import Finished, Options, Piece, Provider, ReplyDelta, Wire
from jitchat.providers.reader import ReaderProvider
from jitchat.session import Session
from jitchat.session_options import SessionOptions
from jitchat.values import Message, Turn, Usage
from jitchat.window.budget import Budget
from jitchat.window.tokens import EstimateCounter, message_tokens, request_tokens
from jitchat.writing.pieces import PLAIN, WritingRules

if TYPE_CHECKING:
    from collections.abc import AsyncIterator, Callable, Sequence
    from pathlib import Path

    from jitchat.errors import JitchatError
    from jitchat.lab.experiment import Experiment
    from jitchat.lab.facts import Fact
    from jitchat.lab.grade import Judge
    from jitchat.lab.run_file import RunFile
    from jitchat.memory import Memory

BEGUN = datetime(2026, 3, 13, 10, tzinfo=UTC)
COUNTER = EstimateCounter()


def price(text: str) -> int:
    return message_tokens(COUNTER, text)


def run_of(experiment: Experiment, limit: int = 32_768, model: str = "reader") -> Run:
    return Run(
        id="",
        experiment=experiment,
        provider=model,
        model=model,
        embedder="none",
        limit=limit,
        reserve=1_024,
        counter=COUNTER.name,
        version="0",
        begun_at=BEGUN,
    )


def new_file(folder: Path, experiment: Experiment, limit: int = 32_768) -> RunFile:
    return Runs(folder).create(run_of(experiment, limit))


def lab_on(
    file: RunFile,
    provider: Provider | None = None,
    *,
    judge: Judge | None = None,
    parallel: int = 1,
    own: Sequence[Turn] = (),
    clock: Callable[[], float] = monotonic,
) -> Lab:
    """The lab on a run; the reader answers where nobody else is given."""
    budget = Budget(file.run.limit, file.run.reserve, size=1_500)

    def open_session(memory: Memory) -> Session:
        options = SessionOptions(budget=budget)
        return Session(memory, provider or reader(), COUNTER, options)

    embedder = NoEmbedder()
    more = {"judge": judge, "parallel": parallel, "own": own, "clock": clock}
    return Lab(file, open_session, embedder, COUNTER, **more)


def reader() -> Provider:
    return ReaderProvider(
        lambda sent, _, text: (request_tokens(COUNTER, tuple(sent)), COUNTER.count(text))
    )


async def events_of(
    lab: Lab, until: Callable[[LabEvent], bool] = lambda _: False
) -> list[LabEvent]:
    """What it reports, up to the first event that `until` is true of, or to the end."""
    heard: list[LabEvent] = []

    def hear(event: LabEvent) -> None:
        heard.append(event)
        if until(event):
            running.cancel()

    running = asyncio.ensure_future(lab.run(hear))
    with suppress(asyncio.CancelledError):
        await running
    return heard


def ended(events: Sequence[LabEvent]) -> list[CellEnded]:
    return [each for each in events if isinstance(each, CellEnded)]


@dataclass
class ForgetfulModel:
    """Knows every fact of an experiment, but only recalls what a rule lets it.

    The rule gets how much of the window is ahead of the message that states the fact, 0 to 1,
    and the window's size in characters.
    """

    experiment: Experiment
    recalls: Callable[[float, int], bool]
    failing: list[JitchatError] = field(default_factory=list)
    """Raised instead of an answer, one a request."""
    name: str = "forgetful"
    model: str = "forgetful-1"
    requests: int = 0

    def __post_init__(self) -> None:
        self._facts: dict[str, Fact] = {
            each.fact.question: each.fact
            for plan in plans(self.experiment, price)
            for each in plan.facts
        }

    def rules(self, options: object) -> WritingRules:
        return PLAIN

    async def stream(self, messages: Sequence[Message], options: Options) -> AsyncIterator[Piece]:
        self.requests += 1
        if self.failing:
            raise self.failing.pop(0)
        yield ReplyDelta(self._answer([message.content for message in messages]))
        yield Usage(100, 10)
        yield Finished("stop")

    def _answer(self, said: Sequence[str]) -> str:
        fact = next(each for question, each in self._facts.items() if said[-1].endswith(question))
        whole = "\n".join(said)
        places = [whole.find(each.text) for each in fact.sayings if each.is_needed]
        if not places:
            return "You never told me that."
        known = all(at >= 0 and self.recalls(at / len(whole), len(whole)) for at in places)
        return fact.accepted[0] if known else "I do not know."

    def wire(
        self, messages: Sequence[Message], options: Options, *, as_posted: bool = False
    ) -> Wire | None:
        return None

    async def aclose(self) -> None:
        """Nothing to give back."""
