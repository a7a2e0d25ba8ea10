"""The facts of the lab, and the questions about them.

A template holds what the user says (`statements`) and the question; both are patterns as
`str.format` takes them. `{v}` is the value; other names are drawn beside it. A list of words, a
named draw (`date`, `month`, `weekday`) or a table (`number`, `clock`, `shape`, `pattern`) tells
how a value is drawn.
"""

import random
import re
import string
import tomllib
from collections.abc import Callable, Mapping, Sequence, Set
from dataclasses import dataclass, field, replace
from enum import StrEnum
from functools import cache, partial
from importlib.resources import files
from itertools import chain, cycle
from typing import Any

from jitchat.text.words import stems


class Kind(StrEnum):
    """A kind of question, by what makes it hard."""

    DIRECT = "direct"
    """It shares words with the fact."""
    PARAPHRASED = "paraphrased"
    """It shares none: what rot hits first."""
    UPDATED = "updated"
    """The fact changed later; the old value is wrong."""
    DISTRACTED = "distracted"
    """Near-duplicates say the same of other systems and people."""
    EXACT = "exact"
    """The answer is a string that has to be right to the letter."""
    COUNTING = "counting"
    """The answer is a count over four turns."""
    ABSENT = "absent"
    """It was never said: the honest answer is that."""
    CORRECTED = "corrected"
    """The fact was said wrongly and corrected long ago; the first value is wrong."""
    INSTRUCTION = "instruction"
    """How every answer is to be given, said once: asked something else, is it obeyed?"""
    SUPERSEDED = "superseded"
    """The fact changed twice: of three values, the last one alone is right."""
    DELETED = "deleted"
    """The user took it back: the honest answer is that, or that it is not said."""


_NAMED_ONLY = (Kind.CORRECTED, Kind.INSTRUCTION, Kind.SUPERSEDED, Kind.DELETED)
USUAL_KINDS = tuple(kind for kind in Kind if kind not in _NAMED_ONLY)
"""What is asked where no kinds are named: figures of before the others came are of these."""


class Where(StrEnum):
    """Where a saying stands, seen from the depth of its fact."""

    AT = "at"
    """At the depth."""
    BEFORE = "before"
    """Halfway between the beginning and the depth: what is said later changes it."""
    AROUND = "around"
    """About the depth, a stretch of other talk between one and the next."""
    EARLY = "early"
    """In the first quarter of the conversation, of which the depth is taken, and not of all of it;
    a stretch of other talk between one and the next."""
    APART = "apart"
    """Spread evenly over the conversation."""


@dataclass(frozen=True, slots=True)
class Saying:
    """What the user says of a fact, and what the assistant replies: two turns."""

    text: str
    reply: str
    """It takes note, and repeats nothing that the answer could be read from."""
    where: Where = Where.AT
    is_needed: bool = True
    """Whether the answer needs it; distractors and old values are not needed."""


@dataclass(frozen=True, slots=True)
class Fact:
    kind: Kind
    name: str
    """Of its template, such as `boat shed key`; no two in one conversation."""
    sayings: tuple[Saying, ...]
    """In the order in which they are said, as far as their places leave that open."""
    question: str
    expected: str
    """The answer as it is shown: `7443`, `four`, `never said`."""
    accepted: tuple[str, ...] = ()
    """Forms of the answer; one of them makes it right. None where it was never said, or was taken
    back."""
    wrong: tuple[str, ...] = ()
    """Values that are not the answer, though they were said: the old one, other people's."""
    rule: str = ""
    """Of an instruction: what an answer has to do with `expected` (`ends`, `begins`, `says`), or
    `sentences`, the number of which it tells."""


OTHERS = 4
"""The most statements about others in a distracted fact as it is made; the fewest is one less."""
MOST_NEAR = 12
"""The most statements about others, where their number is chosen."""
NUMERALS = {4: "four", 5: "five", 6: "six"}
NEVER, TAKEN_BACK = "never said", "taken back"

_Sampler = Callable[[random.Random, int], list[str]]
"""Draws that many values, no two of them the same."""

