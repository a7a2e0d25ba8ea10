"""An answer in one spelling, without its markup: what values are looked for in.

Two views of it: `stated` is what it says, as it says it, for strings that have to be right to
the letter; `plain` is folded, its numbers as digits and its dashes and quotes as one kind.
"""

from __future__ import annotations

import re
import unicodedata

from jitchat.lab.reading.numerals import numbered
from jitchat.text.words import folded

LONGEST = 8_000
"""Characters of an answer that are read, from its end."""

_THOUGHTS = re.compile(r"\A.*</(?:think|thinking|reasoning)>", re.DOTALL | re.IGNORECASE)
"""Some servers leave them in the answer, with their opening tag or without."""
_STRUCK = re.compile(r"~~[^~\n]+~~|<(s|del|strike)>[^<\n]*</\1>", re.IGNORECASE)
SOURCE = re.compile(r"[(\[](?:turn |message )?#\d[^()\[\]\n]*+[)\]]", re.IGNORECASE)
"""Where the embedded reader has a sentence from, and what other models make of that."""

_FENCE = re.compile(r"^[ \t]*(?:`{3,}|~{3,})[\w+-]*[ \t]*$", re.MULTILINE)
_LINK = re.compile(r"\[([^\[\]\n]*)\]\([^()\s]*\)")
_BOXED = re.compile(r"\\(?:boxed|text|textbf|mathbf|mathrm)\{([^{}]*)\}")
_TAG = re.compile(r"</?(?:b|i|u|em|strong|code|mark|p|br|span|kbd|ul|ol|li) ?/?>", re.IGNORECASE)
_ESCAPED = re.compile(r"\\([_*#.`~+()\[\]-])")
_LINE_MARK = re.compile(r"^[ \t]*(?:#{1,6}|>+)[ \t]+", re.MULTILINE)
_EMPHASIS = re.compile(r"(?<!\n)\*+|`+|(?<![^\W_])_+|_+(?![^\W_])")
_LONG_DASH = re.compile(r" ?— ?| [–−] ")
_DASH = re.compile(r"[‐‑‒–−]")
_QUOTES = re.compile(r"[\"“”„«»‹›‘‚]|(?<!\w)'|'(?!\w)")
_NOON = re.compile(r"(?<=\d) ?([ap])\.? ?m\b\.?")
_WEEKDAY_STAMP = re.compile(r"\b(?:mon|tue|wed|thu|fri|sat|sun)[a-z]*,? (?=\d{4}-\d\d-\d\d)")
_SLICE = 256
_BLANKS = re.compile(r"[^\S\n]+")


def heard(answer: str) -> str:
    """Give an answer without its thoughts and without what it strikes out."""
    return _STRUCK.sub(" ", _THOUGHTS.sub("", answer[-LONGEST:]))


def stated(answer: str) -> str:
    """Give what an answer says: `heard`, and without its sources."""
    return SOURCE.sub("", heard(answer))


def unmarked(text: str) -> str:
    """Take off markup but for emphasis, and keep what it marks."""
    text = _LINK.sub(r"\1", _FENCE.sub("", _BLANKS.sub(" ", text)))
    text = _BOXED.sub(r"\1", text)
    return _LINE_MARK.sub("", _ESCAPED.sub(r"\1", _TAG.sub(" ", text)))


def _compatible(text: str) -> str:
    """NFKC, in slices: ordering a long run of marks takes its length squared."""
    slices = (text[start : start + _SLICE] for start in range(0, len(text), _SLICE))
    return "".join(unicodedata.normalize("NFKC", each) for each in slices)


def plain(text: str) -> str:
    """Fold a text into the one spelling that values are compared in; lines stay lines."""
    bare = _LONG_DASH.sub(" - ", unmarked(text))
    spelt = folded(_compatible(_EMPHASIS.sub("", bare)))
    spelt = _DASH.sub("-", _QUOTES.sub(" ", spelt))
    spelt = _WEEKDAY_STAMP.sub("", _NOON.sub(r" \1m", spelt))
    return numbered(_BLANKS.sub(" ", spelt)).strip()
