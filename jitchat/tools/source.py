"""The interface of a source of tools: the tools that it offers, and the results of calls."""

from collections.abc import Mapping
from dataclasses import dataclass
from typing import Any, Protocol

from jitchat.metering import MessageAccount
from jitchat.values import Shortened, Tool, ToolCall, ToolResult
from jitchat.window.window import ContextWindow, Requested, Segment

BUILT_IN = "built in"
"""The name of the source of jitchat's own tools."""


@dataclass(frozen=True, slots=True)
class Step:
    """The request whose answer made the calls."""

    window: ContextWindow
    """As it was sent."""
    room: int
    """Maximum tokens, by the counter, of the result of one of jitchat's own tools."""
    is_cut: bool = False
    """Whether that answer reached its maximum length: its last call can be incomplete."""
    account: MessageAccount | None = None
    """The account of the message, to which the calls of small models are charged."""


@dataclass(frozen=True, slots=True)
class ToolOutput:
    """The output of one call."""

    result: ToolResult
    """The whole result, as it is stored."""
    segments: tuple[Segment, ...] = ()
    """The result's segments in the window; their joined texts are the result's content. Empty if
    the result is a single segment."""
    requested: Requested | None = None
    """The request, if the result quotes turns of the store; None otherwise."""
    forms: tuple[tuple[int, Shortened | None], ...] = ()
    """(position, text) that later windows carry in place of a turn; None for the turn's text."""


class ToolSource(Protocol):
    @property
    def name(self) -> str:
        """`built in`, or the server's name in the settings."""

    def tools(self) -> tuple[Tool, ...]:
        """List the tools that can be called now, without contacting a server."""

    async def run(self, call: ToolCall, arguments: Mapping[str, Any], step: Step) -> ToolOutput:
        """Run an approved call; cancelling it stops the call.

        A tool's failure is a result with `is_error`, worded so that the model can continue.
        """
