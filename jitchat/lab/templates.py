"""Templates of talk: reading, removing avoided words, and random rendering.

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
from functools import cache
from typing import TypeVar

from jitchat.text.words import stems

_T = TypeVar("_T")

_PART = re.compile(
    r"\[(?P<branches>[^\[\]]*)\]"
    r"|\{(?:(?P<form>a|list|numbered) )?(?P<list>[a-z_]+)(?P<number>\d?)(?P<mark>[!?]?)\}",
    re.IGNORECASE,
)
"""A choice, or a word of a list. No word of a sentence spans a part and the text beside it."""

WordLists = Mapping[str, Sequence[str]]


@dataclass(frozen=True, slots=True)
class Move:
    """A message of the user and the assistant's reply, each as templates of sentences."""

    text: tuple[str, ...]
    reply: tuple[str, ...]


Scene = tuple[Move, ...]
"""Consecutive exchanges."""

_FEWEST, _MOST = 3, 5
"""Minimum and maximum lines of a listing."""
_NUMBERS = frozenset(map(str, range(1, _MOST + 1)))


class Exhausted(LookupError):
    """Every word of a list has been used, or is avoided."""


@cache
def _stems(template: str) -> frozenset[str]:
    """Return the stems of the words that are in every rendering of a template."""
    return frozenset(stems(_PART.sub(" ", template)))


class Vocabulary:
    """Word lists, and templates without the avoided words."""

    def __init__(self, lists: WordLists, avoided: Set[str]) -> None:
        """`avoided` are stems."""
        self._lists, self._avoided = lists, avoided
        self._kept: dict[str, tuple[str, ...]] = {}

    def __getitem__(self, name: str) -> tuple[str, ...]:
        """Return the usable templates of a list; empty if there is no such list."""
        if name not in self._kept:
            self._kept[name] = self._every(self._lists.get(name, ()))
        return self._kept[name]

    def without(self, template: str) -> str | None:
        """Return a template without avoided words; None if that is impossible."""
        if not _stems(template).isdisjoint(self._avoided):
            return None
        try:
            return _PART.sub(self._usable, template)
        except Exhausted:
            return None

    def scene(self, scene: Scene) -> Scene:
        """Return a scene without avoided words, up to the first exchange that needs one."""
        kept: list[Move] = []
        for move in scene:
            if (left := self._move(move)) is None:
                break
            kept.append(left)
        return tuple(kept)

    def _every(self, templates: Iterable[str]) -> tuple[str, ...]:
        return tuple(left for each in templates if (left := self.without(each)) is not None)

    def _usable(self, part: re.Match[str]) -> str:
        if part["branches"] is not None:
            branches = self._every(part["branches"].split("|"))
            if not branches:
                raise Exhausted
            return f"[{'|'.join(branches)}]"
        is_listing = part["form"] in ("list", "numbered")
        if len(self[part["list"].lower()]) < (_FEWEST if is_listing else 1):
            raise Exhausted
        if part["form"] == "numbered" and not _NUMBERS.isdisjoint(self._avoided):
            return f"{{list {part['list']}}}"
        return part[0]

    def _move(self, move: Move) -> Move | None:
        """Leave out the sentences with avoided words; None if one of them is required.

        The first sentence is required, and so is the user's last one, which is the question.
        """
        first, *others = move.text
        opening, answer = self.without(first), self.without(move.reply[0])
        question = self.without(others[-1]) if others else ""
        if opening is None or answer is None or question is None:
            return None
        text = (opening, *self._every(others[:-1]), *([question] if others else []))
        return Move(text, (answer, *self._every(move.reply[1:])))


