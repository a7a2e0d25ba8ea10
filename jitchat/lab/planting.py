"""From a conversation's layout to its turns: filler, with the facts at their depths. Pure.

Facts of many kinds share a conversation, for each is filler to the others' questions; together
they are a third of it at the most. A question meets the same fact at each length, so that a
curve shows what the length does, and nothing else.
"""

from __future__ import annotations

import random
import re
from collections.abc import Callable, Iterator, Mapping, Sequence
from dataclasses import dataclass, replace
from datetime import UTC, datetime, timedelta

from jitchat.lab.experiment import Cell, Experiment
from jitchat.lab.facts import Fact, Kind, Saying, Where, makers
from jitchat.lab.filler import Exchange
from jitchat.values import Mode, Role, Turn

Price = Callable[[str], int]
"""Tells the tokens of a message."""
SPREAD = 0.05
"""Sayings that stand about a depth are so far from it, at the most, as a share of the whole."""
LARGEST = 0.25
"""Of a talk's length that a message of the user's own and its reply may take."""
_BEGUN = datetime(2026, 1, 5, 9, tzinfo=UTC)
_TURN, _PAUSE = timedelta(minutes=1), timedelta(hours=15)
_STRETCH = 40
"""Turns from one pause to the next."""


@dataclass(frozen=True, slots=True)
class Planted:
    """The turns of a conversation, and where what matters is."""

    turns: tuple[Turn, ...]
    needed: Mapping[str, tuple[int, ...]]
    """By a fact's name: the positions of the turns that its answer needs."""
    ends: Mapping[str, int]
    """By a fact's name: the position behind which its question stands; mostly the last one."""


@dataclass(frozen=True, slots=True)
class _Place:
    """A saying, and how much of the filler is ahead of it, 0 to 1."""

    share: float
    fact: Fact
    saying: Saying


def planted(talk: Talk, filler: Iterator[Exchange], price: Price) -> Planted:
    """Grow filler to the talk's length, and plant its facts in it."""
    room = talk.length - sum(fact_tokens(each.fact, price) for each in talk.plantings)
    grown, tokens = list[list[Turn]](), list[int]()
    while room > 0:
        exchange = next(filler)
        grown.append(_said(exchange.text, exchange.reply))
        tokens.append(price(exchange.text) + price(exchange.reply))
        room -= tokens[-1]
    return _merged(talk, grown, tokens, dates=True)


def planted_in(talk: Talk, own: Sequence[Turn], price: Price) -> Planted:
    """Plant a talk's facts in the last turns of the user's own conversation, as they are.

    Nothing is put between a message and its reply. One that would take more than `LARGEST` of
    the talk with its reply is passed over, for no depth could be told then.

    Raises:
        ValueError: It is shorter than the talk is to be.

    """
    room = talk.length - sum(fact_tokens(each.fact, price) for each in talk.plantings)
    kept, tokens = list[list[Turn]](), list[int]()
    for exchange in reversed(list(_exchanges(own))):
        if room <= 0:
            break
        size = sum(price(turn.content) for turn in exchange)
        if size <= talk.length * LARGEST:
            kept.append(exchange)
            tokens.append(size)
            room -= size
    if room > 0:
        raise ValueError(f"{room} tokens short of {talk.length}")
    return _merged(talk, kept[::-1], tokens[::-1], dates=False)


def _merged(
    talk: Talk, filler: Sequence[Sequence[Turn]], tokens: Sequence[int], *, dates: bool
) -> Planted:
    """Say every saying where its share of the filler has been said."""
    growing = _Growing(_places(talk.plantings), dates=dates)
    whole, ahead = sum(tokens) or 1, 0
    for exchange, size in zip(filler, tokens, strict=True):
        growing.plant(ahead / whole)
        growing.say(exchange)
        ahead += size
    filled = len(growing.turns)
    growing.plant(1.0)
    last = len(growing.turns)
    ends = {name: end if end > filled else last for name, end in growing.ends.items()}
    needed = {name: tuple(at) for name, at in growing.needed.items()}
    return Planted(tuple(growing.turns), needed, ends)


class _Growing:
    """A conversation that is being put together."""

    def __init__(self, waiting: list[_Place], *, dates: bool) -> None:
        """`waiting` are in order; `dates` tells whether its turns get made-up times."""
        self._waiting, self._dates = waiting, dates
        self.turns: list[Turn] = []
        self.needed: dict[str, list[int]] = {}
        self.ends: dict[str, int] = {}
        """By a fact's name: the position of the last turn about it."""

    def say(self, exchange: Sequence[Turn]) -> None:
        """Add turns; one without a time is as late as the one before it."""
        for turn in exchange:
            place = len(self.turns) + 1
            before = self.turns[-1].created_at if self.turns else None
            moment = _moment(place) if self._dates else turn.created_at or before
            said = replace(turn, position=place, created_at=moment, id=0, parent=None)
            self.turns.append(said)

    def plant(self, share: float) -> None:
        """Add every saying that stands behind so much of the filler."""
        while self._waiting and self._waiting[0].share <= share:
            place = self._waiting.pop(0)
            self.say(_said(place.saying.text, place.saying.reply))
            if place.saying.is_needed:
                self.needed.setdefault(place.fact.name, []).append(len(self.turns) - 1)
            self.ends[place.fact.name] = len(self.turns)


def _places(plantings: Sequence[Planting]) -> list[_Place]:
    """Say where every saying stands, in order; of two at one place, the one said first."""
    places = [
        _Place(share, each.fact, saying)
        for each in plantings
        for share, saying in zip(_shares(each), each.fact.sayings, strict=True)
    ]
    return sorted(places, key=lambda place: place.share)


def _shares(planting: Planting) -> Iterator[float]:
    """Say how much is ahead of each saying of a fact."""
    sayings, depth = planting.fact.sayings, planting.depth
    count = {where: sum(each.where is where for each in sayings) for where in Where}
    met = dict.fromkeys(Where, 0)
    start = min(max(depth - SPREAD / 2, 0.0), 1.0 - SPREAD)
    for saying in sayings:
        number, of = met[saying.where], count[saying.where]
        met[saying.where] += 1
        match saying.where:
            case Where.BEFORE:
                yield depth * (number + 1) / (of + 1)
            case Where.AROUND:
                yield min(1.0, start + SPREAD * number / max(of - 1, 1))
            case Where.APART:
                yield (number + 0.5) / of
            case Where.AT:
                yield depth


def _said(text: str, reply: str) -> list[Turn]:
    return [Turn(0, Role.USER, text), Turn(0, Role.ASSISTANT, reply)]


def _exchanges(turns: Sequence[Turn]) -> Iterator[list[Turn]]:
    """Part turns ahead of each message of the user."""
    exchange: list[Turn] = []
    for turn in turns:
        if turn.role is Role.USER and exchange:
            yield exchange
            exchange = []
        exchange.append(turn)
    if exchange:
        yield exchange


def _moment(position: int) -> datetime:
    """Say when a made-up turn was said: a stretch a sitting, and a night's pause after it."""
    return _BEGUN + position * _TURN + position // _STRETCH * _PAUSE


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
