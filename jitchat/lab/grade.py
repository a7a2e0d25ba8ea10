"""Whether an answer is right: by a normalised match, as RULER and LongMemEval grade.

The lab asks for the value alone, or for `not said` (`CONTRACT`). An answer is right that holds
an accepted value and none of the wrong ones (an old value, another's); exact values are compared
to the letter, all others after case, markup, numbers, dates, times and units are brought into
one spelling. A count has to be the only number. Where nothing was said, an answer has to say so.
"""

import re
from dataclasses import dataclass

from jitchat.lab.facts import Fact, Kind
from jitchat.lab.spelling import exact_places, has, places, plain, stated, unmarked
from jitchat.text.stance import disclaims

NOT_SAID = "not said"
CONTRACT = (
    "Answer each question about this conversation with the value alone: no sentence, no"
    f" explanation. If it was never said, answer: {NOT_SAID}"
)
"""What the system text of the lab's conversations ends with, in every mode."""

_WORD = re.compile(r"\w")
_NUMBER = re.compile(r"(?<![\w#])\d+(?![\w%])")
_NOT_SAID = re.compile(
    r"\b(?:not|never|n't) (?:been )?(?:said|mentioned|discussed|stated|specified|given)\b"
)


@dataclass(frozen=True, slots=True)
class Ruling:
    is_right: bool
    rule: str
    """Why, as a short phrase: `says 7443`, `names no count`, `says it was never said`."""


def grade(fact: Fact, answer: str) -> Ruling:
    said = stated(answer)
    text = plain(said)
    if not _WORD.search(text):
        return Ruling(is_right=False, rule="says nothing")
    if fact.kind is Kind.COUNTING:
        return _grade_count(fact, text)
    if fact.kind is Kind.ABSENT:
        return _grade_absence(fact, text)
    if fact.kind is Kind.EXACT:
        whole, find = unmarked(said), exact_places
    else:
        whole, find = text, places
    is_said = any(has(whole, each, find) for each in fact.accepted)
    return _grade_value(fact, text, is_said=is_said)


def admits(text: str) -> bool:
    """Whether an answer says that it was not said, or is not known."""
    return bool(_NOT_SAID.search(plain(text))) or disclaims(text)


def _grade_value(fact: Fact, text: str, *, is_said: bool) -> Ruling:
    wrong = _wrong_value(fact, text)
    if wrong is not None:
        whose = "the old value" if fact.kind is Kind.UPDATED else "another's value"
        beside = f"{fact.expected} and " if is_said else ""
        return Ruling(is_right=False, rule=f"says {beside}{whose} {wrong}")
    if is_said:
        return Ruling(is_right=True, rule=f"says {fact.expected}")
    if admits(text):
        return Ruling(is_right=False, rule="says it is not known")
    near = fact.kind is Kind.EXACT and any(has(text, each) for each in fact.accepted)
    rule = f"does not say {fact.expected} to the letter" if near else f"never says {fact.expected}"
    return Ruling(is_right=False, rule=rule)


def _grade_count(fact: Fact, text: str) -> Ruling:
    if admits(text):
        return Ruling(is_right=False, rule="says it is not known")
    numbers = list(dict.fromkeys(_NUMBER.findall(text)))
    if not numbers:
        return Ruling(is_right=False, rule="names no count")
    if numbers[1:]:
        return Ruling(is_right=False, rule=f"names several numbers: {', '.join(numbers[:4])}")
    return Ruling(numbers[0] in map(plain, fact.accepted), f"counts {numbers[0]}")


def _grade_absence(fact: Fact, text: str) -> Ruling:
    wrong = _wrong_value(fact, text)
    if wrong is not None:
        return Ruling(is_right=False, rule=f"says another's value {wrong}")
    if not admits(text):
        return Ruling(is_right=False, rule="does not say that it was never said")
    return Ruling(is_right=True, rule="says that it was never said")


def _wrong_value(fact: Fact, text: str) -> str | None:
    return next((each for each in fact.wrong if has(text, each)), None)
