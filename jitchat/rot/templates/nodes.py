"""What a template is made of: words, choices, and slots for the words of a list."""

from __future__ import annotations

import re
from dataclasses import dataclass

from jitchat.rot.templates.wording import Exhausted, Form, Node, Vocabulary, Wording, all_without

_FEWEST, _MOST = 3, 5
"""Lines of a listing."""
_NUMBERS = frozenset(map(str, range(1, _MOST + 1)))
_TWO = 0.5
"""How often two sentences are said where one would do."""
_IS_VOWEL_SOUND = re.compile(r"(?!uni|use|usu|eu|one\b|once\b)[aeiou]|hour|honest", re.IGNORECASE)
_NONE: frozenset[str] = frozenset()


@dataclass(frozen=True, slots=True)
class Words:
    """What is said as it is written."""

    text: str
    stems: frozenset[str]

    @property
    def draws(self) -> frozenset[str]:
        """No list."""
        return _NONE

    def without(self, vocabulary: Vocabulary) -> Node | None:
        """Keep it if no stem of it is avoided."""
        return self if self.stems.isdisjoint(vocabulary.avoided) else None

    def said(self, wording: Wording) -> str:  # noqa: ARG002  the same each time
        """Say it as it is written."""
        return self.text


@dataclass(frozen=True, slots=True)
class Choice:
    """One of several: `[this|that]`."""

    branches: tuple[Form, ...]
    is_loose: bool = False
    """Whether two of them may be said, in their order: they are sentences."""

    @property
    def stems(self) -> frozenset[str]:
        """Those of every branch."""
        return _NONE.union(*(branch.stems for branch in self.branches))

    @property
    def draws(self) -> frozenset[str]:
        """Those of every branch."""
        return _NONE.union(*(branch.draws for branch in self.branches))

    def without(self, vocabulary: Vocabulary) -> Node | None:
        """Keep the branches that can be said."""
        kept = all_without(self.branches, vocabulary)
        return Choice(kept, self.is_loose) if kept else None

    def said(self, wording: Wording) -> str:
        """Say one of them, or two.

        Raises:
            Exhausted: It wants a word that was not said yet, and there is none left.

        """
        if self.is_loose and len(self.branches) > 1 and wording.chance() < _TWO:
            return self._two_said(wording)
        return wording.one_of(self.branches).said(wording)

    def _two_said(self, wording: Wording) -> str:
        rest = list(range(len(self.branches)))
        chosen = sorted(rest.pop(int(wording.chance() * len(rest))) for _ in range(2))
        return " ".join([self.branches[each].said(wording) for each in chosen])


@dataclass(frozen=True, slots=True)
class Slot:
    """A word of a list: `{dish}` is the same all through a stretch of talk.

    `{dish2}` is another one of the same list, `{dish!}` one that was not said before, and
    `{dish?}` any. `{a dish}` puts its article ahead, and a capital (`{Dish}`, `{A dish}`) makes
    it the beginning of a sentence.
    """

    name: str
    """It is bound by this."""
    list: str
    mark: str = ""
    """`!`, `?` or nothing."""
    has_article: bool = False
    is_capital: bool = False

    @property
    def stems(self) -> frozenset[str]:
        """None but those of its list."""
        return _NONE

    @property
    def draws(self) -> frozenset[str]:
        """Its list."""
        return frozenset((self.list,))

    def without(self, vocabulary: Vocabulary) -> Node | None:
        """Keep it if a word of its list can be said."""
        return self if vocabulary[self.list] else None

    def said(self, wording: Wording) -> str:
        """Say the word of this stretch, or a new one.

        Raises:
            Exhausted: There is no new one.

        """
        text = self._word(wording)
        text = f"{_article(text)} {text}" if self.has_article else text
        return capital(text) if self.is_capital else text

    def _word(self, wording: Wording) -> str:
        if self.mark == "?":
            return wording.any(self.list)
        if self.mark == "!":
            return wording.new(self.list)
        if self.name not in wording.bound:
            wording.bound[self.name] = wording.new(self.list)
        return wording.bound[self.name]


@dataclass(frozen=True, slots=True)
class Listing:
    """Some of a list, none of which was said before: `{list steps}`, or `{numbered steps}`."""

    list: str
    is_numbered: bool = False

    @property
    def stems(self) -> frozenset[str]:
        """Its numbers."""
        return _NUMBERS if self.is_numbered else _NONE

    @property
    def draws(self) -> frozenset[str]:
        """Its list."""
        return frozenset((self.list,))

    def without(self, vocabulary: Vocabulary) -> Node | None:
        """Keep it if enough of its list can be said, without numbers where one is avoided."""
        if len(vocabulary[self.list]) < _FEWEST:
            return None
        return Listing(self.list, self.is_numbered and _NUMBERS.isdisjoint(vocabulary.avoided))

    def said(self, wording: Wording) -> str:
        """Say three to five of them, a line each, in the order of the list.

        Raises:
            Exhausted: There are fewer.

        """
        count = _FEWEST + int(wording.chance() * (_MOST - _FEWEST + 1))
        if wording.left(self.list) < _FEWEST:
            raise Exhausted
        items = wording.some(self.list, count)
        marks = (f"{number}." if self.is_numbered else "-" for number in range(1, _MOST + 1))
        lines = [f"{mark} {capital(item)}" for mark, item in zip(marks, items, strict=False)]
        return "\n\n" + "\n".join(lines) + "\n\n"


def capital(text: str) -> str:
    """Begin with a capital; the rest stays as it is."""
    return text[:1].upper() + text[1:]


def _article(text: str) -> str:
    return "an" if _IS_VOWEL_SOUND.match(text) else "a"
