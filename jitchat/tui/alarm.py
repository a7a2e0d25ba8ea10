"""A timer that is set again and again."""

from textual.timer import Timer


class Alarm:
    def __init__(self) -> None:
        self._timer: Timer | None = None

    @property
    def is_set(self) -> bool:
        """Whether it was set and not stopped since, even if its time is over."""
        return self._timer is not None

    def set(self, timer: Timer) -> None:
        """Use a timer in place of the earlier one, which is stopped."""
        self.stop()
        self._timer = timer

    def stop(self) -> None:
        if self._timer is not None:
            self._timer.stop()
            self._timer = None
