"""Splitting text into sentences, for summaries and for quoting.

Every sentence is a slice of the text as it stands, without the white space around it. Lines
are never joined across a blank line, a list item or a code fence.
"""

from __future__ import annotations

import re

_END = re.compile(r"""[.!?…]+["'”’)\]*_]*(?=\s)|[。！？]+[」』”]*""")
_ABBREVIATION = re.compile(
    r"(?:\b(?:mr|mrs|ms|dr|prof|st|jr|sr|vs|e\.g|i\.e|etc|approx|no|vol|fig|dept)|\b[A-Z])\.$",
    re.IGNORECASE,
)
_BULLET = re.compile(r"^\s*(?:[-*+•]|\d{1,3}[.)]|#{1,6}|>)\s+")
_FENCE = re.compile(r"^\s*(?:```|~~~)")


def sentences(text: str) -> list[str]:
    """The sentences of `text` in order. A line of code is one sentence."""
    found: list[str] = []
    for block, is_code in _blocks(text):
        found += [block] if is_code else _split(block)
    return found


def is_question(sentence: str) -> bool:
    """Whether the sentence ends as a question does."""
    return sentence.rstrip("\"'”’)*_ ").endswith(("?", "？"))


def _blocks(text: str) -> list[tuple[str, bool]]:
    """Paragraphs and list items as (text, False), lines of code as (text, True)."""
    blocks: list[tuple[str, bool]] = []
    paragraph: list[str] = []
    fenced = False
    for line in [*text.splitlines(), ""]:
        is_fence = bool(_FENCE.match(line))
        breaks = is_fence or fenced or not line.strip() or bool(_BULLET.match(line))
        if breaks and paragraph:
            blocks.append((" ".join(paragraph), False))
            paragraph = []
        if is_fence:
            fenced = not fenced
        elif fenced:
            blocks += [(line.strip(), True)] if line.strip() else []
        elif line.strip():
            paragraph.append(_BULLET.sub("", line).strip())
    return blocks


def _split(paragraph: str) -> list[str]:
    pieces: list[str] = []
    start = 0
    for end in _END.finditer(paragraph):
        piece = paragraph[start : end.end()]
        if end.group().startswith(".") and _ABBREVIATION.search(piece):
            continue
        pieces.append(piece)
        start = end.end()
    pieces.append(paragraph[start:])
    return [piece.strip() for piece in pieces if piece.strip()]
