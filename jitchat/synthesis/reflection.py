"""Reflecting on observations: which statements repeat others, and which are superseded. Pure.

A statement supersedes an earlier one of the same speaker that it contradicts. The earlier one
stays, marked with the turn and the day of the later one, so that both dates are known.
"""

from collections import Counter
from collections.abc import Iterator, Sequence
from dataclasses import dataclass, replace

from jitchat.statements import Observation, Superseded
from jitchat.synthesis import sentences
from jitchat.synthesis.sentences import Sentence
from jitchat.text.contradiction import is_outdated_by, statement_of

_LEAST_SHARED = 2
"""Words of their subjects that two statements must share: one word is often not a subject."""


@dataclass(frozen=True, slots=True)
class _Statement:
    line: int
    label: str
    sentence: Sentence
    is_alone: bool
    """Whether it is the only statement of its line."""


def _statements(lines: Sequence[Observation]) -> list[_Statement]:
    return [
        _Statement(number, sentences.label_of(line.text), sentence, len(said) == 1)
        for number, line in enumerate(lines)
        for said in [sentences.sentences_in(line)]
        for sentence in said
        if sentence.words
    ]


def repeated(lines: Sequence[Observation]) -> frozenset[tuple[int, int]]:
    """Find sentences, by line and place, whose words are all in another one of the same speaker.

    Of two with the same words, the later one is kept.
    """
    said = _statements(lines)
    having: dict[str, set[int]] = {}
    for number, each in enumerate(said):
        for word in each.sentence.words:
            having.setdefault(word, set()).add(number)
    gone: set[int] = set()
    for number, each in enumerate(said):
        with_all = set.intersection(*(having[word] for word in each.sentence.words)) - {number}
        if any(_is_repeated_by(said[other], each, other > number) for other in with_all - gone):
            gone.add(number)
    return frozenset((said[number].line, said[number].sentence.place) for number in gone)


def _is_repeated_by(other: _Statement, one: _Statement, is_later: bool) -> bool:
    is_more = len(other.sentence.words) > len(one.sentence.words)
    return one.label == other.label and (is_more or is_later)


def marked(lines: Sequence[Observation]) -> tuple[Observation, ...]:
    """Mark the single-statement lines that a later statement supersedes."""
    made = list(lines)
    for earlier, later in _superseded(_statements(lines)):
        line, by = made[earlier.line], lines[later.line]
        if line.superseded is None:
            day = by.said_at.date() if by.said_at is not None else None
            made[earlier.line] = replace(line, superseded=Superseded(by.source.first, day))
    return tuple(made)


def _superseded(said: Sequence[_Statement]) -> Iterator[tuple[_Statement, _Statement]]:
    """Pair statements that are alone in their lines with later ones that outdate them."""
    by_word: dict[tuple[str, str], list[_Statement]] = {}
    for later in said:
        about = statement_of(later.sentence.text).about
        shared = Counter(
            earlier for word in about for earlier in by_word.get((later.label, word), ())
        )
        near = (earlier for earlier, words in shared.items() if words >= _LEAST_SHARED)
        for earlier in near:
            if is_outdated_by(earlier.sentence.text, later.sentence.text):
                yield earlier, later
        for word in about if later.is_alone else ():
            by_word.setdefault((later.label, word), []).append(later)


def lost_lines(lines: Sequence[Observation], standing: Sequence[Observation]) -> list[Observation]:
    """List the parts of standing lines that no new line has: sentences, and names in no line."""
    own = sentences.words_by_turn(lines)
    anywhere = sentences.words_in(lines)
    lost: list[Observation] = []
    for line in standing:
        words = frozenset(word for turn in line.source.turns for word in own.get(turn, ()))
        gone = [
            sentence
            for sentence in sentences.sentences_in(line)
            if not sentences.is_carried(sentence, words) and not sentence.words <= anywhere
        ]
        items = sentences.new_items(sentences.without_items(line.text)[1], anywhere)
        if gone or items:
            text = sentences.label_of(line.text) + sentences.joined(gone)
            lost.append(replace(line, text=sentences.with_items(text, items)))
    return lost
