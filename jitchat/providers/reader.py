"""The embedded reader: it answers with the sentences of the window that match the question best.

The reader gets what any model gets, so this parses the very text that was sent: turns as
messages, quoted turns and index lines in the last one, the question at its end.

An earlier citation of its own repeats what somebody else said: it is cited, and said to be that,
only where the window does not hold the source itself.

A sentence is worth the share of the question's words that it holds, each weighed by how rare
it is in this window; words of its turn and of the question that it follows count for less.
Sentences of the kind asked for (a time, a number, a decision) are preferred; of two equals
the later one wins, for it may be the correction.

It is an extractive reader, not a language model: it quotes the sentences of the window that
fit the question best, or says that the window does not hold the answer. It knows nothing
else, so the difference between the modes is real with it.
"""

from __future__ import annotations

import asyncio
import math
import re
import threading
from collections import Counter
from collections.abc import AsyncGenerator, Callable, Iterable, Iterator, Mapping, Sequence
from dataclasses import dataclass, replace
from itertools import chain, pairwise

from jitchat.providers.provider import Delta, Finished, Options, Piece
from jitchat.text.dates import has_time_cue
from jitchat.text.sanitize import shorten
from jitchat.text.sentences import is_question, sentences
from jitchat.text.stance import commits
from jitchat.text.words import stem, stems, words
from jitchat.values import Message, Role, Usage

_DAY = re.compile(r"\A\[([A-Z][a-z]{2} \d{4}-\d\d-\d\d)\]\n")
_BLOCK = re.compile(
    r"^<(?P<tag>(?:index|recalled|pinned)(?:-\d+)?)>\n(?P<body>.*?)^</(?P=tag)>\n",
    re.MULTILINE | re.DOTALL,
)
_QUOTED = re.compile(
    r"^<(?P<tag>turn(?:-\d+)?) #(?P<turn>\d+)(?: (?P<day>\w{3} \d+-\d\d-\d\d))?"
    r" (?P<who>[^<>\n]*)>\n(?P<text>.*?)\n</(?P=tag)>$",
    re.MULTILINE | re.DOTALL,
)
_LINE = re.compile(
    r"^#(?P<turn>\d+)(?: (?P<day>\d{4}-\d\d-\d\d))? (?P<who>[^:]*?)(?: \(decision\))?:"
    r" (?P<text>.*)$",
    re.MULTILINE,
)


@dataclass(frozen=True, slots=True)
class Passage:
    """What one speaker says in the window."""

    turn: int | None
    who: str
    day: str
    """As the window gives it; empty if it does not."""
    text: str
    whole: bool
    """False for an index line, which only sums the turn up."""


def read_window(messages: Sequence[Message]) -> tuple[list[Passage], str]:
    """Read the passages, in order of the conversation, and the question."""
    passages: list[Passage] = []
    day = ""
    for message in messages[:-1]:
        if message.role is Role.SYSTEM:
            continue
        pins = _BLOCK.fullmatch(message.content) if message.turn is None else None
        if pins:
            passages += _quoted([pins])
            continue
        day, text = _dated(message.content, day)
        passages.append(Passage(message.turn, message.role.value, day, text, whole=True))
    tail = messages[-1] if messages else Message(Role.USER, "")
    # a draft that is a message of its own has no blocks ahead of it: what looks so, was typed
    blocks = list(_leading_blocks(tail.content)) if tail.turn is None else []
    question = tail.content[blocks[-1].end() :] if blocks else tail.content
    passages += _quoted(blocks)
    passages.sort(key=lambda passage: passage.turn or 0)
    return passages, _dated(question.removeprefix("\n"), day)[1].strip()


def _leading_blocks(tail: str) -> Iterator[re.Match[str]]:
    """Find the blocks that open the last message; what comes later is the user's own text."""
    end = 0
    while block := _BLOCK.match(tail, end):
        yield block
        end = block.end()


def _dated(text: str, day: str) -> tuple[str, str]:
    marker = _DAY.match(text)
    return (marker[1], text[marker.end() :]) if marker else (day, text)


