"""The facts of the lab, and the questions about them.

A template contains what the user says (`statements`) and the question; both are patterns for
`str.format`. `{v}` is the value; other names are drawn too. A list of words, a named draw (`date`,
`month`, `weekday`) or a table (`number`, `clock`, `shape`, `pattern`) defines how a value is drawn.
"""

import random
import re
import string
from collections.abc import Callable, Mapping, Sequence, Set
from dataclasses import dataclass, field, replace
from enum import StrEnum
from functools import cache, partial
from importlib.resources import files
from itertools import chain, cycle
from typing import Any

from jitchat.text.expressions import packaged
from jitchat.text.words import stems


class Kind(StrEnum):
    """A kind of question, by what makes it hard."""

    DIRECT = "direct"
    """The question shares words with the fact."""
    PARAPHRASED = "paraphrased"
    """The question shares no word with the fact: affected by context rot first."""
    UPDATED = "updated"
    """The fact changed later; the old value is wrong."""
    DISTRACTED = "distracted"
    """Near-duplicates state the same of other systems and people."""
    EXACT = "exact"
    """The answer is a string that must be verbatim."""
    COUNTING = "counting"
    """The answer is a count over four turns."""
    ABSENT = "absent"
    """The fact was never said; the right answer is to say so."""
    CORRECTED = "corrected"
    """The fact was stated wrongly and corrected early; the first value is wrong."""
    INSTRUCTION = "instruction"
    """The user once states how to answer from then on: is that obeyed in an unrelated answer?"""
    SUPERSEDED = "superseded"
    """The fact changed twice: of three values, only the last one is right."""
    DELETED = "deleted"
    """The user took the fact back; the right answer is to say so, or that it is not said."""


_NAMED_ONLY = (Kind.CORRECTED, Kind.INSTRUCTION, Kind.SUPERSEDED, Kind.DELETED)
USUAL_KINDS = tuple(kind for kind in Kind if kind not in _NAMED_ONLY)
"""The default kinds: figures from before the others were added are for these."""


class Where(StrEnum):
    """The position of a saying, relative to the depth of its fact."""

    AT = "at"
    """At the depth."""
    BEFORE = "before"
    """Between the beginning and the depth: a later saying changes it."""
    AROUND = "around"
    """Around the depth, with other talk between two sayings."""
    EARLY = "early"
    """In the first quarter of the conversation, within which the depth is measured; with other talk
    between two sayings."""
    APART = "apart"
    """Spread evenly over the conversation."""


@dataclass(frozen=True, slots=True)
class Saying:
    """A statement of the user about a fact, and the assistant's reply: two turns."""

    text: str
    reply: str
    """An acknowledgement that repeats nothing from which the answer could be read."""
    where: Where = Where.AT
    is_needed: bool = True
    """Whether the answer needs this turn; distractors and old values are not needed."""


@dataclass(frozen=True, slots=True)
class Fact:
    kind: Kind
    name: str
    """The name of its template, such as `boat shed key`; unique in a conversation."""
    sayings: tuple[Saying, ...]
    """In the order in which they are said, unless their positions determine it."""
    question: str
    expected: str
    """The answer as it is shown: `7443`, `four`, `never said`."""
    accepted: tuple[str, ...] = ()
    """Accepted forms of the answer. Empty if the fact was never said, or was taken back."""
    wrong: tuple[str, ...] = ()
    """Values that were said but are not the answer: old values, and other people's."""
    rule: str = ""
    """For an instruction: how an answer must use `expected` (`ends`, `begins`, `says`), or
    `sentences` if `expected` is the number of sentences."""


OTHERS = 4
"""Maximum statements about others in a distracted fact by default; the minimum is one less."""
MOST_NEAR = 12
"""Maximum statements about others if their number is chosen."""
NUMERALS = {4: "four", 5: "five", 6: "six"}
NEVER, TAKEN_BACK = "never said", "taken back"

_Sampler = Callable[[random.Random, int], list[str]]
"""Draws the given number of values, all different."""

