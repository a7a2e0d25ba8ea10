"""The built-in reader: it answers with the sentences of the window that match the question best.

The reader gets the same messages as any model. If no sentence matches and `request_context` is
offered, it queries the store once and answers from the result.

An earlier reply of the reader only repeats other turns. Its citations are quoted, and marked as
such, only if the window does not contain their source.

A sentence scores the share of the question's words that it contains, weighted by their rarity in
the window; words elsewhere in its turn and in a preceding question count for less. Sentences with
the kind of answer asked for (a time, a number, a decision) are preferred; of two equal sentences
the later one wins, since it may be a correction.

It is an extractive reader, not a language model, and knows only its window. The differences that
it shows between the modes are therefore real.
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
from jitchat.values import (
    REQUEST_CONTEXT,
    Message,
    Tool,
    ToolCall,
    Usage,
)
from jitchat.writing.pieces import PLAIN, WritingRules

ABOUT = (
    "I am the built-in reader, not a language model: I only quote from the window. Ask me about"
    " something that was said in this conversation."
)
_QUERY_ENDS = 200
"""Characters kept from each end of a query to the store."""
_NO_ANSWER = "No answer in this window. "
_STORED_ANSWERS = (
    _NO_ANSWER,
    ABOUT,
    "The window does not hold an answer to that.",
    "I am the embedded reader, not a language model: ",
)
"""Beginnings of replies without a citation. The last two are earlier wordings, in stored turns."""
_STATEMENTS = (KEPT_FACT, DOCUMENT_LINE)
"""Speakers of passages that do not belong to a turn in the window."""
_LONGEST_QUOTE = 600
"""In characters."""
_CODE = re.compile(r"\s--[a-z]|[{};]$|^\$ ")
_CITATION = re.compile(
    r"(?:- )?[“`](?P<quote>(?>.*(?=[”`] \()))[”`]"
    r" \((?:#(?P<source>\d++), .*|(?:[^\s#]++#\d++, .*|a fact that you kept.*"
    r"|the memory document.*)"
    r"|my earlier reply #\d++, which quoted #(?P<first>\d++))\)"
)


def no_answer(turns: int) -> str:
    """Return the reply for a window without an answer; `turns` counts its earlier full turns."""
    if not turns:
        return f"{_NO_ANSWER}It has no earlier turn in full."
    if turns == 1:
        return f"{_NO_ANSWER}The only earlier turn in it does not match the question."
    return f"{_NO_ANSWER}None of the {turns} earlier turns in it matches the question."


def cited(passage: Passage, sentence: str) -> str:
    where = ", ".join(filter(None, (passage.where, passage.who, passage.day)))
    source = where if passage.whole else f"{where}, index line"
    return f"{_marked(sentence)} ({source})"


def citations_in(passage: Passage) -> list[tuple[str, int]]:
    """List the quotes in an earlier reply of the reader, with the turn that each came from."""
    if not passage.whole or not is_own(passage):
        return []
    matches = map(_CITATION.fullmatch, passage.text.strip().splitlines())
    found = ((match, match["source"] or match["first"]) for match in matches if match)
    return [(match["quote"], int(source)) for match, source in found if source]


def _marked(sentence: str) -> str:
    quote = shorten(sentence, _LONGEST_QUOTE)
    return f"`{quote}`" if _CODE.search(quote) and "`" not in quote else f"“{quote}”"


def is_own(passage: Passage) -> bool:
    """Whether the passage is an earlier reply of the reader."""
    text = passage.text.strip()
    if text.startswith(_STORED_ANSWERS):
        return True
    if not passage.whole:
        # the summary of a long citation may lack its source
        return passage.who == "assistant" and text.startswith(("“", "- “", "`", "- `"))
    lines = text.splitlines()
    return bool(lines) and all(_CITATION.fullmatch(line) for line in lines)


Stems = tuple[str, ...]
"""Without duplicates. A set would take six times the memory."""

_CACHE_SIZE = 4_000_000
"""Maximum characters of cached passages, plus `_OVERHEAD` for each: at most 24 MB in all."""
_OVERHEAD = 200


@dataclass(frozen=True, slots=True)
class Reading:
    """A passage analysed for matching: its sentences and stems."""

    is_own: bool
    """Whether it is a reply of the reader; if so, it is ignored and the other fields are empty."""
    sentences: tuple[tuple[str, Stems], ...] = ()
    """Each sentence with its stems and those of its speaker."""
    around: Stems = ()
    """Stems of the whole passage."""
    anywhere: Stems = ()
    """Stems of the whole passage and of `sentences`."""
    asks: bool = False
    """Whether the passage ends with a question."""

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
"""Text, speaker, and whether the text is whole."""


class Readings:
    """A cache of readings. Thread-safe."""

    def __init__(self, most: int = _CACHE_SIZE) -> None:
        """Make an empty cache of at most `most` characters; see `_CACHE_SIZE`."""
        self._most, self._size = most, 0
        self._known: dict[_Key, Reading] = {}
        self._lock = threading.Lock()

    def of(self, passages: Sequence[Passage]) -> list[Reading]:
        """Return the readings of a window's passages, in order; known passages are not reread."""
        keys = [(passage.text, passage.who, passage.whole) for passage in passages]
        with self._lock:
            readings = [
                self._known.get(key) or self._keep(key, Reading.of(passage))
                for key, passage in zip(keys, passages, strict=True)
            ]
            if self._size > self._most:
                # keep only this window's, from its start, which the next window will share
                self._known, self._size = {}, 0
                for key, reading in dict(zip(keys, readings, strict=True)).items():
                    if self._size + _OVERHEAD + len(key[0]) > self._most:
                        break
                    self._keep(key, reading)
            return readings

    def _keep(self, key: _Key, reading: Reading) -> Reading:
        self._known[key] = reading
        self._size += _OVERHEAD + len(key[0])
        return reading


