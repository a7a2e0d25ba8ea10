"""Runs of the lab for its screens: real files, with answers by a rule instead of a model."""

from __future__ import annotations

import asyncio
import json
import zlib
from dataclasses import dataclass, field, replace
from datetime import UTC, datetime, timedelta
from functools import cache
from typing import TYPE_CHECKING

from jitchat.errors import JitchatError
from jitchat.index.embedder import NoEmbedder
from jitchat.lab.costs import Answerer
from jitchat.lab.events import (
    CellBegun,
    CellEnded,
    ConversationBegun,
    ConversationReady,
    LabEvent,
    RunEnded,
)
from jitchat.lab.experiment import Cell, Experiment, Result, Verdict, preset
from jitchat.lab.lab import Lab
from jitchat.lab.run_file import Run, Runs, cell_key, fields_of
from jitchat.memory import Memory
from jitchat.session import Session
from jitchat.session_options import SessionOptions
from jitchat.store.database import waiting
from jitchat.store.windows import WindowArchive
from jitchat.transfer.demo import store_demo
from jitchat.values import Mode, Usage
from jitchat.window.budget import Budget
from jitchat.window.tokens import EstimateCounter
from tests.support import ScriptedProvider
from tests.tui.views.archived_sends import send_all

if TYPE_CHECKING:
    from collections.abc import Callable, Iterable, Sequence
    from pathlib import Path

    from jitchat.lab.run_file import RunFile

BEGUN = datetime(2026, 11, 24, 15, 40, tzinfo=UTC)
NEEDED = 38
"""The turn of the demo conversation that its last question is given."""
READER = Answerer("reader", "reader", 32_768, 2_048, 4_000, 0.0, 0.0, is_here=True)
MODEL = Answerer("ollama", "qwen3-8b", 32_768, 2_048, 4_000, 0.4, 1.2, is_here=False)


def verdict_of(cell: Cell, limit: int) -> Verdict:
    """`full` forgets the middle as it grows, `recency` knows the end alone, `jit` almost all."""
    chance = hash_of(cell)
    if cell.mode is Mode.FULL:
        if cell.length > limit:
            return Verdict.UNFIT
        middle = 1 - abs(2 * cell.depth - 1)
        likely = 1 - middle * min(0.9, cell.length / 24_000)
    elif cell.mode is Mode.RECENCY:
        likely = 1.0 if cell.length <= 2_000 or cell.depth == 1 else 0.06
    else:
        likely = 0.93
    return Verdict.RIGHT if chance < likely else Verdict.WRONG


def hash_of(cell: Cell) -> float:
    """A number from 0 to 1 that looks like chance, and is the same each time."""
    text = f"{cell.kind}{cell.length}{cell.depth}{cell.repeat}{cell.mode}"
    return zlib.crc32(text.encode()) / 2**32


