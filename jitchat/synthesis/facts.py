"""Facts that a message of the user states: found by rule, verbatim, a sentence each.

Only what the user says is looked at, and of that only whole, short, plain sentences that decide,
prefer, instruct for good, or ask to have something remembered. Nothing is inferred about anybody:
a sentence stands as it was said, or it is not proposed. Few and good: what is said in passing, in
a story or an example, of somebody else, as a question or a guess, or by pointing only ("let's go
with that one"), is left out, and of one message no more than three are proposed.
"""

from collections.abc import Callable
from itertools import islice

from jitchat.events import FactsFound
from jitchat.memory import Memory
from jitchat.statements import Fact, FactKind, Proposing, Source
from jitchat.store.facts import fact_text
from jitchat.text.expressions import expressions
from jitchat.text.sentences import is_question, marked_sentences
from jitchat.text.stance import commits, is_standing
from jitchat.text.words import content_words
from jitchat.values import Role, Status, Turn

MOST = 3
"""Of one message."""
_LOOKED_AT = 4
"""Messages, for what a crash kept from being looked at."""
_LONGEST_MESSAGE = 2_000
"""Characters; a longer message is rather pasted than said."""
_LONGEST, _FEWEST_WORDS = 240, 2
"""Characters of a statement, and content words of it."""


def facts_in(turn: Turn, conversation: str) -> list[Fact]:
    """Find what a turn of a conversation states; its facts are not stored yet."""
    if turn.role is not Role.USER or turn.use or len(turn.content) > _LONGEST_MESSAGE:
        return []
    source = Source(turn.position, turn.position, conversation)
    day = turn.created_at.date() if turn.created_at else None
    found: dict[str, FactKind] = {}
    for sentence, is_code in marked_sentences(turn.content):
        kind = None if is_code else kind_of(sentence)
        if kind is not None:
            found.setdefault(sentence, kind)
    ranked = sorted(found, key=lambda sentence: list(FactKind).index(found[sentence]))
    kept = set(ranked[:MOST])
    return [
        Fact(0, sentence, kind, source, day) for sentence, kind in found.items() if sentence in kept
    ]


def find_facts(memory: Memory, proposing: Proposing) -> FactsFound:
    """Propose what the user's last messages state, or keep it; what is known is passed over.

    Raises:
        StoreError: It cannot be stored.

    """
    if proposing is Proposing.OFF or memory.conversation.is_temporary:
        return FactsFound()
    said = (turn for turn in reversed(memory.turns) if turn.role is Role.USER)
    finished = (turn for turn in said if turn.status is Status.COMPLETE)
    latest = list(islice(finished, _LOOKED_AT))[::-1]
    found = [fact for turn in latest for fact in facts_in(turn, memory.conversation.id)]
    if not found:
        return FactsFound()
    facts = memory.facts
    proposed = facts.propose(found)
    if proposing is Proposing.ASK:
        return FactsFound(proposed=tuple(proposed))
    return FactsFound(kept=tuple(facts.keep(fact).kept for fact in proposed))


def remembered(text: str) -> Fact:
    """Make a fact of what the user typed to be remembered; it is not stored yet.

    Raises:
        UsageError: The text says nothing, or is too long for a fact.

    """
    plain = fact_text(text)
    return Fact(0, plain, kind_of(plain) or FactKind.STATED, None)


def kind_of(sentence: str) -> FactKind | None:
    """Tell what a sentence states for good; None for nothing."""
    if len(sentence) > _LONGEST or is_question(sentence):
        return None
    plain = sentence.replace("’", "'")
    if _says(plain, "passing") or len(content_words(plain)) < _FEWEST_WORDS:
        return None
    if _says(plain, "told") and not _says(plain, "of_others"):
        return FactKind.STANDING if is_standing(plain) and _instructs(plain) else FactKind.STATED
    if _says(plain, "of_others") or _says(plain, "pointing"):
        return None
    return next((kind for kind, holds in _RULES if holds(plain)), None)


def _instructs(plain: str) -> bool:
    """Whether it tells who answers what to do for good, and not only what is the case."""
    return any(word in plain.lower() for word in ("always", "never", "from now on", "whenever"))


def _says(plain: str, name: str) -> bool:
    return bool(expressions("facts")[name].search(plain))


def _prefers(plain: str) -> bool:
    return _says(plain, "preference")


def _is_instruction(plain: str) -> bool:
    return is_standing(plain) or _says(plain, "instruction")


def _decides(plain: str) -> bool:
    return commits(plain) or _says(plain, "decided")


_RULES: tuple[tuple[FactKind, Callable[[str], bool]], ...] = (
    (FactKind.PREFERENCE, _prefers),
    (FactKind.STANDING, _is_instruction),
    (FactKind.DECISION, _decides),
)
"""In the order in which they are asked: who prefers something, tells nobody what to do."""
