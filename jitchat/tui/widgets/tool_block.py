"""A call of a tool on screen: one block, folded to a line; all of it is a key away."""

import json

from textual.content import Content
from textual.widgets import Static

from jitchat.index.tool_results import result_line
from jitchat.providers.tools import arguments_of
from jitchat.text.figures import plural
from jitchat.text.sanitize import for_terminal, one_line, shorten
from jitchat.tui.palette import MUTED
from jitchat.values import ToolCall, Turn

_WIDTH = 400
"""Characters of a line; the screen cuts it to its width."""
_DECLINED = "Declined"


class ToolBlock(Static):
    """What a tool was called with, and what came of it; a click opens all of it."""

    def __init__(self, turn: Turn, call: ToolCall) -> None:
        super().__init__(folded(turn, call), classes="turn-body tool-block")


def folded(turn: Turn, call: ToolCall) -> Content:
    """Write a result in two lines: what was called and came back, and how much of it there is."""
    line = shorten(result_line(call, turn.content, is_error=turn.use.is_error), _WIDTH)
    mark, style = state_of(turn)
    size = f"{len(turn.content):,} characters" if turn.content else "nothing"
    held = "; the window has a shorter form" if turn.use.form is not None else ""
    return Content.assemble(
        (f"{mark} ", style), line, "\n", (f"  {size}{held} · Enter shows all of it", MUTED)
    )


def state_of(turn: Turn) -> tuple[str, str]:
    """Give the mark of a result, and its style."""
    if not turn.use.is_error:
        return "✓", "$text-success"
    return ("⊘", "$text-warning") if turn.content.startswith(_DECLINED) else ("✗", "$text-error")


def whole(turn: Turn, call: ToolCall) -> str:
    """Write a call in full: its arguments, what the window has of the result, and the result."""
    arguments = arguments_of(call)
    given = (
        call.arguments if arguments is None else json.dumps(arguments, indent=2, ensure_ascii=False)
    )
    form = turn.use.form
    shown = [] if form is None else ["", "In later windows:", form]
    return "\n".join([f"{call.name}({given})", *shown, "", "Result:", turn.content])


def called_line(turn: Turn) -> Content:
    """Name what an answer calls."""
    names = ", ".join(one_line(call.name) for call in turn.use.calls)
    count = plural(len(turn.use.calls), "tool")
    return Content.styled(for_terminal(f"calls {count}: {shorten(names, _WIDTH)}"), MUTED)