_TWO = 0.5
"""Probability of two sentences where one suffices."""
_STATEMENTS = re.compile(r"\[((?:[^\[\]|]*\.\|)+[^\[\]|]*\.)\]")
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
        """Words that stay the same, by the name of their list with its number."""
        self._unsaid: dict[str, list[str]] = {}

    def unsaid(self, name: str) -> list[str]:
        """Return the unused templates of a list."""
        if name not in self._unsaid:
            self._unsaid[name] = list(self._vocabulary[name])
        return self._unsaid[name]

    def new_word(self, name: str) -> str:
        """Render an unused template of a list."""
        if not self.unsaid(name):
            raise Exhausted
        return self.say(self.taken_from(self.unsaid(name)))

    def say(self, template: str) -> str:
        """Render a sentence, or a part of one."""
        return _PART.sub(self._drawn, template)

    def exchange(self, move: Move) -> tuple[str, str] | None:
        """Render text and reply; None if one is too short or too long for a chat."""
        text, reply = self._sentences(move.text), self._sentences(move.reply)
        fits = len(text.split()) in _USER_WORDS and len(reply.split()) in _ASSISTANT_WORDS
        return (text, reply) if fits else None

    def _sentences(self, templates: tuple[str, ...]) -> str:
        """Render sentences, with single spaces, and none at the end or start of a line."""
        first, *others = templates
        said = [self.say(first), *(self._one_or_two(each) for each in others)]
        whole = re.sub("  +", " ", " ".join(said))
        return whole.replace(" \n", "\n").replace("\n\n ", "\n\n").strip()

    def _one_or_two(self, sentence: str) -> str:
        """Render a sentence; of a loose choice, perhaps two of its branches."""
        if not (_is_loose(sentence) and self.is_likely(_TWO)):
            return self.say(sentence)
        branches = sentence[1:-1].split("|")
        chosen = sorted(self.some(range(len(branches)), 2))
        return " ".join([self.say(branches[each]) for each in chosen])

    def _drawn(self, part: re.Match[str]) -> str:
        if part["branches"] is not None:
            return self.say(self.one_of(part["branches"].split("|")))
        form, name = part["form"] or "", part["list"].lower()
        if form in ("list", "numbered"):
            return self._listing(name, is_numbered=form == "numbered")
        word = self._word(name, part["number"], part["mark"])
        if form:
            word = f"an {word}" if _IS_VOWEL_SOUND.match(word) else f"a {word}"
        return word if part[0][1:2].islower() else capital(word)

    def _word(self, name: str, number: str, mark: str) -> str:
        if mark == "?":
            return self.say(self.one_of(self._vocabulary[name]))
        if mark == "!":
            return self.new_word(name)
        slot = name + number
        if slot not in self._bound:
            self._bound[slot] = self.new_word(name)
        return self._bound[slot]

    def _listing(self, name: str, *, is_numbered: bool) -> str:
        """Render three to five items of a list, one per line, in order."""
        count = self.number(_FEWEST, _MOST)
        unsaid = self.unsaid(name)
        if len(unsaid) < _FEWEST:
            raise Exhausted
        drawn = [self.taken_from(unsaid) for _ in range(min(count, len(unsaid)))]
        items = [capital(self.say(each)) for each in self._vocabulary[name] if each in drawn]
        marks = (f"{number}." if is_numbered else "-" for number in range(1, _MOST + 1))
        lines = (f"{mark} {item}" for mark, item in zip(marks, items, strict=False))
        return "\n\n" + "\n".join(lines) + "\n\n"


@cache
def _is_loose(sentence: str) -> bool:
    """Whether it is a choice among statements that draw from different lists."""
    if not _STATEMENTS.fullmatch(sentence):
        return False
    drawn: list[str] = []
    for branch in sentence[1:-1].split("|"):
        drawn += {part["list"].lower() for part in _PART.finditer(branch)}
    return len(set(drawn)) == len(drawn)


def capital(text: str) -> str:
    """Capitalise the first letter; the rest is unchanged."""
    return text[:1].upper() + text[1:]


_CLOSED = re.compile(r"(?:[.?!]\|?\]?|\{(?:list|numbered) [a-z_]+\})$")
_BRACKETS = re.compile(r"\[[^\[\]]*\]|\{[^{}]*\}")


def _split_outside(text: str, separator: str) -> list[str]:
    """Split a text at a separator outside of brackets."""
    hidden = _BRACKETS.sub(lambda bracket: bracket[0].replace(separator, "\0"), text)
    return [part.replace("\0", separator) for part in hidden.split(separator)]


def word_lists(block: str) -> dict[str, tuple[str, ...]]:
    """Read word lists, by name."""
    lines = (line.partition(":") for line in _lines(block) if line)
    return {
        name: tuple(value.strip() for value in _split_outside(values, "|"))
        for name, _, values in lines
    }


def scenes(block: str) -> tuple[Scene, ...]:
    found: list[list[str]] = [[]]
    for line in _lines(block):
        found[-1:] = [found[-1] + [line]] if line else [found[-1], []]
    return tuple(_scene(lines) for lines in found if lines)


def sentences(written: str) -> list[str]:
    """Split a template at the ends of sentences, outside of brackets.

    An optional opening stays with the first sentence: `[Yes.|] That is right.`
    """
    cut = list[str]()
    head = ""
    for piece in _split_outside(written, " "):
        head = f"{head} {piece}" if head else piece
        is_mere_opening = not cut and head.endswith("|]")
        if _CLOSED.search(head) and not is_mere_opening:
            cut.append(head)
            head = ""
    return [*cut, head] if head else cut


def _lines(block: str) -> Iterator[str]:
    """Yield lines, joined with their continuations; several empty lines become one."""
    whole = re.sub(r"\n +(?=\S)", " ", "\n".join(map(str.rstrip, block.strip().splitlines())))
    return iter(re.sub(r"\n\n+", "\n\n", whole).split("\n"))


def _scene(lines: list[str]) -> Scene:
    sides = [tuple(sentences(line[2:])) for line in lines]
    return tuple(Move(*both) for both in zip(sides[::2], sides[1::2], strict=True))
