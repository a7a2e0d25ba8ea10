"""Splitting text into sentences, for summaries and for quoting.

Every sentence is a slice of the text as it stands, without the white space around it and with
a blank for a line break inside a paragraph. Lines are never joined across a blank line, a list
item or a code fence. A sentence has at most 1,000 characters; what is longer is no sentence
and is cut at a blank. Time grows linearly with the text, whatever it holds.
"""

import re
from collections.abc import Callable, Iterator

LONGEST = 1_000

_END = re.compile(
    r"""[.!?…。！？](?:(?<=[。！？])[。！？]*+[」』”]*+"""
    r"""|(?<![.!?…][.!?…])(?<=[.!?…])[.!?…]*+["'”’)\]*_]*+(?=\s))"""
)
"""Begins with the signs themselves, which the search for it can skip to."""
_ABBREVIATIONS = frozenset(
    ("mr", "mrs", "ms", "dr", "prof", "st", "jr", "sr", "vs", "e.g", "i.e", "approx", "dept")
)
_BEFORE_A_NUMBER = frozenset(("no", "vol", "fig", "nr", "p", "pp"))
_BULLET = re.compile(r"\s*+(?:[-*+•]|\d{1,3}[.)]|#{1,6}|>)\s+")
_FENCE = re.compile(r"\s*+(?:```|~~~)")


def sentences(text: str) -> list[str]:
    """Split `text` into its sentences, in order. A line of code is one."""
    return [sentence for sentence, _ in marked_sentences(text)]


def marked_sentences(text: str) -> list[tuple[str, bool]]:
    """`sentences`, each with whether it is a line of code."""
    return [
        (sentence, is_code)
        for block, is_code in _blocks(text)
        for piece in ([block] if is_code else _split(block))
        for sentence in _bounded(piece)
    ]


def is_question(sentence: str) -> bool:
    return sentence.rstrip("\"'”’)*_ \t\n").endswith(("?", "？"))


def _blocks(text: str) -> list[tuple[str, bool]]:
    """Paragraphs and list items as (text, False), lines of code as (text, True)."""
    blocks: list[tuple[str, bool]] = []
    paragraph: list[str] = []
    fenced = False
    for line in [*text.splitlines(), ""]:
        is_fence = bool(_FENCE.match(line))
        bare = line.strip()
        if paragraph and (is_fence or fenced or not bare or _BULLET.match(line)):
            blocks.append((" ".join(paragraph), False))
            paragraph = []
        if is_fence:
            fenced = not fenced
        elif fenced and bare:
            blocks.append((bare, True))
        elif bare:
            opening = _BULLET.match(line)
            paragraph.append(line[opening.end() :].strip() if opening else bare)
    return blocks


def _split(paragraph: str) -> Iterator[str]:
    start = 0
    for end in sentence_ends(paragraph):
        yield paragraph[start:end].strip()
        start = end
    if rest := paragraph[start:].strip():
        yield rest


def sentence_ends(paragraph: str) -> Iterator[int]:
    """Find where the sentences of a paragraph end; the last one may end with the paragraph."""
    for end in _END.finditer(paragraph):
        if end.group() != "." or not _is_abbreviated(paragraph, end.start()):
            yield end.end()


def _is_abbreviated(paragraph: str, stop: int) -> bool:
    """Whether the full stop at `stop` belongs to the word before it."""
    word = f" {paragraph[max(0, stop - 12) : stop]}".rpartition(" ")[2].lstrip("(\"'“‘[*_")
    if word.lower() in _BEFORE_A_NUMBER:
        return paragraph[stop + 2 : stop + 3].isdigit()
    is_initial = len(word) == 1 and word.isupper() and word != "I"
    return is_initial or word.lower() in _ABBREVIATIONS


def _bounded(sentence: str) -> Iterator[str]:
    """`sentence` in pieces of at most LONGEST characters, cut at a blank where there is one."""
    start = 0
    while len(sentence) - start > LONGEST:
        blank = sentence.rfind(" ", start + LONGEST // 2, start + LONGEST)
        stop = blank + 1 or start + LONGEST
        yield sentence[start:stop].strip()
        start = stop
    if rest := sentence[start:].strip():
        yield rest


_REFERENCE = re.compile(r"(?<![\w#&/])#([1-9][0-9]{0,17})(?!\w|\.\d|#)", re.ASCII)
"""Neither a colour nor a place in a page: `#12` stands alone, or before punctuation."""


def turn_references(draft: str) -> frozenset[int]:
    """Find the positions that a draft names; no turn need be there."""
    return frozenset(int(number) for number in _REFERENCE.findall(draft))


def reference_spans(line: str) -> Iterator[tuple[tuple[int, int], int]]:
    """Find where the names of turns stand, and the positions that they name."""
    return ((found.span(), int(found[1])) for found in _REFERENCE.finditer(line))


def without_references(draft: str, is_here: Callable[[int], bool]) -> str:
    """Leave out the names of turns that there are: they are fetched by that, not looked for."""

    def left(found: re.Match[str]) -> str:
        return "" if is_here(int(found[1])) else found[0]

    return _REFERENCE.sub(left, draft)
