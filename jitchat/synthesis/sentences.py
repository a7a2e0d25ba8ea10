"""The sentences of turns, as candidates for observations: their content and how much they matter.

A line of the built-in observer has the speaker and the chosen sentences of one turn, verbatim:
`Ana: We freeze on Friday. … The port is 9641. [also: Oslo]`. An ellipsis marks sentences that are
left out; names and figures that no sentence carries follow in brackets.
"""

from collections.abc import Iterable, Iterator, Sequence
from collections.abc import Set as AbstractSet
from dataclasses import dataclass, replace
from datetime import datetime
from functools import lru_cache

from jitchat.index.tool_results import result_line
from jitchat.statements import Observation, Priority, Source
from jitchat.text.dates import dates_in
from jitchat.text.entities import entities
from jitchat.text.expressions import expressions, says
from jitchat.text.sanitize import one_line
from jitchat.text.sentences import is_question, marked_sentences
from jitchat.text.stance import commits, is_standing
from jitchat.text.words import stems
from jitchat.values import Role, Turn
from jitchat.window.exchange import is_requested

LEFT_OUT = " … "
_QUESTION, _PLEASANTRY, _CAPTIONED, _CODE = 0.3, 0.1, 0.6, 0.1
"""Factor on the worth of such a sentence's words, compared with a plain statement."""
_OF_SELF, _OF_OTHER = 1.2, 0.6
"""Factors for a sentence about its speaker, and for one only about the other person: "you did
great" says what is already known."""
_NO_PERSON = 0.5
"""Factor for a model's reply, which can be requested again."""
_ENOUGH = 0.6
"""Lines that have this share of a sentence's words, and all its figures, carry the sentence."""
_SHORT_QUESTION = 80
"""Maximum characters of a question that only asks; a longer one states what it is about."""
_READ = 20_000
"""Characters of a result, or of arguments, that are compared with lines."""
_NO_PERSONS = tuple(f"{role}" for role in (Role.ASSISTANT, Role.TOOL, Role.SYSTEM))


@dataclass(frozen=True, slots=True)
class Sentence:
    text: str
    """On one line."""
    place: int
    """Its index among the sentences of its turn or line, from 0."""
    words: frozenset[str]
    """The stems of its content words, and its figures."""
    worth: float
    """The worth of each of its words; 1 for a person's plain statement."""
    priority: Priority


def speaker_of(turn: Turn) -> str:
    """Name the speaker of a turn, as a line of observations does."""
    return one_line(turn.speaker).replace(":", "") or turn.role.value


def is_person(turn: Turn) -> bool:
    """Whether a person is the speaker: the user, or somebody with a name."""
    return turn.role is Role.USER or (turn.role is Role.ASSISTANT and bool(turn.name))


def sentences_of(turn: Turn) -> tuple[Sentence, ...]:
    """List the sentences of a turn, in order; none for results of jitchat's own tools."""
    if is_requested(turn):
        return ()
    if turn.use.answers is not None:
        return (_sentence(result_line(turn), 0, is_code=False, of_person=False),)
    return tuple(
        _sentence(text, place, is_code=is_code, of_person=is_person(turn))
        for place, (text, is_code) in enumerate(marked_sentences(turn.content))
    )


def _sentence(text: str, place: int, *, is_code: bool, of_person: bool) -> Sentence:
    line = one_line(text)
    said = words_of(line)
    is_pleasantry = not is_code and bool(expressions("stance")["pleasantry"].match(line))
    worth = _worth(line, is_code, is_pleasantry) * (1.0 if of_person else _NO_PERSON)
    priority = _priority(line, is_code, is_pleasantry, of_person)
    return Sentence(line, place, said, worth if said else 0.0, priority)


@lru_cache(maxsize=1 << 15)
def words_of(text: str) -> frozenset[str]:
    return frozenset(stems(text))


def _worth(sentence: str, is_code: bool, is_pleasantry: bool) -> float:
    if is_code or is_pleasantry:
        return _CODE if is_code else _PLEASANTRY
    worth = _CAPTIONED if expressions("observations")["caption"].match(sentence) else 1.0
    if says("stance", "of_self", sentence):
        worth *= _OF_SELF
    elif says("stance", "of_other", sentence):
        worth *= _OF_OTHER
    return worth * (_QUESTION if _only_asks(sentence) else 1.0)


def _only_asks(sentence: str) -> bool:
    """Whether a sentence is a question that states little itself."""
    return len(sentence) <= _SHORT_QUESTION and is_question(sentence)


def _priority(sentence: str, is_code: bool, is_pleasantry: bool, of_person: bool) -> Priority:
    """Return HIGH for what must be kept, LOW for what says little, else MEDIUM."""
    if not is_code and (commits(sentence) or (of_person and _binds(sentence))):
        return Priority.HIGH
    says_little = is_code or is_pleasantry or _only_asks(sentence)
    return Priority.LOW if says_little else Priority.MEDIUM


def _binds(sentence: str) -> bool:
    if is_standing(sentence) or says("stance", "lesson", sentence):
        return True
    binds = says("stance", "constraint", sentence) or says("stance", "open_task", sentence)
    return binds and not _only_asks(sentence)


