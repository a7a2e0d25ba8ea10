"""Batch events on their way to the screen, because every report costs a redraw.

A model streams hundreds of chunks a second, a lab run thousands of events. The first event is
reported at once; events that follow within the interval are reported together.
"""

import asyncio
from collections.abc import Callable, Sequence
from typing import Generic, TypeVar

from jitchat.events import Event, ReasoningDelta, ReplyDelta

CHUNKS_EVERY = 0.08
"""Minimum seconds between two reports of the chunks of a reply."""

_Item = TypeVar("_Item")


class Batcher(Generic[_Item]):
    """Collects items and reports them in batches. Must be used in the consumer's event loop."""

    def __init__(
        self,
        report: Callable[[Sequence[_Item]], object],
        seconds: float,
        is_urgent: Callable[[_Item], bool] = lambda _: False,
    ) -> None:
        """`seconds` is the minimum between two reports; an urgent item is reported at once."""
        self._report, self._seconds, self._is_urgent = report, seconds, is_urgent
        self._items: list[_Item] = []
        self._interval: asyncio.TimerHandle | None = None

    def take(self, item: _Item) -> None:
        """Report an item soon, in the order of arrival."""
        self._items.append(item)
        if self._is_urgent(item):
            self.flush()
        elif self._interval is None:
            self._interval_is_over()

    def flush(self) -> None:
        if self._interval is not None:
            self._interval.cancel()
            self._interval = None
        if self._items:
            items, self._items = self._items, []
            self._report(items)

    def _interval_is_over(self) -> None:
        self._interval = None
        if self._items:
            self.flush()
            loop = asyncio.get_running_loop()
            self._interval = loop.call_later(self._seconds, self._interval_is_over)


def reply_batcher(report: Callable[[Event], object]) -> Batcher[Event]:
    """Return a batcher for one message's events: chunks are joined, other events are urgent."""

    def report_joined(events: Sequence[Event]) -> None:
        for event in _joined(events):
            report(event)

    def is_urgent(event: Event) -> bool:
        return not isinstance(event, ReplyDelta | ReasoningDelta)

    return Batcher(report_joined, CHUNKS_EVERY, is_urgent)


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
