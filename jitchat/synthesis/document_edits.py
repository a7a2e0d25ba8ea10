"""What the user does with a memory document: edit, pin and forget lines, compare versions. Pure.

A line is named by its number in the document, from 1. Whoever edits the document as text gets it as
a window has it; a line that comes back as it was is the same line, with its source.
"""

from collections import Counter, defaultdict
from collections.abc import Iterator
from dataclasses import dataclass, replace
from datetime import date

from jitchat.errors import UnknownVersion, UsageError
from jitchat.statements import DocumentLine, MemoryDocument, Section
from jitchat.synthesis.fitting import MOST_WORDS, in_order, words_of
from jitchat.text.sanitize import one_line
from jitchat.text.words import stems
from jitchat.window.statements import line_text

_MARK = "- "
_HEADING = "## "
_USED, _LEAST = 0.6, 2
"""The share of a line's words, and how many of them at least, that a reply has which used it."""


def line_at(document: MemoryDocument, number: int) -> DocumentLine:
    """Find a line by its number.

    Raises:
        UnknownVersion: There is none of that number.

    """
    if not 0 < number <= len(document.lines):
        raise UnknownVersion(
            f"The memory document has no line {number:,}.", "`jitchat document` numbers them."
        )
    return document.lines[number - 1]


def pinned(document: MemoryDocument, number: int) -> MemoryDocument:
    """Pin a line, or end that.

    Raises:
        UsageError: What the user keeps would fill the document.

    """
    line = line_at(document, number)
    return _checked(_with(document, number, replace(line, is_pinned=not line.is_pinned)))


def forgotten(document: MemoryDocument, number: int) -> MemoryDocument:
    line_at(document, number)
    return _with(document, number, None)


def edited(document: MemoryDocument, number: int, text: str) -> MemoryDocument:
    """Give a line another text; an empty one forgets it.

    Raises:
        UsageError: What the user keeps would fill the document.

    """
    line, text = line_at(document, number), one_line(text)
    if text == line.text:
        return document
    if not text:
        return forgotten(document, number)
    new = replace(line, text=text, speaker="", refers_to=(), replaced=None, is_edited=True)
    return _checked(_with(document, number, new))


def _with(document: MemoryDocument, number: int, line: DocumentLine | None) -> MemoryDocument:
    lines = list(document.lines)
    lines[number - 1 : number] = [] if line is None else [line]
    return replace(document, lines=tuple(lines))


def _checked(document: MemoryDocument) -> MemoryDocument:
    kept = tuple(line for line in document.lines if line.is_kept)
    size = words_of(replace(document, lines=kept))
    if size > MOST_WORDS // 2:
        raise UsageError(
            f"Pinned and edited lines would have {size:,} words; {MOST_WORDS // 2:,} is the most.",
            "Forget or unpin some first.",
        )
    return document


def from_text(text: str, document: MemoryDocument, today: date) -> MemoryDocument:
    """Read a document that was edited as text; what is no line of a section is left out.

    Raises:
        UsageError: What the user keeps would fill the document.

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
    """A line that one version has and another has not."""

    is_added: bool
    line: DocumentLine


def difference(old: MemoryDocument, new: MemoryDocument) -> list[Change]:
    """List what became of a version: what went, and what came, in the order of the sections."""
    before, after = (Counter(map(_shown, each.lines)) for each in (old, new))
    went = [Change(False, line) for line in old.lines if not _taken(after, line)]
    came = [Change(True, line) for line in new.lines if not _taken(before, line)]
    places = {section: place for place, section in enumerate(Section)}
    return sorted([*went, *came], key=lambda change: places[change.line.section])


def _shown(line: DocumentLine) -> tuple[Section, str, bool]:
    return line.section, line_text(line), line.is_pinned


def _taken(lines: "Counter[tuple[Section, str, bool]]", line: DocumentLine) -> bool:
    """Take a line out of those of the other version, if it is there."""
    shown = _shown(line)
    is_there = lines[shown] > 0
    lines[shown] -= is_there
    return is_there


def used_lines(document: MemoryDocument, reply: str) -> list[int]:
    """Number the lines most of whose words a reply has: those that it may have been made of."""
    said = frozenset(stems(reply))
    found: list[int] = []
    for number, line in enumerate(document.lines, start=1):
        words = frozenset(stems(line.text))
        shared = len(words & said)
        if shared >= _LEAST and shared >= _USED * len(words):
            found.append(number)
    return found
