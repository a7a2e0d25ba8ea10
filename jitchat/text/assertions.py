"""What a sentence asserts: a fact, a guess, or nothing, for it supposes, jokes, asks or orders.

The expressions are in `data/assertions.toml`; English. They err on the side of no fact: what is
only quoted can still be read, what is taken for a fact is believed.
"""

from collections.abc import Sequence
from enum import Enum, auto

from jitchat.text.expressions import data, expressions
from jitchat.text.sentences import is_question


class Assertion(Enum):
    FACT = auto()
    GUESS = auto()
    """Its speaker is not sure."""
    NONE = auto()
    """It asks, supposes, jokes, or is an order to a model."""


def assertion_of(sentence: str, after: str = "") -> Assertion:
    """Tell what a sentence asserts; "just kidding" in the one `after` it takes it back."""
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
    """Whether its speaker says what they like or do not like."""
    return bool(expressions("assertions")["preference"].search(sentence.replace("’", "'")))


def is_relation(sentence: str, names: Sequence[str]) -> bool:
    """Whether it says how a person or a thing with one of some names is related, or what it is."""
    found = expressions("assertions")["related"].search(sentence) if names else None
    return found is not None and any(name in found[0] for name in names)


def is_state(sentence: str) -> bool:
    """Whether it says what is so for longer than a moment, or that this changed."""
    known = expressions("assertions")
    return bool(known["state"].search(sentence) or known["changed"].search(sentence))


def is_change(sentence: str) -> bool:
    """Whether it says that something is otherwise than before."""
    return bool(expressions("assertions")["changed"].search(sentence))


def speaks_of_hearer(sentence: str) -> bool:
    """Whether it says something of the one that it is said to."""
    return bool(expressions("assertions")["second_person"].search(sentence))


def forgotten(sentence: str) -> str:
    """Read what a sentence wants forgotten; empty where it wants nothing forgotten."""
    plain = sentence.replace("’", "'")
    if is_question(plain) or not _has("forgotten", plain):
        return ""
    found = expressions("assertions")["forgotten"].search(plain)
    return found[1] if found is not None else ""
