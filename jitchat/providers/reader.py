"""The embedded reader: it answers with the sentences of the window that match the question best.

The reader gets what any model gets. Where no sentence fits and `request_context` is offered, it
asks the store once, and answers from what came back.

An earlier citation of its own repeats what somebody else said: it is cited, and said to be that,
only where the window does not hold the source itself.

A sentence is worth the share of the question's words that it holds, each weighed by how rare
it is in this window; words of its turn and of the question that it follows count for less.
Sentences of the kind asked for (a time, a number, a decision) are preferred; of two equals
the later one wins, for it may be the correction.

It is an extractive reader, not a language model, and knows nothing but its window: so the
difference between the modes is real with it.
"""

import asyncio
import json
import math
import re
import threading
from collections import Counter
from collections.abc import AsyncGenerator, Callable, Iterable, Iterator, Mapping, Sequence
from dataclasses import dataclass, replace
from functools import cache
from itertools import chain, pairwise

from jitchat.providers.passages import (
    DOCUMENT_LINE,
    KEPT_FACT,
    Passage,
    around_draft,
    read_window,
)
from jitchat.providers.provider import Finished, Options, Piece, ReplyDelta
from jitchat.text.dates import has_time_cue
from jitchat.text.focus import ends_of, focus_of
from jitchat.text.sanitize import shorten
from jitchat.text.sentences import is_question, sentences
from jitchat.text.stance import commits
from jitchat.text.words import stem, stems, words
from jitchat.values import REQUEST_CONTEXT, Message, ToolCall, Usage

ABOUT = (
    "I am the embedded reader, not a language model: I quote what the window holds. Ask me about"
    " something that was said in this conversation."
)
_QUERY_ENDS = 200
"""Characters of each end of what is asked for of the store."""
_NOT_HELD = "The window does not hold an answer to that."
_STATEMENTS = (KEPT_FACT, DOCUMENT_LINE)
"""Who says what is of no turn that the window shows."""
_LONGEST_QUOTE = 600
"""In characters."""
_CODE = re.compile(r"\s--[a-z]|[{};]$|^\$ ")
_CITATION = re.compile(
    r"(?:- )?[“`](?P<quote>(?>.*(?=[”`] \()))[”`]"
    r" \((?:#(?P<source>\d++), .*|(?:[^\s#]++#\d++, .*|a fact that you kept.*"
    r"|the memory document.*)"
    r"|my earlier reply #\d++, which quoted #(?P<first>\d++))\)"
)


def not_held(turns: int) -> str:
    """Say that the window, with so many earlier turns at full text, has no answer."""
    if not turns:
        return f"{_NOT_HELD} It has no earlier turn at full text."
    held = f"{turns} earlier turns" if turns > 1 else "1 earlier turn"
    return f"{_NOT_HELD} It has {held} at full text, and no sentence there fits the question."


def cited(passage: Passage, sentence: str) -> str:
    where = ", ".join(filter(None, (passage.where, passage.who, passage.day)))
    source = where if passage.whole else f"{where}, index line"
    return f"{_marked(sentence)} ({source})"


def citations_in(passage: Passage) -> list[tuple[str, int]]:
    """List what an earlier reply of its own quoted, with the turn that it came from."""
    if not passage.whole or not is_own(passage):
        return []
    matches = map(_CITATION.fullmatch, passage.text.strip().splitlines())
    found = ((match, match["source"] or match["first"]) for match in matches if match)
    return [(match["quote"], int(source)) for match, source in found if source]


def _marked(sentence: str) -> str:
    quote = shorten(sentence, _LONGEST_QUOTE)
    return f"`{quote}`" if _CODE.search(quote) and "`" not in quote else f"“{quote}”"


def is_own(passage: Passage) -> bool:
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
    def of(cls, passage: Passage) -> "Reading":
        if is_own(passage):
            return cls(is_own=True)
        texts = sentences(passage.text)
        owns = [_distinct(stems(f"{passage.who} {sentence}")) for sentence in texts]
        around = _distinct(stems(passage.text))
        return cls(
            is_own=False,
            sentences=tuple(zip(texts, owns, strict=True)),
            around=around,
            anywhere=_distinct(chain(around, *owns)),
            asks=is_question(passage.text),
        )


_Key = tuple[str, str, bool]
"""A text, who says it, and whether it is whole."""


