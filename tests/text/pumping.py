"""Texts that match an expression up to a repetition, and then repeat what it allows there."""

from __future__ import annotations

import re
from functools import cache
from itertools import chain, islice
from re import _constants as op  # type: ignore[attr-defined]
from re import _parser as parser  # type: ignore[attr-defined]
from typing import TYPE_CHECKING, Any

if TYPE_CHECKING:
    from collections.abc import Iterable, Iterator, Sequence

Item = tuple[Any, Any]
_ALPHABET = "a1 -.,:\"'(#\n_A<[/éß日\u0301|{}`*“”)]>\\@=+~!?&%$;\t\u200b😀"
_REPEATS = (op.MAX_REPEAT, op.MIN_REPEAT, op.POSSESSIVE_REPEAT)
_MANY = 20
_IS_IN = {
    op.CATEGORY_DIGIT: str.isdigit,
    op.CATEGORY_SPACE: str.isspace,
    op.CATEGORY_WORD: lambda each: each.isalnum() or each == "_",
    op.CATEGORY_NOT_DIGIT: lambda each: not each.isdigit(),
    op.CATEGORY_NOT_SPACE: lambda each: not each.isspace(),
    op.CATEGORY_NOT_WORD: lambda each: not (each.isalnum() or each == "_"),
}


def pumps(pattern: re.Pattern[Any]) -> list[tuple[str, str]]:
    """The prefix and the repeated text, for each repetition and for the whole expression."""
    source = pattern.pattern
    text = source if isinstance(source, str) else source.decode("latin-1")
    items = list(parser.parse(text, pattern.flags & ~re.UNICODE))
    return list(dict.fromkeys(_walk(items, "")))


def _walk(items: Sequence[Item], before: str) -> Iterator[tuple[str, str]]:
    for item in items:
        code, value = item
        if code in _REPEATS and value[1] > _MANY:
            yield from ((before, each) for each in _examples(list(value[2])))
        for inner in _inside(code, value):
            yield from _walk(inner, before)
        before += next(iter(_examples([item])), "")
    if before:
        yield "", before


def _inside(code: object, value: Any) -> list[list[Item]]:
    """The alternatives that an item consists of."""
    if code in _REPEATS:
        return [list(value[2])]
    if code is op.SUBPATTERN:
        return [list(value[3])]
    if code is op.BRANCH:
        return [list(each) for each in value[1]]
    if code is op.ATOMIC_GROUP:
        return [list(value)]
    return []


def _examples(items: Sequence[Item]) -> list[str]:
    """A few matching texts, as many as the item with the most alternatives has."""
    made = [""]
    for code, value in items:
        more = _single(code, value) or [""]
        size = max(len(made), len(more))
        made = [made[at % len(made)] + more[at % len(more)] for at in range(size)]
    return list(dict.fromkeys(filter(None, made)))


def _single(code: object, value: Any) -> list[str]:
    if code is op.LITERAL:
        return [chr(value)]
    if code in (op.ANY, op.NOT_LITERAL, op.IN):
        items = {op.ANY: [], op.NOT_LITERAL: [(op.NEGATE, None), (op.LITERAL, value)]}
        return _characters(tuple(items.get(code, value)))
    if code in _REPEATS:
        return [each * max(value[0], 1) for each in _examples(list(value[2]))]
    if code is op.BRANCH:
        return [each for part in value[1] for each in _examples(list(part))[:1]][:6]
    return _examples(next(iter(_inside(code, value)), []))


@cache
def _characters(items: tuple[Item, ...]) -> list[str]:
    """A few matching characters."""
    wide = chain(_ALPHABET, map(chr, _candidates(items)))
    return list(islice((each for each in wide if _fits(items, each)), 7))


def _candidates(items: Sequence[Item]) -> Iterable[int]:
    """Code points below 0x3100: only the named ones if no others can match, else all."""
    ranges = {op.LITERAL: lambda value: (value, value), op.RANGE: lambda value: value}
    if not items or any(code not in ranges for code, _ in items):
        return range(0x3100)
    pairs = (ranges[code](value) for code, value in items)
    return sorted({each for first, last in pairs for each in range(first, min(last, 0x30FF) + 1)})


def _fits(items: Sequence[Item], character: str) -> bool:
    found = not items  # any character
    for code, value in items:
        if code is op.LITERAL:
            found |= character == chr(value)
        elif code is op.RANGE:
            found |= value[0] <= ord(character) <= value[1]
        elif code is op.CATEGORY:
            found |= _IS_IN[value](character)
    return found is not (bool(items) and items[0][0] is op.NEGATE)
