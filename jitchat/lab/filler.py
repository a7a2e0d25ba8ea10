"""Generates plausible talk about everyday work and life, the same for the same seed."""

import random
import re
from collections import defaultdict
from collections.abc import Callable, Container, Iterator, Mapping, Sequence, Set
from dataclasses import dataclass, replace
from enum import StrEnum
from functools import cache, partial
from importlib.resources import files
from typing import TypeVar

from jitchat.lab import templates

_T = TypeVar("_T")
_Chance = Callable[[], float]

_TALK = files(__package__) / "data" / "talk"
_SECTIONS = ("openings", "asked", "told", "closings")
_SECTION = re.compile(r"^== (\w+) ==$", re.MULTILINE)


class Talk(StrEnum):
    """The style of generated filler."""

    CHAT = "chat"
    """Like a chat between people: short turns about everyday work and life."""
    LONG = "long"
    """Like a chat with a model: questions, and answers of 200 to 500 words with lists and code."""


@dataclass(frozen=True, slots=True)
class Exchange:
    """A message of the user and the assistant's reply: two turns."""

    text: str
    reply: str


@dataclass(frozen=True, slots=True)
class Topic:
    """A subject of conversation.

    Every case defines `it`, the subject without an article; the word lists contain `tip`, pieces
    of advice that are always applicable, one sentence each.
    """

    cases: tuple[templates.WordLists, ...]
    """Word lists that belong together; a stretch of talk uses one case."""
    words: templates.WordLists
    """Word lists for all cases."""
    scenes: Mapping[str, tuple[templates.Scene, ...]]
    """Scenes by section: `openings`, one of which starts a stretch; `asked`, before the user tried
    anything, and `told`, after it, both in any order; and `closings`."""


@cache
def topics() -> tuple[Topic, ...]:
    """Read every subject, without the `common` scenes, which fit all, and the `bare` ones."""
    names = sorted(each.name.removesuffix(".txt") for each in _TALK.iterdir())
    return tuple(read_topic(name) for name in names if name not in {"common", "bare"})


@cache
def read_topic(name: str) -> Topic:
    """Read a subject from data/talk: sections that start with a line like `== words ==`."""
    text = (_TALK / f"{name}.txt").read_text("utf-8")
    parts = defaultdict(str, zip(*[iter(_SECTION.split(text)[1:])] * 2, strict=True))
    return Topic(
        tuple(map(templates.word_lists, re.split(r"\n\s*\n", parts["cases"].strip()))),
        templates.word_lists(parts["words"]),
        {section: templates.scenes(parts[section]) for section in _SECTIONS},
    )


_REMEMBERED = 20_000
"""Number of exchanges that are remembered and not repeated."""


def exchanges(seed: str, avoided: Set[str]) -> Iterator[Exchange]:
    """Yield exchanges forever, without words whose stem is `avoided` (`jitchat.text.words.stems`).

    No exchange is repeated verbatim among the first 10,000. If nearly every word is avoided, the
    talk becomes vague: words without a stem are never avoided.
    """
    chance = random.Random(seed).random  # noqa: S311  not for secrets
    said: set[Exchange] = set()
    subjects = [_stretches(topic, avoided, chance, said) for topic in topics()]
    vague = _stretches(read_topic("bare"), avoided, chance, said)
    while True:
        subjects = _in_another_order(subjects, chance)
        is_mute = True
        for talk in map(next, subjects):
            is_mute = is_mute and not talk
            yield from talk
        if is_mute:
            yield from next(vague)


def _stretches(
    topic: Topic, avoided: Set[str], chance: _Chance, said: set[Exchange]
) -> Iterator[list[Exchange]]:
    """Yield stretches of talk forever, one case of a topic after another, and add them to `said`.

    A stretch is empty if nothing new can be said about any case.
    """
    themed = cache(partial(theme, topic, avoided=avoided))
    order: Sequence[int] = range(len(topic.cases))
    while True:
        order = _in_another_order(order, chance)
        is_mute = True
        for case in order:
            if themed(case).is_enough and (talk := stretch(themed(case), chance, said)):
                said.update(talk if len(said) < _REMEMBERED else ())
                is_mute = False
                yield talk
        if is_mute:
            yield []


