"""Tool calls and results: matching results to calls, and checking calls. Pure."""

from collections.abc import Iterable
from typing import Any

from jitchat.text.sanitize import shorten
from jitchat.values import Tool, ToolCall, ToolResult, Turn
from jitchat.writing.calls import read_arguments

NOT_RUN = "No result: the call was not run, for the turn ended before it could be."
DECLINED = "Declined"
"""The first word of the result of a call that the settings or the user did not allow."""
_SHOWN_NAMES = 10


def is_declined(result: Turn) -> bool:
    """Whether the call was not allowed. The result of a call that ran can begin with any word."""
    use = result.use
    return use.is_error and use.seconds is None and result.content.startswith(DECLINED)


def arguments_of(call: ToolCall) -> dict[str, Any] | None:
    """Parse a call's arguments; empty if the model wrote none, None if they are invalid."""
    return read_arguments(call.arguments)[0]


def problem_with(
    call: ToolCall, tools: Iterable[Tool], *, is_cut: bool = False
) -> ToolResult | None:
    """Return a result that explains to the model why a call cannot be run; None if it can.

    A call can be run if its tool is offered and its arguments are an object. `is_cut` means that
    the answer reached its maximum length in this call, so that missing arguments may have been
    cut.
    """
    names = sorted(tool.name for tool in tools)
    if call.name not in names:
        few = ", ".join(names[:_SHOWN_NAMES]) + (", …" if len(names) > _SHOWN_NAMES else "")
        there = f"There are: {few}." if names else "There are none."
        what = f"There is no tool {shorten(call.name, 80)!r}. {there}"
        return ToolResult(call, what, is_error=True)
    arguments, why = read_arguments(call.arguments)
    if is_cut and not arguments and call.arguments.strip() != "{}":
        return ToolResult(call, _CUT, is_error=True)
    if arguments is None:
        what = f"The arguments are not a JSON object ({why}). Nothing was run. Call again."
        return ToolResult(call, what, is_error=True)
    return None


_CUT = (
    "The answer was as long as it may be and ended within this call. Nothing was run. Call again,"
    " with shorter arguments."
)
