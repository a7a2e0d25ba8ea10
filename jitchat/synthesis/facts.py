"""Facts that a message of the user states: one verbatim sentence each, found by rule or by a model.

Only the user's messages are searched, for complete, short, plain sentences that state a decision, a
preference or a standing instruction, or that ask to have something remembered. Nothing is inferred
about anybody: a sentence is proposed verbatim or not at all. Few and good: remarks made in passing,
in a story or an example, about somebody else, as a question or a guess, or that only point to
something ("let's go with that one") are left out, and at most three are proposed per message. If a
model observes, it is shown only the sentences that may state a fact, and chooses those that do.
"""

import asyncio
from collections.abc import Iterable, Mapping
from itertools import islice

from jitchat.events import FactsFound
from jitchat.memory import Memory
from jitchat.statements import Fact, FactKind, Proposing, Source
from jitchat.store.facts import fact_text
from jitchat.synthesis.observer import FactsMade, Observer
from jitchat.text.expressions import says
from jitchat.text.sentences import is_question, marked_sentences
from jitchat.text.stance import commits, is_standing
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
