"""From a conversation's layout to its turns: filler, with the facts at their depths. Pure."""

from __future__ import annotations

from collections.abc import Callable, Iterator, Mapping, Sequence
from dataclasses import dataclass, replace
from datetime import UTC, datetime, timedelta

from jitchat.rot.fact import Fact, Saying, Where
from jitchat.rot.filler import Exchange
from jitchat.rot.layout import Planting, Talk, fact_tokens
from jitchat.turn import Role, Turn

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
