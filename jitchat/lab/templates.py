"""Templates of talk: parsing, removing avoided words, and random rendering.

A word list is a line, `dish: pea risotto | [thick|thin] noodles`. A scene is a sequence of
exchanges: the user's message follows a `>`, the assistant's reply a `<`, and an empty line ends the
scene. An indented line continues the line above.

Within a sentence, `[this|that]` is one of several choices, `{dish}` a word of a list that stays the
same throughout a stretch of talk, `{dish2}` another word of the list, `{dish!}` one that was not
used before, and `{dish?}` any; `{a dish}` adds the article, a capital (`{Dish}`, `{A dish}`) starts
a sentence, and `{list steps}` or `{numbered steps}` are three to five lines of a list.
"""

import re
from collections.abc import Callable, Iterable, Iterator, Mapping, Sequence, Set
from dataclasses import dataclass
from typing import TypeVar

from jitchat.text.words import stems

_T = TypeVar("_T")


@dataclass(frozen=True, slots=True)
class Words:
    text: str
    stems: frozenset[str]


@dataclass(frozen=True, slots=True)
class Choice:
    """One of several: `[this|that]`."""

    branches: tuple["Template", ...]
    is_loose: bool = False
    """Whether two of the branches can be used, in order: they are sentences."""


@dataclass(frozen=True, slots=True)
class Slot:
    """A word of a list: `{dish}`."""

    name: str
    """The key of the word throughout a stretch: the list's name, with a number."""
    list: str
    mark: str = ""
    """`!`, `?` or nothing."""
    has_article: bool = False
    is_capital: bool = False


@dataclass(frozen=True, slots=True)
class Listing:
    """Some words of a list that were not used before: `{list steps}`, `{numbered steps}`."""

    list: str
    is_numbered: bool = False


Node = Words | Choice | Slot | Listing
"""A part of a template. It starts and ends between words: no word spans two nodes."""
Template = tuple[Node, ...]
"""A sentence, or a part of one."""
WordLists = Mapping[str, Sequence[Template]]


@dataclass(frozen=True, slots=True)
class Move:
    """A message of the user and the assistant's reply, by sentences."""

    text: tuple[Template, ...]
    reply: tuple[Template, ...]


Scene = tuple[Move, ...]
"""Consecutive exchanges."""

_FEWEST, _MOST = 3, 5
"""Minimum and maximum lines of a listing."""
_NUMBERS = frozenset(map(str, range(1, _MOST + 1)))


class Vocabulary:
    """Word lists, and templates without the avoided words."""

    def __init__(self, lists: WordLists, avoided: Set[str]) -> None:
        """`avoided` are stems."""
        self._lists, self._avoided = lists, avoided
        self._kept: dict[str, tuple[Template, ...]] = {}

    def __getitem__(self, name: str) -> tuple[Template, ...]:
        """Return the usable templates of a list; empty if there is no such list."""
        if name not in self._kept:
            self._kept[name] = self._every(self._lists.get(name, ()))
        return self._kept[name]

    def without(self, template: Template) -> Template | None:
        """Return a template without avoided words; None if that is impossible."""
        kept: list[Node] = []
        for node in template:
            if (left := self._node(node)) is None:
                return None
            kept.append(left)
        return tuple(kept)

    def scene(self, scene: Scene) -> Scene:
        """Return a scene without avoided words, up to the first exchange that needs one."""
        kept: list[Move] = []
        for move in scene:
            if (left := self._move(move)) is None:
                break
            kept.append(left)
        return tuple(kept)

    def _every(self, templates: Iterable[Template]) -> tuple[Template, ...]:
        return tuple(left for each in templates if (left := self.without(each)) is not None)

    def _node(self, node: Node) -> Node | None:
        match node:
            case Words():
                return node if node.stems.isdisjoint(self._avoided) else None
            case Choice():
                branches = self._every(node.branches)
                return Choice(branches, node.is_loose) if branches else None
            case Slot():
                return node if self[node.list] else None
            case Listing():
                if len(self[node.list]) < _FEWEST:
                    return None
                return Listing(node.list, node.is_numbered and _NUMBERS.isdisjoint(self._avoided))

    def _move(self, move: Move) -> Move | None:
        """Leave out the sentences with avoided words; None if one of them is required.

        The first sentence is required, and so is the user's last one, which is the question.
        """
        first, *others = move.text
        opening, answer = self.without(first), self.without(move.reply[0])
        question = self.without(others[-1]) if others else ()
        if opening is None or answer is None or question is None:
            return None
        text = (opening, *self._every(others[:-1]), *([question] if others else []))
        return Move(text, (answer, *self._every(move.reply[1:])))


class Exhausted(LookupError):
    """Every word of a list has been used."""


