"""Classify what a sentence asserts: a fact, a guess, or nothing.

A sentence that supposes, jokes, asks or gives an order asserts nothing. The expressions are in
`data/assertions.toml`, in English. In doubt, a sentence is not a fact: a missed fact can still be
read in a quotation, but a false one is believed.
"""

from collections.abc import Sequence
from enum import Enum, auto

from jitchat.text.expressions import data, expressions, has_any, says
from jitchat.text.sentences import is_question


class Assertion(Enum):
    FACT = auto()
    GUESS = auto()
    """The speaker is not sure."""
    NONE = auto()
    """The sentence asks, supposes, jokes, or is an order to a model."""


def assertion_of(sentence: str, after: str = "") -> Assertion:
    """Classify a sentence; "just kidding" in the sentence `after` it cancels the assertion."""
    no_assertion = any(says("assertions", sign, sentence) for sign in data("assertions")["hints"])
    if no_assertion or is_question(sentence) or says("assertions", "joked", after):
        return Assertion.NONE
    return Assertion.GUESS if says("assertions", "guessed", sentence) else Assertion.FACT


def is_relation(sentence: str, names: Sequence[str]) -> bool:
    """Return whether it says how a person or thing with one of `names` is related, or what it is.

    "Anna is my sister", "Sirius is the production database".
    """
    match = expressions("assertions")["related"].search(sentence) if names else None
    return match is not None and has_any(match[0], names)


def forgotten(sentence: str) -> str:
    """Return what a sentence asks to have forgotten, or "" if it does not ask for that."""
    plain = sentence.replace("’", "'")
    match = expressions("assertions")["forgotten"].search(plain)
    return match[1] if match is not None and not is_question(plain) else ""
