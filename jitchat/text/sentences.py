"""Split text into sentences, for summaries and for quoting.

Every sentence is a slice of the text without surrounding white space, and with a space for each
line break inside a paragraph. Lines are never joined across a blank line, a list item or a code
fence. A sentence has at most 1,000 characters; anything longer is cut at a space. Runs in linear
time on any text.
"""

import re
from collections.abc import Callable, Iterator

from jitchat.text.expressions import expressions, word_list

LONGEST = 1_000


def sentences(text: str) -> list[str]:
    """Split `text` into its sentences, in order. A line of code is one sentence."""
    return [sentence for sentence, _ in marked_sentences(text)]


def marked_sentences(text: str) -> list[tuple[str, bool]]:
    """Split `text` into `sentences`, each with whether it is a line of code."""
    return [
        (part, is_code)
        for block, is_code in _blocks(text)
        for sentence in ([block] if is_code else _split(block))
        for part in _bounded(sentence)
    ]


def is_question(sentence: str) -> bool:
    return sentence.rstrip("\"'”’)*_ \t\n").endswith(("?", "？"))


def _blocks(text: str) -> list[tuple[str, bool]]:
    """Return paragraphs and list items as (text, False), lines of code as (text, True)."""
    patterns = expressions("sentences")
    blocks: list[tuple[str, bool]] = []
    paragraph: list[str] = []
    fenced = False
    for line in [*text.splitlines(), ""]:
        is_fence = bool(patterns["fence"].match(line))
        bare = line.strip()
        bullet = None if fenced else patterns["bullet"].match(line)
        if paragraph and (is_fence or fenced or not bare or bullet):
            blocks.append((" ".join(paragraph), False))
            paragraph = []
        if is_fence:
            fenced = not fenced
        elif fenced and bare:
            blocks.append((bare, True))
        elif bare:
            paragraph.append(line[bullet.end() :].strip() if bullet else bare)
    return blocks


def _split(paragraph: str) -> Iterator[str]:
    start = 0
    for end in sentence_ends(paragraph):
        yield paragraph[start:end].strip()
        start = end
    if rest := paragraph[start:].strip():
        yield rest


def sentence_ends(paragraph: str) -> Iterator[int]:
    """Yield the ends of a paragraph's sentences; the end of the paragraph itself may be missing."""
    for end in expressions("sentences")["end"].finditer(paragraph):
        if end.group() != "." or not _is_abbreviated(paragraph, end.start()):
            yield end.end()


def _is_abbreviated(paragraph: str, stop: int) -> bool:
    """Return whether the full stop at `stop` belongs to the word before it."""
    word = f" {paragraph[max(0, stop - 12) : stop]}".rpartition(" ")[2].lstrip("(\"'“‘[*_")
    if word.lower() in word_list("abbreviations_before_a_number"):
        return paragraph[stop + 2 : stop + 3].isdigit()
    is_initial = len(word) == 1 and word.isupper() and word != "I"
    return is_initial or word.lower() in word_list("abbreviations")


def _bounded(sentence: str) -> list[str]:
    if len(sentence) <= LONGEST:
        return [sentence]
    spans = cut_at_spaces(sentence, 0, len(sentence))
    parts = [sentence[start:end].strip() for start, end in spans]
    return [part for part in parts if part]


def cut_at_spaces(text: str, start: int, end: int) -> Iterator[tuple[int, int]]:
    """Split a passage into parts of at most `LONGEST` characters, at spaces if possible."""
    while end - start > LONGEST:
        blank = text.rfind(" ", start + LONGEST // 2, start + LONGEST)
        stop = blank + 1 or start + LONGEST
        yield start, stop
        start = stop
    yield start, end


def turn_references(draft: str) -> frozenset[int]:
    """Return the positions that a draft references, whether or not the turns exist."""
    return frozenset(int(number) for number in expressions("sentences")["reference"].findall(draft))


def reference_spans(line: str) -> Iterator[tuple[tuple[int, int], int]]:
    """Yield the span of each reference to a turn, and the position that it names."""
    return (
        (found.span(), int(found[1]))
        for found in expressions("sentences")["reference"].finditer(line)
    )


def without_references(draft: str, is_here: Callable[[int], bool]) -> str:
    """Remove references to existing turns: these are fetched directly and not searched for."""

    def kept(found: re.Match[str]) -> str:
        return "" if is_here(int(found[1])) else found[0]

    return expressions("sentences")["reference"].sub(kept, draft)