_TWO = 0.5
"""Probability of two sentences where one suffices."""
_IS_VOWEL_SOUND = re.compile(r"(?!uni|use|usu|eu|one\b|once\b)[aeiou]|hour|honest", re.IGNORECASE)
_USER_WORDS, _ASSISTANT_WORDS = range(5, 61), range(15, 121)


class Draw:
    """Draws from one random source; the results are the same in every version of Python."""

    def __init__(self, chance: Callable[[], float]) -> None:
        """`chance` is `random()` of a seeded generator: only this is stable across Pythons."""
        self.chance = chance

    def is_likely(self, share: float) -> bool:
        """Return True at random, with this probability."""
        return self.chance() < share

    def number(self, low: int, high: int) -> int:
        """Draw a whole number from `low` to `high`, both included."""
        return low + int(self.chance() * (high - low + 1))

    def one_of(self, several: Sequence[_T]) -> _T:
        return several[self.number(0, len(several) - 1)]

    def taken_from(self, several: list[_T]) -> _T:
        return several.pop(self.number(0, len(several) - 1))

    def some(self, several: Sequence[_T], count: int) -> list[_T]:
        """Draw `count` items, or all if there are fewer, in random order."""
        rest = list(several)
        return [self.taken_from(rest) for _ in range(min(count, len(rest)))]


class Wording(Draw):
    """Renders templates at random, and remembers the words of one stretch of talk.

    Rendering raises `Exhausted` if an unused word is required and none is left.
    """

    def __init__(self, vocabulary: Vocabulary, chance: Callable[[], float]) -> None:
        super().__init__(chance)
        self._vocabulary = vocabulary
        self._bound: dict[str, str] = {}
        """Words that stay the same, by the name of their slot."""
        self._unsaid: dict[str, list[Template]] = {}

    def unsaid(self, name: str) -> list[Template]:
        """Return the unused templates of a list."""
        if name not in self._unsaid:
            self._unsaid[name] = list(self._vocabulary[name])
        return self._unsaid[name]

    def new_word(self, name: str) -> str:
        """Render an unused template of a list."""
        if not self.unsaid(name):
            raise Exhausted
        return self.say(self.taken_from(self.unsaid(name)))

    def say(self, template: Template) -> str:
        """Render a sentence, or a part of one."""
        return "".join([self._node(node) for node in template])

    def exchange(self, move: Move) -> tuple[str, str] | None:
        """Render text and reply; None if one is too short or too long for a chat."""
        text, reply = self._sentences(move.text), self._sentences(move.reply)
        fits = len(text.split()) in _USER_WORDS and len(reply.split()) in _ASSISTANT_WORDS
        return (text, reply) if fits else None

    def _sentences(self, templates: tuple[Template, ...]) -> str:
        """Render sentences, with single spaces, and none at the end or start of a line."""
        whole = re.sub("  +", " ", " ".join([self.say(each) for each in templates]))
        return whole.replace(" \n", "\n").replace("\n\n ", "\n\n").strip()

    def _node(self, node: Node) -> str:
        match node:
            case Words():
                return node.text
            case Choice():
                return self._choice(node)
            case Slot():
                word = self._word(node)
                article = "an " if _IS_VOWEL_SOUND.match(word) else "a "
                text = article + word if node.has_article else word
                return capital(text) if node.is_capital else text
            case Listing():
                return self._listing(node)

    def _choice(self, node: Choice) -> str:
        branches = node.branches
        if not (node.is_loose and len(branches) > 1 and self.is_likely(_TWO)):
            return self.say(self.one_of(branches))
        chosen = sorted(self.some(range(len(branches)), 2))
        return " ".join([self.say(branches[each]) for each in chosen])

    def _word(self, slot: Slot) -> str:
        if slot.mark == "?":
            return self.say(self.one_of(self._vocabulary[slot.list]))
        if slot.mark == "!":
            return self.new_word(slot.list)
        if slot.name not in self._bound:
            self._bound[slot.name] = self.new_word(slot.list)
        return self._bound[slot.name]

    def _listing(self, node: Listing) -> str:
        """Render three to five items of a list, one per line, in order."""
        count = self.number(_FEWEST, _MOST)
        unsaid = self.unsaid(node.list)
        if len(unsaid) < _FEWEST:
            raise Exhausted
        drawn = [self.taken_from(unsaid) for _ in range(min(count, len(unsaid)))]
        items = [capital(self.say(each)) for each in self._vocabulary[node.list] if each in drawn]
        marks = (f"{number}." if node.is_numbered else "-" for number in range(1, _MOST + 1))
        lines = (f"{mark} {item}" for mark, item in zip(marks, items, strict=False))
        return "\n\n" + "\n".join(lines) + "\n\n"


def capital(text: str) -> str:
    """Capitalise the first letter; the rest is unchanged."""
    return text[:1].upper() + text[1:]