_DATA = files(__package__) / "data"
_WORD = re.compile(r"\w+")
_CHOICE = re.compile(r"\[([^\[|\]]+)\|([^|\]]+)\]")
_LETTERS = "ABCDEFGHJKLMNPQRSTUVWXYZ"
"""Without those that look like a digit."""
_SIGNS = {"#": string.digits, "@": _LETTERS, "%": "0123456789abcdef"}
_MONTHS = (
    "January February March April June July August September October November".split()  # noqa: SIM905
)
"""Without May, which is a common verb, and December."""
_NAMED: Mapping[str, Any] = {
    "month": _MONTHS,
    "weekday": ["Monday", "Tuesday", "Wednesday", "Thursday", "Friday", "Saturday", "Sunday"],
    "date": {"pattern": "{day} {month}", "day": {"number": [3, 28]}, "month": _MONTHS},
}


@dataclass(frozen=True, slots=True)
class _Template:
    name: str
    statements: Sequence[str]
    question: str
    value: Any = None
    """How values for `{v}` are drawn."""
    words: Mapping[str, Any] = field(default_factory=dict)
    """How the other names are drawn."""
    is_right_without_blanks: bool = False
    """Whether an answer is right, too, that leaves out the blanks of the value."""
    others: Sequence[str] = ()
    """Near-duplicates: they say the same of `{who}`, which is `{Who}` where a sentence begins."""
    more: Sequence[str] = ()
    """More owners, where many near-duplicates are wanted."""
    rule: str = ""
    """See `Fact`."""

    def values(self, chance: random.Random, count: int) -> list[str]:
        return _sampler(self.value)(chance, count)

    def owners(self, chance: random.Random, count: int) -> list[str]:
        return _sampler(self.words["who"])(chance, count)

    def drawn_words(self, chance: random.Random) -> dict[str, str]:
        return {name: _sampler(each)(chance, 1)[0] for name, each in self.words.items()}

    def other_owners(self, fact: Fact, chance: random.Random) -> list[str]:
        """Draw `MOST_NEAR` of whom the fact says nothing, or all that there are."""
        pool = people() if self.others else (*self.words["who"], *self.more)
        said = f"{fact.question} {fact.sayings[0].text}"
        named = _spaced(said)
        free = [who for who in pool if _spaced(who) not in named]
        return chance.sample(free, min(MOST_NEAR, len(free)))

    def other_value(self, chance: random.Random, right: str) -> str:
        while (value := self.values(chance, 1)[0]) == right:
            pass
        return value


def _spaced(text: str) -> str:
    """Write the words of a text with a blank on either side of each."""
    return f" {' '.join(_WORD.findall(text))} "


@dataclass(frozen=True, slots=True)
class Maker:
    kind: Kind
    _template: _Template

    def __call__(self, chance: random.Random) -> Fact:
        """Make a fact, its values (names, numbers, days) drawn by chance; its `name` is fixed."""
        return _MAKE[self.kind](self._template, chance)

    def with_near(self, fact: Fact, near: int, chance: random.Random) -> Fact:
        """Have so many near-duplicates in a fact of this maker, and no others beside them.

        Of what was never said there is one at the least: without it, nothing would be absent. With
        the same `chance`, more of them begin with the same ones.
        """
        template, is_absent = self._template, self.kind is Kind.ABSENT
        kept = tuple(each for each in fact.sayings if each.where is not Where.APART)
        wrong = () if self.kind is Kind.DISTRACTED else fact.wrong
        owners = template.other_owners(fact, chance)
        is_counted = template.value is None
        values = ["" if is_counted else template.other_value(chance, fact.expected) for _ in owners]
        doubles = [is_counted and chance.random() < 1 / 2 for _ in owners]
        texts = [
            _chosen(pattern, is_double=is_double).format(who=who, Who=who[0].upper() + who[1:], v=v)
            for pattern, who, v, is_double in zip(
                cycle(template.others or template.statements), owners, values, doubles, strict=False
            )
        ]
        count = min(len(texts), max(near - is_absent, 0))
        replies = _replies(chance, len(texts), fact.question, {each.reply for each in kept})
        said = list(zip(texts, replies, strict=True))[:count]
        apart = (Saying(*each, Where.APART, is_needed=False) for each in said)
        others = () if is_counted else values[:count]
        return replace(fact, sayings=(*kept, *apart), wrong=tuple(dict.fromkeys((*wrong, *others))))