def _quoted(blocks: Sequence[re.Match[str]]) -> list[Passage]:
    found: list[Passage] = []
    for block in blocks:
        is_index = block["tag"].startswith("index")
        for match in (_LINE if is_index else _QUOTED).finditer(block["body"]):
            place, day = int(match["turn"]), match["day"] or ""
            found.append(Passage(place, match["who"], day, match["text"], whole=not is_index))
    return found


ABOUT = (
    "I am the embedded reader, not a language model: I quote what the window holds. Ask me about"
    " something that was said in this conversation."
)
_NOT_HELD = "The window does not hold an answer to that."
_LONGEST_QUOTE = 600
"""In characters."""
_CODE = re.compile(r"\s--[a-z]|[{};]$|^\$ ")
_CITATION = re.compile(
    r"(?:- )?[“`](?P<quote>(?>.*(?=[”`] \()))[”`]"
    r" \((?:#(?P<source>\d++), .*|my earlier reply #\d++, which quoted #(?P<first>\d++))\)"
)


def not_held(turns: int) -> str:
    """Say that the window, with so many earlier turns at full text, has no answer."""
    if not turns:
        return f"{_NOT_HELD} It has no earlier turn at full text."
    held = f"{turns} earlier turns" if turns > 1 else "1 earlier turn"
    return f"{_NOT_HELD} It has {held} at full text, and no sentence there fits the question."


def cited(passage: Passage, sentence: str) -> str:
    """Quote a sentence with its source."""
    where = f"#{passage.turn}, {passage.who}" + (f", {passage.day}" if passage.day else "")
    source = where if passage.whole else f"{where}, index line"
    return f"{_marked(sentence)} ({source})"


def cited_again(passage: Passage, quote: str, source: int) -> str:
    """Quote an earlier citation of its own; `source` is the turn that it cited."""
    return f"{_marked(quote)} (my earlier reply #{passage.turn}, which quoted #{source})"


def citations_in(passage: Passage) -> list[tuple[str, int]]:
    """List what an earlier reply of its own quoted, with the turn that it came from."""
    if not passage.whole or not is_own(passage):
        return []
    found = map(_CITATION.fullmatch, passage.text.strip().splitlines())
    return [(each["quote"], int(each["source"] or each["first"])) for each in found if each]


def _marked(sentence: str) -> str:
    quote = shorten(sentence, _LONGEST_QUOTE)
    return f"`{quote}`" if _CODE.search(quote) and "`" not in quote else f"“{quote}”"


def is_own(passage: Passage) -> bool:
    """Whether the reader said this."""
    text = passage.text.strip()
    if text == ABOUT or text.startswith(_NOT_HELD):
        return True
    if not passage.whole:
        # the summary of a long citation may lack its source
        return passage.who == "assistant" and text.startswith(("“", "- “", "`", "- `"))
    lines = text.splitlines()
    return bool(lines) and all(_CITATION.fullmatch(line) for line in lines)


Stems = tuple[str, ...]
"""Each once; a set would take six times the memory."""

_MOST = 4_000_000
"""Characters, each passage taken to be longer by `_BESIDES`: 24 MB in all at the most."""
_BESIDES = 200


@dataclass(frozen=True, slots=True)
class Reading:
    """What one passage comes to."""

    is_own: bool
    """Whether the reader said it: nothing of it is looked at then, and all else is empty."""
    sentences: tuple[tuple[str, Stems], ...] = ()
    """Each with its stems and those of who says it."""
    around: Stems = ()
    """Stems of the whole passage."""
    anywhere: Stems = ()
    """Those, and those of its sentences."""
    asks: bool = False
    """Whether it ends in a question."""

    @classmethod
    def of(cls, passage: Passage) -> Reading:
        """Read a passage."""
        if is_own(passage):
            return cls(is_own=True)
        said = sentences(passage.text)
        owns = [_distinct(stems(f"{passage.who} {sentence}")) for sentence in said]
        around = _distinct(stems(passage.text))
        return cls(
            is_own=False,
            sentences=tuple(zip(said, owns, strict=True)),
            around=around,
            anywhere=_distinct(chain(around, *owns)),
            asks=is_question(passage.text),
        )


