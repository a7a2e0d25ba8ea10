"""The runs of the lab, one file each in one folder, so that deleting the file deletes the run.

A run's file is a separate cold store that also holds the results. Invariant: a result is durable
when `keep` returns, and only then reported; so a run that ended at any moment can be resumed with
the cells that have no result.

The lock is SQLite's own, on an empty file next to the run: it works wherever runs do, and is
released when its process ends, in whatever way. The lock file exists as long as the run: if it were
deleted while another process opens it, both could lock the run.
"""

import hashlib
import json
import re
import sqlite3
from collections.abc import Callable, Sequence
from contextlib import ExitStack, closing, suppress
from dataclasses import dataclass, replace
from datetime import datetime
from pathlib import Path
from typing import Self, TypeVar

from jitchat.errors import StoreBusy, StoreError, StoreReadOnly, UnknownRun
from jitchat.lab.experiment import Cell, Experiment, Result, Verdict
from jitchat.paths import make_private
from jitchat.replay import window_of
from jitchat.store.copies import delete_upgrade_copies
from jitchat.store.database import Database, store_error
from jitchat.store.lab_runs import RotRows
from jitchat.store.store import ColdStore, local_now
from jitchat.text.figures import local, model_name
from jitchat.typed_data import fields_of, read
from jitchat.values import Turn
from jitchat.window.window import ContextWindow

_T = TypeVar("_T")
REASONING = 16
"""The factor on an answer's cap for a model that reasons first."""


@dataclass(frozen=True, slots=True)
class Run:
    id: str
    """Short, and unique in its folder."""
    experiment: Experiment
    provider: str
    model: str
    embedder: str
    """The id of the embedder that retrieval used."""
    limit: int
    """The model's context size, in tokens."""
    reserve: int
    """Tokens that were kept free for the reply."""
    counter: str
    """The name of the token counter."""
    version: str
    """The version of jitchat."""
    begun_at: datetime
    """Timezone-aware."""
    ended_at: datetime | None = None
    """Timezone-aware; None while cells have no result."""
    judge: str = ""
    """The model that judged; empty if only rules did."""
    settings: tuple[tuple[str, str], ...] = ()
    """(name, value in TOML) of every setting, without secrets."""
    seconds: float = 0.0
    """Total seconds of the run, including its resumptions."""
    source: str = ""
    """The `source_of` the user's conversation when the run was started; empty for generated
    filler."""
    answer: int | None = None
    """Maximum tokens of an answer; None if the lab sets no cap."""
    reasons: bool = False
    """Whether the cap cut the model's reasoning: the cap is multiplied by `REASONING` then."""
    temperature: float | None = None
    """The requested temperature; servers that refuse the parameter are asked without it."""
    sampling_seed: int | None = None
    """The requested sampling seed; servers that refuse the parameter are asked without it."""

    @property
    def longest(self) -> int | None:
        """Current maximum tokens of an answer, reasoning included; None if there is no cap."""
        return self.answer if self.answer is None or not self.reasons else self.answer * REASONING

    @property
    def is_reader(self) -> bool:
        return self.provider == "reader"

    @property
    def title(self) -> str:
        """Model, lengths and start: `qwen3-8b, 2k to 32k, Tue 24 Nov 15:40`."""
        lengths = self.experiment.lengths
        spread = " to ".join(dict.fromkeys(map(short, (lengths[0], lengths[-1]))))
        return f"{model_name(self.model)}, {spread}, {local(self.begun_at):%a %d %b %H:%M}"


def source_of(own: Sequence[Turn]) -> str:
    """Return the SHA-256 of a conversation's content, in hexadecimal; empty if it has no turns."""
    said = [(turn.role, turn.content) for turn in own]
    return hashlib.sha256(json.dumps(said).encode()).hexdigest() if said else ""


def short(tokens: int) -> str:
    """Format a length in few columns: `500`, `2k`, `1.5k`, `128k`."""
    return f"{tokens / 1000:g}k" if tokens >= 1000 else str(tokens)


def cell_key(cell: Cell) -> str:
    """Return a cell's key: `4000 0.25 updated 1 jit`, `4000 0.25 updated 1 jit near 6`."""
    dial = "" if cell.near is None else f" near {cell.near}"
    return f"{cell.length} {cell.depth:g} {cell.kind} {cell.repeat} {cell.mode}{dial}"


