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
from functools import cache

from jitchat.text.expressions import data, expressions
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
    plain = _plain(text)
    likely = _signs_in(plain) if any(map(plain.__contains__, _shortest_hints())) else ()
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
        if any(map(plain.__contains__, hints))
    ]


@cache
def _shortest_hints() -> tuple[str, ...]:
    """Return the hints that contain no other hint."""
    hints = {hint for of_sign in data("stance")["hints"].values() for hint in of_sign}
    return tuple(
        hint for hint in hints if not any(other != hint and other in hint for other in hints)
    )


def disclaims(text: str) -> bool:
    """Return whether the text is short, no question, and says that the speaker does not know."""
    plain = text.strip().replace("’", "'")
    is_short = len(plain) <= _LONGEST_DISCLAIMER and not plain.endswith("?")
    return is_short and bool(expressions("stance")["disclaimer"].search(plain))


def is_standing(text: str) -> bool:
    """Return whether any sentence, code excepted, says what the speaker always wants."""
    plain = both_ends(text.replace("’", "'"), _LONGEST_WISH, "\n")
    if not any(map(plain.lower().__contains__, data("stance")["wishes"]["hints"])):
        return False
    sign = expressions("stance")["standing"]
    return any(
        sign.search(sentence) for sentence, is_code in marked_sentences(plain) if not is_code
    )


def constrains(sentence: str) -> bool:
    """Return whether a sentence states a constraint: a limit, a deadline, a requirement."""
    return _says("constraint", sentence)


def leaves_open(sentence: str) -> bool:
    """Return whether a sentence names a task that is still to be done."""
    return _says("open_task", sentence)


def teaches(sentence: str) -> bool:
    """Return whether a sentence states a lesson: why something failed, what it turned out to be."""
    return _says("lesson", sentence)


def speaks_of_self(sentence: str) -> bool:
    return _says("of_self", sentence)


def speaks_to_other(sentence: str) -> bool:
    """Return whether a sentence is about the person addressed and not about the speaker."""
    return _says("of_other", sentence) and not speaks_of_self(sentence)


def _says(name: str, sentence: str) -> bool:
    return bool(expressions("stance")[name].search(sentence.replace("’", "'")))


def objects(text: str) -> bool:
    """Return whether one of the first sentences says that the answer was wrong."""
    plain = text[:_LONGEST_OBJECTION].replace("’", "'")
    looked_at = (plain.strip(), *sentences(plain)[:_SENTENCES])
    return any(expressions("stance")["objection"].match(sentence) for sentence in looked_at)
