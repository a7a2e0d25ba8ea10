"""Decide whether anything is recalled for a draft.

A draft that consists only of set phrases needs nothing. A draft that may be self-contained has to
match better than by chance, because every conversation has turns with words such as "write" and
"function". The measure is absolute and independent of the draft's length: the summed inverse
document frequency of the words that one turn shares with the draft, as a share of the whole draft,
including words that never occur. Recall always runs for a draft with a name that occurs.
"""

import math
from collections.abc import Sequence

from jitchat.index.retrieve import Query
from jitchat.text.needs import Need, generic_words
from jitchat.values import Candidate, Term

NOTHING_SAID_THEN = "a question about a time when nothing was said"
_LEAST_RARITY = 1.5
"""Minimum summed rarity of the shared words: that of one word which four turns in five lack."""
_LEAST_WORDS = 2
"""Minimum shared words when the draft asks for something new: one word may be only its topic."""
_SHORT_WORD = 2
"""Characters. Articles in many languages are this short."""
_CLOSE = 0.52
"""Minimum dense part of a turn that answers a question in other words. For messages that need
nothing it is at most .50, with the built-in embedder and with MiniLM."""
_OF_A_TASK, _OF_A_QUESTION, _OF_THE_KNOWN = 0.75, 0.5, 0.35
"""Minimum share of the draft that a related turn has, by the kind of draft. It is lowest when the
draft refers to something as known, which may have been described in other words."""


def needless(
    query: Query, candidates: Sequence[Candidate], terms: Sequence[Term], turns: int
) -> str:
    """Return why nothing is recalled for the draft, as a clause, or "" if recall is worthwhile.

    The query's words are spelled as in the conversation, which has `turns` turns; `terms` are those
    that occur there.
    """
    need = query.need
    if need is None:
        return ""
    if need.is_certain:
        return need.kind
    if _matches(need, query, candidates, {term.word: term.weight for term in terms}, turns):
        return ""
    return f"{need.kind}, because no turn matches it well"


def _matches(
    need: Need,
    query: Query,
    candidates: Sequence[Candidate],
    worths: dict[str, float],
    turns: int,
) -> bool:
    if any(name in worths and not _is_generic(name) for name in need.names):
        return True
    if not need.makes and any(dict(row.parts).get("dense", 0.0) >= _CLOSE for row in candidates):
        return True
    unseen = math.log(1 + (turns + 0.5) / 0.5)
    content = {word for word in query.spelled.values() if not _is_generic(word)}
    if not content and need.is_definite:  # "rewrite the email": a known one
        content = {word for word in query.spelled.values() if not _is_short(word)}
    wanted = max(_LEAST_RARITY, _share(need) * sum(worths.get(word, unseen) for word in content))
    least = _LEAST_WORDS if need.makes and not need.is_definite else 1
    for row in candidates:
        shared = [worths.get(word, 0.0) for word in row.matched if word in content]
        if len(shared) >= least and sum(shared) >= wanted:
            return True
    return False


def _is_generic(word: str) -> bool:
    return _is_short(word) or word.isdecimal() or word in generic_words()


def _is_short(word: str) -> bool:
    return word.isascii() and len(word) <= _SHORT_WORD


def _share(need: Need) -> float:
    if need.is_definite:
        return _OF_THE_KNOWN
    return _OF_A_TASK if need.makes else _OF_A_QUESTION
