"""What observations carry of the turns that they were made from, and what they drop. Pure.

After each pass, whatever must be kept and is in no line is added verbatim. Everything else that is
in no line is reported, turn by turn.
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
    """The parts of a turn that no line has."""

    turn: int
    sentences: tuple[str, ...]
    items: tuple[str, ...] = ()
    """Names, figures and files that should be kept and are in no line at all."""


def complete(
    lines: Sequence[Observation], turns: Sequence[Turn], standing: Iterable[Observation] = ()
) -> tuple[Observation, ...]:
    """Add what must be kept and is missing from the turns' lines, in order of turns.

    A name or a figure that some line has, new or standing, is not listed again.
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
    """Append items to the last line that has only their turn; add a line if there is none."""
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
    """List, turn by turn, the statements that no line carries and the names that are in none."""
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
