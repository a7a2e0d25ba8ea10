"""What a template is made of: words, choices, and slots for the words of a list."""

from __future__ import annotations

import re
from dataclasses import dataclass

from jitchat.rot.templates.wording import (
    Exhausted,
    Form,
    Node,
    Vocabulary,
    Wording,
    all_live,
    spoken,
)

_FEWEST, _MOST = 3, 5
"""Lines of a listing."""
_NUMBERS = frozenset(map(str, range(1, _MOST + 1)))
_TWO = 0.5
"""How often two sentences are said where one would do."""
_IS_VOWEL_SOUND = re.compile(r"(?!uni|use|usu|eu|one\b|once\b)[aeiou]|hour|honest", re.IGNORECASE)


@dataclass(frozen=True, slots=True)
class Words:
    """What is said as it is written."""

    text: str
    stems: frozenset[str]

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

    def without(self, vocabulary: Vocabulary) -> Node | None:
        """Keep the branches that can be said."""
        kept = all_live(self.branches, vocabulary)
        return Choice(kept) if kept else None

    def said(self, wording: Wording) -> str:
        """Say one of them."""
        return spoken(wording.one_of(self.branches), wording)


@dataclass(frozen=True, slots=True)
class OneOrTwo:
    """Sentences of which one is said, or two of them in their order."""

    branches: tuple[Form, ...]

    def without(self, vocabulary: Vocabulary) -> Node | None:
        """Keep the branches that can be said."""
        kept = all_live(self.branches, vocabulary)
        return OneOrTwo(kept) if kept else None

    def said(self, wording: Wording) -> str:
        """Say one or two of them."""
        rest = list(range(len(self.branches)))
        count = 2 if len(rest) > 1 and wording.chance() < _TWO else 1
        chosen = sorted(rest.pop(int(wording.chance() * len(rest))) for _ in range(count))
        return " ".join([spoken(self.branches[each], wording) for each in chosen])


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

    def without(self, vocabulary: Vocabulary) -> Node | None:
        """Keep it if enough of its list can be said, without numbers where one is avoided."""
        if len(vocabulary[self.list]) < _FEWEST:
            return None
        return Listing(self.list, self.is_numbered and _NUMBERS.isdisjoint(vocabulary.avoided))

    def said(self, wording: Wording) -> str:
        """Say three to five of them, a line each.

        Raises:
            Exhausted: There are fewer.

        """
        count = _FEWEST + int(wording.chance() * (_MOST - _FEWEST + 1))
        count = min(count, wording.left(self.list))
        if count < _FEWEST:
            raise Exhausted
        marks = [f"{number}." if self.is_numbered else "-" for number in range(1, count + 1)]
        listed = [f"{mark} {capital(wording.new(self.list))}" for mark in marks]
        return "\n\n" + "\n".join(listed) + "\n\n"


def lists_in(form: Form) -> frozenset[str]:
    """Name the lists that a form draws from."""
    found: set[str] = set()
    for node in form:
        if isinstance(node, (Slot, Listing)):
            found.add(node.list)
        elif isinstance(node, (Choice, OneOrTwo)):
            found.update(*map(lists_in, node.branches))
    return frozenset(found)


def capital(text: str) -> str:
    """Begin with a capital; the rest stays as it is."""
    return text[:1].upper() + text[1:]


def _article(text: str) -> str:
    return "an" if _IS_VOWEL_SOUND.match(text) else "a"
