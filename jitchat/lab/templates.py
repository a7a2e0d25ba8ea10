"""Templates of talk: how they are written, read, left without some words, and said by chance.

A word list is a line, `dish: pea risotto | [thick|thin] noodles`. A scene is some exchanges
that are said in a row: what the user says follows a `>`, what the assistant replies a `<`, and
an empty line ends the scene. What is indented goes on with the line above.

Within a sentence `[this|that]` is one of several, `{dish}` a word of a list that stays the same
all through a stretch of talk, `{dish2}` another one of the list, `{dish!}` one that was not said
before and `{dish?}` any; `{a dish}` has its article, a capital (`{Dish}`, `{A dish}`) begins a
sentence, and `{list steps}` or `{numbered steps}` are three to five lines of a list.
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
    """Whether two of them may be said, in their order: they are sentences."""


@dataclass(frozen=True, slots=True)
class Slot:
    """A word of a list: `{dish}`."""

    name: str
    """What the word is remembered by all through a stretch: the list's name, with a number."""
    list: str
    mark: str = ""
    """`!`, `?` or nothing."""
    has_article: bool = False
    is_capital: bool = False


@dataclass(frozen=True, slots=True)
class Listing:
    """Some words of a list, none of which was said before: `{list steps}`, `{numbered steps}`."""

    list: str
    is_numbered: bool = False


Node = Words | Choice | Slot | Listing
"""A part of a template. It begins and ends between words: no word is of two nodes."""
Template = tuple[Node, ...]
"""A sentence, or a piece of one."""
WordLists = Mapping[str, Sequence[Template]]


@dataclass(frozen=True, slots=True)
class Move:
    """What the user says and what the assistant replies, by sentences."""

    text: tuple[Template, ...]
    reply: tuple[Template, ...]


Scene = tuple[Move, ...]
"""Exchanges that are said in a row."""

_FEWEST, _MOST = 3, 5
"""Lines of a listing."""
_NUMBERS = frozenset(map(str, range(1, _MOST + 1)))


class Vocabulary:
    """Word lists, and what can be said without the words that are avoided."""

    def __init__(self, lists: WordLists, avoided: Set[str]) -> None:
        """`avoided` are stems."""
        self._lists, self._avoided = lists, avoided
        self._kept: dict[str, tuple[Template, ...]] = {}

    def __getitem__(self, name: str) -> tuple[Template, ...]:
        """Give what can be said of a list; nothing where there is no such list."""
        if name not in self._kept:
            self._kept[name] = self._every(self._lists.get(name, ()))
        return self._kept[name]

    def without(self, template: Template) -> Template | None:
        """Give what is left of a template; None where it cannot be said."""
        kept: list[Node] = []
        for node in template:
            if (left := self._node(node)) is None:
                return None
            kept.append(left)
        return tuple(kept)

    def scene(self, scene: Scene) -> Scene:
        """Give what is left of a scene, up to the first exchange that cannot be said."""
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
        """Leave out the sentences that cannot be said; None where one of them has to be.

        The first sentence has to be said, and of the user the last, which is the question.
        """
        first, *others = move.text
        opening, answer = self.without(first), self.without(move.reply[0])
        question = self.without(others[-1]) if others else ()
        if opening is None or answer is None or question is None:
            return None
        text = (opening, *self._every(others[:-1]), *([question] if others else []))
        return Move(text, (answer, *self._every(move.reply[1:])))


class Exhausted(LookupError):
    """Every word of a list has been said."""


_TWO = 0.5
"""How often two sentences are said where one would do."""
_IS_VOWEL_SOUND = re.compile(r"(?!uni|use|usu|eu|one\b|once\b)[aeiou]|hour|honest", re.IGNORECASE)
_USER_WORDS, _ASSISTANT_WORDS = range(5, 61), range(15, 121)


