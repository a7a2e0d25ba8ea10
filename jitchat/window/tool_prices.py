"""What tools, calls and results cost in addition to their texts, as the model's prompt has them.

No provider passes the posted tools to its model unchanged: OpenAI writes tools as TypeScript
types, Anthropic adds instructions before them, and templates of open models list them as JSON. The
texts are counted as they are posted, and what surrounds them by these constants; the calibration
learns the rest.
"""

from collections.abc import Callable, Iterable
from dataclasses import dataclass
from enum import StrEnum

from jitchat.values import Tool
from jitchat.writing.calls import tool_text

Count = Callable[[str], int]
"""Tokens of a text."""


class Style(StrEnum):
    """How a model's prompt represents tools."""

    TYPES = "types"
    """OpenAI, in both of its APIs: a namespace of functions."""
    INVOKED = "invoked"
    """Anthropic: one schema per tool, and calls as elements."""
    DECLARED = "declared"
    """Gemini: declarations."""
    LISTED = "listed"
    """Templates of open models: one line of JSON per tool, and calls in tags."""


@dataclass(frozen=True, slots=True)
class Frame:
    """What surrounds tools, calls and results, in tokens; see also `budget`."""

    tools: int
    """Once, if any tool is offered."""
    definition: int
    call: int
    result: int


FRAMES = {
    Style.TYPES: Frame(tools=13, definition=4, call=10, result=8),
    Style.INVOKED: Frame(tools=346, definition=5, call=14, result=14),
    Style.DECLARED: Frame(tools=0, definition=0, call=5, result=6),
    Style.LISTED: Frame(tools=87, definition=10, call=18, result=12),
}
"""OpenAI: the namespace, `to=functions.NAME` and the channel. Anthropic documents 346 for
`tool_choice: auto`; its calls are `invoke` elements. Gemini documents none. Open models: the text
on tools in Qwen 2.5's template, and its tags. Each was counted with o200k_base."""


def style_of(protocol: str, *, by_openai: bool = False) -> Style:
    """Choose by the protocol's name and by whether the model is OpenAI's."""
    if by_openai or protocol == "responses":
        return Style.TYPES
    return {"anthropic": Style.INVOKED, "gemini": Style.DECLARED}.get(protocol, Style.LISTED)


@dataclass(frozen=True, slots=True)
class ToolPrices:
    """In tokens."""

    around: int
    """Once, for all tools; 0 if there are none."""
    by_tool: tuple[tuple[str, int], ...]
    """Name and tokens of each tool, in the order in which they are sent."""

    @property
    def total(self) -> int:
        return self.around + sum(tokens for _, tokens in self.by_tool)


def tool_prices(tools: Iterable[Tool], count: Count, style: Style = Style.LISTED) -> ToolPrices:
    """Price each tool that is offered."""
    frame = FRAMES[style]
    priced = sorted((tool.name, count(tool_text(tool)) + frame.definition) for tool in tools)
    return ToolPrices(frame.tools if priced else 0, tuple(priced))
