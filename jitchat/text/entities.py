"""Names, identifiers and quoted code: the words that distinguish a text from others."""

import re
from collections.abc import Iterator

from jitchat.text.expressions import expressions, word_list
from jitchat.text.languages import english_function_words
from jitchat.text.sanitize import shorten
from jitchat.text.words import fold

_WIDTH = 60

_BACK = 8


def entities(text: str) -> tuple[str, ...]:
    """List names, identifiers and quoted code in order of first use, without duplicates.

    A capitalised word at the start of a sentence is a name only if it is also one elsewhere, or if
    another capitalised word follows it.
    """
    quoted = expressions("entities")["quoted_code"].finditer(text)
    matches = [(match.start(1), match[1].strip()) for match in quoted]
    matches += [*_identifiers(text), *_names(text)]
    matches.sort(key=lambda match: (match[0], -len(match[1])))
    entities: dict[str, None] = {}
    covered = 0
    for start, name in matches:
        if start >= covered and len(name) > 1 and fold(name) not in english_function_words():
            entities[shorten(name, _WIDTH)] = None
            covered = start + len(name)
    return tuple(entities)


def _identifiers(text: str) -> Iterator[tuple[int, str]]:
    patterns = expressions("entities")
    if not patterns["may_have_identifiers"].search(text):
        return
    for match in patterns["token"].finditer(text):
        if patterns["is_identifier"].search(match[0][:_WIDTH]):
            yield match.start(), match[0]


def _is_no_name(word: str) -> bool:
    plain = fold(word)
    return plain in english_function_words() or plain in word_list("openers")


def _names(text: str) -> Iterator[tuple[int, str]]:
    openings: list[tuple[int, str]] = []
    sure: set[str] = set()
    patterns = expressions("entities")
    for match in patterns["name"].finditer(text):
        start, name = _bare_name(match)
        opens = patterns["opening"].search(text[max(0, start - _BACK) : start])
        if start > match.start() or " " in name or not opens:
            sure.add(name)
            yield start, name
        else:
            openings.append((start, name))
    yield from ((start, name) for start, name in openings if name in sure)


def _bare_name(match: re.Match[str]) -> tuple[int, str]:
    """Return the start of a name, and the name without greetings around it or a genitive `'s`."""
    parts = match[0].rstrip("'’-").removesuffix("'s").removesuffix("’s").split(" ")
    while len(parts) > 1 and _is_no_name(parts[-1]):
        parts.pop()
    start = match.start()
    while len(parts) > 1 and _is_no_name(parts[0]):
        start += len(parts.pop(0)) + 1
    return start, " ".join(parts)
