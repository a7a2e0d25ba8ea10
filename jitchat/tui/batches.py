"""The pieces of a reply on their way to the screen: put together, for each report costs it.

A model gives hundreds of pieces a second; the screen takes in some ten reports of them. The first
piece waits for nothing, and no other event waits for pieces or overtakes them.
"""

import asyncio
from collections.abc import Callable

from jitchat.events import Event, ReasoningDelta, ReplyDelta

EVERY = 0.08
"""Seconds between two reports of pieces, at least."""


class Batches:
    """Reports what happens to one message; lives in the event loop of the one who sends it."""

    def __init__(self, report: Callable[[Event], object]) -> None:
        self._report = report
        self._kind: type[ReplyDelta] | type[ReasoningDelta] | None = None
        self._texts: list[str] = []
        self._waiting: asyncio.TimerHandle | None = None

    def take(self, event: Event) -> None:
        """Report an event, a piece with those that come within the same moment."""
        if not isinstance(event, ReplyDelta | ReasoningDelta):
            self.flush()
            self._report(event)
            return
        if self._kind is not type(event):
            self.flush()
        self._kind = type(event)
        self._texts.append(event.text)
        if self._waiting is None:
            self._report_now()
            self._waiting = asyncio.get_running_loop().call_later(EVERY, self._moment_is_over)

    def flush(self) -> None:
        """Report what waits: something else comes, or the end."""
        if self._waiting is not None:
            self._waiting.cancel()
            self._waiting = None
        self._report_now()

    def _moment_is_over(self) -> None:
        self._waiting = None
        if self._texts:
            self._report_now()
            self._waiting = asyncio.get_running_loop().call_later(EVERY, self._moment_is_over)

    def _report_now(self) -> None:
        if self._texts and self._kind is not None:
            self._report(self._kind("".join(self._texts)))
            self._texts.clear()
