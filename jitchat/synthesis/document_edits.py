"""The user's operations on a memory document: edit, pin and forget lines, compare versions. Pure.

A line is named by its number in the document, from 1. The text that the user edits is the one that
windows have; a line that is unchanged afterwards is the same line, with its source.

If a document has too many words, the oldest and least referenced lines are dropped first. What the
session itself stated, the lines on the names that the document mentions most, and the timeline are
protected. The timeline never loses a date: if nothing else is left to drop, it loses words. What
the user pinned or wrote stays.
"""

from collections import Counter, defaultdict
from collections.abc import Callable, Iterator, Sequence
from dataclasses import dataclass, replace
from datetime import date
from functools import lru_cache, reduce
from itertools import groupby

from jitchat.errors import UnknownVersion, UsageError
from jitchat.statements import BARE, DocumentLine, MemoryDocument, Section, Source
from jitchat.synthesis.extraction import names_in, weight_of
from jitchat.text.sanitize import one_line
from jitchat.text.words import stems
from jitchat.window.statements import document_line, line_text

MOST_WORDS = 5_000
"""Maximum words of a document, as a window has it: with dates, sources and headings."""
_KEY_NAMES = 8
"""Maximum number of names that are key entities; each is in more than one line."""
_AGE, _MENTION, _OF_NOTE = 3.0, 2.0, -8.0
"""What being new, being repeated, and being only a note add to a line's weight."""
_HEADING = 2
"""Words of `## Facts`."""
_NO_DAY = date.min

Keep = Callable[[DocumentLine], bool]


def words_of(document: MemoryDocument) -> int:
    """Count the words of a document as a window has it."""
    headings = {line.section for line in document.lines}
    return _HEADING * len(headings) + sum(map(_words, document.lines))


def in_order(lines: Sequence[DocumentLine]) -> tuple[DocumentLine, ...]:
    """Sort lines by section, and within a section by date; notes newest first."""
    sections = list(Section)
    by_date = sorted(lines, key=_day)
    notes = [line for line in by_date if line.section is Section.NOTES]
    others = [line for line in by_date if line.section is not Section.NOTES]
    return tuple(sorted([*others, *notes[::-1]], key=lambda line: sections.index(line.section)))


def fitted(document: MemoryDocument, is_recent: Keep, most: int = MOST_WORDS) -> MemoryDocument:
    """Drop lines until a document has at most `most` words.

    `is_recent` returns whether the session itself stated a line. Lines that the user keeps all
    stay, even if they alone have more words.
    """
    excess = words_of(document) - most
    if excess <= 0:
        return document
    dropped: set[int] = set()
    for number in _drop_order(document.lines, is_recent):
        if excess <= 0:
            break
        dropped.add(number)
        excess -= _words(document.lines[number])
    lines = tuple(line for number, line in enumerate(document.lines) if number not in dropped)
    left = replace(document, lines=lines)
    for shorter in (_bare, _by_month):
        if words_of(left) > most:
            left = shorter(left, words_of(left) - most)
    return left


def _drop_order(lines: Sequence[DocumentLine], is_recent: Keep) -> list[int]:
    """List the numbers of lines in the order in which to drop them, without the permanent ones."""
    used = Counter(name for line in lines for name in names_in(line.text))
    key_names = [name for name, count in used.most_common(_KEY_NAMES) if count > 1]
    days = sorted({_day(line) for line in lines})
    age = {day: number / max(1, len(days) - 1) for number, day in enumerate(days)}

    def protection(line: DocumentLine) -> int:
        if line.section is Section.ENTITIES and any(name in line.text for name in key_names):
            return 1
        return 2 if is_recent(line) and line.section is Section.FACTS else 0

    def worth(line: DocumentLine) -> float:
        note = _OF_NOTE if line.section is Section.NOTES else 0.0
        referenced = _MENTION * line.mentions + weight_of(line.text)
        return referenced + _AGE * age[_day(line)] + note

    ranked = [
        (protection(line), worth(line), number)
        for number, line in enumerate(lines)
        if not line.is_kept and line.section is not Section.TIMELINE
    ]
    return [number for _, _, number in sorted(ranked)]


def _bare(document: MemoryDocument, excess: int) -> MemoryDocument:
    """Remove the texts of the timeline's oldest dates, until `excess` words are gone."""
    lines = list(document.lines)
    for number, line in enumerate(lines):
        is_long = _is_date_line(line) and line.text != BARE and not listed_dates(line.text)
        if excess > 0 and is_long:
            lines[number] = replace(line, text=BARE, speaker="", refers_to=(), replaced=None)
            excess -= _words(line) - _words(lines[number])
    return replace(document, lines=tuple(lines))


def _by_month(document: MemoryDocument, _: int) -> MemoryDocument:
    """Merge the dates of each month and conversation into one line."""
    timeline = [line for line in document.lines if _is_date_line(line)]
    others = [line for line in document.lines if not _is_date_line(line)]
    timeline.sort(key=_month)
    joined = [_joined(list(group)) for _, group in groupby(timeline, key=_month)]
    return replace(document, lines=in_order([*others, *joined]))


def _is_date_line(line: DocumentLine) -> bool:
    return line.section is Section.TIMELINE and not line.is_kept and line.source is not None


def _month(line: DocumentLine) -> tuple[str, int, int]:
    conversation = line.source.conversation if line.source is not None else ""
    return conversation, _day(line).year, _day(line).month


def _joined(lines: Sequence[DocumentLine]) -> DocumentLine:
    """Join lines of one conversation; each keeps its date."""
    days = [day for line in lines for day in dates_of(line)]
    sources = [line.source for line in lines if line.source is not None]
    source = reduce(joined_source, sources)
    text = ", ".join(day.isoformat() for day in sorted(set(days)))
    first = min(days, default=None)
    return replace(lines[0], text=text if len(days) > 1 else BARE, day=first, source=source)


def joined_source(one: Source, other: Source) -> Source:
    return replace(other, first=min(one.first, other.first), last=max(one.last, other.last))


def dates_of(line: DocumentLine) -> list[date]:
    """List the dates of a timeline line."""
    return listed_dates(line.text) or ([line.day] if line.day is not None else [])


def listed_dates(text: str) -> list[date]:
    """Read a text that is nothing but dates; empty if it is not."""
    try:
        return [date.fromisoformat(piece) for piece in text.split(", ")]
    except ValueError:
        return []


@lru_cache(maxsize=1 << 13)
def _words(line: DocumentLine) -> int:
    return len(document_line(line).split())


def _day(line: DocumentLine) -> date:
    return line.day or _NO_DAY


_MARK = "- "
_SECTION_HEADING = "## "
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
        if line.startswith(_SECTION_HEADING):
            section = sections.get(line.removeprefix(_SECTION_HEADING).strip().casefold())
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
