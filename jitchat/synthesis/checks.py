"""Whether what an observer made may stand: not empty, not of others' turns, not repetitive. Pure.

What fails here never replaces what stands; nothing of it is stored.
"""

from collections import Counter
from collections.abc import Iterable, Sequence

from jitchat.statements import Observation
from jitchat.synthesis.sentences import sentences_of, words_of
from jitchat.values import Turn

_LEAST_REPEATED, _REPEATED = 3, 0.5
"""A line that stands so often, or so large a share of lines or of words that are repeated."""
_LEAST_LEFT = 0.1
"""Of the words of what stands, a reflection keeps at least so large a share."""
_USED = 0.5
"""Where its room allows no more than that: so large a share of what it allows."""
_STRETCH = 4
"""Words by which repetition within a line is told."""
_LONG = 24


def fault_of(lines: Sequence[Observation], turns: Sequence[Turn]) -> str:
    """Say, as a clause, why lines cannot stand for turns; empty where they can."""
    if not lines:
        says_something = any(each.words for turn in turns for each in sentences_of(turn))
        return "it made no lines" if says_something else ""
    positions = {turn.position for turn in turns}
    if any(positions.isdisjoint(line.source.turns) for line in lines):
        return "a line names none of the turns that it was given"
    return _form_fault(lines)


def reflection_fault(
    lines: Sequence[Observation], standing: Sequence[Observation], allowed: float = 1.0
) -> str:
    """Say, as a clause, why lines cannot take the place of those that stand.

    `allowed` is the room that they had, as a share of what stands.
    """
    if not lines:
        return "it made no lines"
    known = {turn for line in standing for turn in line.source.turns}
    if any(known.isdisjoint(line.source.turns) for line in lines):
        return "a line names turns that no line named"
    before, after = _words(standing), _words(lines)
    if len(after) < min(_LEAST_LEFT, _USED * allowed) * len(before):
        return "it kept next to nothing"
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
    """Whether most stretches of words of a text stand in it before."""
    words = text.casefold().split()
    if len(words) < _LONG:
        return False
    stretches = [tuple(words[at : at + _STRETCH]) for at in range(len(words) - _STRETCH + 1)]
    return len(set(stretches)) < (1 - _REPEATED) * len(stretches)


def _words(lines: Iterable[Observation]) -> frozenset[str]:
    return frozenset(word for line in lines for word in words_of(line.text))
