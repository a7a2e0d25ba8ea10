"""Synthetic talk of any length with one fact in it, the same in every run.

The user and the assistant talk in stretches, each about a few things of one subject, followed by a
pause of hours. As in real talk, some words are frequent and others rare, and new names keep
appearing; words of the fact and of its question also occur elsewhere.
"""

import random
from collections.abc import Iterator
from dataclasses import dataclass
from datetime import UTC, datetime, timedelta
from enum import StrEnum
from itertools import accumulate

from jitchat.bench import read_data
from jitchat.values import Role, Turn

NEEDLE = "Ingrid keeps the spare key to the boat shed under the third flowerpot from the left."
PHRASINGS = (
    "Where did Ingrid hide the spare key for the shed?",
    "Which flowerpot is the key to the boat shed under?",
    "Where can I find the key to Ingrid's boat shed?",
    "I am locked out of the shed by the water, where was that spare key?",
    "Under which pot did Ingrid leave the key for me?",
)
"""Phrasings of the question: each shares some words with the fact, and none shares all."""
DEPTH = 0.2
"""The fact's position as a share of the talk, 0 to 1."""
_BEGUN = datetime(2021, 1, 4, 9, tzinfo=UTC)
_STRETCH = (12, 60)
"""Minimum and maximum turns before a pause."""


class Length(StrEnum):
    """The length of a turn: about 2, 30, 350 or 1,500 words."""

    CHAT = "chat"
    """Answers as a model writes them, at short messages: about 500 tokens per turn."""
    SHORT = "short"
    USUAL = "usual"
    LONG = "long"


_SENTENCES = {
    Length.CHAT: {Role.USER: (1, 3), Role.ASSISTANT: (45, 100)},
    Length.USUAL: {Role.USER: (1, 3), Role.ASSISTANT: (2, 5)},
    Length.LONG: {Role.USER: (115, 160), Role.ASSISTANT: (115, 160)},
}
"""The fewest and the most sentences of a turn."""


@dataclass(frozen=True, slots=True)
class Haystack:
    """A talk of `size` turns, at least one."""

    size: int
    length: Length = Length.USUAL

    @property
    def needle(self) -> int:
        return max(1, int(self.size * DEPTH))

    def turns(self) -> Iterator[Turn]:
        chance = random.Random(f"{self.length} {self.size}")  # noqa: S311  not for secrets
        moment, left, stretch = _BEGUN, 0, _Stretch(chance)
        for position in range(1, self.size + 1):
            if not left:
                stretch, left = _Stretch(chance), chance.randint(*_STRETCH)
                moment += timedelta(hours=chance.uniform(5, 20))
            left -= 1
            moment += timedelta(seconds=chance.randint(10, 200))
            role = Role.USER if position % 2 else Role.ASSISTANT
            said = self._sentences(stretch, role, chance)
            if position == self.needle:
                said.insert(len(said) // 2, NEEDLE)
            yield Turn(position, role, " ".join(said), moment)

    def _sentences(self, stretch: "_Stretch", role: Role, chance: random.Random) -> list[str]:
        if self.length is Length.SHORT:
            return [stretch.sentence("short")]
        count = chance.randint(*_SENTENCES[self.length][role])
        said = [stretch.sentence("said") for _ in range(count)]
        if role is Role.USER and chance.random() < 0.5:
            said.append(stretch.sentence("asked"))
        return said


def other_questions(count: int) -> list[str]:
    chance = random.Random("questions")  # noqa: S311  not for secrets
    return [_Stretch(chance).sentence("wondered") for _ in range(count)]


class _Stretch:
    def __init__(self, chance: random.Random) -> None:
        self._chance = chance
        self._words = read_data("vocabulary")
        """Lists of words, of patterns for `str.format`, and of subjects: a subject has `things`,
        what can be `done` to one ("we … it"), and adjectives for one (`like`)."""
        self._subject = chance.choice(self._words["subjects"])
        things = self._subject["things"]
        self._things = chance.choices(things, cum_weights=_WEIGHTS[: len(things)], k=8)
        self._people = chance.sample(self._words["people"], 3)
        self._name = "".join(chance.choices(self._words["syllables"], k=3)).capitalize()

    def sentence(self, pattern: str) -> str:
        """Fill in one of the vocabulary's patterns with the given name."""
        pick, words, subject = self._chance.choice, self._words, self._subject
        template: str = pick(words[pattern])
        return template.format(
            thing=pick(self._things),
            other=pick(subject["things"]),
            done=pick(subject["done"]),
            like=pick(subject["like"]),
            person=pick(self._people),
            place=pick(words["places"]),
            day=pick(words["days"]),
            name=self._name,
            number=self._chance.randint(2, 900),
        )


_WEIGHTS = list(accumulate(1 / rank for rank in range(1, 101)))
"""Zipf's law: the second word occurs half as often as the first."""
