"""Events on their way to the screen, some at a time, for each report costs the screen something.

A model gives hundreds of pieces a second, a lab run thousands of events. The first event waits
for nothing; those that come within a moment after it are reported together.
"""

import asyncio
from collections.abc import Callable, Sequence
from typing import Generic, TypeVar

from jitchat.events import Event, ReasoningDelta, ReplyDelta

PIECES_EVERY = 0.08
"""Seconds between two reports of the pieces of a reply, at least."""

_Item = TypeVar("_Item")


class Batcher(Generic[_Item]):
    """Lives in the event loop of the one who takes the events in."""

    def __init__(
        self,
        report: Callable[[Sequence[_Item]], object],
        seconds: float,
        is_urgent: Callable[[_Item], bool] = lambda _: False,
    ) -> None:
        """`seconds` part two reports at least; what is urgent is reported at once."""
        self._report, self._seconds, self._is_urgent = report, seconds, is_urgent
        self._items: list[_Item] = []
        self._moment: asyncio.TimerHandle | None = None

    def take(self, item: _Item) -> None:
        """Report an item, soon; never ahead of an earlier one."""
        self._items.append(item)
        if self._is_urgent(item):
            self.flush()
        elif self._moment is None:
            self._moment_is_over()

    def flush(self) -> None:
        if self._moment is not None:
            self._moment.cancel()
            self._moment = None
        if self._items:
            items, self._items = self._items, []
            self._report(items)

    def _moment_is_over(self) -> None:
        self._moment = None
        if self._items:
            self.flush()
            loop = asyncio.get_running_loop()
            self._moment = loop.call_later(self._seconds, self._moment_is_over)


def reply_batcher(report: Callable[[Event], object]) -> Batcher[Event]:
    """Report what happens to one message: pieces of a reply are joined, all else comes at once."""

    def report_joined(events: Sequence[Event]) -> None:
        for event in _joined(events):
            report(event)

    def is_urgent(event: Event) -> bool:
        return not isinstance(event, ReplyDelta | ReasoningDelta)

    return Batcher(report_joined, PIECES_EVERY, is_urgent)


def _joined(events: Sequence[Event]) -> list[Event]:
    joined: list[Event] = []
    for event in events:
        match joined[-1:], event:
            case [ReplyDelta(before)], ReplyDelta(text):
                joined[-1] = ReplyDelta(before + text)
            case [ReasoningDelta(before)], ReasoningDelta(text):
                joined[-1] = ReasoningDelta(before + text)
            case _:
                joined.append(event)
    return joined
