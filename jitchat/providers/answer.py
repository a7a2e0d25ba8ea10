"""Collecting a streamed answer: its text, its tool calls, and the message to send back."""

from collections.abc import Sequence

from jitchat.providers.provider import (
    Finished,
    Piece,
    ReasoningDelta,
    ReasoningFound,
    ReplyDelta,
)
from jitchat.values import NO_TOOL_USE, Echo, Message, Role, ToolCall, ToolUse, Usage


def written(reasoning: str, text: str, calls: Sequence[ToolCall]) -> str:
    """Return everything that a model wrote and is charged for, as one text."""
    return "".join((reasoning, text, *(f"{call.name} {call.arguments}" for call in calls)))


class Answer:
    """Collects the stream of one answer.

    Run its calls only after the stream has ended without an error: if the stream breaks off, the
    last call may be incomplete.
    """

    def __init__(self) -> None:
        self._text: list[str] = []
        self._reasoning: list[str] = []
        self.calls: tuple[ToolCall, ...] = ()
        self.echo: Echo | None = None
        self.usage: Usage | None = None
        """The last reported usage; None if none was reported."""
        self.finished: Finished | None = None

    @property
    def text(self) -> str:
        return "".join(self._text)

    @property
    def reasoning(self) -> str:
        return "".join(self._reasoning)

    @property
    def use(self) -> ToolUse:
        return ToolUse(self.calls, self.echo) if self.calls else NO_TOOL_USE

    @property
    def has_begun(self) -> bool:
        """Whether anything was received from the model."""
        return bool(self._text or self._reasoning or self.calls or self.usage or self.finished)

    @property
    def whole(self) -> str:
        """Everything the model wrote, including its reasoning and calls."""
        return written(self.reasoning, self.text, self.calls)

    def take(self, piece: Piece) -> None:
        match piece:
            case ReplyDelta(text):
                self._text.append(text)
            case ReasoningDelta(text):
                self._reasoning.append(text)
            case ReasoningFound():
                self._reasoning, self._text = [*self._reasoning, *self._text], []
            case ToolCall():
                self.calls = (*self.calls, piece)
            case Echo():
                self.echo = piece
            case Usage():
                self.usage = piece
            case Finished():
                self.finished = self.finished or piece
            case _:
                pass

    def message(self, turn: int | None = None) -> Message:
        """Return the answer as a message to send back; `turn` is its position, if it has one."""
        return Message(Role.ASSISTANT, self.text, turn, self.use)