@cache
def result_of(cell: Cell, limit: int = 32_768) -> Result:
    """What came of a cell by that rule."""
    verdict = verdict_of(cell, limit)
    is_right = verdict is Verdict.RIGHT
    made = Result(
        cell,
        verdict,
        rule="says 7443" if is_right else "says the old value, 7440",
        question="Which code opens the boat shed these days?",
        expected="7443",
        answer="The boat shed opens with 7443." if is_right else "The boat shed's code is 7440.",
        conversation="demo",
        said=61,
        needed=(9,),
        held=int(is_right or cell.mode is Mode.FULL),
        tokens=min(cell.length, 3_400) if cell.mode is not Mode.FULL else cell.length,
        usage=Usage(cell.length, 24, cell.length // 2),
        to_first=0.04 + cell.length / 4e5,
        seconds=0.09 + cell.length / 3e5,
        cost=0.0,
    )
    if verdict is Verdict.UNFIT:
        return replace(
            made,
            rule="",
            answer="",
            held=None,
            tokens=None,
            usage=None,
            to_first=None,
            seconds=None,
            cost=None,
            note="64,120 tokens, and the model takes 30,720",
        )
    return made


def failed(cell: Cell) -> Result:
    """What came of one whose request failed twice."""
    made = replace(result_of(cell), verdict=Verdict.FAILED, rule="", answer="", held=None)
    return replace(made, tokens=None, usage=None, to_first=None, cost=None, note="it broke off")


def run_of(experiment: Experiment, answerer: Answerer = READER, begun: datetime = BEGUN) -> Run:
    return Run(
        "",
        experiment,
        answerer.provider,
        answerer.model,
        "builtin-256",
        answerer.limit,
        answerer.reserve,
        "o200k",
        "1.0",
        begun,
    )


@cache
def row_of(result: Result) -> tuple[str, int | None, str]:
    """As it is kept."""
    return cell_key(result.cell), result.window_id, json.dumps(fields_of(result))


def keep_all(file: RunFile, results: Iterable[Result]) -> None:
    """In one transaction: a run of the lab takes one for each."""
    with waiting(), file.store.database.write() as connection:
        connection.execute("DELETE FROM rot_cells")
        for each in results:
            connection.execute(
                "INSERT INTO rot_cells (cell, window, fields) VALUES (?, ?, ?)",
                row_of(each),
            )


@dataclass
class ScriptedLab(Lab):
    """Answers by the rule; stops in the middle, where it is told to, until it is cancelled."""

    file: RunFile
    pause_after: int | None = None
    """So many cells; None: none."""
    between: Sequence[LabEvent] = ()
    """What else it reports where it stops."""
    error: JitchatError | None = None
    """What ends it there."""
    parallel: int = 1
    judge: str = ""
    closed: list[bool] = field(default_factory=list)

    async def run(self, hear: Callable[[LabEvent], object]) -> None:
        run, length = self.file.run, 0
        with waiting():
            found = {each.cell: each for each in self.file.results()}
        done = {cell for cell in found if found[cell].verdict is not Verdict.FAILED}
        try:
            for number, cell in enumerate(run.experiment.cells()):
                if number == self.pause_after:
                    hear(CellBegun(cell))
                    keep_all(self.file, found.values())
                    for event in self.between:
                        hear(event)
                    if self.error is not None:
                        raise self.error
                    if any(isinstance(each, RunEnded) for each in self.between):
                        return
                    await asyncio.Event().wait()
                if cell.length != length:
                    length = cell.length
                    talks = run.experiment.lengths
                    hear(ConversationBegun(talks.index(length) + 1, len(talks), length))
                    hear(ConversationReady(talks.index(length) + 1, length // 50, 0.1))
                if cell not in done:
                    hear(CellBegun(cell))
                    found[cell] = result_of(cell, run.limit)
                    hear(CellEnded(found[cell]))
            with waiting():
                self.file.end()
            hear(RunEnded())
        finally:
            keep_all(self.file, found.values())
            self.closed.append(True)


@dataclass
class ScriptedLabService:
    """Makes runs in a folder of the test's own."""

    runs: Runs
    told: Answerer | JitchatError = READER
    pause_after: int | None = None
    between: Sequence[LabEvent] = ()
    error: JitchatError | None = None
    refusal: JitchatError | None = None
    with_windows: bool = False
    """Whether there is a window for every cell of a run that is put there."""
    labs: list[ScriptedLab] = field(default_factory=list)
    asked: int = 0
    """So often it was asked who answers."""

    def answerer(self) -> Answerer:
        self.asked += 1
        if isinstance(self.told, JitchatError):
            raise self.told
        return self.told

    def prepare(self, experiment: Experiment, judge: str = "") -> Experiment:
        return experiment

    def begin(self, experiment: Experiment, parallel: int = 1, judge: str = "") -> Lab:
        if self.refusal is not None:
            raise self.refusal
        made = self._lab(self.runs.create(run_of(experiment, self.answerer())), parallel)
        made.judge = judge
        return made

    def resume(self, wanted: str, parallel: int = 1) -> Lab:
        if self.refusal is not None:
            raise self.refusal
        return self._lab(self.runs.open(wanted), parallel)

    def _lab(self, file: RunFile, parallel: int) -> ScriptedLab:
        made = ScriptedLab(file, self.pause_after, self.between, self.error, parallel)
        self.labs.append(made)
        return made

    def put(
        self,
        experiment: Experiment,
        answerer: Answerer = READER,
        days: int = 0,
        share: float = 1.0,
    ) -> str:
        """Keep a run of which that share of cells is decided; its id."""
        begun = BEGUN - timedelta(days=days)
        file = self.runs.create(run_of(experiment, answerer, begun))
        windows = put_windows(file) if self.with_windows else []
        cells = list(experiment.cells())[: int(experiment.size * share)]
        results = (result_of(each, answerer.limit) for each in cells)
        if windows:
            sent = {"window_id": windows[-1], "needed": (NEEDED,)}
            results = (replace(each, **sent) for each in results)
        keep_all(file, results)
        if share == 1:
            file.end(lambda: begun + timedelta(minutes=3))
        file.close()
        return file.run.id


def put_windows(file: RunFile) -> list[int]:
    """Keep windows of the demo conversation, as if its turns had been asked; their keys."""
    session = Session(
        Memory(file.store, store_demo(file.store), NoEmbedder()),
        ScriptedProvider(),
        EstimateCounter(),
        SessionOptions(budget=Budget(size=1_500)),
    )
    list(session.memory.index.catch_up())
    send_all(session)
    return [each.window_id for each in WindowArchive(file.store.database).sends("demo")]


def quick() -> Experiment:
    return preset("quick", "reader")


def lab_service_in(folder: Path) -> ScriptedLabService:
    return ScriptedLabService(Runs(folder / "rot"))
