"""Statements distilled from turns: observations, the memory document, facts. Frozen values.

A statement is one line of text with its sources, so every line can be opened, traced and checked.
Statements are a cache over the cold store: they can be discarded and made again.
"""

from collections.abc import Container, Mapping
from dataclasses import dataclass, field, replace
from datetime import date, datetime
from enum import StrEnum
from types import MappingProxyType

DELETED = "deleted"
"""Replaces the id of a deleted conversation; no conversation has this id."""


@dataclass(frozen=True, slots=True)
class Source:
    """The turns that a statement was derived from."""

    first: int
    last: int
    """Positions, both included."""
    conversation: str = ""
    """Its id; empty for the conversation in which the statement is read."""

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
    """Constraints, decisions, standing instructions, open tasks: reflection keeps them verbatim."""
    MEDIUM = "medium"
    LOW = "low"


@dataclass(frozen=True, slots=True)
class Superseded:
    """The later statement that replaced this one."""

    turn: int
    """The position of the turn with the later statement."""
    on: date | None = None


@dataclass(frozen=True, slots=True)
class Observation:
    """One dated line that an observer wrote about turns."""

    text: str
    """On one line."""
    source: Source
    priority: Priority = Priority.MEDIUM
    said_at: datetime | None = None
    """Timezone-aware, from the first source turn; None if that has no date."""
    refers_to: tuple[str, ...] = ()
    """Days that the text refers to, resolved: `2026-03-02`."""
    superseded: Superseded | None = None


@dataclass(frozen=True, slots=True)
class Observations:
    """All observations along one path of a conversation, in order."""

    lines: tuple[Observation, ...] = ()
    through: int = 0
    """The position up to which every turn is observed; 0 for none."""


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
    """What a line said before it was contradicted."""

    text: str
    source: Source | None
    day: date | None = None


@dataclass(frozen=True, slots=True)
class DocumentLine:
    section: Section
    text: str
    """On one line."""
    source: Source | None
    """With the conversation's id; None for a line that the user wrote."""
    day: date | None = None
    """When it was said."""
    speaker: str = ""
    """Who said it, if not the user."""
    refers_to: tuple[str, ...] = ()
    """Days that the text refers to, resolved: `2026-03-02`."""
    replaced: Replaced | None = None
    """None if the line contradicts no earlier one."""
    mentions: int = 0
    """How often later sessions repeated it."""
    is_pinned: bool = False
    """Whether the user pinned it, so that no writer removes it."""
    is_edited: bool = False
    """Whether the user wrote its text."""

    @property
    def is_kept(self) -> bool:
        """Whether writers must keep it."""
        return self.is_pinned or self.is_edited


BARE = "conversation"
"""The timeline's text for a date about which nothing else is known."""


@dataclass(frozen=True, slots=True)
class MemoryDocument:
    """One version of a project's memory document."""

    lines: tuple[DocumentLine, ...] = ()
    """In the order of the sections and, in each, in reading order."""
    version: int = 0
    """0 for the empty document before the first version."""
    through: Mapping[str, int] = field(default_factory=lambda: MappingProxyType({}))
    """For each conversation's id, the position of its last turn that the document covers."""

    def without(self, conversation: str, positions: Container[int]) -> "MemoryDocument":
        """Return the document without the lines whose source turns are all excluded.

        `positions` are the excluded turns of `conversation`. If only a part of a line's turns is
        excluded, a timeline line keeps its date but loses its text.
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
    """What the user always wants; every window includes it."""
    PREFERENCE = "preference"
    DECISION = "decision"
    STATED = "stated"
    """What the user asked jitchat to remember."""


class FactState(StrEnum):
    PROPOSED = "proposed"
    """Found but not confirmed yet; no window includes it."""
    KEPT = "kept"
    FORGOTTEN = "forgotten"
    """Never proposed again."""


class Proposing(StrEnum):
    """What happens to facts found in the user's messages."""

    ASK = "ask"
    """Propose them; the user keeps one with a key."""
    AUTO = "auto"
    """Keep them."""
    OFF = "off"


@dataclass(frozen=True, slots=True)
class Fact:
    """A short statement shared by a project's conversations."""

    id: int
    """0 until it is stored."""
    text: str
    """On one line."""
    kind: FactKind
    source: Source | None
    """With the conversation's id; None for a fact that the user typed."""
    stated_on: date | None = None
    valid_until: date | None = None
    """The day on which a later fact replaced it; None while it is valid."""
    state: FactState = FactState.KEPT
    superseded_by: int | None = None
    """The id of the later fact."""

    @property
    def is_valid(self) -> bool:
        """Whether no later fact replaced it."""
        return self.valid_until is None

    @property
    def holds(self) -> bool:
        """Whether windows may include it."""
        return self.state is FactState.KEPT and self.is_valid


@dataclass(frozen=True, slots=True)
class Distilled:
    """The distilled memory available to the windows of one draft."""

    observations: Observations = Observations()
    document: MemoryDocument = MemoryDocument()
    in_document: int = 0
    """The position of this conversation's last turn that the document covers."""
    facts: tuple[Fact, ...] = ()
    """The project's valid facts, oldest first."""
    conversation: str = ""
    """The id of the conversation that the windows belong to."""

    def without(self, positions: Container[int]) -> "Distilled":
        """Leave out statements whose source turns, in this conversation, the user excluded."""
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
