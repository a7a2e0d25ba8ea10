"""Which count an answer states.

A number that is said to be the total, that the others add up to, that is in bold, or that is
the only one. A list without any such number counts as what its items add up to, an item that
names no number as one: who lists all four has counted them.
"""

from __future__ import annotations

import re
from dataclasses import dataclass
from itertools import pairwise
from typing import TYPE_CHECKING

from jitchat.lab.reading.numbers import ITEM, Number, numbers, spelt_out
from jitchat.lab.reading.plain import SOURCE, heard, unmarked
from jitchat.text.words import stems

if TYPE_CHECKING:
    from collections.abc import Sequence

_CITED = re.compile(rf"(?:[^\w“\"`]|_)*+[“\"`].*[”\"`] {SOURCE.pattern}[\W_]*")
_QUOTED = re.compile(r"“[^“”\n]*”|\"[^\"\n]*\"")
_BOLD = re.compile(r"\*\*([^*\n]+)\*\*|__([^_\n]+)__")

_EITHER = re.compile(r"\A,? ?(?:or|to|-|/)(?: (?:maybe|possibly|perhaps|even))? ?\Z")
_AHEAD = re.compile(
    r"(?:=|\bequals?\b|\btotal(?:s|ed|led|ing|ling)?\b|\bin all\b|\baltogether\b|\ball told\b"
    r"|\boverall\b|\bcombined\b|\bsums?\b|\bso\b(?! far)|\bmak(?:es?|ing)\b"
    r"|\b(?:it|that)(?:'s| is)\b"
    r"|\badd(?:s|ing)? up\b|\bcomes? to\b|\bcount(?:s|ed)?\b|\banswer\b|\bfinal\b|\bhence\b"
    r"|\btherefore\b|\bthus\b|\bresult\b|\bactually\b)"
    r"[^.;\n\d]{0,32}\Z"
)
_BEHIND = re.compile(
    r"\A[^.,;:\n\d]{0,32}\b(?:in total|in all|altogether|all told|all in all|overall|total|combined"
    r"|in sum|all together)\b"
)


@dataclass(frozen=True, slots=True)
class Total:
    """A count that an answer states."""

    number: int
    is_listed: bool = False
    """Whether it is only what the items of a list add up to."""
    other: int | None = None
    """The answer leaves it open whether it is this number."""


def total(answer: str, question: str) -> Total | None:
    """Find the count that an answer states; None where it states none."""
    lines = [line for line in unmarked(heard(answer)).splitlines() if line.strip()]
    items = [line for line in lines if ITEM.match(line) or _CITED.fullmatch(line)]
    if len(items) < 2 and not any(map(_CITED.fullmatch, items)):
        items = []
    around = SOURCE.sub("", "\n".join(line for line in lines if line not in items))
    found = _stated(_QUOTED.sub(" ", around), question) or _stated(around, question)
    return found or (_listed(items) if items else None)


def _listed(items: Sequence[str]) -> Total:
    """Add up the items of a list."""
    found = [numbers(spelt_out(SOURCE.sub("", item))) for item in items]
    return Total(sum(each[0].value if each else 1 for each in found), is_listed=True)


def _stated(text: str, question: str) -> Total | None:
    """Find it in running text."""
    spelt = spelt_out(text)
    found = numbers(spelt)
    if not found:
        return None
    chosen = _summed(found) or _declared(spelt, found) or _bold(text, found)
    chosen = chosen or _largest(spelt, found, frozenset(stems(question)))
    return Total(chosen.value, other=_other(spelt, found, chosen))


def _summed(found: Sequence[Number]) -> Number | None:
    """Find the number that the others add up to."""
    most = max(found, key=lambda each: each.value)
    parts = [each.value for each in found if each.value != most.value]
    return most if len(parts) > 1 and sum(parts) == most.value else None


def _declared(spelt: str, found: Sequence[Number]) -> Number | None:
    """Find the last number that is said to be the total."""
    declared: Number | None = None
    is_taken = False
    for each in found:
        ahead = spelt[max(0, each.start - 60) : each.start]
        is_ahead = bool(_AHEAD.search(ahead)) and not is_taken
        is_taken = bool(_BEHIND.search(spelt[each.end : each.end + 60]))
        declared = each if is_ahead or is_taken else declared
    return declared


def _bold(text: str, found: Sequence[Number]) -> Number | None:
    """Find the only number in bold."""
    bold = {
        each.value for part in _BOLD.findall(text) for each in numbers(spelt_out("".join(part)))
    }
    return next((each for each in found if bold == {each.value}), None)


def _largest(spelt: str, found: Sequence[Number], asked: frozenset[str]) -> Number:
    """Find the largest, of those first that count what was asked for: no part is larger."""
    things = [each for each in found if asked & set(stems(spelt[each.end : each.end + 24]))]
    return max(things or found, key=lambda each: each.value)


def _other(spelt: str, found: Sequence[Number], chosen: Number) -> int | None:
    """Find what else it may be: `3 or 4`."""
    for one, other in pairwise(found):
        if chosen in (one, other) and _EITHER.match(spelt[one.end : other.start]):
            return other.value if chosen == one else one.value
    return None
