"""The built-in document writer: the previous document and a session in, one document out.

It is extractive: every line is a sentence of a turn, with its source and date. A later statement
replaces an earlier one that it contradicts; among the facts, the line shows both.
"""

import asyncio
from collections.abc import Callable, Sequence
from dataclasses import dataclass, replace
from datetime import date
from types import MappingProxyType
from typing import Protocol

from jitchat.statements import BARE, DocumentLine, MemoryDocument, Replaced, Section, Source
from jitchat.synthesis.document_edits import MOST_WORDS, dates_of, fitted, in_order, joined_source
from jitchat.synthesis.extraction import extracted, is_read, to_forget, weight_of
from jitchat.text.contradiction import is_outdated_by, may_be_same, restates, statement_of
from jitchat.text.sanitize import shorten
from jitchat.text.words import stem, stems, words
from jitchat.values import Role, Turn

BUILT_IN = "built in"
_GIST = 120
"""Maximum characters of the timeline's text for a date."""
_REPLACES = frozenset((Section.FACTS, Section.ENTITIES, Section.PREFERENCES))
"""Sections in which a later statement replaces the lines that it contradicts."""


@dataclass(frozen=True, slots=True)
class SessionTurns:
    """The turns of a conversation that are in no document yet."""

    conversation: str
    """Its id."""
    title: str
    turns: Sequence[Turn]
    """In order, including those of tools."""
    out: frozenset[int] = frozenset()
    """The positions of the turns that the user keeps out of every window."""

    @property
    def messages(self) -> list[Turn]:
        """The turns that a document is written from."""
        return [turn for turn in self.turns if is_read(turn) and turn.position not in self.out]

    @property
    def among_people(self) -> bool:
        """Whether both sides have names, as in conversations between two people."""
        return any(turn.name for turn in self.turns if turn.role is Role.USER)


@dataclass(frozen=True, slots=True)
class Written:
    """A writer's result for a session."""

    document: MemoryDocument
    """With the number of the version that it was made from."""
    made_by: str
    """`BUILT_IN`, or a model's name."""
    why: str = ""
    """Why the built-in writer replaced the model, as a clause; empty if it did not."""
    input_tokens: int = 0
    output_tokens: int = 0
    calls: int = 0
    """Requests to a model."""


class DocumentWriter(Protocol):
    async def write(self, previous: MemoryDocument, session: SessionTurns) -> Written: ...

    async def aclose(self) -> None: ...


class ExtractiveWriter:
    async def write(
        self, previous: MemoryDocument, session: SessionTurns, why: str = ""
    ) -> Written:
        """Write without a model; `why` states why a model did not."""
        return Written(await asyncio.to_thread(write, previous, session), BUILT_IN, why)

    async def aclose(self) -> None:
        pass


def write(
    previous: MemoryDocument, session: SessionTurns, most: int = MOST_WORDS
) -> MemoryDocument:
    """Write the next version of a document, of at most `most` words."""
    draft = _Draft(previous.lines)
    new: list[DocumentLine] = []
    among_people = session.among_people
    for turn in session.messages:
        for what in to_forget(turn):
            draft.forget(what)
        for line in extracted(turn, session.conversation, among_people=among_people):
            draft.take(line)
            new.append(line)
    # of the lines of a day, the first of those with the most content
    gists: dict[date | None, DocumentLine] = {}
    for line in sorted(new, key=lambda line: -weight_of(line.text)):
        gists.setdefault(line.day, line)
    lines = with_dates(draft.lines(), session, gists.get)
    return completed(previous, lines, session, most)


def completed(
    previous: MemoryDocument, lines: Sequence[DocumentLine], session: SessionTurns, most: int
) -> MemoryDocument:
    """Make the next version from lines: ordered, and cut to at most `most` words."""
    through = dict(previous.through)
    if session.turns:
        through[session.conversation] = session.turns[-1].position
    made = replace(previous, lines=in_order(lines), through=MappingProxyType(through))
    return fitted(made, stated_in(session), most)


def stated_in(session: SessionTurns) -> Callable[[DocumentLine], bool]:
    """Return a function that says whether a line was taken from a turn of the session."""
    positions = {turn.position for turn in session.turns}

    def is_stated(line: DocumentLine) -> bool:
        source = line.source
        is_here = source is not None and source.conversation == session.conversation
        return is_here and source is not None and source.first in positions

    return is_stated


