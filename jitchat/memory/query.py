"""The query: what a draft asks for, in the context of the conversation.

Names of speakers are taken out of the words, where they would only find turns that say the
name, and turned into a preference for what that speaker said ("you said" and "I told you"
likewise). A draft with few words of its own borrows from the message before it, at a discount.
"""

from __future__ import annotations

import re
from collections.abc import Mapping
from dataclasses import dataclass, field

from jitchat.text.words import content_words, folded, stem, words

_BORROWED_WEIGHT = 0.3
_ENOUGH_WORDS = 3

_YOU_SAID = re.compile(
    r"\b(?:you|did you|you've|you had) (?:said|say|told|tell|suggested?|recommend(?:ed)?"
    r"|proposed?|mention(?:ed)?|wr[io]te|gave|give|answered|explain(?:ed)?)\b",
    re.IGNORECASE,
)
_I_SAID = re.compile(
    r"\b(?:i|did i|i've|i had) (?:said|say|told|tell|mention(?:ed)?|asked?|wr[io]te|gave|give)\b",
    re.IGNORECASE,
)
_WHEN = re.compile(
    r"\b(?:when|how long|what (?:date|day|time|month|year)|which (?:day|date|month|year))\b",
    re.IGNORECASE,
)
_WHAT_WE_DECIDED = re.compile(
    r"\b(?:decid\w*|decision|agree[ds]?|agreement|settle[ds]?|settl\w+|chose|choose|chosen|pick(?:ed)?"
    r"|final(?:ly|ised|ized)?|conclu\w+|lock(?:ed)? in|go(?:ing)? with|plan)\b",
    re.IGNORECASE,
)


@dataclass(frozen=True, slots=True)
class Query:
    """What is looked for."""

    text: str
    """For the embedder: the draft without speakers' names."""
    weights: Mapping[str, float] = field(default_factory=dict)
    """How much each stem counts, by stem."""
    spelled: Mapping[str, str] = field(default_factory=dict)
    """Each stem as the draft spells it."""
    speakers: frozenset[str] = frozenset()
    """Whose turns are preferred: names or roles, folded."""
    asks_when: bool = False
    asks_decision: bool = False


def make_query(draft: str, before: str, speakers: frozenset[str]) -> Query:
    """The query of `draft`; `before` is the user's message ahead of it.

    `speakers` are the names and roles that occur in the conversation, folded.
    """
    named = speakers & set(words(draft))
    own = [word for word in content_words(draft) if word.removesuffix("'s") not in named]
    weights = {stem(word): 1.0 for word in own}
    spelled = {stem(word): word for word in own}
    if len(weights) < _ENOUGH_WORDS:
        for word in content_words(before):
            if word.removesuffix("'s") not in speakers:
                weights.setdefault(stem(word), _BORROWED_WEIGHT)
                spelled.setdefault(stem(word), word)
    return Query(
        text=_without(draft, named),
        weights=weights,
        spelled=spelled,
        speakers=named or _implied(draft, speakers),
        asks_when=bool(_WHEN.search(draft)),
        asks_decision=bool(_WHAT_WE_DECIDED.search(draft)),
    )


def _without(draft: str, named: set[str] | frozenset[str]) -> str:
    if not named:
        return draft
    kept = [w for w in draft.split() if folded(w).strip(".,;:!?'\"").removesuffix("'s") not in named]
    return " ".join(kept)


def _implied(draft: str, speakers: frozenset[str]) -> frozenset[str]:
    spoken = {"assistant"} if _YOU_SAID.search(draft) else set()
    spoken |= {"user"} if _I_SAID.search(draft) else set()
    return frozenset(spoken & speakers) if len(spoken) == 1 else frozenset()