class Readings:
    """What passages came to. Safe to use from several threads."""

    def __init__(self, most: int = _MOST) -> None:
        """`most` bounds what is kept, in characters; see `_MOST`."""
        self._most, self._size = most, 0
        self._known: dict[_Key, Reading] = {}
        self._lock = threading.Lock()

    def of(self, passages: Sequence[Passage]) -> list[Reading]:
        """Read the passages of a window, in order; those that are known are not read again."""
        keys = [(passage.text, passage.who, passage.whole) for passage in passages]
        with self._lock:
            readings = [
                self._known.get(key) or self._keep(key, Reading.of(passage))
                for key, passage in zip(keys, passages, strict=True)
            ]
            if self._size > self._most:
                # only this window's are kept, as far as there is room: its beginning comes up again
                self._known, self._size = {}, 0
                for key, reading in dict(zip(keys, readings, strict=True)).items():
                    if self._size + _BESIDES + len(key[0]) > self._most:
                        break
                    self._keep(key, reading)
            return readings

    def _keep(self, key: _Key, reading: Reading) -> Reading:
        self._known[key] = reading
        self._size += _BESIDES + len(key[0])
        return reading


_Read = Sequence[tuple[Passage, Reading]]


def _distinct(items: Iterable[str]) -> Stems:
    return tuple(dict.fromkeys(items))


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
_ABOUT_ASKING = (
    "decide decided decision agree agreed settle settled choose chose pick picked conclude"
    " say said tell told mention mentioned talk talked discuss discussed remember recall know"
    " exactly again please question answer conversation turn message many much often list"
)
_COMMAND = re.compile(r"\bcommands?(?: line)?\b", re.IGNORECASE)
_LIKE_CODE = re.compile(r"(?:^|\s)--?[a-z]|^\$ |[{};]$|\w\(")
_NUMBER = re.compile(
    r"\d|\b(?:one|two|three|four|five|six|seven|eight|nine|ten|dozen)\b", re.IGNORECASE
)


@dataclass(frozen=True, slots=True)
class Finding:
    passage: Passage
    sentence: str
    score: float


def wanted_stems(question: str) -> frozenset[str]:
    """Find what the question is about, without the words that are about asking."""
    return _matter(question) or frozenset(stems(_COMMAND.sub("", question)))


def question_of(draft: str) -> str:
    """Find the last question in what the user says; all of it where nothing is asked."""
    questions = (text for text in reversed(sentences(draft)) if is_question(text) and _matter(text))
    return next(questions, draft)


@cache
def _stems_about_asking() -> frozenset[str]:
    return frozenset(stems(_ABOUT_ASKING))


def _matter(question: str) -> frozenset[str]:
    return frozenset(stems(_COMMAND.sub("", question))) - _stems_about_asking()


def find_answers(
    passages: Sequence[Passage], question: str, readings: Readings | None = None
) -> list[Finding]:
    """Find the best sentences, best first; none where the window does not hold the answer.

    `readings` are what passages came to before.
    """
    read = list(zip(passages, (readings or Readings()).of(passages), strict=True))
    wordings = chain([wanted_stems(question)], _in_one_word(question, read))
    attempts = (_best(read, question, wanted) for wanted in wordings)
    return next(filter(None, attempts), [])


def _in_one_word(question: str, read: _Read) -> Iterator[frozenset[str]]:
    """Give what is wanted with each pair of words as one that the window has: `rollback`."""
    pairs = {
        stem(one + other): (stem(one), stem(other)) for one, other in pairwise(words(question))
    }
    known = {word for word in pairs if any(word in reading.anywhere for _, reading in read)}
    if known:
        yield (wanted_stems(question) - {part for word in known for part in pairs[word]}) | known


def _best(read: _Read, question: str, wanted: frozenset[str]) -> list[Finding]:
    """Find the best sentences for the stems that are wanted."""
    rarity = _rarity([reading for _, reading in read], wanted)
    scored: list[Finding] = []
    asked: Stems = ()
    for passage, reading in read:
        if reading.is_own:
            continue
        if not wanted.isdisjoint(reading.anywhere):
            scored += _scored(passage, reading, wanted.intersection(asked), rarity, question)
        asked = reading.around if reading.asks else ()
    scored.reverse()  # the later of two equals comes first
    scored.sort(key=lambda finding: -round(finding.score, 3))
    if not scored or not _SEVERAL.search(question):
        return scored[:1]
    near = scored[0].score * _NEAR
    by_turn: dict[int | None, Finding] = {}
    for finding in scored:
        if finding.score >= near:
            by_turn.setdefault(finding.passage.turn, finding)
    return sorted(by_turn.values(), key=lambda finding: finding.passage.turn or 0)[:_LISTED]


def _rarity(readings: Sequence[Reading], wanted: frozenset[str]) -> dict[str, float]:
    """Tell how rare each stem is among the sentences of the window."""
    size = sum(len(reading.sentences) for reading in readings)
    sharing = (reading for reading in readings if not wanted.isdisjoint(reading.anywhere))
    having = Counter(
        chain.from_iterable(
            wanted.intersection(own) for reading in sharing for _, own in reading.sentences
        )
    )
    return {stem: min(_RAREST, math.log(1 + (size + 1) / (having[stem] + 0.5))) for stem in wanted}