class Readings:
    """What passages came to. Safe to use from several threads."""

    def __init__(self, most: int = _MOST) -> None:
        """`most` bounds what is kept, in characters; see `_MOST`."""
        self._most, self._size = most, 0
        self._known: dict[_Key, Reading] = {}
        self._lock = threading.Lock()

    def of(self, passages: Sequence[Passage]) -> list[Reading]:
        """Read the passages of a window, in order; those that are known are not read again."""
        with self._lock:
            found = [self._known.get(_key(passage)) or self._read(passage) for passage in passages]
            if self._size > self._most:
                self._forget_all_but(dict(zip(map(_key, passages), found, strict=True)))
            return found

    def _read(self, passage: Passage) -> Reading:
        made = self._known[_key(passage)] = Reading.of(passage)
        self._size += _BESIDES + len(passage.text)
        return made

    def _forget_all_but(self, window: dict[_Key, Reading]) -> None:
        """Keep what one window came to, as far as it goes: its beginning comes up again."""
        self._known, self._size = {}, 0
        for key, reading in window.items():
            size = self._size + _BESIDES + len(key[0])
            if size > self._most:
                break
            self._known[key], self._size = reading, size


_Key = tuple[str, str, bool]


def _key(passage: Passage) -> _Key:
    return passage.text, passage.who, passage.whole


def _distinct(found: Iterable[str]) -> Stems:
    return tuple(dict.fromkeys(found))


ENOUGH = 0.55
"""The share of the question that must be covered for an answer."""
_ROUNDING = 1e-9
_LISTED = 6
_BESIDE_WEIGHT, _TURN_WEIGHT, _ASKED_WEIGHT = 0.8, 0.5, 0.4
_RAREST = 5.0
_KIND, _NEAR = 0.2, 0.85
_INDEX_LINE = 0.9

_WHEN = re.compile(
    r"\b(?:when|what time|which (?:day|date)|what (?:day|date)|how long)\b", re.IGNORECASE
)
_HOW_MANY = re.compile(
    r"\b(?:how (?:many|much|often)|which (?:port|number)|what port)\b", re.IGNORECASE
)
_SEVERAL = re.compile(
    r"\b(?:how many|which \w+s\b|list|all (?:the|of)|who all|every)\b", re.IGNORECASE
)
_DECIDED = re.compile(
    r"\b(?:decid\w*|decision|agree[ds]?|settled?|chose|choose|pick(?:ed)?|conclu\w+)\b",
    re.IGNORECASE,
)
_ABOUT_ASKING = frozenset(
    stems(
        "decide decided decision agree agreed settle settled choose chose pick picked conclude"
        " say said tell told mention mentioned talk talked discuss discussed remember recall know"
        " exactly again please question answer conversation turn message many much often list"
    )
)
_COMMAND = re.compile(r"\bcommands?(?: line)?\b", re.IGNORECASE)
_LIKE_CODE = re.compile(r"(?:^|\s)--?[a-z]|^\$ |[{};]$|\w\(")
_NUMBER = re.compile(
    r"\d|\b(?:one|two|three|four|five|six|seven|eight|nine|ten|dozen)\b", re.IGNORECASE
)


@dataclass(frozen=True, slots=True)
class Finding:
    """A sentence that fits."""

    passage: Passage
    sentence: str
    score: float


@dataclass(frozen=True, slots=True)
class _Turn:
    """A passage that has some of the stems that are wanted, and which of them where."""

    passage: Passage
    reading: Reading
    anywhere: frozenset[str]
    asked: frozenset[str]
    """In the turn before, where that is a question."""


@dataclass(frozen=True, slots=True)
class _Unit:
    """A sentence, and which of the stems that are wanted occur where."""

    turn: _Turn
    sentence: str
    own: frozenset[str]
    beside: frozenset[str]
    """In the sentence before it, which it may take up."""
    around: frozenset[str]
    """In the whole turn."""


