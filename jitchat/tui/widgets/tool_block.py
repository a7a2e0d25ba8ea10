"""What the transcript says of a tool call: in two lines, or in full."""

import json
from collections.abc import Mapping, Sequence

from jitchat.index.tool_results import call_line, result_line
from jitchat.providers.tools import arguments_of, is_declined
from jitchat.text.figures import duration, plural
from jitchat.text.sanitize import one_line, shorten
from jitchat.tui.drawing import MUTED
from jitchat.values import ToolCall, Turn
from jitchat.window.carriers import Carrier

_WIDTH = 400
"""Maximum characters of a line, which the screen cuts to its width."""


def folded(turn: Turn, carrier: Carrier | None) -> Sequence[tuple[str, str]]:
    """Write a result in two lines: the call and its result; its duration and size.

    Return texts with their styles.
    """
    line = shorten(result_line(turn), _WIDTH)
    mark, style = state_of(turn)
    took = duration(turn.use.seconds) if turn.use.seconds is not None else ""
    tokens = f"{carrier.size} tokens in the window" if carrier is not None else ""
    size = plural(len(turn.content), "character") if turn.content else "empty"
    form = turn.use.form
    shortened = f", {form.form} in windows" if form is not None else ""
    figures = " · ".join(filter(None, (took, tokens, f"{size}{shortened}")))
    return (f"{mark} ", style), (f"{line}\n", ""), (f"  {figures}", MUTED)


def state_of(turn: Turn) -> tuple[str, str]:
    """Return the mark of a result and its style."""
    if not turn.use.is_error:
        return "✓", "$text-success"
    return ("⊘", "$text-warning") if is_declined(turn) else ("✗", "$text-error")


def whole(turn: Turn, call: ToolCall) -> str:
    """Write a call in full: its arguments, the result as sent in later windows, the result."""
    arguments = arguments_of(call)
    given = (
        call.arguments if arguments is None else json.dumps(arguments, indent=2, ensure_ascii=False)
    )
    form = turn.use.form
    shown = [] if form is None else ["", "In later windows:", form.text]
    return "\n".join([f"{call.name}({given})", *shown, "", "Result:", turn.content])


def called_lines(turn: Turn, open_calls: Mapping[ToolCall, bool]) -> str:
    """Write the calls of a reply; open ones with their arguments and whether they are running."""
    lines = [
        f"◌ {shorten(call_line(call), _WIDTH)} · {'running' if runs else 'waiting for approval'}"
        for call, runs in open_calls.items()
    ]
    if not lines:
        names = ", ".join(one_line(call.name) for call in turn.use.calls)
        lines = [f"calls {plural(len(turn.use.calls), 'tool')}: {shorten(names, _WIDTH)}"]
    return "\n".join(lines)
