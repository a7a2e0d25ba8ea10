"""A tool call in the transcript: a block folded to two lines, which a key or click unfolds."""

import json
from collections.abc import Mapping

from jitchat.index.tool_results import call_line, result_line
from jitchat.providers.tools import arguments_of, is_declined
from jitchat.text.figures import duration, plural
from jitchat.text.sanitize import one_line, shorten
from jitchat.tui.drawing import Content, Verbatim
from jitchat.tui.palette import MUTED
from jitchat.tui.widgets.reply import MOST_UNFOLDED, left_out
from jitchat.values import ToolCall, Turn
from jitchat.window.window import Segment

_WIDTH = 400
"""Maximum characters of a line, which the screen cuts to its width."""


class ToolBlock(Verbatim):
    """A tool's arguments and result; a click unfolds them or folds them again."""

    def __init__(self, turn: Turn, call: ToolCall, segment: Segment | None = None) -> None:
        """`segment` is the result's segment in the window; None if it is not in the window."""
        super().__init__(classes="turn-body tool-block")
        self._turn, self._call, self._segment = turn, call, segment
        self.unfolded = False

    def on_mount(self) -> None:
        self._draw()

    def on_click(self) -> None:
        self.toggle()

    def toggle(self) -> None:
        self.unfolded = not self.unfolded
        self.set_class(self.unfolded, "-unfolded")
        self._draw()

    def mark(self, segment: Segment | None) -> None:
        if segment is not self._segment:
            self._segment = segment
            self._draw()

    def _draw(self) -> None:
        block = folded(self._turn, self._segment)
        if self.unfolded:
            text = whole(self._turn, self._call)
            left = len(text) - MOST_UNFOLDED
            more = f"\n{left_out(left)}" if left > 0 else ""
            self.show(f"\n{text[:MOST_UNFOLDED]}{more}", block)
        else:
            self.show("", block)


def folded(turn: Turn, segment: Segment | None) -> Content:
    """Write a result in two lines: the call and its result; its duration and size."""
    line = shorten(result_line(turn), _WIDTH)
    mark, style = state_of(turn)
    took = duration(turn.use.seconds) if turn.use.seconds is not None else ""
    tokens = f"{plural(segment.tokens, 'token')} in the window" if segment is not None else ""
    size = plural(len(turn.content), "character") if turn.content else "empty"
    form = turn.use.form
    shortened = f", {form.form} in windows" if form is not None else ""
    figures = " · ".join(filter(None, (took, tokens, f"{size}{shortened}")))
    return Content.assemble((f"{mark} ", style), line, "\n", (f"  {figures}", MUTED))


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


def called_lines(turn: Turn, open_calls: Mapping[ToolCall, bool]) -> Content:
    """Write the calls of a reply; open ones with their arguments and whether they are running."""
    lines = [
        f"◌ {shorten(call_line(call), _WIDTH)} · {'running' if runs else 'waiting for approval'}"
        for call, runs in open_calls.items()
    ]
    if not lines:
        names = ", ".join(one_line(call.name) for call in turn.use.calls)
        lines = [f"calls {plural(len(turn.use.calls), 'tool')}: {shorten(names, _WIDTH)}"]
    return Content.styled("\n".join(lines), MUTED)