class Wording:
    """Says templates by chance, and remembers the words of one stretch of talk.

    Saying raises `Exhausted` where a word is wanted that was not said yet, and none is left.
    """

    def __init__(self, vocabulary: Vocabulary, chance: Callable[[], float]) -> None:
        """`chance` is `random()` of a seeded generator: it alone is the same in any Python."""
        self._vocabulary, self.chance = vocabulary, chance
        self._bound: dict[str, str] = {}
        """Words that stay the same, by the name of their slot."""
        self._unsaid: dict[str, list[Template]] = {}

    def is_likely(self, share: float) -> bool:
        """Decide by chance; True in this share of cases."""
        return self.chance() < share

    def below(self, number: float) -> int:
        """Draw a whole number, 0 or more."""
        return int(self.chance() * number)

    def one_of(self, several: Sequence[_T]) -> _T:
        return several[self.below(len(several))]

    def taken_from(self, several: list[_T]) -> _T:
        return several.pop(self.below(len(several)))

    def unsaid(self, name: str) -> list[Template]:
        """List what was not said yet of a list."""
        if name not in self._unsaid:
            self._unsaid[name] = list(self._vocabulary[name])
        return self._unsaid[name]

    def new_word(self, name: str) -> str:
        """Say what was not said yet of a list."""
        if not self.unsaid(name):
            raise Exhausted
        return self.say(self.taken_from(self.unsaid(name)))

    def say(self, template: Template) -> str:
        """Say a sentence, or a piece of one."""
        return "".join([self._node(node) for node in template])

    def exchange(self, move: Move) -> tuple[str, str] | None:
        """Say text and reply; None if one is shorter or longer than people say in a chat."""
        text, reply = self._sentences(move.text), self._sentences(move.reply)
        fits = len(text.split()) in _USER_WORDS and len(reply.split()) in _ASSISTANT_WORDS
        return (text, reply) if fits else None

    def _sentences(self, templates: tuple[Template, ...]) -> str:
        """Say sentences in a row, with single blanks, and none where a line ends or begins."""
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
        rest = list(range(len(branches)))
        chosen = sorted(self.taken_from(rest) for _ in range(2))
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
        """Say three to five of a list, a line each, in its order."""
        count = _FEWEST + self.below(_MOST - _FEWEST + 1)
        unsaid = self.unsaid(node.list)
        if len(unsaid) < _FEWEST:
            raise Exhausted
        drawn = [self.taken_from(unsaid) for _ in range(min(count, len(unsaid)))]
        items = [capital(self.say(each)) for each in self._vocabulary[node.list] if each in drawn]
        marks = (f"{number}." if node.is_numbered else "-" for number in range(1, _MOST + 1))
        lines = (f"{mark} {item}" for mark, item in zip(marks, items, strict=False))
        return "\n\n" + "\n".join(lines) + "\n\n"


def capital(text: str) -> str:
    """Begin with a capital; the rest stays as it is."""
    return text[:1].upper() + text[1:]


_PART = re.compile(r"[\[\]|]|\{[^{}]*\}|[^\[\]|{]+|\{")
_SLOT = re.compile(r"\{((?:a )?)([a-z_]+)(\d?)([!?]?)\}", re.IGNORECASE)
_LISTING = re.compile(r"\{(list|numbered) ([a-z_]+)\}")
_CLOSED = re.compile(r"(?:[.?!]\|?\]?|\{(?:list|numbered) [a-z_]+\})$")


def read_template(written: str) -> Template:
    """Read a template.

    Raises:
        ValueError: A bracket is not closed, or a slot is written in no known way.

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
    """Cut a template where a sentence ends, outside of brackets.

    What may be said ahead of the first sentence stays with it: `[Yes.|] That is right.`
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
    """Find where a character stands outside of brackets."""
    depth = 0
    for place, character in enumerate(written):
        depth += (character in "[{") - (character in "]}")
        if character == wanted and not depth:
            yield place


def _parted(values: str) -> list[str]:
    """Part what is written between bars, outside of brackets."""
    bars = [*_outside(values, "|"), len(values)]
    starts = [0, *(bar + 1 for bar in bars)]
    return [values[start:end].strip() for start, end in zip(starts, bars, strict=False)]


def _lines(block: str) -> Iterator[str]:
    """List lines with those that go on joined to them; of empty lines, one is left."""
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
    """Read what one side says; after its first sentence, two of some statements may be said."""
    first, *others = map(read_template, sentences(written))
    return (first, *map(_loosened, others))


def _loosened(template: Template) -> Template:
    """Let two of a choice among statements be said, if they draw from different lists."""
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