@cache
def makers() -> Mapping[Kind, tuple[Maker, ...]]:
    """Read every fact: at least twelve of each kind, no one's words mislead another's search."""
    found: dict[Kind, tuple[Maker, ...]] = {}
    for kind in _MAKE:
        written = tomllib.loads((_DATA / "facts" / f"{kind}.toml").read_text("utf-8"))["fact"]
        found[kind] = tuple(Maker(kind, _Template(**each)) for each in written)
    return found


def stems_to_avoid(fact: Fact) -> frozenset[str]:
    """Name the stems that no filler may have beside this fact: those that matter in it.

    They are the stems of the content words of its question, its values and what the user says
    of it, but for those of `everyday`: talk of anything needs them, and they say nothing alone.
    """
    statements = [saying.text for saying in fact.sayings]
    texts = (fact.question, *statements, *fact.accepted, *fact.wrong)
    return frozenset(chain.from_iterable(map(stems, texts))) - everyday()


@cache
def people() -> tuple[str, ...]:
    """Read who near-duplicates are about, where a fact has no owners of its own."""
    return tuple((_DATA / "people.txt").read_text("utf-8").splitlines())


@cache
def everyday() -> frozenset[str]:
    """Read the stems of words that talk of anything needs."""
    return frozenset(stems((_DATA / "everyday.txt").read_text("utf-8")))


def _make_plain(kind: Kind, template: _Template, chance: random.Random) -> Fact:
    """Make a fact that is said once, its value as it is to be answered."""
    (value,) = template.values(chance, 1)
    words = {"v": value, **template.drawn_words(chance)}
    question = template.question.format(**words)
    saying = Saying(template.statements[0].format(**words), _replies(chance, 1, question)[0])
    accepted = (value, value.replace(" ", "")) if template.is_right_without_blanks else (value,)
    name, rule = template.name, template.rule
    return Fact(kind, name, (saying,), question, value, accepted, rule=rule)


def _make_changed(
    kind: Kind, before_at: Where, last_at: Where, template: _Template, chance: random.Random
) -> Fact:
    """Make a fact whose value changes with each statement; the last one holds."""
    count, words = len(template.statements), template.drawn_words(chance)
    question = template.question.format(**words)
    *wrong, right = values = template.values(chance, count)
    texts = map(str.format_map, template.statements, ({"v": each, **words} for each in values))
    *before, last = zip(texts, _replies(chance, count, question), strict=True)
    old = (Saying(*each, before_at, is_needed=False) for each in before)
    sayings = (*old, Saying(*last, last_at))
    return Fact(kind, template.name, sayings, question, right, (right,), tuple(wrong))


def _make_distracted(template: _Template, chance: random.Random) -> Fact:
    """Make a fact about one of several, `{who}`; the first statement is of who is asked for."""
    count = 1 + chance.randint(OTHERS - 1, OTHERS)
    right, *wrong = values = template.values(chance, count)
    owners = template.owners(chance, count)
    question = template.question.format(who=owners[0])
    texts = (
        statement.format(who=owner, v=value)
        for statement, owner, value in zip(cycle(template.statements), owners, values, strict=False)
    )
    first, *others = zip(texts, _replies(chance, count, question), strict=True)
    apart = (Saying(*each, Where.APART, is_needed=False) for each in others)
    sayings = (Saying(*first), *apart)
    return Fact(Kind.DISTRACTED, template.name, sayings, question, right, (right,), tuple(wrong))


def _make_counting(template: _Template, chance: random.Random) -> Fact:
    """Make a fact of four statements; in each, `[one jar|two jars]` is one of a thing, or two.

    One of them at least is single, and two at the most are double: the sum is 4 to 6.
    """
    count, words = len(template.statements), template.drawn_words(chance)
    question = template.question.format(**words)
    double = set(chance.sample(range(count), chance.randint(0, 2)))
    texts = (
        _chosen(text, is_double=at in double).format(**words)
        for at, text in enumerate(template.statements)
    )
    said = zip(texts, _replies(chance, count, question), strict=True)
    total = count + len(double)
    accepted = (NUMERALS[total], str(total))
    sayings = tuple(Saying(*each, Where.AROUND) for each in said)
    return Fact(Kind.COUNTING, template.name, sayings, question, accepted[0], accepted)


