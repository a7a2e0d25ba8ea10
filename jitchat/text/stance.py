"""What a statement does: it decides, binds, wishes for good, disclaims, or objects to an answer.

The expressions are in `data/stance.toml`. They fire on what was decided ("we agreed on", "let's
lock that in", "change of plan"), not on wishes, duties, guesses, reports of others' opinions or
questions ("that must be fun", "should we decide?"). A sign commits, unless a word ahead of it in
its clause takes it back.

An answer that disclaims repeats the words of its question, and so matches it better than the fact
does. An objection has to say so of "that", "it" or "you" and at its beginning: "what is wrong with
the port?" asks, "the port is wrong" tells of a port.
"""

import re
from collections.abc import Sequence
from functools import cache

from jitchat.text.expressions import data, expressions
from jitchat.text.sanitize import both_ends
from jitchat.text.sentences import is_question, marked_sentences, sentences

_REACH = 60
"""Characters ahead of a sign in which a word can take it back."""
_UNMARKED = str.maketrans({"’": "'", "*": None, "_": None, "`": None})
_LONGEST_DISCLAIMER = 400
"""Characters; what is longer says more than that."""
_LONGEST_WISH = 2_000
"""Characters at both ends: what is between them is rather pasted than said."""
_SENTENCES, _LONGEST_OBJECTION = 2, 2_000
"""An objection is looked for in so many sentences of so many characters."""


def is_decision(text: str) -> bool:
    """Whether some sentence of `text` commits to something; code never does."""
    plain = _plain(text)
    likely = _signs_in(plain) if any(map(plain.__contains__, _shortest_hints())) else ()
    return bool(likely) and any(
        _commits(sentence, likely) for sentence, is_code in marked_sentences(text) if not is_code
    )


def commits(sentence: str) -> bool:
    """Whether one sentence does; a question never does."""
    return _commits(sentence, _signs_in(_plain(sentence)))


def _commits(sentence: str, likely: Sequence[re.Pattern[str]]) -> bool:
    if not likely or is_question(sentence):
        return False
    bare = _plain(sentence).strip("\"'“” ")
    taken_back = expressions("stance")["taken_back"]
    return any(
        not taken_back.search(bare[max(0, sign.start() - _REACH) : sign.start()])
        for pattern in likely
        for sign in pattern.finditer(bare)
    )


def _plain(text: str) -> str:
    return " ".join(text.lower().translate(_UNMARKED).split())


def _signs_in(plain: str) -> list[re.Pattern[str]]:
    """Choose the signs of which a hint stands in a text: most texts have none."""
    return [
        expressions("stance")[sign]
        for sign, hints in data("stance")["hints"].items()
        if any(map(plain.__contains__, hints))
    ]


@cache
def _shortest_hints() -> tuple[str, ...]:
    """List the hints without those that another one is part of."""
    hints = {hint for of_sign in data("stance")["hints"].values() for hint in of_sign}
    return tuple(
        hint for hint in hints if not any(other != hint and other in hint for other in hints)
    )


def disclaims(text: str) -> bool:
    """Whether the text is short and says that its speaker does not know. A question does not."""
    plain = text.strip().replace("’", "'")
    is_short = len(plain) <= _LONGEST_DISCLAIMER and not plain.endswith("?")
    return is_short and bool(expressions("stance")["disclaimer"].search(plain))


def is_standing(text: str) -> bool:
    """Whether a sentence, and not code, says what its speaker always wants or prefers."""
    plain = both_ends(text.replace("’", "'"), _LONGEST_WISH, "\n")
    if not any(map(plain.lower().__contains__, data("stance")["wishes"]["hints"])):
        return False
    sign = expressions("stance")["standing"]
    return any(
        sign.search(sentence) for sentence, is_code in marked_sentences(plain) if not is_code
    )


def constrains(sentence: str) -> bool:
    """Whether one sentence says what has to hold: a limit, a deadline, a requirement."""
    return _says("constraint", sentence)


def leaves_open(sentence: str) -> bool:
    """Whether one sentence says what is still to be done."""
    return _says("open_task", sentence)


def teaches(sentence: str) -> bool:
    """Whether one sentence says what was learnt: why something failed, what it turned out to be."""
    return _says("lesson", sentence)


def speaks_of_self(sentence: str) -> bool:
    return _says("of_self", sentence)


def speaks_to_other(sentence: str) -> bool:
    """Whether one sentence speaks of whom it is said to, and not of its speaker."""
    return _says("of_other", sentence) and not speaks_of_self(sentence)


def _says(name: str, sentence: str) -> bool:
    return bool(expressions("stance")[name].search(sentence.replace("’", "'")))


def objects(text: str) -> bool:
    """Whether one of the first sentences says that what was answered is wrong."""
    plain = text[:_LONGEST_OBJECTION].replace("’", "'")
    looked_at = (plain.strip(), *sentences(plain)[:_SENTENCES])
    return any(expressions("stance")["objection"].match(sentence) for sentence in looked_at)
