"""One step of a turn: the calls of an answer and their results, appended to the window."""

from collections.abc import Mapping
from dataclasses import replace

from jitchat.errors import WindowOverflow
from jitchat.tools.gate import forms_of
from jitchat.tools.source import Step, ToolOutput
from jitchat.values import EPHEMERAL, Form, Shortened, Status, ToolUse, Turn
from jitchat.window import reasons
from jitchat.window.calibration import Calibration
from jitchat.window.extend import (
    Appended,
    call_segment,
    extended,
    requested_segments,
    result_segment,
    room_left,
)
from jitchat.window.window import ContextWindow, HeldResult, Requested, Segment, tokens_of
from jitchat.window.written import TurnPricing


class Appending:
    """Collects the results of one answer's calls until all of them have returned."""

    def __init__(
        self, window: ContextWindow, called: Turn, price: TurnPricing, calibration: Calibration
    ) -> None:
        """`window` is the window as it was sent; `called` is the answer with the calls."""
        self._window, self._price, self._calibration = window, price, calibration
        self._counter = price.counter
        self._call = call_segment(called, price)
        self._calls = called.use.calls
        self._is_cut = called.status is Status.CUT
        self._appended: dict[str, list[Segment]] = {}
        """Results of jitchat's own tools, by the id of the call."""
        self._results: dict[str, Turn] = {}
        """Results of the other tools, by the id of the call."""
        self._requests: list[Requested] = []
        self._held: list[HeldResult] = []
        self.forms: dict[int, Shortened | None] = {}
        """The text that later windows carry for a turn, by position; None for the whole turn."""
        uses = (ToolUse(answers=call) for call in self._calls)
        self._around = sum(price("", use) for use in uses)
        room = room_left(window, calibration) - self._call.tokens - self._around
        self._room = max(0, room)

    @property
    def step(self) -> Step:
        """The step in which the calls run; jitchat's own tools share the room evenly."""
        own = sum(call.name in EPHEMERAL for call in self._calls)
        return Step(self._window, self._room // max(1, own), self._is_cut)

    def take(self, turn: Turn, output: ToolOutput) -> None:
        """Add the result that was stored as `turn`."""
        call = output.result.call
        self.forms |= dict(output.forms)
        if call.name not in EPHEMERAL or output.result.is_error:
            self._results[call.id] = turn
            return
        whole = [result_segment(turn, turn.content, reasons.RESULT, self._price)]
        parts = requested_segments(turn, output.segments, self._price) or whole
        self._appended[call.id] = parts
        if output.requested is not None:
            self._requests.append(replace(output.requested, tokens=tokens_of(parts)))

    def window(self, large: int) -> ContextWindow:
        """Build the next window: the calls, then their results in the order of the calls.

        A result of more than `large` tokens, or one that does not fit, is shown as a preview.

        Raises:
            WindowOverflow: Not even the previews fit. The full results are in the store.

        """
        gated = self._through_the_gate(large)
        results = [
            segment
            for call in self._calls
            for segment in self._appended.get(call.id) or [gated[call.id]]
        ]
        segments = [self._call, *results]
        missing = tokens_of(segments) - room_left(self._window, self._calibration)
        if missing > 0:
            raise WindowOverflow(
                f"The tool results need {missing:,} more tokens than the window has left.",
                "They are stored in full: ask about a part of them, or use a larger limit.",
                missing,
            )
        appended = Appended(tuple(segments), tuple(self._requests), tuple(self._held))
        return extended(self._window, appended, self._counter, self._calibration)

    def _through_the_gate(self, large: int) -> Mapping[str, Segment]:
        """Build the segments of the other tools' results, by the ids of their calls."""
        turns = list(self._results.values())
        own = sum(tokens_of(parts) for parts in self._appended.values())
        around = sum(self._price("", parts[0].use) for parts in self._appended.values())
        offered = [tool.name for tool in self._window.tools]
        forms = forms_of(turns, self._room - (own - around), large, self._counter, offered)
        made = {}
        for (identity, turn), form in zip(self._results.items(), forms, strict=True):
            made[identity] = result_segment(turn, form.text, form.reason, self._price)
            if form.form is not Form.WHOLE:
                self.forms[turn.position] = Shortened(form.text, form.form)
                tokens = self._counter.count(form.text)
                whole = made[identity].tokens - tokens + form.whole
                made[identity] = replace(made[identity], form=form.form, whole=whole)
                self._held.append(HeldResult(turn.position, form.whole, tokens))
        return made
