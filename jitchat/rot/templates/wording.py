"""Which words can be said in a stretch of talk, and which have been."""

from __future__ import annotations

from collections.abc import Callable, Iterable, Mapping, Sequence, Set
from dataclasses import dataclass
from typing import Protocol, TypeVar

_T = TypeVar("_T")


class Exhausted(LookupError):
    """Every word of a list has been said."""


class Node(Protocol):
    """A part of a form. It begins and ends between words: no word is of two nodes."""

    @property
    def stems(self) -> Set[str]:
        """Every stem that may be said in it, but for those of the lists that it draws from."""

    @property
    def draws(self) -> Set[str]:
        """The lists that it draws from, by name."""

    def without(self, vocabulary: Vocabulary) -> Node | None:
        """Give what is left of it without the words that are avoided; None if it cannot be said."""

    def said(self, wording: Wording) -> str:
        """Say it, by chance.

        Raises:
            Exhausted: It wants a word that was not said yet, and there is none left.

        """


@dataclass(frozen=True, slots=True)
class Form:
    """A row of nodes: a sentence, or a piece of one."""

    nodes: tuple[Node, ...]
    stems: frozenset[str]
    """Of all nodes, also of what was left out of them."""
    draws: frozenset[str]
    """Likewise."""

    @classmethod
    def of(cls, nodes: Iterable[Node]) -> Form:
        """Join nodes."""
        row = tuple(nodes)
        stems, draws = (node.stems for node in row), (node.draws for node in row)
        return cls(row, frozenset().union(*stems), frozenset().union(*draws))

    def without(self, vocabulary: Vocabulary) -> Form | None:
        """Give what is left without the words that are avoided; None if it cannot be said."""
        if vocabulary.has_all(self.stems, self.draws):
            return self
        kept: list[Node] = []
        for node in self.nodes:
            if (left := node.without(vocabulary)) is None:
                return None
            kept.append(left)
        return Form(tuple(kept), self.stems, self.draws)

    def said(self, wording: Wording) -> str:
        """Say it, by chance.

        Raises:
            Exhausted: It wants a word that was not said yet, and there is none left.

        """
        return "".join([node.said(wording) for node in self.nodes])


class Vocabulary:
    """The word lists of a theme without the words that are avoided; each is made when asked for."""

    def __init__(self, lists: Mapping[str, Sequence[Form]], avoided: Set[str]) -> None:
        self.avoided = avoided
        self._lists = lists
        self._kept: dict[str, tuple[Form, ...]] = {}

    def __getitem__(self, name: str) -> tuple[Form, ...]:
        """Give what can be said of a list; nothing where the theme has no such list."""
        if name not in self._kept:
            self._kept[name] = all_without(self._lists.get(name, ()), self)
        return self._kept[name]

    def has_all(self, stems: frozenset[str], draws: frozenset[str]) -> bool:
        """Whether none of these stems is avoided, and nothing is missing of these lists."""
        return stems.isdisjoint(self.avoided) and all(
            len(self[name]) == len(self._lists.get(name, ())) > 0 for name in draws
        )


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
        return self.one_of(self._vocabulary[name]).said(self)

    def new(self, name: str) -> str:
        """Say what was not said yet of a list.

        Raises:
            Exhausted: There is nothing left.

        """
        rest = self._rest(name)
        if not rest:
            raise Exhausted
        return rest.pop(int(self.chance() * len(rest))).said(self)

    def some(self, name: str, count: int) -> list[str]:
        """Say at most so many of a list that were not said yet, in the order of the list."""
        rest, order = self._rest(name), self._vocabulary[name]
        drawn = [rest.pop(int(self.chance() * len(rest))) for _ in range(min(count, len(rest)))]
        return [form.said(self) for form in order if form in drawn]

    def _rest(self, name: str) -> list[Form]:
        if name not in self._left:
            self._left[name] = list(self._vocabulary[name])
        return self._left[name]


def all_without(forms: Iterable[Form], vocabulary: Vocabulary) -> tuple[Form, ...]:
    """Give what is left of those that can be said."""
    kept = (form.without(vocabulary) for form in forms)
    return tuple(form for form in kept if form is not None)