def _scored(
    passage: Passage,
    reading: Reading,
    asked: frozenset[str],
    rarity: Mapping[str, float],
    question: str,
) -> Iterator[Finding]:
    """Yield the sentences of a turn that are worth enough; `asked` is in the question before it."""
    total = sum(rarity.values())
    most = sum(rarity[stem] for stem in asked.union(rarity.keys() & reading.anywhere))
    if most <= (ENOUGH - _ROUNDING) * total:
        return
    beside: Stems = ()
    for sentence, own in reading.sentences:
        places = ((own, 1.0), (beside, _BESIDE_WEIGHT), (reading.around, _TURN_WEIGHT))
        covered = sum(
            value
            * max(weight * (stem in place) for place, weight in (*places, (asked, _ASKED_WEIGHT)))
            for stem, value in rarity.items()
        )
        beside = own
        score = covered / total
        if score < ENOUGH:
            continue
        if is_question(sentence):
            score *= 0.5
        else:
            score *= 1.0 if passage.whole else _INDEX_LINE
            score += _KIND * _is_of_kind(sentence, question) * (score >= ENOUGH)
        if score >= ENOUGH:
            yield Finding(passage, sentence, score)


def _is_of_kind(sentence: str, question: str) -> bool:
    """Whether the sentence has what the question asks for."""
    return (
        bool(_WHEN.search(question) and has_time_cue(sentence))
        or bool(_HOW_MANY.search(question) and _NUMBER.search(sentence))
        or bool(_COMMAND.search(question) and _LIKE_CODE.search(sentence))
        or bool(_DECIDED.search(question) and commits(sentence))
    )


_PIECE = re.compile(r"\S+\s*|\s+")


def _in_pieces(text: str) -> list[ReplyDelta]:
    return list(map(ReplyDelta, _PIECE.findall(text)))


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
        options: Options,
    ) -> AsyncGenerator[Piece, None]:
        asks = may_ask(messages, options)
        said, usage = await asyncio.to_thread(self._read, messages, asks=asks)
        for piece in [said] if isinstance(said, ToolCall) else _in_pieces(said):
            yield piece
            await asyncio.sleep(0)
        yield usage
        yield Finished("tool_calls" if isinstance(said, ToolCall) else "stop")

    def wire(
        self, messages: Sequence[Message], options: Options, *, as_posted: bool = False
    ) -> None:
        """Nothing leaves: there is no request."""

    async def aclose(self) -> None: ...

    def _read(self, messages: Sequence[Message], *, asks: bool) -> tuple[str | ToolCall, Usage]:
        """Answer and count: seconds of work where the window is very long."""
        text = answer(messages, self._readings)
        if asks and text.startswith(_NOT_HELD):
            call = question_call(messages)
            return call, Usage(*self._count(messages, call.arguments))
        return text, Usage(*self._count(messages, text))


def may_ask(messages: Sequence[Message], options: Options) -> bool:
    """Whether it may ask the store: the tool is offered, and it did not for this question."""
    is_offered = any(tool.name == REQUEST_CONTEXT for tool in options.tools)
    _, _, behind = around_draft(messages)
    has_asked = any(message.use.calls for message in behind)
    return is_offered and options.tool_choice is None and not has_asked


def question_call(messages: Sequence[Message]) -> ToolCall:
    """Ask the store for what the draft asks, and not for what is pasted around it."""
    _, draft = read_window(messages)
    query = ends_of(focus_of(question_of(draft)).asked, _QUERY_ENDS)
    return ToolCall("call_1", REQUEST_CONTEXT, json.dumps({"query": query}, ensure_ascii=False))


def answer(messages: Sequence[Message], readings: Readings | None = None) -> str:
    """Say what the window holds. `readings` are what passages came to before."""
    passages, draft = read_window(messages)
    question = question_of(draft)
    if not wanted_stems(question):
        return ABOUT
    best = find_answers(passages, question, readings)
    citations = [cited(finding.passage, finding.sentence) for finding in best]
    if not citations:
        citations = _found_again(passages, question, readings)
    if not citations:
        held = (each for each in passages if each.whole and each.who not in _STATEMENTS)
        return not_held(len({passage.where for passage in held}))
    return "\n".join(f"- {citation}" for citation in citations) if citations[1:] else citations[0]


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
        f"{_marked(finding.sentence)}"
        f" (my earlier reply #{finding.passage.turn}, which quoted #{sources[finding.passage]})"
        for finding in best
        if finding.passage in sources
    ]