_Read = Sequence[tuple[Passage, Reading]]


def _distinct(items: Iterable[str]) -> Stems:
    return tuple(dict.fromkeys(items))


ENOUGH = 0.55
"""The share of the question's weight that a sentence must cover to be an answer."""
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
    """Return the stems of the question's topic, without words about asking such as "remember"."""
    return _topic(question) or frozenset(stems(_COMMAND.sub("", question)))


def question_of(draft: str) -> str:
    """Return the last question in the draft; the whole draft if there is none."""
    questions = (text for text in reversed(sentences(draft)) if is_question(text) and _topic(text))
    return next(questions, draft)


@cache
def _stems_about_asking() -> frozenset[str]:
    return frozenset(stems(_ABOUT_ASKING))


def _topic(question: str) -> frozenset[str]:
    return frozenset(stems(_COMMAND.sub("", question))) - _stems_about_asking()


def find_answers(
    passages: Sequence[Passage], question: str, readings: Readings | None = None
) -> list[Finding]:
    """Return the best sentences, best first; none if the window does not contain the answer.

    `readings` caches the analysis of passages between calls.
    """
    read = list(zip(passages, (readings or Readings()).of(passages), strict=True))
    wordings = chain([wanted_stems(question)], _with_compounds(question, read))
    attempts = (_best(read, question, wanted) for wanted in wordings)
    return next(filter(None, attempts), [])


def _with_compounds(question: str, read: _Read) -> Iterator[frozenset[str]]:
    """Yield the wanted stems with pairs joined if the window has the compound: `rollback`."""
    pairs = {
        stem(one + other): (stem(one), stem(other)) for one, other in pairwise(words(question))
    }
    known = {word for word in pairs if any(word in reading.anywhere for _, reading in read)}
    if known:
        yield (wanted_stems(question) - {part for word in known for part in pairs[word]}) | known


def _best(read: _Read, question: str, wanted: frozenset[str]) -> list[Finding]:
    """Return the best sentences for the wanted stems."""
    rarity = _rarity([reading for _, reading in read], wanted)
    scored: list[Finding] = []
    asked: Stems = ()
    for passage, reading in read:
        if reading.is_own:
            continue
        if not wanted.isdisjoint(reading.anywhere):
            scored += _scored(passage, reading, wanted.intersection(asked), rarity, question)
        asked = reading.around if reading.asks else ()
    scored.reverse()  # of two equal scores the later comes first
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
    """Return the inverse document frequency of each stem over the window's sentences."""
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
    """Yield the sentences of a turn that score enough; `asked` is in the question before it."""
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
    """Whether the sentence has the kind of answer asked for: a time, a number or a decision."""
    return (
        bool(_WHEN.search(question) and has_time_cue(sentence))
        or bool(_HOW_MANY.search(question) and _NUMBER.search(sentence))
        or bool(_COMMAND.search(question) and _LIKE_CODE.search(sentence))
        or bool(_DECIDED.search(question) and commits(sentence))
    )