def wanted_stems(question: str) -> frozenset[str]:
    """Find what the question is about, without the words that are about asking."""
    return _matter(question) or frozenset(stems(_COMMAND.sub("", question)))


def question_of(draft: str) -> str:
    """Find the last question in what the user says; all of it where nothing is asked."""
    asked = [each for each in sentences(draft) if is_question(each) and _matter(each)]
    return asked[-1] if asked else draft


def _matter(question: str) -> frozenset[str]:
    return frozenset(stems(_COMMAND.sub("", question))) - _ABOUT_ASKING


def find_answers(
    passages: Sequence[Passage], question: str, readings: Readings | None = None
) -> list[Finding]:
    """Find the best sentences, best first; none where the window does not hold the answer.

    `readings` are what passages came to before.
    """
    read = (readings or Readings()).of(passages)
    wordings = chain([wanted_stems(question)], _in_one_word(question, read))
    tried = (_found(passages, read, question, wanted) for wanted in wordings)
    return next(filter(None, tried), [])


def _in_one_word(question: str, read: Sequence[Reading]) -> Iterator[frozenset[str]]:
    """Give what is wanted with each pair of words as one that the window has: `rollback`."""
    wanted, said = wanted_stems(question), words(question)
    pairs = {stem(one + other): (stem(one), stem(other)) for one, other in pairwise(said)}
    known = {each for each in pairs if any(each in reading.anywhere for reading in read)}
    if known:
        yield (wanted - {part for each in known for part in pairs[each]}) | known


def _found(
    passages: Sequence[Passage], read: Sequence[Reading], question: str, wanted: frozenset[str]
) -> list[Finding]:
    """Find the best sentences for the stems that are wanted."""
    turns = _sharing(passages, read, wanted)
    rarity = _rarity(turns, sum(len(each.sentences) for each in read), wanted)
    units = [unit for turn in turns if _may_do(turn, rarity) for unit in _units_of(turn, wanted)]
    found = [Finding(u.turn.passage, u.sentence, _score(u, question, rarity)) for u in units]
    found = [each for each in found if each.score >= ENOUGH]
    order = {id(each): place for place, each in enumerate(found)}
    found.sort(key=lambda each: (-round(each.score, 3), -order[id(each)]))
    if not found or not _SEVERAL.search(question):
        return found[:1]
    return _one_a_turn([each for each in found if each.score >= found[0].score * _NEAR])[:_LISTED]


def _sharing(
    passages: Sequence[Passage], readings: Sequence[Reading], wanted: frozenset[str]
) -> list[_Turn]:
    """Find the turns that have a wanted stem: where only what was asked has, that is too little."""
    turns: list[_Turn] = []
    asked: Stems = ()
    for passage, reading in zip(passages, readings, strict=True):
        if reading.is_own:
            continue
        if not wanted.isdisjoint(reading.anywhere):
            here, before = wanted.intersection(reading.anywhere), wanted.intersection(asked)
            turns.append(_Turn(passage, reading, here, before))
        asked = reading.around if reading.asks else ()
    return turns


def _rarity(turns: Sequence[_Turn], size: int, wanted: frozenset[str]) -> dict[str, float]:
    """Tell how rare each stem is among so many sentences, of which those of `turns` may have it."""
    said = (stems_of_it for turn in turns for _, stems_of_it in turn.reading.sentences)
    having = Counter(chain.from_iterable(map(wanted.intersection, said)))
    return {stem: min(_RAREST, math.log(1 + (size + 1) / (having[stem] + 0.5))) for stem in wanted}


def _may_do(turn: _Turn, rarity: Mapping[str, float]) -> bool:
    """Whether a sentence that had all that its turn has, and what was asked, would be enough."""
    most = sum(rarity[stem] for stem in turn.anywhere | turn.asked)
    return most > (ENOUGH - _ROUNDING) * sum(rarity.values())


def _units_of(turn: _Turn, wanted: frozenset[str]) -> Iterator[_Unit]:
    around, beside = wanted.intersection(turn.reading.around), frozenset[str]()
    for sentence, stems_of_it in turn.reading.sentences:
        own = wanted.intersection(stems_of_it)
        yield _Unit(turn, sentence, own, beside, around)
        beside = own


