"""What is waited for, and for how long: while nothing comes, something moves and counts."""

from __future__ import annotations

from time import monotonic

FRAMES = "⠋⠙⠹⠸⠼⠴⠦⠧⠇⠏"
FRAMES_A_SECOND = 8
LONG = 3
"""Seconds from which a wait needs an explanation."""


class Waiting:
    """A wait, or none."""

    def __init__(self) -> None:
        self._what = self._why = ""
        self._since = 0.0

    def begin(self, what: str, why: str = "") -> None:
        """Wait for something; `why` it may take long is said once it does."""
        self._what, self._why, self._since = what, why, monotonic()

    def end(self) -> None:
        """It came, or nothing does."""
        self._what = ""

    @property
    def is_on(self) -> bool:
        """Whether anything is waited for."""
        return bool(self._what)

    @property
    def frame(self) -> str:
        """The sign for this moment; the next one is another."""
        return FRAMES[int(self._passed * FRAMES_A_SECOND) % len(FRAMES)]

    @property
    def sentence(self) -> str:
        """`waiting for the first token · 9 s`; empty where nothing is waited for."""
        seconds = int(self._passed)
        why = f", {self._why}" if self._why and seconds >= LONG else ""
        return f"{self._what}{why} · {seconds} s" if self._what else ""

    @property
    def _passed(self) -> float:
        return max(0.0, monotonic() - self._since)
