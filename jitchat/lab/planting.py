"""Builds the conversations of an experiment: filler with the facts at their depths. Pure.

Facts of many kinds share a conversation, because each is filler for the other questions; together
they take at most a third of it. A question is about the same fact at each length, so that a curve
shows only the effect of the length.
"""

import random
import re
from collections import defaultdict
from collections.abc import Callable, Iterable, Iterator, Mapping, Sequence
from dataclasses import dataclass, replace
from datetime import UTC, datetime, timedelta
from itertools import product
from math import inf

from jitchat.errors import UsageError
from jitchat.lab.experiment import Cell, Experiment
from jitchat.lab.facts import Fact, Kind, Saying, Where, makers
from jitchat.lab.filler import Exchange
from jitchat.text.figures import plural
from jitchat.values import Mode, Role, Turn

Price = Callable[[str], int]
"""Counts the tokens of a message."""
SHARE = 1 / 3
"""Maximum share of a conversation's tokens for several facts; one fact can take more."""
SPREAD = 0.05
"""The share of the whole over which sayings around a depth are spread."""
EARLY = 0.25
"""The share of a conversation, from its start, that contains sayings of `Where.EARLY`."""
CROWDED = 0.85
"""Maximum share of a conversation's tokens for one fact with its near-duplicates."""
LARGEST = 0.25
"""Maximum share of the length for one exchange of the user's own conversation."""
_BEGUN = datetime(2026, 1, 5, 9, tzinfo=UTC)
_TURN, _PAUSE = timedelta(minutes=1), timedelta(hours=15)
_STRETCH = 40
"""Turns between two nightly pauses."""


@dataclass(frozen=True, slots=True)
class PlacedFact:
    fact: Fact
    depth: float

    def sayings(self) -> Iterator[tuple[float, Saying]]:
        """Yield the fact's sayings, each with the share of the filler before it, 0 to 1."""
        sayings, depth = self.fact.sayings, self.depth
        start = min(max(depth - SPREAD / 2, 0.0), 1.0 - SPREAD)
        for place, saying in enumerate(sayings):
            number = sum(each.where is saying.where for each in sayings[:place])
            count = sum(each.where is saying.where for each in sayings)
            match saying.where:
                case Where.BEFORE:
                    yield depth * (number + 1) / (count + 1), saying
                case Where.AROUND:
                    yield min(1.0, start + SPREAD * number / max(count - 1, 1)), saying
                case Where.EARLY:
                    yield EARLY * depth + SPREAD * number, saying
                case Where.APART:
                    yield (number + 0.5) / count, saying
                case Where.AT:
                    yield depth, saying


@dataclass(frozen=True, slots=True)
class ConversationPlan:
    name: str
    """Unique in the run."""
    length: int
    """In tokens."""
    repeat: int
    facts: tuple[PlacedFact, ...]
    near: int | None = None
    """Near-duplicates of each fact; None for the kind's usual number."""

    def cells(self, modes: Sequence[Mode]) -> Iterator[tuple[Cell, Fact]]:
        """Yield the cells of the conversation, mode by mode, so that a server's cache is used."""
        for mode in modes:
            for each in self.facts:
                kind, repeat = each.fact.kind, self.repeat
                yield Cell(self.length, each.depth, kind, repeat, mode, self.near), each.fact


def plans(experiment: Experiment, price: Price) -> Iterator[ConversationPlan]:
    repeats = range(1, experiment.repeats + 1)
    for length, near, repeat in product(experiment.lengths, experiment.near, repeats):
        parts = _parted(_placed(experiment, repeat, near), length * SHARE, price)
        for number, facts in enumerate(parts, start=1):
            dial = "" if near is None else f"near{near}-"
            name = f"{length}-{dial}{repeat}-{number}"
            yield ConversationPlan(name, length, repeat, tuple(facts), near)


def require_room(experiment: Experiment, price: Price) -> None:
    """Refuse near-duplicates that leave hardly any room for filler in a conversation.

    Raises:
        UsageError: There is too little room; the message states the length.

    """
    for plan in plans(experiment, price) if experiment.near != (None,) else ():
        for each in plan.facts:
            tokens, room = fact_tokens(each.fact, price), int(plan.length * CROWDED)
            if tokens > room:
                near = plural(plan.near or 0, "near-duplicate does")
                raise UsageError(
                    f"{near} not fit into {plan.length:,} tokens: with"
                    f" them, a fact of the kind {each.fact.kind} takes {tokens:,}; the maximum is"
                    f" {room:,}.",
                    "Choose a longer length, or fewer near-duplicates.",
                )


def _placed(experiment: Experiment, repeat: int, near: int | None) -> Iterator[PlacedFact]:
    """Draw the facts: the same for each `near`, as near-duplicates are drawn separately."""
    for kind in experiment.kinds:
        chance = random.Random(f"{experiment.seed} {kind} {repeat}")  # noqa: S311  no secret
        facts = list(makers()[kind])
        chance.shuffle(facts)
        for number, depth in enumerate(experiment.depths):
            make = facts[number % len(facts)]
            fact = make(chance)
            if near is not None:
                apart = random.Random(f"{experiment.seed} {kind} {repeat} {number} near")  # noqa: S311  no secret
                fact = make.with_near(fact, near, apart)
            yield PlacedFact(fact, depth)


