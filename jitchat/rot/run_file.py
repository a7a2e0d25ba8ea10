"""The file of a run: a cold store with the conversations that were asked in, and the results."""

from __future__ import annotations

from collections.abc import Callable, Sequence
from datetime import datetime
from pathlib import Path

from jitchat.memory.cold.store import ColdStore, local_now
from jitchat.rot.cells import Result
from jitchat.rot.run import Run
from jitchat.window.window import ContextWindow


class RunFile:
    """One run, open. Threads may share it."""

    store: ColdStore
    run: Run

    @classmethod
    def create(cls, path: Path, run: Run, clock: Callable[[], datetime] = local_now) -> RunFile:
        """Make the file of a new run.

        Raises:
            StoreError: It cannot be written.

        """
        raise NotImplementedError

    @classmethod
    def open(cls, path: Path) -> RunFile:
        """Open a run that was made before.

        Raises:
            StoreError: It cannot be read, or is no run.

        """
        raise NotImplementedError

    def results(self) -> list[Result]:
        """List what is decided, in the order in which it was."""
        raise NotImplementedError

    def keep(self, result: Result) -> None:
        """Keep a result; one of the same cell that was kept before is replaced."""
        raise NotImplementedError

    def end(self) -> None:
        """Note that every cell is decided, and when."""
        raise NotImplementedError

    def window(self, result: Result) -> ContextWindow | None:
        """Load the very window that was sent for a cell; None where none was.

        Raises:
            StoreUnreadable: What is kept of it is damaged.

        """
        raise NotImplementedError

    def close(self) -> None:
        """Give the file back."""
        raise NotImplementedError


class Runs:
    """The folder of runs."""

    def __init__(self, folder: Path) -> None:
        self.folder = folder

    def all(self) -> Sequence[tuple[Run, int]]:
        """List every run and how many of its cells are decided, the latest first. Slow.

        Files that are no runs of ours are passed over.
        """
        raise NotImplementedError

    def create(self, run: Run) -> RunFile:
        """Make the file of a new run; its id is made unique.

        Raises:
            StoreError: It cannot be written.

        """
        raise NotImplementedError

    def open(self, wanted: str) -> RunFile:
        """Open a run by its id, or by the beginning of it that no other has; `last` is the latest.

        Raises:
            UnknownRun: There is none.
            StoreError: It cannot be read.

        """
        raise NotImplementedError

    def forget(self, wanted: str) -> Run:
        """Delete a run with all that belongs to it.

        Raises:
            UnknownRun: There is none.

        """
        raise NotImplementedError
