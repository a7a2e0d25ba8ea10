"""Whether anything is recalled for a draft: not for one that needs nothing.

A draft of set phrases needs nothing. One that may stand alone has to match better than by chance,
for any conversation has turns with words such as "write" and "function". The measure is absolute,
and does not depend on how short the draft is: the inverse document frequency of the words that one
turn shares with it, and their share of the whole draft, words that never occur included. A draft
with a name that occurs is never refused.
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
"""Of a thing that is yet to be made, and is not spoken of as known: one may be its topic."""
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
    if any(name in worths and not _is_generic(name) for name in need.names):
        return True
    unseen = math.log(1 + (turns + 0.5) / 0.5)
    told = {word for word in query.spelled.values() if not _is_generic(word)}
    if not told and need.is_definite:  # "rewrite the email": one that is known
        told = {word for word in query.spelled.values() if not _is_short(word)}
    wanted = max(_LEAST_RARITY, _share(need) * sum(worths.get(word, unseen) for word in told))
    least = _LEAST_WORDS if need.makes and not need.is_definite else 1
    for row in candidates:
        shared = [worths.get(word, 0.0) for word in row.matched if word in told]
        if need.is_definite:  # it may be misspelt
            shared += [worths.get(word, 0.0) for word in _corrections(row, query)]
        if len(shared) >= least and sum(shared) >= wanted:
            return True
    return False


def _corrections(row: Candidate, query: Query) -> list[str]:
    """List the words that a turn has in place of those of a query, which it spells otherwise."""
    own = set(query.spelled.values())
    return [word for word in row.matched if word not in own and not _is_generic(word)]


def _is_generic(word: str) -> bool:
    return _is_short(word) or word.isdecimal() or word in generic_words()


def _is_short(word: str) -> bool:
    return word.isascii() and len(word) <= _SHORT_WORD


def _share(need: Need) -> float:
    if need.is_definite:
        return _OF_THE_KNOWN
    return _OF_A_TASK if need.makes else _OF_A_QUESTION
