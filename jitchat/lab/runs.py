"""The folder of runs: a file each, so that one is forgotten by deleting it."""

import re
from collections.abc import Callable, Sequence
from contextlib import suppress
from dataclasses import replace
from datetime import datetime
from pathlib import Path
from typing import TypeVar

from jitchat.errors import StoreError, StoreReadOnly, UnknownRun
from jitchat.lab.run_file import Run, RunFile, RunLock, delete_lock
from jitchat.paths import make_private

LAST = "last"
"""Names the run that was begun last."""
_FILE = re.compile(r"r(\d+)\.db")
_T = TypeVar("_T")


class Runs:
    """The runs in a folder; it is made when the first one is."""

    def __init__(self, folder: Path) -> None:
        self.folder = folder

    def all(self) -> Sequence[tuple[Run, int]]:
        """List every run and how many of its cells are decided, the latest first. Slow."""
        return self.each(lambda file: (file.run, file.count()))

    def each(self, look: Callable[[RunFile], _T]) -> list[_T]:
        """Open every run once, and list what `look` makes of it, the latest first. Slow.

        Files that are no runs of ours are passed over.
        """
        found: list[tuple[datetime, _T]] = []
        for number in self._numbers():
            with suppress(StoreError):
                file = RunFile.open(self._path(number))
                try:
                    found.append((file.run.begun_at, look(file)))
                finally:
                    file.close()
        found.sort(key=lambda each: each[0], reverse=True)
        return [made for _, made in found]

    def create(self, run: Run) -> RunFile:
        """Make the file of a new run, to ask it; it gets the next number as its id.

        Raises:
            StoreError: It cannot be written.

        """
        number = max(self._numbers(), default=0) + 1
        try:
            make_private(self.folder)
            while not _claimed(self._path(number)):
                number += 1
        except OSError as error:
            raise StoreReadOnly(
                f"No run can be kept in {self.folder}: {error.strerror}.",
                "Check the folder's permissions.",
            ) from error
        path = self._path(number)
        try:
            return RunFile.create(path, replace(run, id=f"r{number}"))
        except BaseException:  # nothing of it is left whatever it was, and that is passed on
            with suppress(OSError):
                _delete(path)
            delete_lock(path)
            raise

    def open(self, wanted: str, *, to_ask: bool = False) -> RunFile:
        """Open a run by its id; `last` is the one that was begun last.

        One that is opened `to_ask` cannot be asked by another, or forgotten, until it is closed.

        Raises:
            UnknownRun: There is none.
            StoreBusy: It is to be asked, and another one does.
            StoreError: It cannot be read.

        """
        return RunFile.open(self._found(wanted), to_ask=to_ask)

    def forget(self, wanted: str) -> None:
        """Delete a run with all that belongs to it.

        Raises:
            UnknownRun: There is none.
            StoreBusy: It is being asked.
            StoreError: It cannot be deleted.

        """
        path = self._found(wanted)
        lock = RunLock(path)
        try:
            _delete(path)
        except OSError as error:
            raise StoreReadOnly(f"{path} cannot be deleted: {error.strerror}.") from error
        finally:
            lock.release()
        delete_lock(path)

    def _found(self, wanted: str) -> Path:
        numbers = self._numbers()
        if wanted == LAST and numbers:
            return self._path(max(numbers))
        named = _FILE.fullmatch(f"{wanted}.db")
        if named is None or int(named[1]) not in numbers:
            raise UnknownRun(
                f"There is no run {wanted!r}.",
                "`jitchat rot list` lists them." if numbers else "None has been made yet.",
            )
        return self._path(int(named[1]))

    def _numbers(self) -> list[int]:
        try:
            names = [path.name for path in self.folder.iterdir()]
        except OSError:
            return []
        return [int(named[1]) for name in names if (named := _FILE.fullmatch(name))]

    def _path(self, number: int) -> Path:
        return self.folder / f"r{number}.db"


def _delete(path: Path) -> None:
    for end in ("", "-wal", "-shm"):  # what SQLite puts beside a file's name
        path.with_name(path.name + end).unlink(missing_ok=True)


def _claimed(path: Path) -> bool:
    """Make an empty file for its owner alone; False where another is there."""
    try:
        path.touch(0o600, exist_ok=False)
    except FileExistsError:
        return False
    return True
