"""The built-in document writer: the previous document and a session in, one document out.

It is extractive: every line is a sentence of a turn, with its source and date. A later statement
replaces an earlier one that it contradicts; among the facts, the line shows both.
"""

import asyncio
from collections import Counter
from collections.abc import Callable, Iterator, Sequence
from dataclasses import dataclass, replace
from datetime import date
from itertools import chain
from types import MappingProxyType
from typing import Protocol

from jitchat.statements import BARE, DocumentLine, MemoryDocument, Replaced, Section, Source
from jitchat.synthesis.extraction import extracted, is_read, to_forget, weight_of
from jitchat.synthesis.fitting import MOST_WORDS, dates_of, fitted, in_order
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
    async def write(self, previous: MemoryDocument, session: SessionTurns) -> Written:
        return Written(await asyncio.to_thread(write, previous, session), BUILT_IN)

    async def aclose(self) -> None:
        pass


def write(
    previous: MemoryDocument, session: SessionTurns, most: int = MOST_WORDS
) -> MemoryDocument:
    """Write the next version of a document, of at most `most` words."""
    draft = _Draft(previous.lines)
    gists: dict[date, DocumentLine] = {}
    among_people = session.among_people
    for turn in session.messages:
        for what in to_forget(turn):
            draft.forget(what)
        for line in extracted(turn, session.conversation, among_people=among_people):
            draft.take(line)
            _keep_best(gists, line)
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
    positions = {turn.position for turn in session.turns}

    def is_recent(line: DocumentLine) -> bool:
        source = line.source
        is_here = source is not None and source.conversation == session.conversation
        return is_here and source is not None and source.first in positions

    return fitted(made, is_recent, most)


class _Draft:
    """The lines of the version being written, indexed by stem."""

    def __init__(self, lines: Sequence[DocumentLine]) -> None:
        self._lines: dict[int, DocumentLine] = {}
        self._by_stem: dict[tuple[Section, str], dict[str, list[int]]] = {}
        """Places of lines, by section and speaker, then by stem."""
        self._next = 0
        for line in lines:
            self._add(line)

    def lines(self) -> list[DocumentLine]:
        return list(self._lines.values())

    def take(self, line: DocumentLine) -> None:
        """Add a later line; it replaces a line that it repeats, or lines that it contradicts."""
        alike = list(self._alike(line))
        said = statement_of(line.text)
        for place, old in alike:
            if restates(said, statement_of(old.text)):
                self._repeat(place, old, line)
                return
        for place, old in alike if line.section in _REPLACES else ():
            if is_outdated_by(old.text, line.text):
                if line.section is Section.FACTS:
                    line = replace(line, replaced=Replaced(old.text, old.source, old.day))
                if not old.is_kept:
                    self._remove(place)
        self._add(line)

    def forget(self, what: str) -> None:
        """Remove the lines that have all words of `what`, unless the user keeps them."""
        wanted = frozenset(stems(what))
        for place, line in list(self._lines.items()):
            is_dated = line.section is Section.TIMELINE
            if not line.is_kept and _mentions_all(line.text, wanted):
                self._remove(place)
                if is_dated:
                    self._add(replace(line, text=BARE, speaker="", refers_to=()))

    def _repeat(self, place: int, old: DocumentLine, new: DocumentLine) -> None:
        """Record that a line was repeated, and when; a line that the user wrote keeps its words."""
        if new.source == old.source:
            return
        mentions = old.mentions + 1
        kept = replace(new, replaced=old.replaced, mentions=mentions, is_pinned=old.is_pinned)
        self._lines[place] = replace(old, mentions=mentions) if old.is_edited else kept

    def _alike(self, line: DocumentLine) -> Iterator[tuple[int, DocumentLine]]:
        """Find the lines of the same section and speaker that share a stem, oldest first."""
        about = _indexed(line.text)
        by_stem = self._by_stem.get((line.section, line.speaker), {})
        shared = Counter(chain.from_iterable(by_stem.get(root, ()) for root in about))
        for place in sorted(shared):
            old = self._lines.get(place)
            if old is not None:
                size = len(_indexed(old.text))
                if may_be_same(shared[place], len(about), size):
                    yield place, old

    def _add(self, line: DocumentLine) -> None:
        place, self._next = self._next, self._next + 1
        self._lines[place] = line
        by_stem = self._by_stem.setdefault((line.section, line.speaker), {})
        for root in _indexed(line.text):
            by_stem.setdefault(root, []).append(place)

    def _remove(self, place: int) -> None:
        del self._lines[place]


def _indexed(text: str) -> frozenset[str]:
    """Return the stems that a line is looked up by: those of its subject, or else all."""
    said = statement_of(text)
    return said.about or said.stems


def _mentions_all(text: str, wanted: frozenset[str]) -> bool:
    return bool(wanted) and wanted <= {stem(word) for word in words(text)}


def with_dates(
    lines: Sequence[DocumentLine],
    session: SessionTurns,
    gist_of: Callable[[date], DocumentLine | None],
) -> list[DocumentLine]:
    """Add the dates of a session to the timeline: a new line for each that has none yet."""
    spans = _spans(session)
    found: list[DocumentLine] = []
    for line in lines:
        day = _own_date(line, session.conversation)
        span = spans.pop(day, None)
        found.append(line if span is None else _extended(line, span, gist_of(day)))
    for day, span in spans.items():
        said = gist_of(day)
        line = DocumentLine(Section.TIMELINE, shorten(f"“{session.title}”", _GIST), span, day)
        found.append(line if said is None else _with_gist(line, said))
    return found


def _extended(line: DocumentLine, span: Source, said: DocumentLine | None) -> DocumentLine:
    """Add turns to a date of the timeline; a date without text gets theirs."""
    longer = replace(line, source=_joined(line.source, span))
    return longer if said is None or line.text != BARE else _with_gist(longer, said)


def _with_gist(line: DocumentLine, said: DocumentLine) -> DocumentLine:
    """Give a date the text of one of its lines."""
    return replace(line, text=shorten(said.text, _GIST), speaker=said.speaker)


def _spans(session: SessionTurns) -> dict[date, Source]:
    """Map each date to its turns, in order."""
    spans: dict[date, Source] = {}
    for turn in session.messages:
        if turn.created_at is not None:
            day, own = turn.created_at.date(), Source(turn.position, turn.position)
            own = replace(own, conversation=session.conversation)
            spans[day] = _joined(spans.get(day), own)
    return spans


def _own_date(line: DocumentLine, conversation: str) -> date:
    """Return the date of a timeline line of this conversation; for other lines `date.min`."""
    source = line.source
    is_own = source is not None and source.conversation == conversation
    days = dates_of(line) if is_own and line.section is Section.TIMELINE else []
    return days[-1] if days else date.min


def _joined(one: Source | None, other: Source) -> Source:
    if one is None:
        return other
    return replace(other, first=min(one.first, other.first), last=max(one.last, other.last))


def _keep_best(gists: dict[date, DocumentLine], line: DocumentLine) -> None:
    """Keep the line with the most content for each day."""
    day = line.day
    if day is not None and (day not in gists or weight_of(gists[day].text) < weight_of(line.text)):
        gists[day] = line
