"""One case of a subject, without the words that are avoided: what a stretch of talk is made of."""

from __future__ import annotations

from collections.abc import Mapping, Set
from dataclasses import dataclass
from functools import cache

from jitchat.rot.templates.reading import every_case, scenes, word_lists
from jitchat.rot.templates.scene import Scene, scene_without
from jitchat.rot.templates.wording import Form, Vocabulary
from jitchat.rot.topics.common import COMMON
from jitchat.rot.topics.topic import Topic

_FEWEST = 6
"""Exchanges that a theme has at least, so that a stretch of talk can be made of it."""


@dataclass(frozen=True, slots=True)
class Theme:
    """Scenes that can be said, and the words for them."""

    vocabulary: Vocabulary
    openings: tuple[Scene, ...]
    asked: tuple[Scene, ...]
    told: tuple[Scene, ...]
    common_asked: tuple[Scene, ...]
    common_told: tuple[Scene, ...]
    closings: tuple[Scene, ...]

    @property
    def is_enough(self) -> bool:
        """Whether a stretch of talk can be made of it."""
        return bool(self.openings) and sum(map(len, self.asked + self.told)) >= _FEWEST


@dataclass(frozen=True, slots=True)
class _Read:
    cases: tuple[Mapping[str, tuple[Form, ...]], ...]
    words: Mapping[str, tuple[Form, ...]]
    openings: tuple[Scene, ...]
    asked: tuple[Scene, ...]
    told: tuple[Scene, ...]
    closings: tuple[Scene, ...]


def cases(topic: Topic) -> int:
    """Count the cases of a topic."""
    return len(_read(topic).cases)


def theme(topic: Topic, case: int, avoided: Set[str]) -> Theme:
    """Make the theme of one case, numbered from 0."""
    own, common = _read(topic), _read(COMMON)
    vocabulary = Vocabulary({**common.words, **own.words, **own.cases[case]}, avoided)

    def kept(several: tuple[Scene, ...]) -> tuple[Scene, ...]:
        return tuple(left for each in several if (left := scene_without(each, vocabulary)))

    return Theme(
        vocabulary,
        kept(own.openings),
        kept(own.asked),
        kept(own.told),
        kept(common.asked),
        kept(common.told),
        kept(own.closings + common.closings),
    )


@cache
def _read(topic: Topic) -> _Read:
    return _Read(
        every_case(topic.cases),
        word_lists(topic.words),
        scenes(topic.openings),
        scenes(topic.asked),
        scenes(topic.told),
        scenes(topic.closings),
    )