def is_carried(sentence: Sentence, words: frozenset[str]) -> bool:
    """Whether lines with these words carry a sentence: all its figures and most of its words."""
    if not sentence.words:
        return True
    shared = sentence.words & words
    figures = {word for word in sentence.words if any(map(str.isdigit, word))}
    return len(shared) >= _ENOUGH * len(sentence.words) and figures <= words


# Names, figures and files.


def items_of(turn: Turn) -> tuple[str, ...]:
    """List the names, figures, files and artefacts of a turn that must be kept.

    For a person's turn, all of them, figures with the noun that they count; for a model's reply,
    only files and other names with a suffix or a path.
    """
    if is_requested(turn) or turn.use.answers is not None:
        return ()
    prose = "\n".join(text for text, is_code in marked_sentences(turn.content) if not is_code)
    return items_in(prose, of_person=is_person(turn))


def items_in(prose: str, *, of_person: bool) -> tuple[str, ...]:
    """List the items of a turn's prose; see `items_of`."""
    patterns = expressions("observations")
    names = [one_line(name) for name in entities(prose)]
    if of_person:
        names = [name for name in names if not patterns["figures"].fullmatch(name)]
        names += [figure[0] for figure in patterns["figures"].finditer(prose)]
    else:
        names = [name for name in names if patterns["file_name"].fullmatch(name)]
    return tuple(dict.fromkeys(name for name in names if _is_item(name)))


def _is_item(name: str) -> bool:
    return bool(words_of(name)) and not expressions("observations")["brackets"].search(name)


# Lines.


def line_of(turn: Turn, chosen: Sequence[Sentence], also: Sequence[str] = ()) -> Observation:
    """Make a turn's line from some of its sentences, in order, and further names."""
    return Observation(
        with_items(f"{speaker_of(turn)}: {joined(chosen)}", also),
        Source(turn.position, turn.position),
        _highest(chosen),
        turn.created_at,
        resolved_days(chosen, turn.created_at),
    )


def joined(chosen: Sequence[Sentence]) -> str:
    """Join sentences of one turn; an ellipsis replaces those left out between them."""
    text, last = "", None
    for each in sorted(chosen, key=lambda sentence: sentence.place):
        if last is not None:
            text += " " if each.place == last + 1 else LEFT_OUT
        text, last = text + each.text, each.place
    return text


def with_items(text: str, also: Sequence[str]) -> str:
    """Add names and figures to a line's text, after those that it already lists."""
    if not also:
        return text
    bare, known = without_items(text)
    return f"{bare.rstrip()} [also: {', '.join(dict.fromkeys((*known, *also)))}]"


def without_items(text: str) -> tuple[str, tuple[str, ...]]:
    """Split a line's text into the text alone and the names and figures listed after it."""
    listed = expressions("observations")["listed_after"].search(text)
    if listed is None:
        return text, ()
    return text[: listed.start()], tuple(item for item in listed[1].split(", ") if item)


def label_of(text: str) -> str:
    """Read the speaker's label of a line: `Ana: `; empty if it has none."""
    label = expressions("observations")["speaker_label"].match(text)
    return label[0] if label else ""


def is_of_person(line: Observation) -> bool:
    """Whether a person is the speaker of a line, according to its label."""
    return not label_of(line.text).startswith(_NO_PERSONS)


def sentences_in(line: Observation) -> tuple[Sentence, ...]:
    """Split a line into its sentences; a gap in their places marks what is left out."""
    label = label_of(line.text)
    bare = without_items(line.text.removeprefix(label))[0]
    of_person = is_of_person(line)
    made, place = list[Sentence](), 0
    for passage in bare.split(LEFT_OUT):
        for text, _ in marked_sentences(passage):
            sentence = _sentence(text, place, is_code=False, of_person=of_person)
            is_low = line.priority is Priority.LOW
            made.append(replace(sentence, priority=Priority.LOW) if is_low else sentence)
            place += 1
        place += 1
    return tuple(made)


def _highest(chosen: Sequence[Sentence]) -> Priority:
    levels = {sentence.priority for sentence in chosen}
    return next((level for level in Priority if level in levels), Priority.LOW)


def resolved_days(chosen: Sequence[Sentence], said_at: datetime | None) -> tuple[str, ...]:
    """List the days that sentences name only relative to the day on which they were said."""
    if said_at is None:
        return ()
    text = "\n".join(sentence.text for sentence in chosen)
    spelt = set(dates_in(text, None))
    is_resolved = expressions("observations")["resolved"].search
    days = dates_in(text, said_at.date())
    return tuple(day for day in days if day not in spelt and is_resolved(day))


def by_turn(lines: Sequence[Observation]) -> Iterator[tuple[int, Observation]]:
    for line in lines:
        for turn in line.source.turns:
            yield turn, line


def words_by_turn(lines: Sequence[Observation]) -> dict[int, frozenset[str]]:
    """Return the words of the lines of each turn."""
    words: dict[int, frozenset[str]] = {}
    for turn, line in by_turn(lines):
        words[turn] = words.get(turn, frozenset()) | words_of(line.text)
    return words


def words_in(lines: Iterable[Observation]) -> frozenset[str]:
    return frozenset(word for line in lines for word in words_of(line.text))


def new_items(items: Iterable[str], named: AbstractSet[str]) -> tuple[str, ...]:
    """Return the names and figures that have words which are not yet named."""
    return tuple(item for item in items if not words_of(item) <= named)
