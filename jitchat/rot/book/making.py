"""From patterns to makers of facts.

A pattern is what `str.format` takes: `{v}` is the value, other names are drawn beside it.
"""

from __future__ import annotations

import random
import re
from collections.abc import Callable, Mapping, Sequence

from jitchat.rot.book.draws import Draw
from jitchat.rot.book.replies import notes
from jitchat.rot.fact import Fact, Saying, Where
from jitchat.rot.kinds import Kind

Maker = Callable[[random.Random], Fact]
"""Makes a fact, its values (names, numbers, days) drawn by chance; its `name` stays the same."""

OTHERS = 4
"""The most that is said of others beside what is asked for; the fewest is one less."""
NUMERALS = {4: "four", 5: "five", 6: "six"}
NEVER = "never said"
_CHOICE = re.compile(r"\[([^\[|\]]+)\|([^|\]]+)\]")


def told(kind: Kind, name: str, said: str, asked: str, value: Draw, /, **also: Draw) -> Maker:
    """Make a fact that is said once, its value as it is to be answered."""

    def make(chance: random.Random) -> Fact:
        words = {"v": value(chance, 1)[0], **_drawn(chance, also)}
        question = asked.format(**words)
        saying = Saying(said.format(**words), notes(chance, 1, question)[0])
        return Fact(kind, name, (saying,), question, words["v"], (words["v"],))

    return make


def updated(name: str, said: Sequence[str], asked: str, value: Draw, /, **also: Draw) -> Maker:
    """Make a fact whose value changes with each pattern; the last one holds."""

    def make(chance: random.Random) -> Fact:
        words = _drawn(chance, also)
        question = asked.format(**words)
        *old, new = value(chance, len(said))
        replies = notes(chance, len(said), question)
        texts = [text.format(v=v, **words) for text, v in zip(said, (*old, new), strict=True)]
        pairs = list(zip(texts, replies, strict=True))
        before = [Saying(*each, Where.BEFORE, is_needed=False) for each in pairs[:-1]]
        sayings = (*before, Saying(*pairs[-1]))
        return Fact(Kind.UPDATED, name, sayings, question, new, (new,), tuple(old))

    return make


def distracted(name: str, said: Sequence[str], asked: str, value: Draw, who: Draw) -> Maker:
    """Make a fact about one of several, `{who}`; the first pattern is of who is asked for."""

    def make(chance: random.Random) -> Fact:
        count = 1 + chance.randint(OTHERS - 1, OTHERS)
        values, owners = value(chance, count), who(chance, count)
        question = asked.format(who=owners[0])
        replies = notes(chance, count, question)
        texts = [
            said[at % len(said)].format(who=owner, v=v)
            for at, (owner, v) in enumerate(zip(owners, values, strict=True))
        ]
        (text, *like), (reply, *rest) = texts, replies
        apart = [
            Saying(*each, Where.APART, is_needed=False) for each in zip(like, rest, strict=True)
        ]
        sayings = (Saying(text, reply), *apart)
        right, *wrong = values
        return Fact(Kind.DISTRACTED, name, sayings, question, right, (right,), tuple(wrong))

    return make


def counting(name: str, said: Sequence[str], asked: str, /, **also: Draw) -> Maker:
    """Make a fact of four turns; in each, `[one jar|two jars]` is one of a thing, or two.

    One of them at least is single, and two at the most are double: the sum is 4 to 6.
    """

    def make(chance: random.Random) -> Fact:
        words = _drawn(chance, also)
        question = asked.format(**words)
        double = set(chance.sample(range(len(said)), chance.randint(0, 2)))
        texts = [_chosen(text, at in double).format(**words) for at, text in enumerate(said)]
        replies = notes(chance, len(said), question)
        sayings = [Saying(*each, Where.AROUND) for each in zip(texts, replies, strict=True)]
        total = len(said) + len(double)
        numeral = NUMERALS[total]
        return Fact(Kind.COUNTING, name, tuple(sayings), question, numeral, (numeral, str(total)))

    return make


def absent(name: str, said: str, asked: str, value: Draw, who: Draw) -> Maker:
    """Make a question about `{who}`, when the same was said of somebody else only."""

    def make(chance: random.Random) -> Fact:
        known, unknown = who(chance, 2)
        (value_of_known,) = value(chance, 1)
        question = asked.format(who=unknown)
        reply = notes(chance, 1, question)[0]
        saying = Saying(said.format(who=known, v=value_of_known), reply, is_needed=False)
        return Fact(Kind.ABSENT, name, (saying,), question, NEVER, (), (value_of_known,))

    return make


def _drawn(chance: random.Random, also: Mapping[str, Draw]) -> dict[str, str]:
    return {name: draw(chance, 1)[0] for name, draw in also.items()}


def _chosen(text: str, is_double: bool) -> str:
    return _CHOICE.sub(lambda found: found[2 if is_double else 1], text)
