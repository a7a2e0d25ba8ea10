"""Which words can be said in a stretch of talk, and which have been."""

from __future__ import annotations

from collections.abc import Callable, Mapping, Sequence, Set
from typing import Protocol, TypeVar

_T = TypeVar("_T")


class Exhausted(LookupError):
    """Every word of a list has been said."""


class Node(Protocol):
    """A part of a form. It begins and ends between words: no word is of two nodes."""

    def without(self, vocabulary: Vocabulary) -> Node | None:
        """Give what is left of it without the words that are avoided; None if it cannot be said."""

    def said(self, wording: Wording) -> str:
        """Say it, by chance.

        Raises:
            Exhausted: It wants a word that was not said yet, and there is none left.

        """


Form = tuple[Node, ...]
"""A row of nodes: a sentence, or a piece of one."""


class Vocabulary:
    """The word lists of a theme without the words that are avoided; each is made when asked for."""

    def __init__(self, lists: Mapping[str, Sequence[Form]], avoided: Set[str]) -> None:
        self.avoided = avoided
        self._lists = lists
        self._kept: dict[str, tuple[Form, ...]] = {}

    def __getitem__(self, name: str) -> tuple[Form, ...]:
        """Give what can be said of a list; nothing where the theme has no such list."""
        if name not in self._kept:
            self._kept[name] = all_live(self._lists.get(name, ()), self)
        return self._kept[name]


class Wording:
    """The words of one stretch of talk, drawn by chance."""

    def __init__(self, vocabulary: Vocabulary, chance: Callable[[], float]) -> None:
        self.bound: dict[str, str] = {}
        """Words that stay the same all through the stretch, by the name of their slot."""
        self.chance = chance
        """`random()` of a seeded generator: this alone is promised to be the same in any Python."""
        self._vocabulary = vocabulary
        self._left: dict[str, list[Form]] = {}

    def one_of(self, several: Sequence[_T]) -> _T:
        """Choose one."""
        return several[int(self.chance() * len(several))]

    def left(self, name: str) -> int:
        """Count what was not said yet of a list."""
        return len(self._rest(name))

    def any(self, name: str) -> str:
        """Say one of a list, whether it was said before or not."""
        return spoken(self.one_of(self._vocabulary[name]), self)

    def new(self, name: str) -> str:
        """Say what was not said yet of a list.

        Raises:
            Exhausted: There is nothing left.

        """
        rest = self._rest(name)
        if not rest:
            raise Exhausted
        return spoken(rest.pop(int(self.chance() * len(rest))), self)

    def _rest(self, name: str) -> list[Form]:
        if name not in self._left:
            self._left[name] = list(self._vocabulary[name])
        return self._left[name]


def live(form: Form, vocabulary: Vocabulary) -> Form | None:
    """Give a form without the words that are avoided; None if it cannot be said."""
    kept: list[Node] = []
    for node in form:
        if (left := node.without(vocabulary)) is None:
            return None
        kept.append(left)
    return tuple(kept)


def all_live(forms: Sequence[Form], vocabulary: Vocabulary) -> tuple[Form, ...]:
    """Give those that can be said."""
    kept = (live(form, vocabulary) for form in forms)
    return tuple(form for form in kept if form is not None)


def spoken(form: Form, wording: Wording) -> str:
    """Say a form.

    Raises:
        Exhausted: It wants a word that was not said yet, and there is none left.

    """
    return "".join([node.said(wording) for node in form])
