"""Keeping a run for the one that asks it: two at once would ask the same cells.

The lock is SQLite's own, on an empty file beside the run, so that it works wherever a run does
and is gone with the process that has it, however that ended. The file itself stays as long as the
run does: deleted while another opens it, it would let two have the run.
"""

from __future__ import annotations

import os
import sqlite3
from contextlib import suppress
from pathlib import Path

from jitchat.errors import StoreBusy, StoreReadOnly
from jitchat.memory.cold.sqlite_errors import named

_ENDING = "-lock"
"""What is put beside the name of a run's file."""


class Hold:
    """Has a run until it is given back. Any thread may do that."""

    def __init__(self, run: Path) -> None:
        """`run` is the file of the run; it need not be there, or be readable.

        Raises:
            StoreBusy: Another one asks it, in this process or elsewhere.
            StoreError: The lock cannot be written.

        """
        path = _beside(run)
        try:
            _make(path)
            self._connection = _locked(path)
        except OSError as error:
            raise StoreReadOnly(
                f"{path} cannot be written: {error.strerror}.", "Check the folder's permissions."
            ) from error
        except sqlite3.Error as error:
            if getattr(error, "sqlite_errorcode", 0) & 0xFF != sqlite3.SQLITE_BUSY:
                raise named(error, path) from error
            raise StoreBusy(
                f"{run.stem} is being asked by another jitchat.",
                "Stop it there, or wait until it is done.",
            ) from error

    def give_back(self) -> None:
        """Let another one have it; may be called twice."""
        self._connection.close()


def forget(run: Path) -> None:
    """Delete what a run was held by that is gone, and that nobody has."""
    with suppress(OSError):  # an empty file that stays does no harm
        _beside(run).unlink(missing_ok=True)


def _beside(run: Path) -> Path:
    return run.with_name(run.name + _ENDING)


def _make(path: Path) -> None:
    """Make it for its owner alone; one that is there is not opened: closing it would unlock it."""
    with suppress(FileExistsError):
        os.close(os.open(path, os.O_CREAT | os.O_EXCL | os.O_WRONLY, 0o600))


def _locked(path: Path) -> sqlite3.Connection:
    connection = sqlite3.connect(path, timeout=0, check_same_thread=False, isolation_level=None)
    try:
        connection.execute("PRAGMA journal_mode = MEMORY")  # no second file beside it
        connection.execute("BEGIN EXCLUSIVE")
    except BaseException:  # closed whatever it was, and passed on
        connection.close()
        raise
    return connection
