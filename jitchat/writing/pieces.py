"""The pieces that a request is written in, and what a protocol requires of them.

A window is written once: the same pieces are listed, counted, stored and sent. A protocol encodes
them as JSON and adds no character that the model reads. What it needs in addition to the texts
(roles that alternate, a text before the first reply, a mark on an error) it declares in its
`WritingRules`, and the writer makes pieces of it.
"""

from collections.abc import Iterable, Sequence
from dataclasses import dataclass, field, replace
from enum import StrEnum
from itertools import groupby
from operator import attrgetter

from jitchat.attachments import Picture
from jitchat.values import NO_TOOL_USE, Message, Role, ToolUse

BETWEEN = "\n\n"
"""Separator of messages that are joined."""


class Part(StrEnum):
    """What a piece is in its message."""

    TEXT = "text"
    PICTURE = "picture"
    NAME = "name"
    """The name of a called tool."""
    ARGUMENTS = "arguments"
    """The arguments of a call, as JSON."""
    REASONING = "reasoning"
    """Reasoning in words that the server requires back."""
    OPAQUE = "opaque"
    """A signature or encrypted reasoning, which only the server can read."""
    DEFINITION = "definition"
    """A tool on offer, as JSON."""


@dataclass(frozen=True, slots=True)
class Piece:
    text: str
    """Exactly as sent; empty for a picture."""
    part: Part = Part.TEXT
    role: Role = Role.USER
    """The role of its message, as sent."""
    message: int = 0
    """The number of its message in the request, from 1; 0 for a definition."""
    place: int = 0
    """Its place in the message, from 0. Pieces of one segment need not follow each other."""
    segment: int = field(default=0, compare=False)
    """The index of its segment in the window."""
    turn: int | None = None
    """The position of the turn that its message carries; None if it carries no single turn."""
    tokens: int = 0
    """As counted, with its share of what the protocol adds to the message."""
    use: ToolUse = NO_TOOL_USE
    """The tool use of its message, with calls as they are sent."""
    picture: Picture | None = None


@dataclass(frozen=True, slots=True)
class Unwritten:
    """A message as planned: its texts and pictures, its calls or the call that it answers."""

    role: Role
    pieces: tuple[Piece, ...]
    use: ToolUse = NO_TOOL_USE
    is_native: bool = True
    """Whether calls and results are sent as such; otherwise they are quoted."""

    @property
    def text(self) -> str:
        return "".join(piece.text for piece in self.pieces if piece.part is Part.TEXT)

    @property
    def is_blank(self) -> bool:
        return not (self.text.strip() or self.use.calls or self.use.answers)

    @property
    def is_plain(self) -> bool:
        """Whether it has neither calls nor a result."""
        return not (self.use.calls or self.use.answers)

    @property
    def head(self) -> Piece:
        """An empty text of the segment and the turn of its first piece."""
        head = self.pieces[0] if self.pieces else Piece("")
        return replace(head, text="", part=Part.TEXT, picture=None)

    def with_text(self, text: str) -> "Unwritten":
        """Put a text before its pieces; it belongs to the segment of the first one."""
        return replace(self, pieces=(replace(self.head, text=text), *self.pieces))


@dataclass(frozen=True, slots=True)
class WritingRules:
    """What a protocol requires of the texts of a request."""

    folds_system: bool = False
    """Whether the system text is put before the first user message."""
    joins: bool = False
    """Whether consecutive messages of one role are joined to one, with a separator."""
    user_first: bool = False
    """Whether a reply cannot be the first message."""
    alternates: bool = False
    """Whether results must be followed by a reply."""
    marks_errors: bool = False
    """Whether a failed result is marked in its text; otherwise the protocol has a field for it."""
    names_results: bool = False
    """Whether a result names the tool."""
    origin: str = ""
    """The origin of the reasoning that is sent back."""
    blank_reasoning: bool = False
    """Whether an answer without reasoning is sent with a blank one."""
    refused: tuple[str, ...] = ()
    """Fields of an echo that the server refuses, sorted."""
    takes_tools: bool = True
    """Whether calls can be sent as such."""


PLAIN = WritingRules()
"""Rules of a provider that accepts any messages."""


def unwritten(message: Message) -> Unwritten:
    pictures = [Piece("", Part.PICTURE, picture=picture) for picture in message.pictures]
    text = Piece(message.content, turn=message.turn)
    return Unwritten(message.role, (*pictures, text), message.use)


def constant(role: Role, text: str, beside: Unwritten | None) -> Unwritten:
    """Make a message of a constant text, which belongs to the segment of the message `beside`."""
    head = beside.head if beside else Piece("")
    return Unwritten(role, (replace(head, text=text, turn=None),))


def messages_of(pieces: Iterable[Piece]) -> tuple[Message, ...]:
    """Return the messages that pieces make up, for a protocol to encode."""
    sent = (piece for piece in pieces if piece.part is not Part.DEFINITION)
    return tuple(_message(tuple(group)) for _, group in groupby(sent, attrgetter("message")))


def _message(pieces: Sequence[Piece]) -> Message:
    first = pieces[0]
    text = "".join(piece.text for piece in pieces if piece.part is Part.TEXT)
    turns = {piece.turn for piece in pieces}
    turn = turns.pop() if len(turns) == 1 else None
    pictures = tuple(piece.picture for piece in pieces if piece.picture is not None)
    return Message(first.role, text, turn, first.use, pictures)
