"""Finding the sentences of a window that answer a question.

A sentence is worth the share of the question's words that it holds, each weighed by how rare
it is in this window; words of its turn and of the question that it follows count for less.
Sentences of the kind asked for (a time, a number, a decision) are preferred; of two equals
the later one wins, for it may be the correction.
"""

from __future__ import annotations

import math
import re
from collections import Counter
from collections.abc import Iterator, Mapping, Sequence
from dataclasses import dataclass
from itertools import chain, pairwise

from jitchat.providers.reader.passages import Passage
from jitchat.providers.reader.reading import Reading, Readings, Stems
from jitchat.text.dates import has_time_cue
from jitchat.text.decisions import commits
from jitchat.text.sentences import is_question, sentences
from jitchat.text.words import stem, stems, words

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