def _parted(facts: Iterable[PlacedFact], room: float, price: Price) -> list[list[PlacedFact]]:
    """Put each fact into the first conversation that has room and no fact that it clashes with."""
    parts: list[list[PlacedFact]] = []
    taken: list[int] = []
    for placed in facts:
        tokens = fact_tokens(placed.fact, price)
        fits = (
            number
            for number, part in enumerate(parts)
            if taken[number] + tokens <= room
            and not any(_clash(each.fact, placed.fact) for each in part)
        )
        number = next(fits, len(parts))
        if number == len(parts):
            parts.append([])
            taken.append(0)
        parts[number].append(placed)
        taken[number] += tokens
    return parts


def _clash(one: Fact, other: Fact) -> bool:
    return one.name == other.name or _says(one, other) or _says(other, one)


def _says(one: Fact, other: Fact) -> bool:
    """Whether `one` states an answer to `other`; a count is spread over many sentences."""
    if other.kind is Kind.COUNTING or not other.accepted:
        return False
    forms = "|".join(re.escape(form.casefold()) for form in other.accepted)
    said = "\n".join(each.text for each in one.sayings).casefold()
    return re.search(rf"(?<!\w)(?:{forms})(?!\w)", said) is not None


def fact_tokens(fact: Fact, price: Price) -> int:
    return sum(price(each.text) + price(each.reply) for each in fact.sayings)


@dataclass(frozen=True, slots=True)
class MadeConversation:
    """The turns of a conversation, and the positions that matter for its questions."""

    turns: tuple[Turn, ...]
    needed: Mapping[str, Sequence[int]]
    """By fact name: the positions of the turns that the answer needs."""
    ends: Mapping[str, int]
    """By fact name: the position after which the question comes; usually the last one."""


_Priced = tuple[list[Turn], int]
"""An exchange of the filler, and its tokens."""


def made_up(plan: ConversationPlan, filler: Iterator[Exchange], price: Price) -> MadeConversation:
    turns = (_turns(exchange.text, exchange.reply) for exchange in filler)
    return _merged(plan, _grown(plan, turns, price), dates=True)


def made_of_own(plan: ConversationPlan, own: Sequence[Turn], price: Price) -> MadeConversation:
    """Plant the facts in the last turns of the user's own conversation, which stay unchanged.

    Nothing is inserted between a message and its reply. An exchange of more than `LARGEST` of the
    whole is left out, because depths would be imprecise.

    Raises:
        ValueError: The conversation is shorter than planned.

    """
    kept = _grown(plan, reversed(list(_exchanges(own))), price, plan.length * LARGEST)
    return _merged(plan, kept[::-1], dates=False)


def _grown(
    plan: ConversationPlan, filler: Iterable[list[Turn]], price: Price, largest: float = inf
) -> list[_Priced]:
    """Take exchanges of the filler, of up to `largest` tokens, until the plan's length is reached.

    Raises:
        ValueError: There are too few exchanges.

    """
    room = plan.length - sum(fact_tokens(each.fact, price) for each in plan.facts)
    grown: list[_Priced] = []
    exchanges = iter(filler)
    while room > 0:
        if (exchange := next(exchanges, None)) is None:
            raise ValueError(f"{room} tokens short of {plan.length}")
        size = sum(price(turn.content) for turn in exchange)
        if size <= largest:
            grown.append((exchange, size))
            room -= size
    return grown


def _turns(text: str, reply: str) -> list[Turn]:
    return [Turn(0, Role.USER, text), Turn(0, Role.ASSISTANT, reply)]


def _exchanges(turns: Sequence[Turn]) -> Iterator[list[Turn]]:
    exchange: list[Turn] = []
    for turn in turns:
        if turn.role is Role.USER and exchange:
            yield exchange
            exchange = []
        exchange.append(turn)
    if exchange:
        yield exchange


@dataclass(frozen=True, slots=True)
class _Part:
    before: float
    """The share of the filler before it, 0 to 1."""
    turns: Sequence[Turn]
    fact: str = ""
    """The fact's name; empty for filler."""
    is_needed: bool = False


def _merged(plan: ConversationPlan, filler: Sequence[_Priced], *, dates: bool) -> MadeConversation:
    """Insert every saying after its share of the filler; `dates`: whether to generate dates."""
    turns: list[Turn] = []
    needed: dict[str, list[int]] = defaultdict(list)
    ends: dict[str, int] = {}
    filled = 0
    for part in _parts(plan, filler):
        for turn in part.turns:
            place = len(turns) + 1
            before = turns[-1].created_at if turns else None
            made_up = _BEGUN + place * _TURN + place // _STRETCH * _PAUSE
            moment = made_up if dates else turn.created_at or before
            turns.append(replace(turn, position=place, created_at=moment, id=0, parent=None))
        if not part.fact:
            filled = len(turns)
            continue
        ends[part.fact] = len(turns)
        if part.is_needed:
            needed[part.fact].append(len(turns) - 1)
    last = len(turns)
    asked_after = {name: end if end > filled else last for name, end in ends.items()}
    return MadeConversation(tuple(turns), dict(needed), asked_after)


def _parts(plan: ConversationPlan, filler: Sequence[_Priced]) -> list[_Part]:
    """Return all parts in order; of two sayings at the same place, the one planned first."""
    parts = [
        _Part(before, _turns(saying.text, saying.reply), each.fact.name, saying.is_needed)
        for each in plan.facts
        for before, saying in each.sayings()
    ]
    whole, tokens = sum(size for _, size in filler) or 1, 0
    for exchange, size in filler:
        parts.append(_Part(tokens / whole, exchange))
        tokens += size
    return sorted(parts, key=lambda part: (part.before, not part.fact))
