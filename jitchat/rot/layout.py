"""Which facts stand at which depth of which conversation. Pure, and the same for the same seed.

Facts of many kinds share a conversation, for each is filler to the others' questions; together
they are a third of it at the most. A question meets the same fact at each length, so that a
curve shows what the length does, and nothing else.
"""

from __future__ import annotations

import random
import re
from collections.abc import Callable, Iterator, Sequence
from dataclasses import dataclass

from jitchat.rot.book import makers
from jitchat.rot.cells import Cell
from jitchat.rot.experiment import Experiment
from jitchat.rot.fact import Fact
from jitchat.rot.kinds import Kind
from jitchat.turn import Mode

SHARE = 1 / 3
"""Of a conversation's tokens that facts may take; one fact may take more."""


@dataclass(frozen=True, slots=True)
class Planting:
    """A fact at a depth."""

    fact: Fact
    depth: float


@dataclass(frozen=True, slots=True)
class Talk:
    """A conversation of the run: how long it is to be, and what is planted in it."""

    name: str
    """Unique in the run."""
    length: int
    """In tokens."""
    repeat: int
    plantings: tuple[Planting, ...]

    def cells(self, modes: Sequence[Mode]) -> Iterator[tuple[Cell, Planting]]:
        """List what is asked in it, mode by mode: a server that caches keeps what goes ahead."""
        for mode in modes:
            for each in self.plantings:
                kind = each.fact.kind
                yield Cell(self.length, each.depth, kind, self.repeat, mode), each


def talks(experiment: Experiment, price: Callable[[str], int]) -> Iterator[Talk]:
    """Lay out the conversations of an experiment; `price` tells a message's tokens."""
    for length in experiment.lengths:
        for repeat in range(1, experiment.repeats + 1):
            parts = _parted(_plantings(experiment, repeat), length * SHARE, price)
            for number, plantings in enumerate(parts, start=1):
                yield Talk(f"{length}-{repeat}-{number}", length, repeat, tuple(plantings))


def _plantings(experiment: Experiment, repeat: int) -> Iterator[Planting]:
    for kind in experiment.kinds:
        chance = random.Random(f"{experiment.seed} {kind} {repeat}")  # noqa: S311  no secret
        facts = list(makers()[kind])
        chance.shuffle(facts)
        for number, depth in enumerate(experiment.depths):
            yield Planting(facts[number % len(facts)](chance), depth)


def _parted(
    plantings: Iterator[Planting], room: float, price: Callable[[str], int]
) -> list[list[Planting]]:
    """Put each into the first conversation that has room, and no fact that it clashes with."""
    parts: list[list[Planting]] = []
    taken: list[int] = []
    for planting in plantings:
        tokens = fact_tokens(planting.fact, price)
        fits = (
            number
            for number, part in enumerate(parts)
            if taken[number] + tokens <= room
            and not any(_clash(each.fact, planting.fact) for each in part)
        )
        number = next(fits, len(parts))
        if number == len(parts):
            parts.append([])
            taken.append(0)
        parts[number].append(planting)
        taken[number] += tokens
    return parts


def _clash(one: Fact, other: Fact) -> bool:
    """Whether they are of one name, or one says the other's answer."""
    return one.name == other.name or _says(one, other) or _says(other, one)


def _says(one: Fact, other: Fact) -> bool:
    """Whether somebody says an answer of the other; a count is said in many sentences."""
    if other.kind is Kind.COUNTING or not other.accepted:
        return False
    forms = "|".join(re.escape(form.casefold()) for form in other.accepted)
    said = "\n".join(each.text for each in one.sayings).casefold()
    return re.search(rf"(?<!\w)(?:{forms})(?!\w)", said) is not None


def fact_tokens(fact: Fact, price: Callable[[str], int]) -> int:
    """Price all that is said of a fact, in tokens."""
    return sum(price(each.text) + price(each.reply) for each in fact.sayings)
