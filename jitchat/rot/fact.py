"""A fact that is planted in a conversation, and the question about it."""

from __future__ import annotations

from dataclasses import dataclass
from enum import StrEnum

from jitchat.rot.kinds import Kind


class Where(StrEnum):
    """Where a saying stands, seen from the depth of its fact."""

    AT = "at"
    """At the depth."""
    BEFORE = "before"
    """Halfway between the beginning and the depth: what is said later changes it."""
    AROUND = "around"
    """About the depth, a stretch of other talk between one and the next."""
    APART = "apart"
    """Spread evenly over the conversation."""


@dataclass(frozen=True, slots=True)
class Saying:
    """What the user says of a fact, and what the assistant replies: two turns."""

    text: str
    reply: str
    """It takes note, and repeats nothing that the answer could be read from."""
    where: Where = Where.AT
    is_needed: bool = True
    """Whether the answer needs it; distractors and old values are not needed."""


@dataclass(frozen=True, slots=True)
class Fact:
    """Something that is said, and asked for later."""

    kind: Kind
    name: str
    """Of its template, such as `boat shed key`; no two in one conversation."""
    sayings: tuple[Saying, ...]
    """In the order in which they are said, as far as their places leave that open."""
    question: str
    expected: str
    """The answer as it is shown: `7443`, `four`, `never said`."""
    accepted: tuple[str, ...] = ()
    """Forms of the answer; one of them makes it right. None where it was never said."""
    wrong: tuple[str, ...] = ()
    """Values that are not the answer, though they were said: the old one, other people's."""
