"""One step of a turn: what an answer called, as it is appended to the window that it answered."""

from dataclasses import replace

from jitchat.errors import WindowOverflow
from jitchat.tools.source import Step, ToolOutput
from jitchat.values import Turn
from jitchat.window import reasons
from jitchat.window.calibration import Calibration
from jitchat.window.extend import (
    call_segment,
    extended,
    requested_segments,
    result_segment,
    room_behind,
)
from jitchat.window.tokens import TokenCounter, message_tokens
from jitchat.window.window import ContextWindow, Requested, Segment, tokens_of


class Appending:
    """Collects what the calls of one answer gave back, until all of them did."""

    def __init__(
        self, window: ContextWindow, called: Turn, counter: TokenCounter, calibration: Calibration
    ) -> None:
        """`window` is as it was sent; `called` is its answer, with the calls."""
        self._window, self._counter, self._calibration = window, counter, calibration
        self._call = call_segment(called, counter)
        self._calls = called.use.calls
        self._results: dict[str, list[Segment]] = {}
        """By the id of the call."""
        self._requests: list[Requested] = []
        around = len(self._calls) * message_tokens(counter, "")
        room = room_behind(window, calibration) - self._call.tokens - around
        self.step = Step(window, max(0, room))

    def take(self, turn: Turn, output: ToolOutput) -> None:
        """Take the result that was stored as `turn`."""
        whole = [result_segment(turn, turn.content, reasons.RESULT, self._counter)]
        parts = requested_segments(turn, output.segments, self._counter)
        self._results[output.result.call.id] = parts or whole
        if output.requested is not None:
            added = tokens_of(parts or whole)
            self._requests.append(replace(output.requested, tokens=added))

    def window(self) -> ContextWindow:
        """Make the next window: the calls, and their results in the order of the calls.

        Raises:
            WindowOverflow: The results do not fit. They are in the store, whole.

        """
        results = [segment for call in self._calls for segment in self._results[call.id]]
        segments = [self._call, *results]
        missing = tokens_of(segments) - room_behind(self._window, self._calibration)
        if missing > 0:
            raise WindowOverflow(
                f"What the tools gave back needs {missing:,} more tokens than the window has left.",
                "It is kept whole: ask about a part of it, or use a larger limit.",
                missing,
            )
        return extended(self._window, segments, self._calibration, self._requests)
