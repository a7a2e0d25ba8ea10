"""What a front end needs to run the lab: made by the composition root."""

from typing import Protocol

from jitchat.lab.costs import Answerer
from jitchat.lab.experiment import Experiment
from jitchat.lab.lab import Lab
from jitchat.lab.run_file import Runs


class LabService(Protocol):
    """Makes runs. All but `runs` is slow, and called from a thread; all raise `JitchatError`."""

    @property
    def runs(self) -> Runs:
        """The folder of runs."""

    def answerer(self) -> Answerer:
        """Say who would answer now."""

    def prepare(self, experiment: Experiment, judge: str = "") -> Experiment:
        """Say what `begin` would ask, and find out early whether it can be begun.

        Lengths that the user's conversation does not have are left out, and it is named by its
        id; an experiment with made-up talk stays as it is. Nothing is sent, and nothing made.
        """

    def begin(self, experiment: Experiment, parallel: int = 1, judge: str = "") -> Lab:
        """Make the file of a new run, and what asks it.

        Nobody else can ask it, or forget it, until its file is closed.
        """

    def resume(self, wanted: str, parallel: int = 1) -> Lab:
        """Open a run to ask what has no answer yet; others are kept away as from a new one.

        All that shapes its windows and answers must be as it was begun with.
        """
