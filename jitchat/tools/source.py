"""What a source of tools is to the rest of the app: tools to offer, and results of calls."""

from collections.abc import Mapping
from dataclasses import dataclass
from typing import Any, Protocol

from jitchat.values import Tool, ToolCall, ToolResult
from jitchat.window.window import ContextWindow, Requested, Segment

BUILT_IN = "built in"
"""The name of the source of jitchat's own tools."""


@dataclass(frozen=True, slots=True)
class Step:
    """The request whose answer made the calls."""

    window: ContextWindow
    """As it was sent."""
    room: int
    """Tokens of the counter's own that the result of one of jitchat's own tools may take."""
    is_cut: bool = False
    """Whether that answer was as long as it may be, so that its last call may not be whole."""


@dataclass(frozen=True, slots=True)
class ToolOutput:
    """What came back of one call."""

    result: ToolResult
    """Whole, as it is stored."""
    segments: tuple[Segment, ...] = ()
    """How the result stands in the window, where that is more than one segment; their texts
    joined are the result's content. Empty for a result that is one."""
    requested: Requested | None = None
    """Where it gives turns of the store: what was asked for."""
    forms: tuple[tuple[int, str | None], ...] = ()
    """What later windows carry of turns, by position, in place of their text; None for the text."""


class ToolSource(Protocol):
    @property
    def name(self) -> str:
        """`built in`, or the server's name in the settings."""

    def tools(self) -> tuple[Tool, ...]:
        """List what can be called now; asks nobody."""

    async def run(self, call: ToolCall, arguments: Mapping[str, Any], step: Step) -> ToolOutput:
        """Run a call that is allowed; cancelling it stops it.

        A tool's failure is a result with `is_error`, told so that the model can go on.
        """
