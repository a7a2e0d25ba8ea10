"""What a front end needs to run the lab: made by the composition root."""

from __future__ import annotations

from dataclasses import dataclass
from typing import TYPE_CHECKING, Protocol

from jitchat.lab.experiment import Experiment

if TYPE_CHECKING:
    from jitchat.lab.lab import Lab
    from jitchat.lab.runs import Runs


@dataclass(frozen=True, slots=True)
class Answerer:
    """Who would answer."""

    provider: str
    model: str
    limit: int
    """The context size, in tokens."""
    reserve: int
    """Tokens that are kept free for the reply."""
    retrieved: int
    """Tokens that `jit` sends beside what `recency` sends, about, at the most."""
    recent: int
    """Tokens of the recent block, about."""
    input_price: float | None
    """US dollars for a million tokens; None where nobody knows."""
    output_price: float | None
    is_here: bool
    """Whether it is known that all of it, the picker too, costs nothing and stays on this
    machine."""
    around: int = 128
    """Tokens of a request beside the conversation, about: the system text, the question."""
    is_assumed: bool = False
    """Whether nobody told the context size."""
    picker: str = ""
    """The model that is asked which turns to recall, ahead of each request of `jit`; empty for
    none."""

    @property
    def is_reader(self) -> bool:
        """Whether it is the embedded reader."""
        return self.provider == "reader"


@dataclass(frozen=True, slots=True)
class Estimate:
    """What a run is going to send, before it is sent."""

    requests: int
    input_tokens: int
    """About."""
    output_tokens: int
    """About."""
    cost: float | None
    """In US dollars, about; None where no price is known. What the picker takes is not in it."""
    unfit: int
    """Cells whose window is larger than the model takes: nothing is sent for them."""
    picked: int = 0
    """Requests to the picker besides, at the most."""
    picker: str = ""
    """Its model; empty for none."""


class LabDesk(Protocol):
    """Makes runs. What is marked slow is called from a thread."""

    @property
    def runs(self) -> Runs:
        """The folder of runs."""

    def answerer(self) -> Answerer:
        """Say who would answer now. Slow.

        Raises:
            JitchatError: What the settings ask for cannot be had.

        """

    def settled(self, experiment: Experiment, judge: str = "") -> Experiment:
        """Say what `begin` would ask, and find out early whether it can be begun. Slow.

        Lengths that the user's conversation does not have are left out, and it is named by its
        id; an experiment with made-up talk stays as it is. Nothing is sent, and nothing made.

        Raises:
            KeyRefused: A key is missing.
            UsageError: There is no such conversation, or it is shorter than every length.

        """

    def begin(self, experiment: Experiment, parallel: int = 1, judge: str = "") -> Lab:
        """Make the file of a new run, and what asks it. Slow.

        Nobody else can ask it, or forget it, until its file is closed.

        Raises:
            JitchatError: It cannot be: no key, no room on the disk, no such conversation.

        """

    def resume(self, wanted: str, parallel: int = 1) -> Lab:
        """Open a run to ask what has no answer yet. Slow.

        All that shapes its windows and answers must be as it was begun with. Nobody else can ask
        it, or forget it, until its file is closed.

        Raises:
            StoreBusy: It is being asked.
            JitchatError: There is no such run, or something else would be asked now.

        """
