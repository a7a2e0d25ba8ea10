"""Talks to observe, and observers that misbehave."""

from __future__ import annotations

from collections.abc import Awaitable, Callable, Sequence
from dataclasses import dataclass
from datetime import UTC, datetime, timedelta

from jitchat.statements import Observation, Observations, Source
from jitchat.synthesis.observer import Batch, FactsMade, Made
from jitchat.values import Role, Turn
from jitchat.window.history import History
from jitchat.window.tokens import EstimateCounter
from jitchat.window.written import TurnPricing

COUNTER = EstimateCounter()
NOON = datetime(2026, 3, 2, 12, 0, tzinfo=UTC)
FILLER = (
    "The kettle in the third office hums a note that nobody has asked for.",
    "My neighbour paints boats on Sundays and sells none of them.",
    "We walked round the lake twice because the bench was taken.",
    "Our printer prefers blue paper, whatever the drawer says.",
)


def said(position: int, text: str, role: Role | None = None, name: str | None = None) -> Turn:
    spoken = role or (Role.USER if position % 2 else Role.ASSISTANT)
    return Turn(position, spoken, text, NOON + timedelta(minutes=position), name)


def small_talk(count: int, first: int = 1) -> list[Turn]:
    """Turns that each say something of their own."""
    return [
        said(number, f"{FILLER[number % len(FILLER)]} It was day {number} of the trip.")
        for number in range(first, first + count)
    ]


def history_of(turns: Sequence[Turn]) -> History:
    return History().following(turns, TurnPricing(COUNTER, is_native=False))


@dataclass
class ScriptedObserver:
    """Makes what it is told to; `meanwhile` happens while it is asked."""

    lines: Callable[[Batch], Sequence[Observation]]
    rewritten: Callable[[Observations], Sequence[Observation]] = lambda standing: standing.lines
    meanwhile: Callable[[], Awaitable[object]] | None = None
    name: str = "scripted-observer"
    batches: list[Batch] | None = None

    async def observe(self, batch: Batch) -> Made:
        if self.batches is not None:
            self.batches.append(batch)
        if self.meanwhile is not None:
            await self.meanwhile()
        return Made(tuple(self.lines(batch)), self.name)

    async def reflect(self, standing: Observations, room: int) -> Made:
        if self.meanwhile is not None:
            await self.meanwhile()
        return Made(tuple(self.rewritten(standing)), self.name)

    async def facts(self, turns: Sequence[Turn], conversation: str) -> FactsMade:
        return FactsMade()

    async def aclose(self) -> None: ...


def one_line_each(batch: Batch) -> list[Observation]:
    return [
        Observation(f"note on {turn.content}", Source(turn.position, turn.position))
        for turn in batch.turns
    ]
