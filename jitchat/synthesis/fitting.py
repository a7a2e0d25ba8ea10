"""Which lines of a memory document are dropped if it has too many words.

The oldest and least referenced lines go first. What the session itself stated, the lines on the
names that the document mentions most, and the timeline are protected. The timeline never loses a
date: if nothing else is left to drop, it loses words. What the user pinned or wrote stays.
"""

from collections import Counter
from collections.abc import Callable, Sequence
from dataclasses import replace
from datetime import date
from functools import lru_cache, reduce
from itertools import groupby

from jitchat.statements import BARE, DocumentLine, MemoryDocument, Section, Source
from jitchat.synthesis.extraction import names_in, weight_of
from jitchat.window.statements import document_line

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
