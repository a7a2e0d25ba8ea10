"""Whether an answer leaves open which of two values it means."""

from __future__ import annotations

import re
from typing import TYPE_CHECKING

from jitchat.lab.reading.plain import plain

if TYPE_CHECKING:
    from jitchat.lab.reading.mentions import Mention

_FILLER = (
    r"(?:(?:maybe|perhaps|possibly|also|alternatively|even|else|the|an?|at|on|in|of|by|it|it's|room"
    r"|port|number|no|size|pin|code|bay|pitch|value) )"
)
_BETWEEN = re.compile(
    rf"\A(?: [^\W_]+)?\)?,? ?\(?(?:or|and|nor|/|&|vs\.?|versus|as well as|,)(?: |(?=\Z|\w))"
    rf"{_FILLER}{{0,2}}\Z"
)
_OR_AFTER = re.compile(
    rf"\A(?: [^\W\d_]+)?,? ?\(?(?:or |/ ?){_FILLER}{{0,2}}?(?P<other>\w[\w:.,]*)"
)
_OR_BEFORE = re.compile(
    rf"(?<![\w:.,])[:.,]*+(?P<other>[\w:.,]++) (?:[^\W\d_]++ )?or {_FILLER}{{0,2}}\Z"
)
_EITHER = re.compile(r"\beither\b(?! way| case)[^.;!?\n]*\Z")
_OR = re.compile(r"\A[^.;!?\n]{0,30}\bor\b")
_CHOICE = re.compile(r"\b(?:possible|2|several|candidates|options|alternatives)\b")
_AND_AFTER = re.compile(r"\A,? (?:and )?(?P<other>\w[\w:.,]*)")
_SORTS = (
    re.compile(r"\d[\w:.,]*"),
    re.compile(r"(?:mon|tues|wednes|thurs|fri|satur|sun)days?"),
    re.compile(r"(?:jan|febr)uary|march|april|may|june|july|august|(?:sept|nov|dec)ember|october"),
)


def between(text: str, one: Mention, other: Mention) -> bool:
    """Whether two mentions, one after the other, are alternatives: `7440 or 7443`."""
    return bool(_BETWEEN.match(text[one.end : other.start].lower()))


def is_open(mention: Mention) -> bool:
    """Whether the answer gives a value that nobody said as an alternative to this one."""
    before, after = mention.before.lower(), mention.after.lower()
    if _EITHER.search(before) and (_OR.match(after) or before.rstrip().endswith(" or")):
        return True
    others = [_OR_AFTER.match(after), _OR_BEFORE.search(before)]
    if _CHOICE.search(before):
        others.append(_AND_AFTER.match(after))
    return any(found and _are_alike(found["other"], plain(mention.value)) for found in others)


def _are_alike(one: str, other: str) -> bool:
    """Whether both are numbers, weekdays or months."""
    bare = one.rstrip(".,:")
    return any(sort.fullmatch(bare) and sort.match(other) for sort in _SORTS)
