"""Which tools go along with a message."""

from collections.abc import Iterator
from enum import StrEnum

from jitchat.tools.toolbox import Toolbox
from jitchat.values import REQUEST_CONTEXT, Mode
from jitchat.window import reasons
from jitchat.window.parts import ToolOffer


class Asking(StrEnum):
    """When `request_context` is offered."""

    OFF = "off"
    AUTO = "auto"
    """In the modes that leave turns out and look for what is needed: the others stay baselines."""
    ON = "on"


def offered(toolbox: Toolbox, asking: Asking, mode: Mode, *, is_first: bool) -> Iterator[ToolOffer]:
    """Choose the tools for a message; before the first one of a conversation, nothing is kept."""
    may_ask = asking is Asking.ON or (asking is Asking.AUTO and mode.recalls)
    for tool in toolbox.tools():
        if tool.name != REQUEST_CONTEXT:
            yield ToolOffer(tool, reasons.OFFERED)
        elif may_ask and not is_first:
            yield ToolOffer(tool, reasons.CAN_ASK)