def _score(unit: _Unit, question: str, rarity: Mapping[str, float]) -> float:
    """Tell what a sentence is worth; 0 where that is not enough."""
    covered = sum(
        value
        * max(
            float(stem in unit.own),
            _BESIDE_WEIGHT * (stem in unit.beside),
            _TURN_WEIGHT * (stem in unit.around),
            _ASKED_WEIGHT * (stem in unit.turn.asked),
        )
        for stem, value in rarity.items()
    )
    score = covered / sum(rarity.values())
    if score < ENOUGH:
        return 0.0
    if is_question(unit.sentence):
        return score * 0.5
    score *= 1.0 if unit.turn.passage.whole else _INDEX_LINE
    return score + _KIND * _is_of_kind(unit.sentence, question) * (score >= ENOUGH)


def _is_of_kind(sentence: str, question: str) -> bool:
    """Whether the sentence has what the question asks for."""
    return (
        bool(_WHEN.search(question) and has_time_cue(sentence))
        or bool(_HOW_MANY.search(question) and _NUMBER.search(sentence))
        or bool(_COMMAND.search(question) and _LIKE_CODE.search(sentence))
        or bool(_DECIDED.search(question) and commits(sentence))
    )


def _one_a_turn(found: Sequence[Finding]) -> list[Finding]:
    kept: dict[int | None, Finding] = {}
    for each in found:
        kept.setdefault(each.passage.turn, each)
    return sorted(kept.values(), key=lambda each: each.passage.turn or 0)


_PIECE = re.compile(r"\S+\s*|\s+")


class ReaderProvider:
    """Answers from the window that it is given, and from nothing else."""

    name = "reader"
    model = "reader"

    def __init__(self, count: Callable[[Sequence[Message], str], tuple[int, int]]) -> None:
        """`count` tells the tokens of a request and of an answer, for the usage."""
        self._count = count
        self._readings = Readings()

    async def stream(
        self,
        messages: Sequence[Message],
        options: Options,  # noqa: ARG002  a provider is given them; a reader has none to heed
    ) -> AsyncGenerator[Piece, None]:
        """Stream the answer, a word at a time."""
        text, usage = await asyncio.to_thread(self._read, messages)
        for piece in _PIECE.findall(text):
            yield Delta(piece)
            await asyncio.sleep(0)
        yield usage
        yield Finished("stop")

    def wire(
        self,
        messages: Sequence[Message],
        options: Options,
        *,
        as_posted: bool = False,
    ) -> None:
        """Nothing leaves: there is no request."""

    async def aclose(self) -> None:
        """Nothing to give back."""

    def _read(self, messages: Sequence[Message]) -> tuple[str, Usage]:
        """Answer and count: seconds of work where the window is very long."""
        text = answer(messages, self._readings)
        return text, Usage(*self._count(messages, text))


def answer(messages: Sequence[Message], readings: Readings | None = None) -> str:
    """Say what the window holds. `readings` are what passages came to before."""
    passages, draft = read_window(messages)
    question = question_of(draft)
    if not wanted_stems(question):
        return ABOUT
    best = find_answers(passages, question, readings)
    found = [cited(each.passage, each.sentence) for each in best]
    if not found:
        found = _found_again(passages, question, readings)
    if not found:
        return not_held(len({passage.turn for passage in passages if passage.whole}))
    return "\n".join(f"- {each}" for each in found) if found[1:] else found[0]


def _found_again(
    passages: Sequence[Passage], question: str, readings: Readings | None
) -> list[str]:
    """Cite what it cited before: the window shows that, though it lacks the turn itself."""
    others: list[Passage] = []
    sources: dict[Passage, int] = {}
    for passage in passages:
        again = {replace(passage, text=quote): turn for quote, turn in citations_in(passage)}
        sources |= again
        others += again or [passage]
    best = find_answers(others, question, readings) if sources else []
    return [
        cited_again(each.passage, each.sentence, sources[each.passage])
        for each in best
        if each.passage in sources
    ]