_PART = re.compile(r"[\[\]|]|\{[^{}]*\}|[^\[\]|{]+|\{")
_SLOT = re.compile(r"\{((?:a )?)([a-z_]+)(\d?)([!?]?)\}", re.IGNORECASE)
_LISTING = re.compile(r"\{(list|numbered) ([a-z_]+)\}")
_CLOSED = re.compile(r"(?:[.?!]\|?\]?|\{(?:list|numbered) [a-z_]+\})$")


def read_template(written: str) -> Template:
    """Read a template.

    Raises:
        ValueError: A bracket is not closed, or a slot has unknown syntax.

    """
    return _branches(iter(_PART.findall(written)), written, is_inner=False)[0]


def word_lists(block: str) -> dict[str, tuple[Template, ...]]:
    """Read word lists, by name."""
    lines = (line.partition(":") for line in _lines(block) if line)
    return {name: tuple(map(read_template, _parted(values))) for name, _, values in lines}


def scenes(block: str) -> tuple[Scene, ...]:
    found: list[list[str]] = [[]]
    for line in _lines(block):
        found[-1:] = [found[-1] + [line]] if line else [found[-1], []]
    return tuple(_scene(lines) for lines in found if lines)


def sentences(written: str) -> list[str]:
    """Split a template at the ends of sentences, outside of brackets.

    An optional opening stays with the first sentence: `[Yes.|] That is right.`
    """
    start, cut = 0, list[str]()
    for place in _outside(written, " "):
        head = written[start:place]
        is_mere_opening = not start and head.endswith("|]")
        if _CLOSED.search(head) and not is_mere_opening:
            cut.append(head)
            start = place + 1
    return [*cut, written[start:]]


def _outside(written: str, wanted: str) -> Iterator[int]:
    """Yield the positions of a character outside of brackets."""
    depth = 0
    for place, character in enumerate(written):
        depth += (character in "[{") - (character in "]}")
        if character == wanted and not depth:
            yield place


def _parted(values: str) -> list[str]:
    """Split values at bars, outside of brackets."""
    bars = [*_outside(values, "|"), len(values)]
    starts = [0, *(bar + 1 for bar in bars)]
    return [values[start:end].strip() for start, end in zip(starts, bars, strict=False)]


def _lines(block: str) -> Iterator[str]:
    """Yield lines, joined with their continuations; several empty lines become one."""
    whole = re.sub(r"\n +(?=\S)", " ", "\n".join(map(str.rstrip, block.strip().splitlines())))
    return iter(re.sub(r"\n\n+", "\n\n", whole).split("\n"))


def _scene(lines: list[str]) -> Scene:
    texts, replies = lines[::2], lines[1::2]
    if any(not each.startswith("> ") for each in texts) or len(texts) != len(replies):
        raise ValueError(lines)
    return tuple(
        Move(_side(text[2:]), _side(reply[2:])) for text, reply in zip(texts, replies, strict=True)
    )


def _side(written: str) -> tuple[Template, ...]:
    """Read one side of an exchange; after its first sentence, choices can be loosened."""
    first, *others = map(read_template, sentences(written))
    return (first, *map(_loosened, others))


def _loosened(template: Template) -> Template:
    """Allow two branches of a choice among statements, if they draw from different lists."""
    match template:
        case (Choice(branches),) if all(map(_is_statement, branches)):
            drawn = [set(_lists(branch)) for branch in branches]
            return (Choice(branches, sum(map(len, drawn)) == len(set[str]().union(*drawn))),)
    return template


def _is_statement(branch: Template) -> bool:
    last = branch[-1] if branch else None
    return isinstance(last, Words) and last.text.endswith(".")


def _lists(template: Template) -> Iterator[str]:
    for node in template:
        match node:
            case Slot() | Listing():
                yield node.list
            case Choice():
                for branch in node.branches:
                    yield from _lists(branch)


def _branches(parts: Iterator[str], written: str, *, is_inner: bool) -> tuple[Template, ...]:
    branches: list[list[Node]] = [[]]
    for part in parts:
        if part == "]" and is_inner:
            return tuple(map(tuple, branches))
        if part == "|" and is_inner:
            branches.append([])
        elif part == "[":
            branches[-1].append(Choice(_branches(parts, written, is_inner=True)))
        else:
            branches[-1].append(_read_node(part, written))
    if is_inner:
        raise ValueError(written)
    return tuple(map(tuple, branches))


def _read_node(part: str, written: str) -> Node:
    if part in "[]|":
        raise ValueError(written)
    if not part.startswith("{"):
        return Words(part, frozenset(stems(part)))
    if listing := _LISTING.fullmatch(part):
        return Listing(listing[2], listing[1] == "numbered")
    if not (slot := _SLOT.fullmatch(part)):
        raise ValueError(written)
    article, name, number, mark = slot.groups()
    is_capital = (article or name)[0].isupper()
    return Slot(name.lower() + number, name.lower(), mark, bool(article), is_capital)
