"""The sentences of a message that are worth keeping, verbatim, and the section that each goes to.

A sentence is kept verbatim, preceded by its speaker's name unless that is the user. Nothing is
inferred from it: what is not asserted is not a fact, and what a model says about the user is not
taken at all.

Facts are stated by the user's messages only: complete, short, plain sentences that state a
decision, a preference or a standing instruction, or that ask to have something remembered. A
sentence is proposed verbatim or not at all. Few and good: remarks made in passing, in a story or an
example, about somebody else, as a question or a guess, or that only point to something ("let's go
with that one") are left out, and at most three are proposed per message. If a model observes, it is
shown only the sentences that may state a fact, and chooses those that do.
"""

import asyncio
from collections.abc import Iterable, Iterator, Mapping
from functools import lru_cache
from itertools import islice, pairwise

from jitchat.events import FactsFound
from jitchat.index.entry import sentence_weight
from jitchat.memory import Memory
from jitchat.statements import DocumentLine, Fact, FactKind, Proposing, Section, Source
from jitchat.store.facts import fact_text
from jitchat.synthesis.observer import FactsMade, Observer
from jitchat.text.assertions import Assertion, assertion_of, forgotten, is_relation
from jitchat.text.dates import dates_in, has_time_cue
from jitchat.text.entities import entities
from jitchat.text.expressions import says
from jitchat.text.focus import is_order
from jitchat.text.sanitize import both_ends, shorten
from jitchat.text.sentences import is_question, marked_sentences
from jitchat.text.stance import commits, disclaims, is_decision, is_standing
from jitchat.text.words import content_words
from jitchat.values import Role, Status, Turn
from jitchat.window.steering import Hold

MOST = 3
"""Maximum facts per message."""
_LOOKED_AT = 4
"""Messages that are examined, so that those missed in a crash are included."""
_LONGEST_MESSAGE = 2_000
"""Characters; a longer message is more likely pasted than written."""
_LONGEST, _FEWEST_WORDS = 240, 2
"""Maximum characters of a statement, and minimum content words."""


def facts_in(turn: Turn, conversation: str) -> list[Fact]:
    """Find the facts that a turn of a conversation states; they are not stored yet."""
    kinds = ((sentence, kind_of(sentence)) for sentence in may_state(turn))
    return facts_of(turn, conversation, {text: kind for text, kind in kinds if kind is not None})


def facts_by_rule(turns: Iterable[Turn], conversation: str, notice: str = "") -> FactsMade:
    """Find facts by rule; `notice` states why no model did."""
    return FactsMade(tuple(fact for turn in turns for fact in facts_in(turn, conversation)), notice)


def may_state(turn: Turn) -> list[str]:
    """List the sentences of a turn that may state a lasting fact."""
    if turn.role is not Role.USER or turn.use or len(turn.content) > _LONGEST_MESSAGE:
        return []
    said = (sentence for sentence, is_code in marked_sentences(turn.content) if not is_code)
    return [sentence for sentence in dict.fromkeys(said) if _may_stand(sentence)]


def facts_of(turn: Turn, conversation: str, kinds: Mapping[str, FactKind]) -> list[Fact]:
    """Make facts of a turn's sentences by their kinds, at most `MOST` of them."""
    source = Source(turn.position, turn.position, conversation)
    day = turn.created_at.date() if turn.created_at else None
    ranked = sorted(kinds, key=lambda sentence: list(FactKind).index(kinds[sentence]))
    kept = set(ranked[:MOST])
    return [
        Fact(0, sentence, kind, source, day) for sentence, kind in kinds.items() if sentence in kept
    ]


class FactFinder:
    """Finds facts in the background of one session; each message is examined once."""

    def __init__(self, memory: Memory, proposing: Proposing, observer: Observer) -> None:
        self._memory, self._proposing, self._observer = memory, proposing, observer
        self._through = 0
        """The position of the last message that was examined."""

    async def find(self) -> FactsFound:
        """Propose or keep the facts in the user's last messages, skipping known ones.

        Raises:
            StoreError: They cannot be stored.

        """
        if self._proposing is Proposing.OFF or self._memory.conversation.is_temporary:
            return FactsFound()
        latest = await asyncio.to_thread(self._latest)
        if not latest:
            return FactsFound()
        self._through = latest[-1].position
        made = await self._observer.facts(latest, self._memory.conversation.id)
        return await asyncio.to_thread(self._store, made)

    def _latest(self) -> list[Turn]:
        said = (turn for turn in reversed(self._memory.turns) if turn.role is Role.USER)
        finished = (turn for turn in said if turn.status is Status.COMPLETE)
        latest = list(islice(finished, _LOOKED_AT))[::-1]
        pins = self._memory.pins
        new = (turn for turn in latest if turn.position > self._through)
        return [turn for turn in new if pins.get(turn.position) != Hold.EXCLUDED]

    def _store(self, made: FactsMade) -> FactsFound:
        facts = self._memory.facts
        proposed = facts.propose(made.facts) if made.facts else []
        if self._proposing is Proposing.ASK:
            return FactsFound(proposed=tuple(proposed), told=made.notice)
        kept = tuple(facts.keep(fact).kept for fact in proposed)
        return FactsFound(kept=kept, told=made.notice)


def remembered(text: str) -> Fact:
    """Make a fact of a text that the user wants remembered; it is not stored yet.

    Raises:
        UsageError: The text is empty or too long for a fact.

    """
    plain = fact_text(text)
    return Fact(0, plain, kind_of(plain) or FactKind.STATED, None)


def kind_of(sentence: str) -> FactKind | None:
    """Return the kind of lasting fact that a sentence states; None if it states none."""
    if not _may_stand(sentence):
        return None
    plain = sentence.replace("’", "'")
    if says("facts", "told", plain):
        instructs = is_standing(plain) and says("facts", "instructs", plain)
        return FactKind.STANDING if instructs else FactKind.STATED
    if says("facts", "preference", plain):
        return FactKind.PREFERENCE
    if is_standing(plain) or says("facts", "instruction", plain):
        return FactKind.STANDING
    return FactKind.DECISION if commits(plain) or says("facts", "decided", plain) else None


def _may_stand(sentence: str) -> bool:
    if len(sentence) > _LONGEST or is_question(sentence):
        return False
    plain = sentence.replace("’", "'")
    if says("facts", "passing", plain) or len(content_words(plain)) < _FEWEST_WORDS:
        return False
    if says("facts", "of_others", plain):
        return False
    return says("facts", "told", plain) or not says("facts", "pointing", plain)


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
