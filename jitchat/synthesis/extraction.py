"""The sentences of a message that are worth keeping, verbatim, and the section that each goes to.

A sentence is kept verbatim, preceded by its speaker's name unless that is the user. Nothing is
inferred from it: what is not asserted is not a fact, and what a model says about the user is not
taken at all.
"""

from collections.abc import Iterator
from functools import lru_cache
from itertools import pairwise

from jitchat.index.entry import sentence_weight
from jitchat.statements import DocumentLine, Section, Source
from jitchat.text.assertions import Assertion, assertion_of, forgotten, is_relation
from jitchat.text.dates import dates_in, has_time_cue
from jitchat.text.entities import entities
from jitchat.text.expressions import says
from jitchat.text.focus import is_order
from jitchat.text.sanitize import both_ends, shorten
from jitchat.text.sentences import marked_sentences
from jitchat.text.stance import commits, disclaims, is_decision, is_standing
from jitchat.values import Role, Status, Turn

_READ_CHARACTERS = 20_000
"""Characters at either end of a long message that are read."""
_WIDTH = 300
"""Maximum characters of a sentence; a longer one is cut, with an ellipsis."""
_LEAST, _LEAST_NOTE = 1.5, 3.5
"""Minimum weight of a sentence, by `weight_of`, and of one that goes to the notes."""
_SETTLED = (Status.COMPLETE, Status.CUT, Status.CANCELLED, Status.INTERRUPTED)


@lru_cache(maxsize=1 << 13)
def names_in(text: str) -> tuple[str, ...]:
    return entities(text)


@lru_cache(maxsize=1 << 13)
def weight_of(sentence: str) -> float:
    """Weigh the content of a single sentence, as for the summaries of turns."""
    return sentence_weight(sentence, names_in(sentence), decides=is_decision(sentence))


def is_read(turn: Turn) -> bool:
    """Whether a turn is a finished message of the user or the assistant; tool results are not."""
    return turn.role in (Role.USER, Role.ASSISTANT) and turn.status in _SETTLED


def is_of_person(turn: Turn, *, among_people: bool) -> bool:
    """Whether a person, who can have preferences, is the speaker; see `extracted`."""
    return turn.role is Role.USER or (among_people and turn.name is not None)


def speaker_in_line(turn: Turn) -> str:
    """Name the speaker as a line of the document does; empty for the user."""
    return turn.name or ("" if turn.role is Role.USER else turn.role.value)


def extracted(turn: Turn, conversation: str, *, among_people: bool) -> Iterator[DocumentLine]:
    """Yield the lines worth keeping of a message, in order.

    With `among_people`, the assistant is a person too, as in imported conversations.
    """
    is_person = is_of_person(turn, among_people=among_people)
    if not is_person and disclaims(turn.content):
        return
    text = both_ends(turn.content, _READ_CHARACTERS, "\n\n")
    said = [sentence for sentence, is_code in marked_sentences(text) if not is_code]
    day = turn.created_at.date() if turn.created_at else None
    source = Source(turn.position, turn.position, conversation)
    speaker = speaker_in_line(turn)
    for sentence, after in pairwise([*said, ""]):
        section = _section(sentence, after, is_person=is_person)
        if section is not None:
            days = dates_in(sentence, day) if has_time_cue(sentence) else ()
            yield DocumentLine(section, shorten(sentence, _WIDTH), source, day, speaker, days)


def to_forget(turn: Turn) -> list[str]:
    """List what the user asks to have forgotten."""
    if turn.role is not Role.USER:
        return []
    return [what for sentence, _ in marked_sentences(turn.content) if (what := forgotten(sentence))]


def _section(sentence: str, after: str, *, is_person: bool) -> Section | None:
    """Choose a sentence's section, given the one after it; None if it is not worth keeping."""
    weight = weight_of(sentence)
    wishes = is_person and is_standing(sentence)
    if not wishes and weight < (_LEAST if is_person else _LEAST_NOTE):
        return None
    assertion = assertion_of(sentence, after)
    is_of_hearer = says("assertions", "second_person", sentence) or _is_quoted(sentence)
    is_other = not wishes and (disclaims(sentence) or is_order(sentence))
    if assertion is Assertion.NONE or (is_of_hearer and not is_person) or is_other:
        return None
    if wishes:
        return Section.PREFERENCES
    if assertion is Assertion.GUESS or not (is_person or commits(sentence)):
        return Section.NOTES if weight >= _LEAST_NOTE else None
    return _section_of_assertion(sentence)


def _section_of_assertion(sentence: str) -> Section:
    if says("assertions", "preference", sentence):
        return Section.PREFERENCES
    return Section.ENTITIES if is_relation(sentence, names_in(sentence)) else Section.FACTS


def _is_quoted(sentence: str) -> bool:
    """Whether a sentence only quotes another turn or names one."""
    bare = sentence.strip("*_ ")
    return bare.startswith(("(#", "“", '"')) and bare.endswith((")", "”", '"'))
