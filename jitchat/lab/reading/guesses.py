"""Whether an answer that refuses names a value all the same, which nobody said."""

from __future__ import annotations

import re
from typing import TYPE_CHECKING

from jitchat.lab.reading.plain import plain
from jitchat.text.dates import MONTH_NAME

if TYPE_CHECKING:
    from jitchat.lab.facts import Fact

_PROBABLY = (
    r"(?:probably|likely|presumably|perhaps|maybe|i(?:'d| would| will|'ll) (?:guess|say|assume"
    r"|estimate|bet|go with)|(?:my|a|best|educated) guess(?: is| would be|:)?|i (?:guess|assume"
    r"|suppose|suspect|bet)|(?:might|could|may|must|should|would)(?: well| also)? be|typically"
    r"|usually|if i had to guess,?)"
)
_SMALL = r"(?:(?:that|it|it's|is|be|in|on|at|to|by|from|around|about|roughly|a|an|the|also) )*"
_GUESS = re.compile(
    rf"\b{_PROBABLY} {_SMALL}(?P<word>[^\W_]++)(?:[ -][^\W_]+)? ?(?:[.!?,;)\n]|\Z)"
    rf"|\b{_PROBABLY}[^.!?\n]{{0,40}}\b(?P<same>the same|same as)\b"
)
_PLACES = """
    able best better case chat clear context conversation easier easiest elsewhere email emails
    faster happy helpful here in it mentioned message messages missing mistaken name names not
    notes off other out possible question quickest reach safe safer safest sense so something
    somewhere tell that them there this thread useful wise wiser work worth wrong you
"""
_NO_VALUE = frozenset(_PLACES.split())
"""What an answer supposes that names no value: `it may be in your notes`."""
_NUMBER = re.compile(
    r"(?<![\w#.,:/-])\d[\d,.]*(?![\d/:-])(?! ?(?:earlier |previous |prior |other )?"
    r"(?:turn|message|time|day|week|month|conversation|mention|sentence|place|note|of|in|at"
    r"|person|people|thing|more|question|1|that|which|i|you)s?\b)"
)
_TIMES = re.compile(
    rf"\d{{4}}-\d\d-\d\d|\b\d{{1,2}} (?:of )?(?:{MONTH_NAME})\b|\b(?:{MONTH_NAME}) \d{{1,2}}\b"
    r"|\b\d{1,2}[:.]\d\d\b"
)
_DAYS = (
    re.compile(r"\b(?:mon|tues|wednes|thurs|fri|satur|sun)day"),
    re.compile(
        r"\b(?:january|february|march|april|june|july|august|(?:sept|nov|dec)ember|october)"
    ),
)
_TOLD_ON = re.compile(r"\b(?:told|said|mentioned|wrote|shared|asked)\b[^.!?\n]{0,20}\bon \Z")
_WORD = re.compile(r"[^\W_]+")
_DIGITS = re.compile(r"\d+")


def guesses(text: str, fact: Fact) -> bool:
    """Whether a plain text names what may be a value, and is no word of the fact."""
    known = plain(" ".join((fact.question, *(saying.text for saying in fact.sayings))))
    if _names_number(text, known, fact) or _names_day(text, known, fact):
        return True
    return _supposes(text, frozenset(_WORD.findall(known)))


def _names_number(text: str, known: str, fact: Fact) -> bool:
    """Whether it has another number, where the values are numbers."""
    if not all(value.isdecimal() for value in fact.wrong):
        return False
    told = set(_DIGITS.findall(known))
    others = _NUMBER.findall(_TIMES.sub(" ", text))
    return any("".join(_DIGITS.findall(each)) not in {"1", *told} for each in others)


def _names_day(text: str, known: str, fact: Fact) -> bool:
    """Whether it has another weekday or month, where the values are such."""
    return any(
        found[0] not in known
        and not _TOLD_ON.search(text[max(0, found.start() - 60) : found.start()])
        for days in _DAYS
        if all(days.fullmatch(plain(value)) for value in fact.wrong)
        for found in days.finditer(text)
    )


def _supposes(text: str, known: frozenset[str]) -> bool:
    """Whether it supposes something: a word at the end of a clause, such as `probably teal`."""
    return any(
        found["same"] or found["word"] not in known | _NO_VALUE for found in _GUESS.finditer(text)
    )
