"""The interface through which a front end runs the lab; the composition root implements it."""

from typing import Protocol

from jitchat.lab.costs import Answerer
from jitchat.lab.experiment import Experiment
from jitchat.lab.lab import Lab
from jitchat.lab.run_file import Runs


class LabService(Protocol):
    """Makes runs. All except `runs` are slow, called in a thread, and raise `JitchatError`."""

    @property
    def runs(self) -> Runs:
        """The folder of runs."""

    def answerer(self) -> Answerer:
        """Return the model that would answer now."""

    def prepare(self, experiment: Experiment, judge: str = "") -> Experiment:
        """Return the experiment that `begin` would run, and check early whether it can be started.

        Lengths beyond the user's conversation are left out, and the conversation is given by id;
        an experiment with generated filler is unchanged. Nothing is sent or created.
        """

    def begin(self, experiment: Experiment, parallel: int = 1, judge: str = "") -> Lab:
        """Create the file of a new run and the lab that runs it.

        The run is locked until its file is closed: no other process can run or delete it.
        """

    def resume(self, wanted: str, parallel: int = 1) -> Lab:
        """Open a run to ask the cells without an answer; it is locked like a new one.

        All settings that affect its windows and answers must be those it was started with.
        """
