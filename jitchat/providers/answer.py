"""What a streamed answer comes to: what was said, what is called, what is handed back."""

from jitchat.providers.provider import (
    Finished,
    Piece,
    ReasoningDelta,
    ReasoningFound,
    ReplyDelta,
)
from jitchat.values import NO_TOOL_USE, Echo, Message, Role, ToolCall, ToolUse, Usage


class Answer:
    """Collects one answer, piece by piece.

    Its calls may be run once the stream has ended without an error: of an answer that broke off,
    the last one may be cut.
    """

    def __init__(self) -> None:
        self._text: list[str] = []
        self._reasoning: list[str] = []
        self.calls: tuple[ToolCall, ...] = ()
        self.echo: Echo | None = None
        self.usage: Usage | None = None
        """As it was reported last; None where it was not."""
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
        """Make the message that hands the answer back; `turn` is its position, where it has one."""
        return Message(Role.ASSISTANT, self.text, turn, self.use)
