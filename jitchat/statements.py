"""What is distilled from turns: observations, the memory document, facts. Values, as in `values`.

A statement is one line of text with its sources: every line can be opened, traced and checked.
Statements are a cache over the cold store: they can be thrown away and made again.
"""

from collections.abc import Container, Mapping
from dataclasses import dataclass, field, replace
from datetime import date, datetime
from enum import StrEnum
from types import MappingProxyType

DELETED = "deleted"
"""Stands for the id of a conversation that was deleted; no conversation has it."""


@dataclass(frozen=True, slots=True)
class Source:
    """The turns that a statement was taken from."""

    first: int
    last: int
    """Positions, both included."""
    conversation: str = ""
    """Its id; empty for the conversation that the statement is read in."""

    @property
    def turns(self) -> range:
        return range(self.first, self.last + 1)

    @property
    def name(self) -> str:
        """`#12–#18`, `#12`, `chat-3 #12`."""
        turns = f"#{self.first}" if self.first == self.last else f"#{self.first}–#{self.last}"
        return f"{self.conversation} {turns}" if self.conversation else turns


class Priority(StrEnum):
    HIGH = "high"
    """Constraints, decisions, standing instructions, open tasks: reflection keeps their words."""
    MEDIUM = "medium"
    LOW = "low"


@dataclass(frozen=True, slots=True)
class Superseded:
    """A later statement holds in place of this one."""

    turn: int
    """The position of the turn that says so."""
    on: date | None = None


@dataclass(frozen=True, slots=True)
class Observation:
    """One dated line that an observer made of turns."""

    text: str
    """On one line."""
    source: Source
    priority: Priority = Priority.MEDIUM
    said_at: datetime | None = None
    """Aware; of the first turn that it stems from. None where that has no date."""
    refers_to: tuple[str, ...] = ()
    """Days that the text speaks of, resolved: `2026-03-02`."""
    superseded: Superseded | None = None


@dataclass(frozen=True, slots=True)
class Observations:
    """All that was observed along one path of a conversation, in order."""

    lines: tuple[Observation, ...] = ()
    through: int = 0
    """The position of the last turn that is observed: up to it, each turn is. 0 for none."""


NOTHING_OBSERVED = Observations()


class Section(StrEnum):
    """The parts of a memory document, in order."""

    FACTS = "Facts"
    TIMELINE = "Timeline"
    ENTITIES = "Entities"
    PREFERENCES = "Preferences"
    NOTES = "Notes"


@dataclass(frozen=True, slots=True)
class Replaced:
    """What a line said before a later statement contradicted it."""

    text: str
    source: Source | None
    day: date | None = None


@dataclass(frozen=True, slots=True)
class DocumentLine:
    section: Section
    text: str
    """On one line."""
    source: Source | None
    """With its conversation's id; None for a line that the user wrote."""
    day: date | None = None
    """On which it was said."""
    speaker: str = ""
    """Who said it, where that is not the user."""
    refers_to: tuple[str, ...] = ()
    """Days that the text speaks of, resolved: `2026-03-02`."""
    replaced: Replaced | None = None
    """None where nothing was contradicted."""
    mentions: int = 0
    """How often it was said again in a later session."""
    is_pinned: bool = False
    """Whether the user keeps it, whatever the writer makes of the document."""
    is_edited: bool = False
    """Whether the user wrote its text."""

    @property
    def is_kept(self) -> bool:
        """Whether no writer may leave it out."""
        return self.is_pinned or self.is_edited


BARE = "conversation"
"""All that the timeline says of a date of which there is nothing else to say."""


@dataclass(frozen=True, slots=True)
class MemoryDocument:
    """One version of a project's memory document."""

    lines: tuple[DocumentLine, ...] = ()
    """In the order of the sections, and in each as they are to be read."""
    version: int = 0
    """0 for the empty one, ahead of the first."""
    through: Mapping[str, int] = field(default_factory=lambda: MappingProxyType({}))
    """By a conversation's id: the position of its last turn that the document was written from."""

    def without(self, conversation: str, positions: Container[int]) -> "MemoryDocument":
        """Leave out the lines all of whose turns, of one conversation, are at some positions.

        A date of which some turns are there stays, without words.
        """
        lines: list[DocumentLine] = []
        for line in self.lines:
            source = line.source
            is_here = source is not None and source.conversation == conversation
            turns = source.turns if source is not None and is_here else range(0)
            out = sum(turn in positions for turn in turns)
            if not out:
                lines.append(line)
            elif out < len(turns):
                is_date = line.section is Section.TIMELINE
                lines.append(replace(line, text=BARE, speaker="") if is_date else line)
        unchanged = tuple(lines) == self.lines
        return self if unchanged else replace(self, lines=tuple(lines))


class FactKind(StrEnum):
    STANDING = "standing instruction"
    """What the user always wants: every window carries it."""
    PREFERENCE = "preference"
    DECISION = "decision"
    STATED = "stated"
    """What the user told jitchat to remember."""


class FactState(StrEnum):
    PROPOSED = "proposed"
    """Found, and not agreed to yet: no window carries it."""
    KEPT = "kept"
    FORGOTTEN = "forgotten"
    """It is not proposed again."""


class Proposing(StrEnum):
    """What is done with facts that are found in what the user says."""

    ASK = "ask"
    """They are proposed, and kept on one key."""
    AUTO = "auto"
    """They are kept."""
    OFF = "off"


@dataclass(frozen=True, slots=True)
class Fact:
    """A short statement that a project's conversations share."""

    id: int
    """0 before it is stored."""
    text: str
    """On one line."""
    kind: FactKind
    source: Source | None
    """With its conversation's id; None for one that the user typed."""
    stated_on: date | None = None
    valid_until: date | None = None
    """The day on which a later fact took its place; None while it holds."""
    state: FactState = FactState.KEPT
    superseded_by: int | None = None
    """The id of that fact."""

    @property
    def is_valid(self) -> bool:
        """Whether no later fact took its place."""
        return self.valid_until is None

    @property
    def holds(self) -> bool:
        """Whether windows may carry it."""
        return self.state is FactState.KEPT and self.is_valid


@dataclass(frozen=True, slots=True)
class Distilled:
    """What windows of one draft have of distilled memory, beside the turns."""

    observations: Observations = Observations()
    document: MemoryDocument = MemoryDocument()
    in_document: int = 0
    """The position of this conversation's last turn that the document was written from."""
    facts: tuple[Fact, ...] = ()
    """Those that hold, of the project, the oldest first."""
    conversation: str = ""
    """The id of the one that the windows are of."""

    def without(self, positions: Container[int]) -> "Distilled":
        """Leave out the statements all of whose turns, of this conversation, the user keeps out."""
        lines = tuple(
            line
            for line in self.observations.lines
            if any(turn not in positions for turn in line.source.turns)
        )
        facts = tuple(
            fact
            for fact in self.facts
            if fact.source is None
            or fact.source.conversation != self.conversation
            or any(turn not in positions for turn in fact.source.turns)
        )
        document = self.document.without(self.conversation, positions)
        kept = len(lines) + len(facts)
        is_all = kept == len(self.observations.lines) + len(self.facts)
        if is_all and document is self.document:
            return self
        observations = replace(self.observations, lines=lines)
        return replace(self, observations=observations, document=document, facts=facts)


NOTHING_DISTILLED = Distilled()