_LOCK = "-lock"
"""The suffix of the lock file's name."""


def lock_run(run: Path) -> sqlite3.Connection:
    """Lock a run until the returned connection is closed, by any thread.

    `run` is the file of the run; it need not exist or be readable.

    Raises:
        StoreBusy: The run is locked, by this process or another one.
        StoreError: The lock cannot be written.

    """
    path = run.with_name(run.name + _LOCK)
    try:
        # private to its owner; an existing file is not opened, because closing would unlock it
        _claim(path)
        connection = sqlite3.connect(path, timeout=0, check_same_thread=False, isolation_level=None)
        with ExitStack() as undone:
            undone.callback(connection.close)
            connection.execute("PRAGMA journal_mode = MEMORY")  # no second file next to it
            connection.execute("BEGIN EXCLUSIVE")
            undone.pop_all()
    except OSError as error:
        raise StoreReadOnly(
            f"{path} cannot be written: {error.strerror}.", "Check the folder's permissions."
        ) from error
    except sqlite3.Error as error:
        if getattr(error, "sqlite_errorcode", 0) & 0xFF != sqlite3.SQLITE_BUSY:
            raise store_error(error, path) from error
        raise StoreBusy(
            f"Another jitchat is running {run.stem}.",
            "Stop it there, or wait until it is done.",
        ) from error
    return connection


def _claim(path: Path) -> bool:
    """Create an empty file, private to its owner. Return False if the file exists."""
    try:
        path.touch(0o600, exist_ok=False)
    except FileExistsError:
        return False
    return True


def _delete(path: Path, *ends: str) -> None:
    for end in ends:
        path.with_name(path.name + end).unlink(missing_ok=True)


_STORE_ENDS = ("", "-wal", "-shm")
"""Name endings of a run's file, and of the files that SQLite puts next to it."""


class RunFile:
    """An open run. Safe to share between threads."""

    def __init__(
        self, database: Database, run: Run, lock: sqlite3.Connection | None = None
    ) -> None:
        """`lock` is closed with the file; None if the run is only read."""
        self.moment: datetime | None = None
        """The time in the run's conversations, fixed so that a window is the same on any day. None
        for the real time."""
        self.store = ColdStore(database, lambda: self.moment or local_now())
        self.run = run
        self._rows, self._lock = RotRows(database), lock

    @classmethod
    def create(cls, path: Path, run: Run) -> Self:
        """Create the file of a new run, and lock it."""
        with ExitStack() as undone:
            lock = undone.enter_context(closing(lock_run(path)))
            database = undone.enter_context(closing(Database(path)))
            RotRows(database).put_run(fields_of(run))
            undone.pop_all()
            return cls(database, run, lock)

    @classmethod
    def open(cls, path: Path, *, to_ask: bool = False) -> Self:
        """Open an existing run; `to_ask`: whether to lock it, in order to run it.

        Raises:
            StoreBusy: The run is locked.
            StoreError: The file cannot be read, or is not a run.

        """
        with ExitStack() as undone:
            lock = undone.enter_context(closing(lock_run(path))) if to_ask else None
            database = undone.enter_context(closing(Database(path)))
            with database.read():
                run = read(Run, RotRows(database).run())
                if not run.experiment.size:
                    raise ValueError("a run without cells")
            undone.pop_all()
            return cls(database, run, lock)

    def results(self) -> list[Result]:
        """List the results, in the order in which they were decided."""
        with self.store.database.read():
            return [read(Result, fields) for fields in self._rows.cells()]

    def count(self) -> int:
        return self._rows.count()

    def left(self) -> list[Cell]:
        """List the cells without an answer; failed cells are asked again."""
        done = {each.cell for each in self.results() if each.verdict is not Verdict.FAILED}
        return [cell for cell in self.run.experiment.cells() if cell not in done]

    def keep(self, result: Result) -> None:
        """Store a result, replacing any earlier one of the same cell."""
        self._rows.put_cell(cell_key(result.cell), result.window_id, fields_of(result))

    def end(self, now: Callable[[], datetime] = local_now) -> None:
        self._note(replace(self.run, ended_at=now()))

    def spend(self, seconds: float) -> None:
        self._note(replace(self.run, seconds=self.run.seconds + seconds))

    def relimit(self, limit: int) -> None:
        """Record a smaller limit of the model, in tokens."""
        self._note(replace(self.run, limit=limit))

    def allow_reasoning(self) -> None:
        self._note(replace(self.run, reasons=True))

    def _note(self, run: Run) -> None:
        self.run = run
        self._rows.put_run(fields_of(run))

    def window(self, result: Result) -> ContextWindow | None:
        """Load the window that was sent for a cell; None if none was sent.

        Raises:
            StoreUnreadable: The stored window is damaged.

        """
        window_id = result.window_id
        return None if window_id is None else window_of(self.store.database, window_id)

    def close(self) -> None:
        """Close and unlock the file; can be called twice."""
        self.store.database.close()
        if self._lock is not None:
            self._lock.close()


