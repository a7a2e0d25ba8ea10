"""The file of a run: a cold store with the conversations that were asked in, and the results.

Invariant: a result is durable when `keep` returns, so a run that was ended at whatever moment
is resumed with the cells that have none.
"""

from __future__ import annotations

from collections.abc import Callable, Iterator, Mapping
from contextlib import ExitStack, contextmanager
from dataclasses import replace
from datetime import datetime
from pathlib import Path

from jitchat.memory.cold.database import Database
from jitchat.memory.cold.rot_rows import RotRows
from jitchat.memory.cold.store import ColdStore, local_now
from jitchat.replay import window_of
from jitchat.rot.cells import Cell, Result, Verdict
from jitchat.rot.hold import Hold
from jitchat.rot.record import cell_key, result_fields, result_from, run_fields, run_from
from jitchat.rot.run import Run
from jitchat.rot.tally import Tally, tallied
from jitchat.turn import Mode
from jitchat.window.window import ContextWindow


class TalkClock:
    """The time in a run's conversations: made up, so that a window is the same on any day."""

    def __init__(self) -> None:
        self.moment: datetime | None = None
        """None: the real time."""

    def __call__(self) -> datetime:
        """Tell it."""
        return self.moment or local_now()


class RunFile:
    """One run, open. Threads may share it."""

    def __init__(self, database: Database, run: Run, hold: Hold | None = None) -> None:
        """`hold` is given back with the file; None where it is only looked at."""
        self.clock = TalkClock()
        self.store = ColdStore(database, self.clock)
        self.run = run
        self._rows, self._hold = RotRows(database), hold

    @classmethod
    def create(cls, path: Path, run: Run) -> RunFile:
        """Make the file of a new run, to ask it.

        Raises:
            StoreError: It cannot be written.

        """
        with _undone() as undone:
            hold = Hold(path)
            undone.callback(hold.give_back)
            database = Database(path)
            undone.callback(database.close)
            RotRows(database).put_run(run_fields(run))
            return cls(database, run, hold)

    @classmethod
    def open(cls, path: Path, *, to_ask: bool = False) -> RunFile:
        """Open a run that was made before; no other may ask one that is opened `to_ask`.

        Raises:
            StoreBusy: It is to be asked, and another one does.
            StoreError: It cannot be read, or is no run.

        """
        with _undone() as undone:
            hold = Hold(path) if to_ask else None
            if hold is not None:
                undone.callback(hold.give_back)
            database = Database(path)
            undone.callback(database.close)
            with database.read():
                run = run_from(RotRows(database).run())
            return cls(database, run, hold)

    def results(self) -> list[Result]:
        """List what is decided, in the order in which it was."""
        with self.store.database.read():
            return [result_from(fields) for fields in self._rows.cells()]

    def count(self) -> int:
        """Count what is decided."""
        return self._rows.count()

    def left(self) -> list[Cell]:
        """List the cells that have no answer yet; one that failed is asked again."""
        done = {each.cell for each in self.results() if each.verdict is not Verdict.FAILED}
        return [cell for cell in self.run.experiment.cells() if cell not in done]

    def shares(self) -> Mapping[Mode, Tally]:
        """Count what is decided, by mode; one of which nothing is has no key."""
        return tallied(self.results()).by_mode

    def keep(self, result: Result) -> None:
        """Keep a result; one of the same cell that was kept before is replaced."""
        self._rows.put_cell(cell_key(result.cell), result.window_id, result_fields(result))

    def end(self, now: Callable[[], datetime] = local_now) -> None:
        """Note that every cell is decided, and when."""
        self.run = replace(self.run, ended_at=now())
        self._rows.put_run(run_fields(self.run))

    def spend(self, seconds: float) -> None:
        """Note that so much more time was spent on asking."""
        self.run = replace(self.run, seconds=self.run.seconds + seconds)
        self._rows.put_run(run_fields(self.run))

    def relimit(self, limit: int) -> None:
        """Note that the model takes less than was thought, in tokens."""
        self.run = replace(self.run, limit=limit)
        self._rows.put_run(run_fields(self.run))

    def window(self, result: Result) -> ContextWindow | None:
        """Load the very window that was sent for a cell; None where none was.

        Raises:
            StoreUnreadable: What is kept of it is damaged.

        """
        if result.window_id is None:
            return None
        return window_of(self.store.database, result.window_id)

    def close(self) -> None:
        """Give the file back, and let others ask it; may be called twice."""
        self.store.database.close()
        if self._hold is not None:
            self._hold.give_back()


@contextmanager
def _undone() -> Iterator[ExitStack]:
    """Undo what is given to it where the block fails, the last first."""
    with ExitStack() as undone:
        yield undone
        undone.pop_all()
