"""Whether an answer is right, by a rule that can be told.

An answer is read for what it asserts in the end: a value that it denies, calls old or gives to
another does not count, and of several that it asserts the last one does. A count is the number
that it states as the total. Of what was never said, only the admission of that is right.
"""

from __future__ import annotations

import re
from dataclasses import dataclass
from typing import TYPE_CHECKING

from jitchat.lab.facts import Kind
from jitchat.lab.reading.assertion import asserted, live_ones
from jitchat.lab.reading.forms import exact_places, has, places
from jitchat.lab.reading.guesses import guesses
from jitchat.lab.reading.mentions import Mention, mentions
from jitchat.lab.reading.owners import Owners, owners_of
from jitchat.lab.reading.plain import plain, stated, unmarked
from jitchat.lab.reading.refusals import refuses
from jitchat.lab.reading.standing import Standing, standing
from jitchat.lab.reading.totals import total

if TYPE_CHECKING:
    from collections.abc import Sequence

    from jitchat.lab.facts import Fact

_WORD = re.compile(r"\w")


@dataclass(frozen=True, slots=True)
class Ruling:
    """What a rule decided."""

    is_right: bool
    rule: str
    """Why, as a short phrase: `says 7443`, `names no count`, `says it is not known`."""


def ruled(fact: Fact, answer: str) -> Ruling:
    """Decide by rule: exact answers by normalised match, counts by number, absence by a refusal."""
    said = stated(answer)
    text = plain(said)
    if not _WORD.search(text):
        return Ruling(is_right=False, rule="says nothing")
    if fact.kind is Kind.COUNTING:
        return _counted(fact, answer)
    if fact.kind is Kind.ABSENT:
        return _never_said(fact, text)
    if fact.kind is Kind.EXACT:
        return _spelt(fact, said)
    return _valued(fact, text)


def _valued(fact: Fact, text: str) -> Ruling:
    found = mentions(text, fact, places)
    if fact.kind is not Kind.DISTRACTED:
        return _asserted(fact, text, found) or _unsaid(fact, text)
    kept = _of_asked(text, found, owners_of(fact))
    others = [] if refuses(text) else [each for each in found if not each.is_accepted]
    return _asserted(fact, text, kept) or _asserted(fact, text, others) or _unsaid(fact, text)


def _of_asked(text: str, found: Sequence[Mention], owners: Owners) -> list[Mention]:
    """Leave out what is said of others, and the value where it is given to another instead."""
    told = list(zip(found, owners.unasked(text, found), strict=True))
    kept = [each for each, is_anothers in told if each.is_accepted or not is_anothers]
    if all(each.is_accepted for each in live_ones(text, kept)):
        return kept
    return [each for each, is_anothers in told if not is_anothers]


def _spelt(fact: Fact, said: str) -> Ruling:
    found = mentions(text := unmarked(said), fact, exact_places)
    spelt = plain(said)
    if ruling := _asserted(fact, text, found):
        return ruling
    if any(has(spelt, value) for value in fact.accepted):
        return Ruling(is_right=False, rule=f"does not say {fact.expected} to the letter")
    return _unsaid(fact, spelt)


def _asserted(fact: Fact, text: str, found: Sequence[Mention]) -> Ruling | None:
    """Rule on what is asserted in the end; None where nothing is."""
    said = asserted(text, found)
    if said is None:
        return None
    if said.rival is not None:
        other = said.rival or "another value"
        return Ruling(is_right=False, rule=f"says {said.mention.value} or {other}")
    if said.mention.is_accepted:
        return Ruling(is_right=True, rule=f"says {fact.expected}")
    return Ruling(is_right=False, rule=_says_wrong(fact, said.mention.value))


def _says_wrong(fact: Fact, value: str) -> str:
    if fact.kind is Kind.UPDATED:
        return f"says the old value {value}"
    return f"says {value}, which is another's"


def _unsaid(fact: Fact, text: str) -> Ruling:
    if refuses(text):
        return Ruling(is_right=False, rule="says it is not known")
    return Ruling(is_right=False, rule=f"never says {fact.expected}")


def _counted(fact: Fact, answer: str) -> Ruling:
    found = total(answer, fact.question)
    if found is None:
        is_unknown = refuses(plain(stated(answer)))
        rule = "says it is not known" if is_unknown else "names no count"
        return Ruling(is_right=False, rule=rule)
    if found.other is not None:
        low, high = sorted((found.number, found.other))
        return Ruling(is_right=False, rule=f"counts {low} or {high}")
    how = "lists" if found.is_listed else "counts"
    is_right = str(found.number) in map(plain, fact.accepted)
    return Ruling(is_right, f"{how} {found.number}")


def _never_said(fact: Fact, text: str) -> Ruling:
    found = mentions(text, fact, places)
    owners = owners_of(fact)
    is_refusal = refuses(text) or owners.are_excluded(text)
    told = zip(found, owners.unasked(text, found), strict=True)
    taken = [
        each
        for each, is_anothers in told
        if standing(each) is not Standing.DENIED and not (is_refusal and is_anothers)
    ]
    if taken:
        return Ruling(is_right=False, rule=_says_wrong(fact, taken[0].value))
    if not is_refusal:
        return Ruling(is_right=False, rule="does not say that it was never said")
    if guesses(text, fact):
        return Ruling(is_right=False, rule="guesses what was never said")
    return Ruling(is_right=True, rule="says that it was never said")