def _chosen(text: str, *, is_double: bool) -> str:
    """Take `two jars` or `one jar` of each `[one jar|two jars]`."""
    return _CHOICE.sub(rf"\{1 + is_double}", text)


def _make_deleted(template: _Template, chance: random.Random) -> Fact:
    """Make a fact that the second statement takes back, without its value."""
    (value,) = template.values(chance, 1)
    question = template.question
    said, taken_back = zip(template.statements, _replies(chance, 2, question), strict=True)
    sayings = (
        Saying(said[0].format(v=value), said[1], Where.BEFORE, is_needed=False),
        Saying(*taken_back),
    )
    return Fact(Kind.DELETED, template.name, sayings, question, TAKEN_BACK, (), (value,))


def _make_absent(template: _Template, chance: random.Random) -> Fact:
    """Make a question about `{who}`, when the same was said of somebody else only."""
    known, unknown = template.owners(chance, 2)
    (value,) = template.values(chance, 1)
    question = template.question.format(who=unknown)
    text = template.statements[0].format(who=known, v=value)
    saying = Saying(text, _replies(chance, 1, question)[0], is_needed=False)
    return Fact(Kind.ABSENT, template.name, (saying,), question, NEVER, (), (value,))


_MAKE: Mapping[Kind, Callable[[_Template, random.Random], Fact]] = {
    Kind.DIRECT: partial(_make_plain, Kind.DIRECT),
    Kind.PARAPHRASED: partial(_make_plain, Kind.PARAPHRASED),
    Kind.EXACT: partial(_make_plain, Kind.EXACT),
    Kind.UPDATED: partial(_make_changed, Kind.UPDATED, Where.BEFORE, Where.AT),
    Kind.DISTRACTED: _make_distracted,
    Kind.COUNTING: _make_counting,
    Kind.ABSENT: _make_absent,
    Kind.CORRECTED: partial(_make_changed, Kind.CORRECTED, Where.EARLY, Where.EARLY),
    Kind.INSTRUCTION: partial(_make_plain, Kind.INSTRUCTION),
    Kind.SUPERSEDED: partial(_make_changed, Kind.SUPERSEDED, Where.BEFORE, Where.AT),
    Kind.DELETED: _make_deleted,
}


def _replies(
    chance: random.Random, count: int, question: str, taken: Set[str] = frozenset()
) -> list[str]:
    """Draw replies of the assistant, all different, that share no content word with a question."""
    asked = set(stems(question))
    free = [text for text, words in _notes() if text not in taken and asked.isdisjoint(words)]
    return chance.sample(free, count)


@cache
def _notes() -> tuple[tuple[str, frozenset[str]], ...]:
    lines = (_DATA / "replies.txt").read_text("utf-8").splitlines()
    return tuple((line, frozenset(stems(line))) for line in lines)


def _sampler(spec: object) -> _Sampler:
    match spec:
        case str():
            return _sampler(_NAMED[spec])
        case list():
            return lambda chance, count: chance.sample(spec, count)
        case {"number": [low, high, *step]}:
            numbers = range(low, high + 1, *step)
            return lambda chance, count: [str(each) for each in chance.sample(numbers, count)]
        case {"clock": [first, last]}:  # less than twelve hours apart, for 18:40 is 6:40, too
            return _distinct(
                lambda chance: f"{chance.randint(first, last)}:{chance.randrange(5, 60, 5):02}"
            )
        case {"shape": shape}:  # `#` is a digit, `@` a capital, `%` a hexadecimal digit
            return _distinct(lambda chance: "".join(chance.choice(_SIGNS.get(s, s)) for s in shape))
        case {"pattern": pattern, **parts}:
            inner = {str(name): _sampler(part) for name, part in parts.items()}
            return _distinct(
                lambda chance: pattern.format(
                    **{name: sampler(chance, 1)[0] for name, sampler in inner.items()}
                )
            )
    raise ValueError(spec)


def _distinct(draw_one: Callable[[random.Random], str]) -> _Sampler:
    def sampler(chance: random.Random, count: int) -> list[str]:
        drawn: dict[str, None] = {}
        while len(drawn) < count:
            drawn[draw_one(chance)] = None
        return list(drawn)

    return sampler
