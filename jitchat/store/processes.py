"""Which rows a process still works on: those of a process that died are free again."""

import os
import sys

from jitchat.store.database import Database


class RowsInUse:
    """The rows of one table that this process works on; ids of processes are reused."""

    def __init__(self, silent_for: float) -> None:
        """`silent_for`: seconds after which not even another living process works on a row."""
        self._silent_for = silent_for
        self._mine: set[tuple[str, int]] = set()

    def add(self, database: Database, row: int) -> None:
        self._mine.add((str(database.path), row))

    def discard(self, database: Database, row: int) -> None:
        self._mine.discard((str(database.path), row))

    def is_in_use(self, database: Database, row: int, process: int, silent: float) -> bool:
        """Whether a process works on a row that it touched `silent` seconds ago."""
        if process == os.getpid():
            return (str(database.path), row) in self._mine
        return is_alive(process) and abs(silent) < self._silent_for


def is_alive(process: int) -> bool:
    """Whether a process with that id exists; on Windows, always True."""
    if sys.platform == "win32":
        return True  # signal 0 would end the process there: the time of the last save decides
    try:
        os.kill(process, 0)
    except PermissionError:
        return True
    except (ProcessLookupError, OverflowError):
        return False
    return True
