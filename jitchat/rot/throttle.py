"""How hard the lab asks: less, once the endpoint wants that."""

from __future__ import annotations

import asyncio
from collections.abc import Awaitable, Callable

from jitchat.events import RetryScheduled
from jitchat.rot.events import Slowed

_LONGEST = 60.0
"""Seconds of pause ahead of a request, at the most."""
_FASTER = 0.5
"""Of the pause is left after an answer that came at once."""
_LEAST = 0.05
_MANY = 20


class Throttle:
    """Requests at once, and the pause ahead of each."""

    def __init__(
        self, parallel: int, sleep: Callable[[float], Awaitable[object]] = asyncio.sleep
    ) -> None:
        self.parallel = self._most = parallel
        self._sleep = sleep
        self._pause = 0.0
        self._in_a_row = 0
        """Answers that came at once."""
        self._is_slowed = False
        """Whether no answer came since it was slowed down: a burst of refusals is one."""

    @property
    def pause(self) -> float:
        """Seconds ahead of a request."""
        return self._pause

    async def wait(self) -> None:
        """Wait before a request, where that is wanted."""
        if self._pause:
            await self._sleep(self._pause)

    def slow_down(self, retry: RetryScheduled) -> Slowed:
        """Ask less at once and wait longer from now on, for a request has to be sent again."""
        if not self._is_slowed:
            self.parallel = max(1, self.parallel - 1)
            self._pause *= 2
        self._is_slowed, self._in_a_row = True, 0
        self._pause = min(_LONGEST, max(self._pause, retry.seconds))
        return Slowed(retry.seconds, retry.why, self.parallel)

    def answered(self) -> None:
        """Wait less ahead of the next ones, and ask more at once after many of them."""
        self._is_slowed = False
        self._in_a_row += 1
        if self._in_a_row % _MANY == 0:
            self.parallel = min(self._most, self.parallel + 1)
        self._pause *= _FASTER
        if self._pause < _LEAST:
            self._pause = 0.0