_WORD = re.compile(r"\S+\s*|\s+")


def _deltas(text: str) -> list[ReplyDelta]:
    return list(map(ReplyDelta, _WORD.findall(text)))


class ReaderProvider:
    """A provider that answers only from the window it is given."""

    name = "reader"
    model = "reader"

    def __init__(
        self, count: Callable[[Sequence[Message], Sequence[Tool], str], tuple[int, int]]
    ) -> None:
        """Make a reader.

        `count` returns the tokens of a request, by its messages and tools, and of an answer.
        """
        self._count = count
        self._readings = Readings()

    def rules(self, _: Options) -> WritingRules:
        return PLAIN

    async def stream(
        self,
        messages: Sequence[Message],
        options: Options,
    ) -> AsyncGenerator[Piece, None]:
        can_ask = can_request(messages, options)
        reply, usage = await asyncio.to_thread(self._read, messages, options.tools, can_ask=can_ask)
        for piece in [reply] if isinstance(reply, ToolCall) else _deltas(reply):
            yield piece
            await asyncio.sleep(0)
        yield usage
        yield Finished("tool_calls" if isinstance(reply, ToolCall) else "stop")

    def wire(
        self, messages: Sequence[Message], options: Options, *, as_posted: bool = False
    ) -> None:
        """Return None: nothing is sent over the network."""

    async def aclose(self) -> None: ...

    def _read(
        self, messages: Sequence[Message], tools: Sequence[Tool], *, can_ask: bool
    ) -> tuple[str | ToolCall, Usage]:
        """Answer and count tokens. Takes seconds if the window is very long."""
        text = answer(messages, self._readings)
        if can_ask and text.startswith(_NO_ANSWER):
            call = question_call(messages)
            return call, Usage(*self._count(messages, tools, call.arguments))
        return text, Usage(*self._count(messages, tools, text))


def can_request(messages: Sequence[Message], options: Options) -> bool:
    """Whether the reader can call `request_context`: it is offered, and was not called yet."""
    is_offered = any(tool.name == REQUEST_CONTEXT for tool in options.tools)
    _, _, after = around_draft(messages)
    has_asked = any(message.use.calls for message in after)
    return is_offered and options.tool_choice is None and not has_asked


def question_call(messages: Sequence[Message]) -> ToolCall:
    """Return a call that queries the store for the draft's question, without pasted text."""
    _, draft = read_window(messages)
    query = ends_of(focus_of(question_of(draft)).asked, _QUERY_ENDS)
    return ToolCall("call_1", REQUEST_CONTEXT, json.dumps({"query": query}, ensure_ascii=False))


def answer(messages: Sequence[Message], readings: Readings | None = None) -> str:
    """Return the reply to the window. `readings` caches the analysis of passages between calls."""
    passages, draft = read_window(messages)
    question = question_of(draft)
    if not wanted_stems(question):
        return ABOUT
    best = find_answers(passages, question, readings)
    citations = [cited(finding.passage, finding.sentence) for finding in best]
    if not citations:
        citations = _earlier_citations(passages, question, readings)
    if not citations:
        full = (each for each in passages if each.whole and each.who not in _STATEMENTS)
        return no_answer(len({passage.where for passage in full}))
    return "\n".join(f"- {citation}" for citation in citations) if citations[1:] else citations[0]


def _earlier_citations(
    passages: Sequence[Passage], question: str, readings: Readings | None
) -> list[str]:
    """Cite the quotes in earlier replies of the reader whose source turn is not in the window."""
    candidates: list[Passage] = []
    sources: dict[Passage, int] = {}
    for passage in passages:
        quotes = {replace(passage, text=quote): turn for quote, turn in citations_in(passage)}
        sources |= quotes
        candidates += quotes or [passage]
    best = find_answers(candidates, question, readings) if sources else []
    return [
        f"{_marked(finding.sentence)}"
        f" (my earlier reply #{finding.passage.turn}, which quoted #{sources[finding.passage]})"
        for finding in best
        if finding.passage in sources
    ]