_DATA = files(__package__) / "data"
_WORD = re.compile(r"\w+")
_CHOICE = re.compile(r"\[([^\[|\]]+)\|([^|\]]+)\]")
_LETTERS = "ABCDEFGHJKLMNPQRSTUVWXYZ"
"""Without letters that look like a digit."""
_SIGNS = {"#": string.digits, "@": _LETTERS, "%": "0123456789abcdef"}
_MONTHS = (
    "January February March April June July August September October November".split()  # noqa: SIM905
)
"""Without May, which is a common verb, and without December."""
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
    """Whether the value without its spaces is also accepted."""
    others: Sequence[str] = ()
    """Near-duplicates: the same about `{who}`, or `{Who}` at the start of a sentence."""
    more: Sequence[str] = ()
    """More owners, for many near-duplicates."""
    rule: str = ""
    """See `Fact`."""

    def values(self, chance: random.Random, count: int) -> list[str]:
        return _sampler(self.value)(chance, count)

    def owners(self, chance: random.Random, count: int) -> list[str]:
        return _sampler(self.words["who"])(chance, count)

    def drawn_words(self, chance: random.Random) -> dict[str, str]:
        return {name: _sampler(each)(chance, 1)[0] for name, each in self.words.items()}

    def other_owners(self, fact: Fact, chance: random.Random) -> list[str]:
        """Draw up to `MOST_NEAR` owners that the fact does not mention."""
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
    """Return the words of a text, each with a space on either side."""
    return f" {' '.join(_WORD.findall(text))} "


@dataclass(frozen=True, slots=True)
class Maker:
    kind: Kind
    _template: _Template

    def __call__(self, chance: random.Random) -> Fact:
        """Make a fact with random values (names, numbers, days); its `name` is fixed."""
        return _MAKE[self.kind](self._template, chance)

    def with_near(self, fact: Fact, near: int, chance: random.Random) -> Fact:
        """Return a fact of this maker with exactly `near` near-duplicates.

        An absent fact has at least one: without it, nothing would be absent. With the same
        `chance`, a larger number starts with the same near-duplicates.
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
    """Read all facts: at least twelve of each kind, whose words do not mislead another's search."""
    found: dict[Kind, tuple[Maker, ...]] = {}
    for kind in _MAKE:
        written = packaged(__package__, f"data/facts/{kind}.toml")["fact"]
        found[kind] = tuple(Maker(kind, _Template(**each)) for each in written)
    return found


def stems_to_avoid(fact: Fact) -> frozenset[str]:
    """Return the stems that filler must not contain next to this fact.

    They are the stems of the content words of its question, values and statements, except those
    of `everyday`: any talk needs these, and they mean nothing by themselves.
    """
    statements = [saying.text for saying in fact.sayings]
    texts = (fact.question, *statements, *fact.accepted, *fact.wrong)
    return frozenset(chain.from_iterable(map(stems, texts))) - everyday()


@cache
def people() -> tuple[str, ...]:
    """Read the owners in near-duplicates of facts whose templates have no owners."""
    return tuple((_DATA / "people.txt").read_text("utf-8").splitlines())


@cache
def everyday() -> frozenset[str]:
    """Read the stems of words that any talk needs."""
    return frozenset(stems((_DATA / "everyday.txt").read_text("utf-8")))


def _make_plain(kind: Kind, template: _Template, chance: random.Random) -> Fact:
    """Make a fact that is said once, with the value as the answer."""
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
    """Make a fact whose value changes with each statement; the last value is right."""
    count, words = len(template.statements), template.drawn_words(chance)
    question = template.question.format(**words)
    *wrong, right = values = template.values(chance, count)
    texts = map(str.format_map, template.statements, ({"v": each, **words} for each in values))
    *before, last = zip(texts, _replies(chance, count, question), strict=True)
    old = (Saying(*each, before_at, is_needed=False) for each in before)
    sayings = (*old, Saying(*last, last_at))
    return Fact(kind, template.name, sayings, question, right, (right,), tuple(wrong))


def _make_distracted(template: _Template, chance: random.Random) -> Fact:
    """Make a fact about one of several owners, `{who}`; the question is about the first one."""
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
    """Make a fact of four statements; in each, `[one jar|two jars]` stands for one or two things.

    At most two statements are double: the sum is 4 to 6.
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
    """Make a question about `{who}` when the fact was only said about somebody else."""
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
    """Draw different replies of the assistant that share no content word with a question."""
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
        case {"clock": [first, last]}:  # less than twelve hours apart, because 18:40 is 6:40, too
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
