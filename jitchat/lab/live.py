"""The live demo: one question of the lab at a time, answered in one mode after another.

Conversations are generated, stored, indexed, asked and graded like those of a run; nothing is
kept afterwards.
"""

from collections.abc import AsyncGenerator, Callable
from contextlib import asynccontextmanager
from dataclasses import dataclass, replace
from functools import partial

from jitchat.errors import ProviderError
from jitchat.events import AnswerProgress
from jitchat.lab.experiment import Cell, Experiment, Result
from jitchat.lab.facts import Fact, Kind
from jitchat.lab.grade import decide
from jitchat.lab.lab import Lab, OpenConversation
from jitchat.threads import to_the_end
from jitchat.values import Mode

LENGTHS = (500, 1_000, 2_000, 4_000)
"""Tokens of the conversations of a round, which ask for the same fact."""
NEAR = (0, 2, 6, 12)
DEPTHS = (0.0, 0.25, 0.5, 0.75, 1.0)
MODES = (Mode.JIT, Mode.RECENCY, Mode.FULL)
"""In the order in which they are asked: the longest window last."""
_KINDS = (Kind.DIRECT, Kind.EXACT, Kind.DISTRACTED, Kind.UPDATED)
"""One per round, in turn."""


@dataclass(frozen=True, slots=True)
class Setup:
    """The question of the demo, and its conversation."""

    length: int = LENGTHS[0]
    """In tokens."""
    near: int = NEAR[1]
    """Near-duplicates of the fact, about others."""
    depth: float = DEPTHS[2]
    """The share of the conversation before the fact, 0 to 1."""
    round: int = 1
    """From 1; every length of a round asks for the same fact."""

    @property
    def experiment(self) -> Experiment:
        kind = _KINDS[(self.round - 1) % len(_KINDS)]
        return Experiment(
            (self.length,), (self.depth,), (kind,), MODES, seed=self.round, near=(self.near,)
        )

    @property
    def following(self) -> "Setup":
        """The next length, or the first one of a new round."""
        longer = [length for length in LENGTHS if length > self.length]
        if longer:
            return replace(self, length=longer[0])
        return replace(self, length=LENGTHS[0], round=self.round + 1)


USUAL = Setup()


class LiveQuestion:
    def __init__(self, conversation: OpenConversation, cell: Cell, fact: Fact, number: int) -> None:
        self._conversation, self._cell, self.fact = conversation, cell, fact
        self._round = number

    async def ask(
        self, mode: Mode, watch: Callable[[AnswerProgress], object]
    ) -> tuple[Result, ProviderError | None]:
        """Ask in a mode; return the result, and the error if nothing could be decided.

        Raises:
            StoreError: The question or the answer cannot be stored.

        """
        cell = replace(self._cell, mode=mode)
        asked, answer = await self._conversation.ask(cell, self.fact, lambda _: None, watch)
        decision = await decide(asked, self.fact, answer, None)
        # Every round is the first repeat of a different seed: count it as a different fact.
        counted = replace(cell, repeat=self._round)
        return replace(decision.result, cell=counted), decision.failure


@asynccontextmanager
async def opened(lab: Lab, setup: Setup) -> AsyncGenerator[LiveQuestion]:
    """Open the conversation of a setup, for which `lab` was made; close everything on exit."""
    try:
        (plan,) = await to_the_end(lambda: list(lab.plans()))
        ((cell, fact),) = plan.cells(MODES[:1])
        made = await to_the_end(partial(lab.made, plan))
        conversation = await lab.opened(plan.name, made)
        try:
            yield LiveQuestion(conversation, cell, fact, setup.round)
        finally:
            await conversation.session.aclose()
    finally:
        await to_the_end(lab.file.close)
