"""Classify statements: decisions, constraints, standing wishes, disclaimers, objections.

The expressions are in `data/stance.toml`. Those for decisions match statements of what was decided
("we agreed on", "let's lock that in", "change of plan"), not wishes, obligations, guesses, reports
of others' opinions or questions ("that must be fun", "should we decide?"). A match is a decision
unless a word before it in the same clause cancels it.

An answer with a disclaimer repeats the words of its question, and so matches the question better
than the answer with the fact. An objection is about "that", "it" or "you" and begins its sentence:
"what is wrong with the port?" is a question, and "the port is wrong" is about a port.
"""

import re
from collections.abc import Sequence

from jitchat.text.expressions import data, expressions, has_any, says
from jitchat.text.sanitize import both_ends
from jitchat.text.sentences import is_question, marked_sentences, sentences

_SCOPE = 60
"""Characters before a match in which a word can cancel it."""
_UNMARKED = str.maketrans({"’": "'", "*": None, "_": None, "`": None})
_LONGEST_DISCLAIMER = 400
"""Maximum characters of a disclaimer; a longer text says more than that."""
_LONGEST_WISH = 2_000
"""Characters read at each end; the text between them is more likely pasted."""
_SENTENCES, _LONGEST_OBJECTION = 2, 2_000
"""The first sentences in which an objection is looked for, and the characters that are read."""


def is_decision(text: str) -> bool:
    """Return whether any sentence of `text` is a decision; code never is."""
    likely = _signs_in(_plain(text))
    return bool(likely) and any(
        _commits(sentence, likely) for sentence, is_code in marked_sentences(text) if not is_code
    )


def commits(sentence: str) -> bool:
    """Return whether a sentence is a decision; a question never is."""
    return _commits(sentence, _signs_in(_plain(sentence)))


def _commits(sentence: str, likely: Sequence[re.Pattern[str]]) -> bool:
    if not likely or is_question(sentence):
        return False
    bare = _plain(sentence).strip("\"'“” ")
    taken_back = expressions("stance")["taken_back"]
    return any(
        not taken_back.search(bare[max(0, sign.start() - _SCOPE) : sign.start()])
        for pattern in likely
        for sign in pattern.finditer(bare)
    )


def _plain(text: str) -> str:
    return " ".join(text.lower().translate(_UNMARKED).split())


def _signs_in(plain: str) -> list[re.Pattern[str]]:
    """Return the expressions that can match a text: it has one of their hints. Most have none."""
    return [
        expressions("stance")[sign]
        for sign, hints in data("stance")["hints"].items()
        if has_any(plain, hints)
    ]


def disclaims(text: str) -> bool:
    """Return whether the text is short, no question, and says that the speaker does not know."""
    plain = text.strip()
    is_short = len(plain) <= _LONGEST_DISCLAIMER and not plain.endswith("?")
    return is_short and says("stance", "disclaimer", plain)


def is_standing(text: str) -> bool:
    """Return whether any sentence, code excepted, says what the speaker always wants."""
    plain = both_ends(text.replace("’", "'"), _LONGEST_WISH, "\n")
    if not has_any(plain.lower(), data("stance")["wishes"]["hints"]):
        return False
    sign = expressions("stance")["standing"]
    return any(
        sign.search(sentence) for sentence, is_code in marked_sentences(plain) if not is_code
    )


def objects(text: str) -> bool:
    """Return whether one of the first sentences says that the answer was wrong."""
    plain = text[:_LONGEST_OBJECTION].replace("’", "'")
    looked_at = (plain.strip(), *sentences(plain)[:_SENTENCES])
    return any(expressions("stance")["objection"].match(sentence) for sentence in looked_at)
