"""Templates of talk: how they are written, read, left without some words, and said by chance.

A word list is a line, `dish: pea risotto | [thick|thin] noodles`. A scene is some exchanges
that are said in a row: what the user says follows a `>`, what the assistant replies a `<`, and
an empty line ends the scene. What is indented goes on with the line above.
"""

from __future__ import annotations

import re
from collections.abc import Callable, Iterable, Iterator, Mapping, Sequence, Set
from dataclasses import dataclass
from typing import Protocol, TypeVar

from jitchat.text.words import stems

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


_USER_WORDS = range(5, 61)
_ASSISTANT_WORDS = range(15, 121)


@dataclass(frozen=True, slots=True)
class Move:
    """What the user says and what the assistant replies, by sentences."""

    text: tuple[Form, ...]
    reply: tuple[Form, ...]

    def without(self, vocabulary: Vocabulary) -> Move | None:
        """Leave out the sentences that cannot be said; None where one of them has to be.

        The first sentence has to be said, and of the user the last, which is the question.
        """
        first, last = self.text[0].without(vocabulary), self.text[-1].without(vocabulary)
        answer = self.reply[0].without(vocabulary)
        if first is None or last is None or answer is None:
            return None
        middle = all_without(self.text[1:-1], vocabulary)
        text = (first, *middle, last) if len(self.text) > 1 else (first,)
        return Move(text, (answer, *all_without(self.reply[1:], vocabulary)))

    def said(self, wording: Wording) -> tuple[str, str] | None:
        """Say both; None if one is shorter or longer than people say in a chat.

        Raises:
            Exhausted: It wants a word that was not said yet, and there is none left.

        """
        text, reply = _joined(self.text, wording), _joined(self.reply, wording)
        fits = len(text.split()) in _USER_WORDS and len(reply.split()) in _ASSISTANT_WORDS
        return (text, reply) if fits else None


Scene = tuple[Move, ...]
"""Exchanges that are said in a row."""


def scene_without(scene: Scene, vocabulary: Vocabulary) -> Scene:
    """Give a scene up to the first exchange that cannot be said."""
    kept: list[Move] = []
    for move in scene:
        if (left := move.without(vocabulary)) is None:
            break
        kept.append(left)
    return tuple(kept)


def _joined(forms: tuple[Form, ...], wording: Wording) -> str:
    """Say sentences in a row, with single blanks, and none where a line ends or begins."""
    whole = " ".join([form.said(wording) for form in forms])
    while "  " in whole:
        whole = whole.replace("  ", " ")
    return whole.replace(" \n", "\n").replace("\n\n ", "\n\n").strip()


_PART = re.compile(r"[\[\]|]|\{[^{}]*\}|[^\[\]|{]+|\{")
_SLOT = re.compile(r"\{((?:a )?)([a-z_]+)(\d?)([!?]?)\}", re.IGNORECASE)
_LISTING = re.compile(r"\{(list|numbered) ([a-z_]+)\}")
_CLOSED = re.compile(r"(?:[.?!]\|?\]?|\{(?:list|numbered) [a-z_]+\})$")


def form(template: str) -> Form:
    """Read a template.

    Raises:
        ValueError: A bracket is not closed, or a slot is written in no known way.

    """
    return _branches(iter(_PART.findall(template)), template, is_inner=False)[0]


def word_lists(block: str) -> dict[str, tuple[Form, ...]]:
    """Read word lists, by name."""
    lines = (line.partition(":") for line in _lines(block) if line)
    return {name: tuple(map(form, _parted(values))) for name, _, values in lines}


def every_case(block: str) -> tuple[dict[str, tuple[Form, ...]], ...]:
    """Read word lists that go together; an empty line is between one case and the next."""
    return tuple(word_lists(each) for each in re.split(r"\n\s*\n", block.strip()))


def scenes(block: str) -> tuple[Scene, ...]:
    """Read scenes."""
    found: list[list[str]] = [[]]
    for line in _lines(block):
        found[-1:] = [found[-1] + [line]] if line else [found[-1], []]
    return tuple(_scene(lines) for lines in found if lines)


def sentences(template: str) -> list[str]:
    """Cut a template where a sentence ends, outside of brackets.

    What may be said ahead of the first sentence stays with it: `[Yes.|] That is right.`
    """
    depth, start = 0, 0
    cut: list[str] = []
    for place, character in enumerate(template):
        depth += (character in "[{") - (character in "]}")
        if character != " " or depth:
            continue
        head = template[start:place]
        is_mere_opening = not start and head.endswith("|]")
        if _CLOSED.search(head) and not is_mere_opening:
            cut.append(head)
            start = place + 1
    return [*cut, template[start:]]


def _lines(block: str) -> Iterator[str]:
    """List lines with those that go on joined to them; of empty lines, one is left."""
    whole = re.sub(r"\n +(?=\S)", " ", "\n".join(map(str.rstrip, block.strip().splitlines())))
    return iter(re.sub(r"\n\n+", "\n\n", whole).split("\n"))


def _scene(lines: list[str]) -> Scene:
    texts, replies = lines[::2], lines[1::2]
    if any(not each.startswith("> ") for each in texts) or len(texts) != len(replies):
        raise ValueError(lines)
    return tuple(
        Move(_said(text[2:]), _said(reply[2:])) for text, reply in zip(texts, replies, strict=True)
    )


def _said(template: str) -> tuple[Form, ...]:
    """Read what one side says; after its first sentence, two of some statements may be said."""
    first, *others = map(form, sentences(template))
    return (first, *map(_loosened, others))


def _loosened(whole: Form) -> Form:
    """Let two of a choice among statements be said, if they draw from different lists."""
    if len(whole.nodes) != 1 or not isinstance(choice := whole.nodes[0], Choice):
        return whole
    are_apart = sum(len(each.draws) for each in choice.branches) == len(choice.draws)
    are_statements = all(map(_is_statement, choice.branches))
    return Form.of((Choice(choice.branches, are_apart and are_statements),))


def _is_statement(branch: Form) -> bool:
    last = branch.nodes[-1] if branch.nodes else None
    return isinstance(last, Words) and last.text.endswith(".")


def _parted(values: str) -> list[str]:
    """Part what is written between bars, outside of brackets."""
    depth = 0
    parts = [""]
    for character in values:
        depth += (character in "[{") - (character in "]}")
        if character == "|" and not depth:
            parts.append("")
        else:
            parts[-1] += character
    return [part.strip() for part in parts]


def _branches(parts: Iterator[str], template: str, *, is_inner: bool) -> tuple[Form, ...]:
    branches: list[list[Node]] = [[]]
    for part in parts:
        if part == "]" and is_inner:
            return tuple(map(Form.of, branches))
        if part == "|" and is_inner:
            branches.append([])
        elif part == "[":
            branches[-1].append(Choice(_branches(parts, template, is_inner=True)))
        else:
            branches[-1].append(_node(part, template))
    if is_inner:
        raise ValueError(template)
    return tuple(map(Form.of, branches))


def _node(part: str, template: str) -> Node:
    if part in "[]|":
        raise ValueError(template)
    if not part.startswith("{"):
        return Words(part, frozenset(stems(part)))
    if listing := _LISTING.fullmatch(part):
        return Listing(listing[2], listing[1] == "numbered")
    if not (slot := _SLOT.fullmatch(part)):
        raise ValueError(template)
    article, name, number, mark = slot.groups()
    is_capital = (article or name)[0].isupper()
    return Slot(name.lower() + number, name.lower(), mark, bool(article), is_capital)
