"""How hard work behind the screen may go: all it can while nobody is there, a fifth otherwise.

Threads of Python take turns. A key press waits for indexing at each of the many steps to the
screen, so while somebody types or reads a growing reply, indexing rests between two turns.
What needs a small model's time waits until nobody is there.
"""

import threading
import time
from collections.abc import Callable, Iterator
from contextlib import contextmanager

ATTENDED_SECONDS = 1.0
_REST, _LONGEST_REST = 4.0, 0.25
"""Rest for each second of work while attended, and the most of it at once, in seconds."""


class BackgroundThrottle:
    """Shared by the indexing thread and the screen; safe to use from several threads."""

    def __init__(
        self,
        clock: Callable[[], float] = time.monotonic,
        sleep: Callable[[float], object] | None = None,
    ) -> None:
        self._halted = threading.Event()
        self._clock, self._sleep = clock, sleep or self._halted.wait
        self._attended_until = float("-inf")
        self._awaited = self._under_way = 0

    @property
    def halted(self) -> bool:
        return self._halted.is_set()

    def halt(self) -> None:
        """Break indexing off, for good: the conversation is left."""
        self._halted.set()

    def attend(self) -> None:
        """Note that the user is there, now and for a second."""
        self._attended_until = self._clock() + ATTENDED_SECONDS

    @contextmanager
    def under_way(self) -> Iterator[None]:
        """Hold up what can wait: a message is on its way, and its reply comes first."""
        self._under_way += 1
        try:
            yield
        finally:
            self._under_way -= 1

    def quiet_in(self) -> float:
        """Seconds until nobody may be there any more, and no message under way; 0: now."""
        if self._under_way:
            return ATTENDED_SECONDS
        return max(0.0, self._attended_until - self._clock())

    @contextmanager
    def awaited(self) -> Iterator[None]:
        """Take no rest meanwhile: the user waits for the index itself."""
        self._awaited += 1
        try:
            yield
        finally:
            self._awaited -= 1

    def rest_after(self, started: float) -> float:
        """End a piece of work begun at `started` of `now`; gives when the next one begins."""
        ended = self._clock()
        if self._awaited or ended >= self._attended_until:
            return ended
        self._sleep(min((ended - started) * _REST, _LONGEST_REST))
        return self._clock()

    def now(self) -> float:
        return self._clock()
