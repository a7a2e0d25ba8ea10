"""What observations carry of the turns that they were made of, and what they drop. Pure.

Checked after each pass: whatever has to be kept in any case and no line has is added, word for
word. All else that no line has is told, turn by turn.
"""

from collections.abc import Iterable, Mapping, Sequence
from dataclasses import dataclass, replace

from jitchat.statements import Observation, Priority
from jitchat.synthesis.sentences import (
    by_turn,
    is_carried,
    items_of,
    line_of,
    sentences_of,
    with_items,
    words_of,
)
from jitchat.values import Turn


@dataclass(frozen=True, slots=True)
class Dropped:
    """What no line has of a turn."""

    turn: int
    sentences: tuple[str, ...]
    items: tuple[str, ...] = ()
    """Names, figures and files that are to be kept, and that stand in no line at all."""


def complete(
    lines: Sequence[Observation], turns: Sequence[Turn], standing: Iterable[Observation] = ()
) -> tuple[Observation, ...]:
    """Add what has to be kept of turns and is missing in their lines, in order of turns.

    A name or a figure that some line has, of these or of those that stand, is not listed again.
    """
    own = _words_by_turn(lines)
    named = {word for line in (*standing, *lines) for word in words_of(line.text)}
    added: list[Observation] = []
    also: dict[int, tuple[str, ...]] = {}
    for turn in turns:
        missing = [
            each
            for each in sentences_of(turn)
            if each.priority is Priority.HIGH
            and not is_carried(each, own.get(turn.position, frozenset()))
        ]
        if missing:
            added.append(line_of(turn, missing))
            named.update(word for each in missing for word in each.words)
        items = tuple(each for each in items_of(turn) if not words_of(each) <= named)
        named.update(word for each in items for word in words_of(each))
        if items:
            also[turn.position] = items
    return _with_items(_in_order((*lines, *added)), turns, also)


def _with_items(
    lines: Sequence[Observation], turns: Iterable[Turn], also: Mapping[int, tuple[str, ...]]
) -> tuple[Observation, ...]:
    """Put items behind the last line of their turn alone; a turn without one gets it."""
    made = list(lines)
    own = {
        line.source.first: number
        for number, line in enumerate(lines)
        if line.source.first == line.source.last
    }
    for turn in turns:
        if turn.position not in also:
            continue
        if (number := own.get(turn.position)) is not None:
            made[number] = replace(
                made[number], text=with_items(made[number].text, also[turn.position])
            )
        else:
            made.append(line_of(turn, (), also[turn.position]))
    return _in_order(made)


def _in_order(lines: Iterable[Observation]) -> tuple[Observation, ...]:
    return tuple(sorted(lines, key=lambda line: (line.source.first, line.source.last)))


def dropped(lines: Sequence[Observation], turns: Iterable[Turn]) -> list[Dropped]:
    """Tell, turn by turn, which statements no line carries, and which names are in none."""
    own = _words_by_turn(lines)
    named = frozenset(word for line in lines for word in words_of(line.text))
    found = []
    for turn in turns:
        words = own.get(turn.position, frozenset())
        lost = tuple(each.text for each in sentences_of(turn) if not is_carried(each, words))
        items = tuple(each for each in items_of(turn) if not words_of(each) <= named)
        if lost or items:
            found.append(Dropped(turn.position, lost, items))
    return found


def _words_by_turn(lines: Sequence[Observation]) -> dict[int, frozenset[str]]:
    found: dict[int, frozenset[str]] = {}
    for turn, line in by_turn(lines):
        found[turn] = found.get(turn, frozenset()) | words_of(line.text)
    return found