def _in_another_order(several: Sequence[_T], chance: _Chance) -> list[_T]:
    """Shuffle; the last item does not become the first, unless it is the only one."""
    shuffled = templates.Draw(chance).some(several, len(several))
    return shuffled if shuffled[0] is not several[-1] else [*shuffled[1:], shuffled[0]]


FEWEST, MOST = 4, 14
"""Minimum and maximum exchanges in a stretch."""
_ENOUGH = 6
"""Minimum exchanges of a theme, so that it suffices for a stretch of talk."""
_COMMON = 0.14
"""Share of scenes that fit every subject."""
_CLOSED = 0.6
"""Share of stretches that end with a closing of the user."""
_TURNED = 0.4
"""Share of stretches in which the user announces the change of subject."""
_TRIES = 4


@dataclass(frozen=True, slots=True)
class Theme:
    """The scenes for one case of a topic: the topic's own, and those that fit any topic."""

    vocabulary: templates.Vocabulary
    own: Mapping[str, tuple[templates.Scene, ...]]
    common: Mapping[str, tuple[templates.Scene, ...]]

    @property
    def is_enough(self) -> bool:
        exchanges = sum(map(len, self.own["asked"] + self.own["told"]))
        return bool(self.own["openings"]) and exchanges >= _ENOUGH


def theme(topic: Topic, case: int, avoided: Set[str]) -> Theme:
    common = read_topic("common")
    vocabulary = templates.Vocabulary({**common.words, **topic.words, **topic.cases[case]}, avoided)
    own, shared = (
        {
            section: tuple(left for scene in several if (left := vocabulary.scene(scene)))
            for section, several in each.scenes.items()
        }
        for each in (topic, common)
    )
    return Theme(vocabulary, own, shared)


def stretch(theme: Theme, chance: _Chance, said: Container[Exchange]) -> list[Exchange]:
    """Return exchanges about a theme that are not in `said`; empty if there are too few."""
    wording = templates.Wording(theme.vocabulary, chance)
    most = wording.number(FEWEST, MOST)
    closings = theme.own["closings"] + theme.common["closings"]
    closing = wording.one_of(closings) if closings and wording.is_likely(_CLOSED) else ()
    talk: list[Exchange] = []
    for scene in _scenes(theme, wording, most):
        talk += _played(scene[: most - len(closing) - len(talk)], wording, said)
        if not talk:
            return []
    if wording.is_likely(_TURNED) and wording.unsaid("turn"):
        talk[0] = replace(talk[0], text=f"{wording.new_word('turn')} {talk[0].text}")
    talk += _played(closing, wording, said)
    return talk if len(talk) >= FEWEST else []


def _scenes(theme: Theme, wording: templates.Wording, most: int) -> Iterator[templates.Scene]:
    yield wording.one_of(theme.own["openings"])
    asked, told = (list(_mixed(theme, section, wording)) for section in ("asked", "told"))
    early = int(most * (0.35 + 0.3 * wording.chance()))
    yield from asked[: max(early, most - len(told))]
    yield from told


def _mixed(theme: Theme, section: str, wording: templates.Wording) -> Iterator[templates.Scene]:
    own, common = list(theme.own[section]), list(theme.common[section])
    while own:
        yield wording.taken_from(common if common and wording.is_likely(_COMMON) else own)


def _played(
    scene: templates.Scene, wording: templates.Wording, said: Container[Exchange]
) -> Iterator[Exchange]:
    for move in scene:
        if (exchange := _new(move, wording, said)) is None:
            return
        yield exchange


def _new(
    move: templates.Move, wording: templates.Wording, said: Container[Exchange]
) -> Exchange | None:
    for _ in range(_TRIES):
        try:
            texts = wording.exchange(move)
        except templates.Exhausted:
            continue
        if texts and (exchange := Exchange(*texts)) not in said:
            return exchange
    return None
