"""Names, identifiers and quoted code: the words that distinguish a text from others."""

import re
from collections.abc import Iterator

from jitchat.text.languages import english_function_words
from jitchat.text.sanitize import shorten
from jitchat.text.words import fold

_WIDTH = 60

_UPPER = "A-ZÀ-ÖØ-ÞΑ-ΩА-Я"
_QUOTED_CODE = re.compile(r"`([^`\n]{2,60})`")
_CAPITALISED = rf"[{_UPPER}][\w'’-]++"
_NAME = re.compile(rf"(?<![\w./:@-]){_CAPITALISED}(?: (?:of |the )?{_CAPITALISED})*+")
_PLAIN_WORD = r"[a-z]++(?![./:@-]*+\w)"
_TOKEN = re.compile(rf"(?<![\w./:@-])(?!{_PLAIN_WORD})(?:--?)?\w++(?:[./:@-]++\w++)*+")
_TELLING = re.compile(r"[\d@]|_\w|[a-z][A-Z]|^--?[a-z]|^[A-Z]{2,}$|\w\w\.[a-z]{2,5}$")
"""What makes a token an identifier: digits, underscores, inner capitals, a file extension."""
_HOLDS_IDENTIFIER = re.compile(r"[\d_@]|[a-z][A-Z]|[A-Z]{2}|-[a-z]|\w\.\w")
"""Matches every text that has an identifier, and few that have none."""
_BACK = 8
_OPENING = re.compile(r"(?:^|[.!?:…\n])[\s\"'“‘(*_>#-]{0,8}$")
_OPENERS = frozenset(
    ("great", "wow", "sure", "nice", "cool", "good", "happy", "dear", "sorry", "congrats", "love")
)
"""Common first words of chat sentences that are not names."""


def entities(text: str) -> tuple[str, ...]:
    """List names, identifiers and quoted code in order of first use, without duplicates.

    A capitalised word at the start of a sentence is a name only if it is also one elsewhere, or if
    another capitalised word follows it.
    """
    found = [(match.start(1), match[1].strip()) for match in _QUOTED_CODE.finditer(text)]
    found += _identifiers(text)
    found += _names(text)
    kept: dict[str, None] = {}
    covered = 0
    for start, name in sorted(found, key=lambda each: (each[0], -len(each[1]))):
        if start >= covered and len(name) > 1 and fold(name) not in english_function_words():
            kept[shorten(name, _WIDTH)] = None
            covered = start + len(name)
    return tuple(kept)


def _identifiers(text: str) -> Iterator[tuple[int, str]]:
    if not _HOLDS_IDENTIFIER.search(text):
        return
    for match in _TOKEN.finditer(text):
        if _TELLING.search(match[0][:_WIDTH]):
            yield match.start(), match[0]


def _is_no_name(word: str) -> bool:
    plain = fold(word)
    return plain in english_function_words() or plain in _OPENERS


def _names(text: str) -> Iterator[tuple[int, str]]:
    openings: list[tuple[int, str]] = []
    sure: set[str] = set()
    for match in _NAME.finditer(text):
        start, name = _bare_name(match)
        opens = _OPENING.search(text[max(0, start - _BACK) : start])
        if start > match.start() or " " in name or not opens:
            sure.add(name)
            yield start, name
        else:
            openings.append((start, name))
    yield from (each for each in openings if each[1] in sure)


def _bare_name(match: re.Match[str]) -> tuple[int, str]:
    """Return the start of a name, and the name without greetings around it or a genitive `'s`."""
    parts = match[0].rstrip("'’-").removesuffix("'s").removesuffix("’s").split(" ")
    while len(parts) > 1 and _is_no_name(parts[-1]):
        parts.pop()
    start = match.start()
    while len(parts) > 1 and _is_no_name(parts[0]):
        start += len(parts.pop(0)) + 1
    return start, " ".join(parts)
