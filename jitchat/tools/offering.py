"""Which tools go along with a message."""

from collections.abc import Iterator
from dataclasses import dataclass
from enum import StrEnum

from jitchat.tools.toolbox import Toolbox
from jitchat.values import REQUEST_CONTEXT, Mode, Tool
from jitchat.window import reasons
from jitchat.window.parts import ToolOffer
from jitchat.window.tokens import TokenCounter
from jitchat.window.tool_prices import tool_prices


class Asking(StrEnum):
    """When `request_context` is offered."""

    OFF = "off"
    AUTO = "auto"
    """In the modes that leave turns out and look for what is needed: the others stay baselines."""
    ON = "on"


_SHARE = 10
"""What is offered by itself takes no more than a tenth of the budget."""


@dataclass(frozen=True, slots=True)
class Occasion:
    """Where a message stands."""

    mode: Mode
    budget: int
    """Tokens that a window of it may have."""
    is_first: bool
    """Whether it is the first one of its conversation: then nothing is kept."""


def offered(
    toolbox: Toolbox, asking: Asking, occasion: Occasion, counter: TokenCounter
) -> Iterator[ToolOffer]:
    """Choose the tools for a message."""
    for tool in toolbox.tools():
        if tool.name != REQUEST_CONTEXT:
            yield ToolOffer(tool, reasons.OFFERED)
        elif not occasion.is_first and _may_ask(tool, asking, occasion, counter):
            yield ToolOffer(tool, reasons.CAN_ASK)


def _may_ask(tool: Tool, asking: Asking, occasion: Occasion, counter: TokenCounter) -> bool:
    if asking is not Asking.AUTO:
        return asking is Asking.ON
    price = tool_prices([tool], counter.count, counter.style).total
    return occasion.mode.recalls and price * _SHARE <= occasion.budget
