"""Classify what a sentence asserts: a fact, a guess, or nothing.

A sentence that supposes, jokes, asks or gives an order asserts nothing. The expressions are in
`data/assertions.toml`, in English. In doubt, a sentence is not a fact: a missed fact can still be
read in a quotation, but a false one is believed.
"""

from collections.abc import Sequence
from enum import Enum, auto

from jitchat.text.expressions import data, expressions
from jitchat.text.sentences import is_question


class Assertion(Enum):
    FACT = auto()
    GUESS = auto()
    """The speaker is not sure."""
    NONE = auto()
    """The sentence asks, supposes, jokes, or is an order to a model."""


def assertion_of(sentence: str, after: str = "") -> Assertion:
    """Classify a sentence; "just kidding" in the sentence `after` it cancels the assertion."""
    plain = sentence.replace("’", "'")
    signs = data("assertions")["hints"]
    if is_question(plain) or _has("joked", after) or any(_has(sign, plain) for sign in signs):
        return Assertion.NONE
    is_guess = expressions("assertions")["guessed"].search(plain)
    return Assertion.GUESS if is_guess else Assertion.FACT


def _has(sign: str, sentence: str) -> bool:
    lowered = sentence.lower()
    hints = data("assertions")["hints"][sign]
    is_likely = any(map(lowered.__contains__, hints))
    return is_likely and bool(expressions("assertions")[sign].search(sentence))


def is_preference(sentence: str) -> bool:
    """Return whether the speaker says what they like or dislike."""
    return bool(expressions("assertions")["preference"].search(sentence.replace("’", "'")))


def is_relation(sentence: str, names: Sequence[str]) -> bool:
    """Return whether it says how a person or thing with one of `names` is related, or what it is.

    "Anna is my sister", "Sirius is the production database".
    """
    found = expressions("assertions")["related"].search(sentence) if names else None
    return found is not None and any(name in found[0] for name in names)


def is_state(sentence: str) -> bool:
    """Return whether it describes a lasting state, or a change of one."""
    known = expressions("assertions")
    return bool(known["state"].search(sentence) or known["changed"].search(sentence))


def is_change(sentence: str) -> bool:
    """Return whether it says that something has changed."""
    return bool(expressions("assertions")["changed"].search(sentence))


def speaks_of_hearer(sentence: str) -> bool:
    """Return whether it says something about the person addressed."""
    return bool(expressions("assertions")["second_person"].search(sentence))


def forgotten(sentence: str) -> str:
    """Return what a sentence asks to have forgotten, or "" if it does not ask for that."""
    plain = sentence.replace("’", "'")
    if is_question(plain) or not _has("forgotten", plain):
        return ""
    found = expressions("assertions")["forgotten"].search(plain)
    return found[1] if found is not None else ""
