"""Checks on an observer's result: not empty, only of the given turns, not repetitive. Pure.

A result that fails never replaces standing observations, and none of it is stored.
"""

from collections import Counter
from collections.abc import Sequence

from jitchat.statements import Observation
from jitchat.synthesis.sentences import sentences_of, words_in
from jitchat.values import Turn

_LEAST_REPEATED, _REPEATED = 3, 0.5
"""Too repetitive: a line that occurs this often and makes up this share of the lines, or a line in
which this share of word sequences is repeated."""
_LEAST_LEFT = 0.1
"""The share of the standing lines' words that a reflection must keep."""
_USED = 0.5
"""The share of its room that a reflection must fill, if that is less."""
_SEQUENCE = 4
"""Length in words of the sequences by which repetition within a line is detected."""
_LONG = 24
"""Words of the shortest line that is checked for repetition."""


def fault_of(lines: Sequence[Observation], turns: Sequence[Turn]) -> str:
    """State, as a clause, why lines cannot replace turns; empty if they can."""
    if not lines:
        has_content = any(each.words for turn in turns for each in sentences_of(turn))
        return "it wrote no lines" if has_content else ""
    positions = {turn.position for turn in turns}
    if any(positions.isdisjoint(line.source.turns) for line in lines):
        return "a line names none of the turns that were sent"
    return _form_fault(lines)


def reflection_fault(
    lines: Sequence[Observation], standing: Sequence[Observation], allowed: float = 1.0
) -> str:
    """State, as a clause, why lines cannot replace the standing ones; empty if they can.

    `allowed` is the room that the lines had, as a share of the standing lines' size.
    """
    if not lines:
        return "it wrote no lines"
    known = {turn for line in standing for turn in line.source.turns}
    if any(known.isdisjoint(line.source.turns) for line in lines):
        return "a line names turns that no earlier line named"
    before, after = words_in(standing), words_in(lines)
    if len(after) < min(_LEAST_LEFT, _USED * allowed) * len(before):
        return "it kept almost nothing"
    return _form_fault(lines)


def _form_fault(lines: Sequence[Observation]) -> str:
    if any(not line.text.strip() for line in lines):
        return "a line is empty"
    texts = Counter(line.text.casefold() for line in lines)
    most = max(texts.values())
    if most >= _LEAST_REPEATED and most >= _REPEATED * len(lines):
        return "it repeats a line"
    if any(_is_repetitive(line.text) for line in lines):
        return "a line repeats itself"
    return ""


def _is_repetitive(text: str) -> bool:
    """Whether most word sequences of a text repeat earlier ones."""
    words = text.casefold().split()
    if len(words) < _LONG:
        return False
    sequences = [tuple(words[at : at + _SEQUENCE]) for at in range(len(words) - _SEQUENCE + 1)]
    return len(set(sequences)) < (1 - _REPEATED) * len(sequences)