class _Draft:
    """The lines of the version being written."""

    def __init__(self, lines: Sequence[DocumentLine]) -> None:
        self._lines = dict(enumerate(lines))
        """By number; a line that is replaced keeps its number."""
        self._next = len(lines)

    def lines(self) -> list[DocumentLine]:
        return list(self._lines.values())

    def take(self, line: DocumentLine) -> None:
        """Add a later line; it replaces a line that it repeats, or lines that it contradicts."""
        alike = [(number, old) for number, old in self._lines.items() if _may_be_same(old, line)]
        said = statement_of(line.text)
        for number, old in alike:
            if restates(said, statement_of(old.text)):
                self._lines[number] = _repeated(old, line)
                return
        for number, old in alike if line.section in _REPLACES else ():
            if is_outdated_by(old.text, line.text):
                if line.section is Section.FACTS:
                    line = replace(line, replaced=Replaced(old.text, old.source, old.day))
                if not old.is_kept:
                    del self._lines[number]
        self._add(line)

    def forget(self, what: str) -> None:
        """Remove the lines that have all words of `what`, unless the user keeps them."""
        wanted = frozenset(stems(what))
        for number, line in list(self._lines.items()):
            said = {stem(word) for word in words(line.text)}
            if wanted and wanted <= said and not line.is_kept:
                del self._lines[number]
                if line.section is Section.TIMELINE:
                    self._add(replace(line, text=BARE, speaker="", refers_to=()))

    def _add(self, line: DocumentLine) -> None:
        self._lines[self._next] = line
        self._next += 1


def _may_be_same(old: DocumentLine, new: DocumentLine) -> bool:
    """Whether both are of one section and speaker, and share what they are about."""
    if (old.section, old.speaker) != (new.section, new.speaker):
        return False
    one, other = _subject(old.text), _subject(new.text)
    shared = len(one & other)
    return shared > 0 and may_be_same(shared, len(other), len(one))


def _subject(text: str) -> frozenset[str]:
    """Return the stems of a line's subject, or else all."""
    said = statement_of(text)
    return said.about or said.stems


def _repeated(old: DocumentLine, new: DocumentLine) -> DocumentLine:
    """Record that a line was repeated, and when; a line that the user wrote keeps its words."""
    if new.source == old.source:
        return old
    mentions = old.mentions + 1
    if old.is_edited:
        return replace(old, mentions=mentions)
    return replace(new, replaced=old.replaced, mentions=mentions, is_pinned=old.is_pinned)


def with_dates(
    lines: Sequence[DocumentLine],
    session: SessionTurns,
    gist_of: Callable[[date], DocumentLine | None],
) -> list[DocumentLine]:
    """Add the dates of a session to the timeline: a new line for each that has none yet."""
    spans = _spans(session)
    dated: list[DocumentLine] = []
    for line in lines:
        day = _own_date(line, session.conversation)
        span = spans.pop(day, None)
        dated.append(line if span is None else _extended(line, span, gist_of(day)))
    for day, span in spans.items():
        said = gist_of(day)
        titled = DocumentLine(Section.TIMELINE, shorten(f"“{session.title}”", _GIST), span, day)
        dated.append(titled if said is None else _with_gist(titled, said))
    return dated


def _extended(line: DocumentLine, span: Source, said: DocumentLine | None) -> DocumentLine:
    """Add turns to a date of the timeline; a date without text gets theirs."""
    longer = replace(line, source=joined_source(line.source or span, span))
    return longer if said is None or line.text != BARE else _with_gist(longer, said)


def _with_gist(line: DocumentLine, said: DocumentLine) -> DocumentLine:
    """Give a date the text of one of its lines."""
    return replace(line, text=shorten(said.text, _GIST), speaker=said.speaker)


def _spans(session: SessionTurns) -> dict[date, Source]:
    """Map each date to its turns, in order."""
    spans: dict[date, Source] = {}
    for turn in session.messages:
        if turn.created_at is not None:
            day = turn.created_at.date()
            own = Source(turn.position, turn.position, session.conversation)
            spans[day] = joined_source(spans.get(day, own), own)
    return spans


def _own_date(line: DocumentLine, conversation: str) -> date:
    """Return the date of a timeline line of this conversation; for other lines `date.min`."""
    source = line.source
    is_own = source is not None and source.conversation == conversation
    days = dates_of(line) if is_own and line.section is Section.TIMELINE else []
    return days[-1] if days else date.min
