"""What observations carry of the turns that they were made from, and what they drop. Pure.

After each pass, whatever must be kept and is in no line is added verbatim. Everything else that is
in no line is reported, turn by turn.
"""

from collections.abc import Iterable, Iterator, Mapping, Sequence
from dataclasses import dataclass, replace

from jitchat.index.tool_results import result_line
from jitchat.statements import Observation, Priority
from jitchat.synthesis import sentences
from jitchat.text.sanitize import one_line
from jitchat.values import Turn
from jitchat.window.exchange import is_requested
from jitchat.writing.calls import call_text


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
    own = sentences.words_by_turn(lines)
    named = set(sentences.words_in((*standing, *lines)))
    added: list[Observation] = []
    also: dict[int, tuple[str, ...]] = {}
    for turn in turns:
        missing = [
            sentence for sentence in _not_carried(turn, own) if sentence.priority is Priority.HIGH
        ]
        if missing:
            added.append(sentences.line_of(turn, missing))
            named.update(word for sentence in missing for word in sentence.words)
        items = sentences.new_items(sentences.items_of(turn), named)
        named.update(word for item in items for word in sentences.words_of(item))
        if items:
            also[turn.position] = items
    return _with_items(_in_order((*lines, *added)), turns, also)


def _not_carried(turn: Turn, own: Mapping[int, frozenset[str]]) -> Iterator[sentences.Sentence]:
    """Yield the sentences of a turn that its lines, given by their words, do not carry."""
    words = own.get(turn.position, frozenset())
    for sentence in sentences.sentences_of(turn):
        if not sentences.is_carried(sentence, words):
            yield sentence


def _with_items(
    lines: Sequence[Observation], turns: Iterable[Turn], also: Mapping[int, tuple[str, ...]]
) -> tuple[Observation, ...]:
    """Append items to the last line that has only their turn; add a line if there is none."""
    completed = list(lines)
    own = {
        line.source.first: number
        for number, line in enumerate(lines)
        if line.source.first == line.source.last
    }
    for turn in turns:
        items = also.get(turn.position, ())
        number = own.get(turn.position)
        if items and number is not None:
            text = sentences.with_items(lines[number].text, items)
            completed[number] = replace(lines[number], text=text)
        elif items:
            completed.append(sentences.line_of(turn, (), items))
    return _in_order(completed)


def _in_order(lines: Iterable[Observation]) -> tuple[Observation, ...]:
    return tuple(sorted(lines, key=lambda line: (line.source.first, line.source.last)))


def dropped(lines: Sequence[Observation], turns: Iterable[Turn]) -> list[Dropped]:
    """List, turn by turn, the statements that no line carries and the names that are in none.

    A result that is carried by a line on it, and not by its words, is one of the statements.
    """
    own = sentences.words_by_turn(lines)
    named = sentences.words_in(lines)
    lost: list[Dropped] = []
    for turn in turns:
        carried = tuple(sentence.text for sentence in _not_carried(turn, own))
        texts = (*carried, *_unread(turn))
        items = sentences.new_items(sentences.items_of(turn), named)
        if texts or items:
            lost.append(Dropped(turn.position, texts, items))
    return lost


def _unread(turn: Turn) -> Iterator[str]:
    """Describe what no line can have: calls, and a result that is longer than its index line."""
    yield from filter(None, map(call_text, turn.use.calls))
    if turn.use.answers is None or is_requested(turn):
        return
    line = result_line(turn)
    if one_line(turn.content) not in line:
        yield f"all but this of {len(turn.content):,} characters: {line}"
