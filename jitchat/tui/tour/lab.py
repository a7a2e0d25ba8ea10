"""What the tour reads off the rot lab, whose screens it does not know otherwise."""

from typing import Protocol, runtime_checkable

from jitchat.lab.stats import Tallies


class Counted(Protocol):
    """A run as far as it is known."""

    @property
    def tallies(self) -> Tallies:
        """What its results come to by now."""


class Moving(Protocol):
    """How far a run is."""

    @property
    def is_running(self) -> bool:
        """Whether more results come."""


@runtime_checkable
class ShowsRun(Protocol):
    """A screen of the lab that shows a run."""

    @property
    def state(self) -> Counted:
        """The run."""

    @property
    def progress(self) -> Moving:
        """How far it is."""