LAST = "last"
"""The id that stands for the latest run."""
_FILE = re.compile(r"r(\d+)\.db")


class Runs:
    """The runs in a folder, which is created with the first run."""

    def __init__(self, folder: Path) -> None:
        self.folder = folder

    def all(self) -> Sequence[tuple[Run, int]]:
        """List every run with the number of its decided cells, the latest first. Slow."""
        return self.each(lambda file: (file.run, file.count()))

    def each(self, look: Callable[[RunFile], _T]) -> list[_T]:
        """Open every run once, and list the results of `look`, the latest first. Slow.

        Files that are not runs are skipped.
        """
        found: list[tuple[datetime, _T]] = []
        for number in self._numbers():
            with suppress(StoreError), closing(RunFile.open(self._path(number))) as file:
                found.append((file.run.begun_at, look(file)))
        found.sort(key=lambda each: each[0], reverse=True)
        return [made for _, made in found]

    def create(self, run: Run) -> RunFile:
        """Create the file of a new run, and lock it; its id has the next number.

        Raises:
            StoreError: The file cannot be written.

        """
        number = max(self._numbers(), default=0) + 1
        try:
            make_private(self.folder)
            while not _claim(self._path(number)):
                number += 1
        except OSError as error:
            raise StoreReadOnly(
                f"No run can be saved in {self.folder}: {error.strerror}.",
                "Check the folder's permissions.",
            ) from error
        path = self._path(number)
        try:
            return RunFile.create(path, replace(run, id=f"r{number}"))
        except BaseException:  # delete the files in any case, and re-raise
            with suppress(OSError):
                _delete(path, *_STORE_ENDS, _LOCK)
            raise

    def open(self, wanted: str, *, to_ask: bool = False) -> RunFile:
        """Open a run by its id; `last` is the latest one.

        A run that is opened `to_ask` is locked: no other process can run or delete it.

        Raises:
            UnknownRun: There is no run with this id.
            StoreBusy: The run is locked.
            StoreError: The run cannot be read.

        """
        return RunFile.open(self._found(wanted), to_ask=to_ask)

    def forget(self, wanted: str) -> None:
        """Delete a run with all its files.

        Raises:
            UnknownRun: There is no run with this id.
            StoreBusy: The run is locked.
            StoreError: The run cannot be deleted.

        """
        path = self._found(wanted)
        try:
            with closing(lock_run(path)):
                _delete(path, *_STORE_ENDS)
                delete_upgrade_copies(path)
        except OSError as error:
            raise StoreReadOnly(f"{path} cannot be deleted: {error.strerror}.") from error
        with suppress(OSError):  # a leftover empty file does no harm
            _delete(path, _LOCK)

    def copies_of(self, conversation: str) -> str:
        """Name the runs that copied a conversation of the user; empty if none did. Slow."""
        runs = self.each(lambda file: file.run)
        copied = [run.id for run in runs if run.experiment.conversation == conversation]
        names = ", ".join(copied)
        forget = "`jitchat rot forget RUN` deletes one."
        return f"The rot lab's runs still have copies of it: {names}. {forget}" if names else ""

    def _found(self, wanted: str) -> Path:
        numbers = self._numbers()
        if wanted == LAST and numbers:
            return self._path(max(numbers))
        named = _FILE.fullmatch(f"{wanted}.db")
        if named is None or int(named[1]) not in numbers:
            raise UnknownRun(
                f"There is no run {wanted!r}.",
                "`jitchat rot list` lists them." if numbers else "There are no runs yet.",
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
