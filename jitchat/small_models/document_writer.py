"""The document writer by a small model; its answer is checked against the turns that it names.

The model lists the numbers of the previous document's lines that still hold, and adds lines, each
with the turn that it comes from. Lines that the user keeps and the dates of the timeline do not
depend on the model. An answer that is not such JSON, keeps almost nothing, repeats itself, or names
turns that do not say what it writes is rejected: then the built-in writer writes the document, and
the result states why.
"""

import asyncio
from collections import Counter
from collections.abc import Iterator, Mapping, Sequence
from dataclasses import replace
from datetime import date

from jitchat.errors import JitchatError, NotAnAnswer
from jitchat.small_models.replies import parse_number, parse_value
from jitchat.small_models.small_model import SizedModels, request_of
from jitchat.statements import DocumentLine, MemoryDocument, Replaced, Section, Source
from jitchat.synthesis import document_writer as writing
from jitchat.synthesis.document_edits import MOST_WORDS
from jitchat.synthesis.document_writer import SessionTurns, Written
from jitchat.synthesis.extraction import is_of_person, speaker_in_line
from jitchat.text.sanitize import shorten
from jitchat.text.words import stems
from jitchat.values import Message, Turn
from jitchat.window.render import quote_all
from jitchat.window.statements import line_text

_ANSWER = 4_000
"""Tokens reserved for the answer."""
_WIDTH = 300
"""Maximum characters of a line."""
_GROUNDED = 0.5
"""The share of a line's words that its turn must have, and the share of new lines that must pass
that test."""
_KEPT = 0.5
"""The share of the previous lines that an answer must keep or replace."""
_FEW = 4
"""A document with up to this many lines can lose any number of them."""
_SECTIONS = {section.value: section for section in Section if section is not Section.TIMELINE}


class ModelDocumentWriter(SizedModels):
    async def write(self, previous: MemoryDocument, session: SessionTurns) -> Written:
        built_in = writing.ExtractiveWriter()
        if not session.messages:
            return await built_in.write(previous, session)
        messages = await asyncio.to_thread(document_request, previous, session)
        model = await self.fitting(messages, _ANSWER)
        if model is None:
            name = self.models[-1].model.name
            return await built_in.write(previous, session, f"too much for {name}")
        reply = await model.ask(messages)
        try:
            document = await asyncio.to_thread(_document_of, reply.whole(), previous, session)
            written = Written(document, model.name)
        except JitchatError as error:
            written = await built_in.write(previous, session, model.failure(error))
        return replace(
            written, input_tokens=reply.input_tokens, output_tokens=reply.output_tokens, calls=1
        )


def document_request(previous: MemoryDocument, session: SessionTurns) -> tuple[Message, ...]:
    """Ask for the next version; the lines and the turns are in separate fences."""
    numbered = [
        f"{number}. [{line.section}] {line_text(line)}\n" for number, line in _offered(previous)
    ]
    document = numbered or ["It is empty.\n"]
    turns = quote_all(session.messages)
    return request_of("document_writer", document=document, turns=turns)


def _offered(previous: MemoryDocument) -> list[tuple[int, DocumentLine]]:
    """List the lines that a model can leave out or replace, with their numbers."""
    return [
        (number, line)
        for number, line in enumerate(previous.lines, start=1)
        if line.section is not Section.TIMELINE and not line.is_kept
    ]


def _document_of(reply: str, previous: MemoryDocument, session: SessionTurns) -> MemoryDocument:
    lines = parse_document(reply, previous, session)
    offered = {line for _, line in _offered(previous)}
    always = [line for line in previous.lines if line not in offered]
    gists = _gists(lines, session)
    dated = writing.with_dates([*always, *lines], session, gists.get)
    return writing.completed(previous, dated, session, MOST_WORDS)


def _gists(lines: Sequence[DocumentLine], session: SessionTurns) -> Mapping[date, DocumentLine]:
    """Map each date to its text in the timeline: the first new line of that day."""
    is_new = writing.stated_in(session)
    return {line.day: line for line in reversed(lines) if line.day is not None and is_new(line)}


def parse_document(
    reply: str, previous: MemoryDocument, session: SessionTurns
) -> list[DocumentLine]:
    """Read an answer: the kept lines, then the new ones.

    Raises:
        NotAnAnswer: The answer is not in the requested format, or not a usable document.

    """
    offered = dict(_offered(previous))
    kept = {number for number in parse_value(reply, "keep", list) if isinstance(number, int)}
    written = parse_value(reply, "lines", list)
    grounded = list(_grounded(written, offered, session))
    new = [line for line, _ in grounded]
    if len(new) < _GROUNDED * len(written):
        raise _refused("names turns that do not say what it writes")
    often = Counter(line.text.casefold() for line in new)
    if new and max(often.values()) > max(2, len(new) // _FEW):
        raise _refused("repeats itself")
    replaced = {number for _, number in grounded if number}
    left = [line for number, line in offered.items() if number in kept - replaced]
    if not left and not new:
        raise _refused("is an empty document")
    survived = len(left) + len(replaced)
    if len(offered) > _FEW and survived < _KEPT * len(offered):
        raise _refused(f"keeps {survived:,} of {len(offered):,} lines")
    return [*left, *new]


def _refused(why: str) -> NotAnAnswer:
    return NotAnAnswer(f"Its answer {why}.", "Name another model under [writer].")


def _grounded(
    written: Sequence[object], offered: Mapping[int, DocumentLine], session: SessionTurns
) -> Iterator[tuple[DocumentLine, int]]:
    """Read new lines, each with the number of the line that it replaces, or 0.

    Lines that are malformed or not supported by their turns are dropped.
    """
    turns = {turn.position: turn for turn in session.messages}
    for fields in written:
        if not isinstance(fields, dict):
            continue
        section = _SECTIONS.get(str(fields.get("section")))
        turn = turns.get(parse_number(fields.get("turn")))
        text = fields.get("text")
        if section is None or turn is None or not isinstance(text, str):
            continue
        is_wish = section is Section.PREFERENCES
        if is_wish and not is_of_person(turn, among_people=session.among_people):
            section = Section.NOTES  # a model has no preferences, and cannot state the user's
        day = turn.created_at.date() if turn.created_at else None
        source = Source(turn.position, turn.position, session.conversation)
        line = DocumentLine(section, shorten(text, _WIDTH), source, day, speaker_in_line(turn))
        number = parse_number(fields.get("replaces"))
        old = offered.get(number)
        if old is not None and section is Section.FACTS:
            line = replace(line, replaced=Replaced(old.text, old.source, old.day))
        if _says(turn, line.text):
            yield line, number if old is not None else 0


def _says(turn: Turn, text: str) -> bool:
    """Whether a turn has most of the words of a line that names it as its source."""
    wanted = set(stems(text))
    said = set(stems(f"{turn.speaker} {turn.content}"))
    return bool(wanted) and len(wanted & said) >= _GROUNDED * len(wanted)
