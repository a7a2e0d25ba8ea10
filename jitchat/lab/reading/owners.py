"""Whose value an answer names: that of whom the question is about, or that of another.

Who the others are is read from the fact: words of what was said of them that stand neither in
the question nor in what was said of the one who is meant.
"""

from __future__ import annotations

import re
from dataclasses import dataclass
from typing import TYPE_CHECKING

from jitchat.lab.facts import everyday
from jitchat.lab.reading.hedges import between
from jitchat.lab.reading.plain import plain
from jitchat.text.words import content_words, stem

if TYPE_CHECKING:
    from collections.abc import Sequence

    from jitchat.lab.facts import Fact
    from jitchat.lab.reading.mentions import Mention

_WORD = re.compile(r"\0|[^\W_]+")
_SOMEBODY_ELSE = re.compile(
    r"\b(?:another|others?|different|someone else|somebody else|something else|elsewhere"
    r"|the only|neighbouring|unrelated)\b"
)
_REACH = 400
"""Characters ahead of a sentence that are searched for whom it is about."""
_CLAUSE = re.compile(r"[,;:.\n]| - ")
_NOT_OF = re.compile(r"\b(?:not|never|nor)((?: [^\W_]+(?:'s)?){1,4})")
_LINKS = re.compile(
    r"\A(?: \w+){0,2},? ?(?:\(|(?:(?:but|and|though|while) )?(?:that|this|it|which)(?: 1)?(?:'s| is"
    r"| was| belongs)\b|(?:is |was |belongs |applies |goes |refers |relates )?(?:for|of|to"
    r"|about|with|by|in|on)\b|(?:is|was)\b)"
)


@dataclass(frozen=True, slots=True)
class Owners:
    """The stems of the words that tell whom the question is about from others."""

    asked: frozenset[str]
    others: frozenset[str]

    def unasked(self, text: str, mentions: Sequence[Mention]) -> list[bool]:
        """Tell of each value whether an answer gives it as another's.

        Of what is joined, `7301 and 8845 are for others`, the last tells.
        """
        told: list[bool] = []
        for at in reversed(range(len(mentions))):
            is_joined = bool(told) and between(text, mentions[at], mentions[at + 1])
            told.append((is_joined and told[-1]) or self._is_anothers(text, mentions[at]))
        return told[::-1]

    def are_excluded(self, text: str) -> bool:
        """Whether an answer says that something is not of whom the question is about."""
        told = (self._first(found[1]) for found in _NOT_OF.finditer(text))
        return any(each is False for each in told)

    def _is_anothers(self, text: str, mention: Mention) -> bool:
        if _LINKS.match(mention.after):
            told = self._first(mention.after)
            if told is not None:
                return told
        told = self._last(mention.before)
        if told is None:
            start = mention.start - len(mention.before)
            told = self._last(text[max(0, start - _REACH) : start])
        if told is None:
            told = self._first(_CLAUSE.split(mention.after)[0])
        return bool(told)

    def _last(self, text: str) -> bool | None:
        """Tell whether the last owner in a text is another; None where there is none."""
        told = [each for each in self._each(text) if each is not None]
        return told[-1] if told else None

    def _first(self, text: str) -> bool | None:
        return next((each for each in self._each(text) if each is not None), None)

    def _each(self, text: str) -> list[bool | None]:
        marked = _SOMEBODY_ELSE.sub(" \0 ", text)
        return [self._of(word) for word in _WORD.findall(marked)]

    def _of(self, word: str) -> bool | None:
        if word == "\0":
            return True
        root = stem(word)
        return True if root in self.others else False if root in self.asked else None


def owners_of(fact: Fact) -> Owners:
    """Find them: what others have was said in turns that the answer does not need."""
    question = _stems(fact.question)
    theirs = _stems(" ".join(saying.text for saying in fact.sayings if not saying.is_needed))
    ours = _stems(" ".join(saying.text for saying in fact.sayings if saying.is_needed))
    values = _stems(" ".join((*fact.accepted, *fact.wrong)))
    return Owners(question - theirs - everyday(), theirs - question - ours - values - everyday())


def _stems(text: str) -> frozenset[str]:
    return frozenset(stem(word) for word in content_words(plain(text)))
