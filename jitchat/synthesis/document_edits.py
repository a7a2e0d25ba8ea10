"""The user's operations on a memory document: edit, pin and forget lines, compare versions. Pure.

A line is named by its number in the document, from 1. The text that the user edits is the one that
windows have; a line that is unchanged afterwards is the same line, with its source.
"""

from collections import defaultdict
from collections.abc import Iterator
from dataclasses import dataclass, replace
from datetime import date

from jitchat.errors import UnknownVersion, UsageError
from jitchat.statements import BARE, DocumentLine, MemoryDocument, Section, Source
from jitchat.synthesis.fitting import MOST_WORDS, in_order, words_of
from jitchat.text.sanitize import one_line
from jitchat.text.words import stems
from jitchat.window.statements import line_text

_MARK = "- "
_HEADING = "## "
_USED, _LEAST = 0.6, 2
"""The share and the minimum number of a line's words that a reply must have to count as using the
line."""


def line_at(document: MemoryDocument, number: int) -> DocumentLine:
    """Find a line by its number.

    Raises:
        UnknownVersion: There is no line with that number.

    """
    if not 0 < number <= len(document.lines):
        raise UnknownVersion(
            f"The memory document has no line {number:,}.", "`jitchat document` numbers them."
        )
    return document.lines[number - 1]


def pinned(document: MemoryDocument, number: int) -> MemoryDocument:
    """Pin or unpin a line.

    Raises:
        UsageError: The pinned and edited lines would fill the document.

    """
    line = line_at(document, number)
    return _checked(_with(document, number, replace(line, is_pinned=not line.is_pinned)))


def forgotten(document: MemoryDocument, number: int) -> MemoryDocument:
    """Remove a line, also from the timeline; a date of the timeline only loses its words."""
    line = line_at(document, number)
    if line.section is Section.TIMELINE:
        return _with(document, number, replace(line, text=BARE, speaker="", is_edited=False))
    return _without_words(_with(document, number, None), line)


def _without_words(document: MemoryDocument, gone: DocumentLine) -> MemoryDocument:
    """Remove the text of a line from the timeline."""
    lines = list(document.lines)
    for number, line in enumerate(lines):
        is_same = gone.text.startswith(line.text.removesuffix("…"))
        if line.section is Section.TIMELINE and is_same and _is_beside(line.source, gone.source):
            lines[number] = replace(line, text=BARE, speaker="")
    return replace(document, lines=tuple(lines))


def _is_beside(one: Source | None, other: Source | None) -> bool:
    """Whether both are known, and of one conversation."""
    return one is not None and other is not None and one.conversation == other.conversation


def edited(document: MemoryDocument, number: int, text: str) -> MemoryDocument:
    """Replace a line's text; an empty text forgets the line.

    Raises:
        UsageError: The pinned and edited lines would fill the document.

    """
    line, text = line_at(document, number), one_line(text)
    if text == line.text:
        return document
    if not text:
        return forgotten(document, number)
    new = replace(line, text=text, speaker="", refers_to=(), replaced=None, is_edited=True)
    return _checked(_without_words(_with(document, number, new), line))


def _with(document: MemoryDocument, number: int, line: DocumentLine | None) -> MemoryDocument:
    lines = list(document.lines)
    lines[number - 1 : number] = [] if line is None else [line]
    return replace(document, lines=tuple(lines))


def _checked(document: MemoryDocument) -> MemoryDocument:
    kept = tuple(line for line in document.lines if line.is_kept)
    size = words_of(replace(document, lines=kept))
    if size > MOST_WORDS // 2:
        raise UsageError(
            f"Pinned and edited lines would have {size:,} words; the limit is {MOST_WORDS // 2:,}.",
            "Forget or unpin some lines first.",
        )
    return document


def from_text(text: str, document: MemoryDocument, today: date) -> MemoryDocument:
    """Read a document that was edited as text, ignoring everything but the lines of sections.

    Raises:
        UsageError: The pinned and edited lines would fill the document.

    """
    known: dict[tuple[Section, str], list[DocumentLine]] = defaultdict(list)
    for line in document.lines:
        known[line.section, line_text(line)].append(line)
    lines: list[DocumentLine] = []
    for section, written in _written(text):
        if not written:
            continue
        same = known[section, written]
        new = DocumentLine(section, written, None, today, is_edited=True)
        lines.append(same.pop(0) if same else new)
    return _checked(replace(document, lines=in_order(lines)))


def _written(text: str) -> Iterator[tuple[Section, str]]:
    sections = {section.value.casefold(): section for section in Section}
    section: Section | None = None
    for line in text.splitlines():
        if line.startswith(_HEADING):
            section = sections.get(line.removeprefix(_HEADING).strip().casefold())
        elif section is not None and line.startswith(_MARK):
            yield section, one_line(line.removeprefix(_MARK))


@dataclass(frozen=True, slots=True)
class Change:
    """A line that only one of two versions has."""

    is_added: bool
    line: DocumentLine


def difference(old: MemoryDocument, new: MemoryDocument) -> list[Change]:
    """List the lines removed and added between two versions, in the order of the sections."""
    before, after = ([_shown(line) for line in version.lines] for version in (old, new))
    removed = [Change(False, line) for line in old.lines if not _taken(after, line)]
    added = [Change(True, line) for line in new.lines if not _taken(before, line)]
    sections = list(Section)
    return sorted([*removed, *added], key=lambda change: sections.index(change.line.section))


def _shown(line: DocumentLine) -> tuple[Section, str, bool]:
    return line.section, line_text(line), line.is_pinned


def _taken(shown: list[tuple[Section, str, bool]], line: DocumentLine) -> bool:
    """Take a line out of those of the other version; whether that version had it."""
    had_line = _shown(line) in shown
    if had_line:
        shown.remove(_shown(line))
    return had_line


def used_lines(document: MemoryDocument, reply: str) -> list[int]:
    """List the numbers of the lines that a reply may have used: it has most of their words."""
    in_reply = frozenset(stems(reply))
    found: list[int] = []
    for number, line in enumerate(document.lines, start=1):
        words = frozenset(stems(line.text))
        shared = len(words & in_reply)
        if shared >= _LEAST and shared >= _USED * len(words):
            found.append(number)
    return found
