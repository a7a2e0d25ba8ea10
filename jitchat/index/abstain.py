"""Whether anything is recalled for a draft: not for one that needs nothing.

A draft of set phrases needs nothing. One that may stand alone has to match better than by chance,
for any conversation has turns with words such as "write" and "function". The measure is absolute,
and does not depend on how short the draft is: the inverse document frequency of the words that one
turn shares with it, and their share of the whole draft, words that never occur included.
"""

import math
from collections.abc import Sequence

from jitchat.index.retrieve import Query
from jitchat.text.needs import Need, generic_words
from jitchat.values import Candidate, Term

NOTHING_SAID_THEN = "a question of a time at which nothing was said"
_LEAST_RARITY = 1.5
"""Of the words shared, together: one word that four turns of five do without."""
_LEAST_WORDS = 2
"""Of a thing that is yet to be made, so many are shared, for one word may be its topic."""
_SHORT_WORD = 2
"""Characters; so short are the articles of many languages."""
_OF_A_TASK, _OF_A_QUESTION, _OF_THE_KNOWN = 0.75, 0.5, 0.35
"""The share of a draft that one turn has, where the two belong together. Of what the draft speaks
of as known, little is enough: it may have been said in other words."""


def needless(
    query: Query, candidates: Sequence[Candidate], terms: Sequence[Term], turns: int
) -> str:
    """Say why nothing is recalled for the draft, as a clause; empty where it is.

    `terms` are the words of the query that occur among the `turns` of the conversation.
    """
    need = query.need
    if need is None:
        return ""
    if need.is_certain:
        return need.kind
    if _matches(need, query, candidates, {term.word: term.weight for term in terms}, turns):
        return ""
    return f"{need.kind}, and no turn has much of what it says"


def _matches(
    need: Need,
    query: Query,
    candidates: Sequence[Candidate],
    worths: dict[str, float],
    turns: int,
) -> bool:
    unseen = math.log(1 + (turns + 0.5) / 0.5)
    told = [word for word in query.spelled.values() if not _is_generic(word)]
    every = sum(worths.get(word, unseen) for word in told)
    if need.is_definite and not need.names.isdisjoint(worths):
        return True
    for row in candidates:
        shared = [worths[word] for word in row.matched if word in worths and word in told]
        is_enough = len(shared) >= (_LEAST_WORDS if need.makes else 1)
        if is_enough and sum(shared) >= max(_LEAST_RARITY, _share(need) * every):
            return True
    return False


def _is_generic(word: str) -> bool:
    is_short = word.isascii() and len(word) <= _SHORT_WORD
    return is_short or word.isdecimal() or word in generic_words()


def _share(need: Need) -> float:
    if need.is_definite:
        return _OF_THE_KNOWN
    return _OF_A_TASK if need.makes else _OF_A_QUESTION
