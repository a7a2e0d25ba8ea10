"""Sessions to write documents of."""

from __future__ import annotations

from datetime import UTC, datetime, timedelta

from jitchat.statements import MemoryDocument, Section
from jitchat.synthesis.document_writer import SessionTurns, write
from jitchat.values import Role, Turn

NOON = datetime(2026, 3, 2, 12, 0, tzinfo=UTC)


def session(*said: str, day: int = 0, start: int = 1, conversation: str = "chat-1") -> SessionTurns:
    """Make a session of what the user said; `assistant: …` is what a model answered."""
    turns = []
    for position, text in enumerate(said, start=start):
        role = Role.ASSISTANT if text.startswith("assistant: ") else Role.USER
        content = text.removeprefix("assistant: ")
        turns.append(Turn(position, role, content, NOON + timedelta(days=day)))
    return SessionTurns(conversation, "Release", turns)


def texts(document: MemoryDocument, section: Section | None = None) -> list[str]:
    return [
        line.text
        for line in document.lines
        if line.section is (section or line.section) and line.section is not Section.TIMELINE
    ]


def written(*sessions: SessionTurns) -> MemoryDocument:
    document = MemoryDocument()
    for each in sessions:
        document = write(document, each)
    return document
