"""The numbers of an answer that may be counts: no dates, times, prices, places or ordinals."""

from __future__ import annotations

import re
from dataclasses import dataclass

from jitchat.lab.reading.plain import plain
from jitchat.text.dates import MONTH_NAME

ITEM = re.compile(r"^ ?(?:[-+*•]|\d{1,2}[.)]) +(?=\S)", re.MULTILINE)
"""What an item of a list begins with."""
_MONTH = rf"(?!may (?:be|have|not)\b)(?:{MONTH_NAME})\b\.?"
_TURN = r"(?:turn|message|exchange)s?"
_NO_COUNT = re.compile(
    rf"\d{{4}}-\d\d-\d\d|\b\d{{1,2}}(?:st|nd|rd|th)?(?: of)? {_MONTH}"
    rf"|\b{_MONTH} \d{{1,2}}(?:st|nd|rd|th)?\b|\b(?:19|20)\d\d\b|\b\d{{1,2}}[:.]\d\d\b"
    rf"|#\d+|\b{_TURN} \d+|\b\d+ (?:(?:earlier|previous|prior|other|of the) )*{_TURN}\b"
    r"|\b\d+(?:st|nd|rd|th)\b"
    r"|\b(?:first|second|third|fourth|fifth|sixth|seventh|eighth)(?: one)?\b"
    r"|[€$£] ?\d[\d.,]*|\b\d+(?:[.,]\d+)? ?(?:%|€|euros?|percent|km|kg|minutes?|hours?|am\b|pm\b)"
    r"|\b(?:no|the|this|that|each|any|every|some|which|other|last|only|whole) one\b|\bone of\b"
    r"|\bone (?:another|by one|at a time)\b|\b(?:step|part|item|case) (?:\d+|one|two|three|four)\b"
)
_WORDS = (
    (re.compile(r"\bhalf a dozen\b"), "6"),
    (re.compile(r"\ba dozen\b"), "12"),
    (re.compile(r"\b(?:a couple of|a pair of|both)\b"), "2"),
    (re.compile(r"\b(?:none|zero|not (?:a single|any))\b"), "0"),
)
_NUMBER = re.compile(r"(?<![\w.,])\d{1,3}(?![\w]|[.,]\d)")
_MOST = 100
"""Numbers that are read, from the end: who names more does not count."""
_NOT = re.compile(
    r"(?:\bnot|n't|\brather than|\binstead of|\b(?:more|less|fewer) than)(?: just)? ?\Z"
)


@dataclass(frozen=True, slots=True)
class Number:
    """A number, and where it stands in its text."""

    value: int
    start: int
    end: int


def spelt_out(text: str) -> str:
    """Spell counts as digits, and leave out what is no count."""
    lowered = ITEM.sub("", text).lower().replace("’", "'")
    lowered = _NO_COUNT.sub(" ", lowered)
    for words, digits in _WORDS:
        lowered = words.sub(digits, lowered)
    return plain(lowered)


def numbers(spelt: str) -> list[Number]:
    """List the numbers of a text that is spelt out, but for those that it denies: `not 3`."""
    found = [
        Number(int(each[0]), each.start(), each.end())
        for each in _NUMBER.finditer(spelt)
        if not _NOT.search(spelt[max(0, each.start() - 20) : each.start()])
    ]
    return found[-_MOST:]
