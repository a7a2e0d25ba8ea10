"""Runs on disk: stored, listed, reopened and deleted."""

from __future__ import annotations

import json
import sqlite3
import subprocess
import sys
from contextlib import closing
from dataclasses import replace
from datetime import timedelta
from typing import TYPE_CHECKING

import pytest
from hypothesis import given
from hypothesis import strategies as st

from jitchat.errors import StoreBusy, StoreFull, StoreUnreadable, UnknownRun
from jitchat.lab.experiment import Cell, Experiment, Result, Verdict
from jitchat.lab.facts import Kind
from jitchat.lab.run_file import Run, Runs, cell_key, fields_of, read
from jitchat.store.lab_runs import RotRows
from jitchat.values import Mode, Usage
from tests.examples import examples
from tests.lab.support import BEGUN, new_file, run_of

if TYPE_CHECKING:
    from pathlib import Path

quick = examples(16)

EXPERIMENT = Experiment((2_000, 32_000), (0.0, 1.0), (Kind.DIRECT,))
CELL = Cell(2_000, 0.5, Kind.UPDATED, 1, Mode.JIT)
RIGHT = Result(CELL, Verdict.RIGHT, "says 7443", "Which port?", "7443", "7443.", "talk", 41)


@quick
@given(st.from_type(Result), st.none() | st.from_type(Usage))
def test_a_result_is_the_same_after_being_kept(result: Result, usage: Usage | None) -> None:
    whole = replace(result, usage=usage)

    assert read(Result, fields_of(whole)) == whole


def test_a_run_is_the_same_after_being_kept() -> None:
    kept = (("window.recent", "384"), ("chat.mode", "jit"))
    ended = BEGUN + timedelta(minutes=3)
    run = replace(run_of(EXPERIMENT), id="r1", ended_at=ended, settings=kept)

    assert read(Run, json.loads(json.dumps(fields_of(run)))) == run


def test_results_are_there_when_the_run_is_opened_again(tmp_path: Path) -> None:
    file = new_file(tmp_path, EXPERIMENT)
    file.keep(replace(RIGHT, verdict=Verdict.FAILED))
    file.keep(RIGHT)
    file.close()

    again = Runs(tmp_path).open("r1")

    assert again.run == file.run
    assert again.results() == [RIGHT]
    again.close()


def test_runs_are_listed_the_latest_first_with_how_far_they_are(tmp_path: Path) -> None:
    runs = Runs(tmp_path / "not there yet")
    assert runs.all() == []
    for later in (0, 1):
        run = replace(run_of(EXPERIMENT), begun_at=BEGUN + timedelta(days=later))
        file = runs.create(run)
        for depth in range(later):
            file.keep(replace(RIGHT, cell=replace(CELL, depth=depth)))
        file.close()
    (runs.folder / "r9.db").write_text("no database at all")
    (runs.folder / "notes.txt").write_text("nor this")

    listed = runs.all()

    assert [(run.id, done) for run, done in listed] == [("r2", 1), ("r1", 0)]
    assert listed[0][0].title == "reader, 2k to 32k, Sat 14 Mar 10:00"


def test_last_names_the_run_that_was_made_last(tmp_path: Path) -> None:
    for _ in range(2):
        new_file(tmp_path, EXPERIMENT).close()
    last = Runs(tmp_path).open("last")

    assert last.run.id == "r2"
    last.close()


@pytest.mark.parametrize("wanted", ["r3", "", "../r1", "r1.db", "last-1"])
def test_a_run_that_is_not_there_is_told_of(tmp_path: Path, wanted: str) -> None:
    new_file(tmp_path, EXPERIMENT).close()
    with pytest.raises(UnknownRun, match="There is no run"):
        Runs(tmp_path).open(wanted)
    with pytest.raises(UnknownRun, match="There is no run"):
        Runs(tmp_path).forget(wanted)


def test_a_forgotten_run_leaves_nothing_and_its_number_is_not_taken_by_an_older_one(
    tmp_path: Path,
) -> None:
    for _ in range(2):
        new_file(tmp_path, EXPERIMENT).close()
    Runs(tmp_path).forget("r1")

    assert [run.id for run, _ in Runs(tmp_path).all()] == ["r2"]
    assert {path.name for path in tmp_path.iterdir()} == {"r2.db", "r2.db-lock"}
    with closing(new_file(tmp_path, EXPERIMENT)) as newest:
        assert newest.run.id == "r3"


@pytest.mark.parametrize(
    ("where", "wrong"),
    [("lengths", "[]"), ("begun_at", '"2026-03-13T10:00:00"'), ("limit", '"many"'), ("model", "7")],
)
def test_a_run_that_was_edited_is_unreadable_and_is_not_listed(
    tmp_path: Path, where: str, wrong: str
) -> None:
    new_file(tmp_path, EXPERIMENT).close()
    place = f"$.experiment.{where}" if where == "lengths" else f"$.{where}"
    with sqlite3.connect(tmp_path / "r1.db") as connection:
        edit = "UPDATE rot_run SET fields = json_set(fields, ?, json(?))"
        connection.execute(edit, (place, wrong))
    connection.close()

    with pytest.raises(StoreUnreadable):
        Runs(tmp_path).open("r1")
    assert Runs(tmp_path).all() == []


def test_a_result_that_was_edited_is_unreadable() -> None:
    with pytest.raises(TypeError, match="seconds"):
        read(Result, {**fields_of(RIGHT), "seconds": "long"})


def test_a_run_that_is_asked_is_kept_from_others_until_it_is_closed(tmp_path: Path) -> None:
    runs = Runs(tmp_path)
    asked = new_file(tmp_path, EXPERIMENT)
    for refused in (lambda: runs.open("r1", to_ask=True), lambda: runs.forget("last")):
        with pytest.raises(StoreBusy, match=r"^Another jitchat is running r1\. Stop it"):
            refused()
    runs.open("r1").close()
    assert len(runs.all()) == 1, "it can be looked at"

    asked.close()
    again = runs.open("r1", to_ask=True)
    with pytest.raises(StoreBusy):
        runs.open("r1", to_ask=True)
    again.close()
    again.close()
    runs.forget("r1")

    assert list(tmp_path.iterdir()) == []


def test_another_process_is_kept_away_and_one_that_was_killed_keeps_nobody(
    tmp_path: Path,
) -> None:
    new_file(tmp_path, EXPERIMENT).close()
    asks = (
        "import sys, pathlib; from jitchat.lab.run_file import lock_run;"
        "lock = lock_run(pathlib.Path(sys.argv[1])); print('has it', flush=True); sys.stdin.read()"
    )
    command = [sys.executable, "-c", asks, str(tmp_path / "r1.db")]
    with subprocess.Popen(command, stdin=subprocess.PIPE, stdout=subprocess.PIPE) as other:
        assert other.stdout is not None
        assert other.stdout.readline().strip() == b"has it"
        with pytest.raises(StoreBusy):
            Runs(tmp_path).open("r1", to_ask=True)
        other.kill()
        other.wait()

    Runs(tmp_path).open("r1", to_ask=True).close()


def test_a_run_that_cannot_be_made_leaves_nothing(
    tmp_path: Path, monkeypatch: pytest.MonkeyPatch
) -> None:
    def full(rows: RotRows, fields: object) -> None:
        raise StoreFull("The disk is full.")

    with monkeypatch.context() as patched:
        patched.setattr(RotRows, "put_run", full)
        with pytest.raises(StoreFull):
            new_file(tmp_path, EXPERIMENT)
    assert list(tmp_path.iterdir()) == []

    file = new_file(tmp_path, EXPERIMENT)
    assert file.run.id == "r1"
    file.close()


def test_what_is_left_of_a_run_has_no_answer_yet(tmp_path: Path) -> None:
    file = new_file(tmp_path, EXPERIMENT)
    cells = list(EXPERIMENT.cells())
    for cell, verdict in zip(cells, (Verdict.RIGHT, Verdict.FAILED, Verdict.UNFIT), strict=False):
        file.keep(replace(RIGHT, cell=cell, verdict=verdict))

    assert file.left() == [cells[1], *cells[3:]]
    file.close()


def test_a_run_without_near_duplicates_of_its_own_is_read_as_it_was_kept() -> None:
    fields = fields_of(EXPERIMENT)
    del fields["near"]
    assert read(Experiment, fields) == EXPERIMENT
    dialled = replace(EXPERIMENT, near=(None, 6))
    assert read(Experiment, fields_of(dialled)) == dialled
    keys = [cell_key(cell) for cell in dialled.cells()]
    assert len({*keys}) == dialled.size
    assert cell_key(CELL) == "2000 0.5 updated 1 jit"
    assert cell_key(replace(CELL, near=6)) == "2000 0.5 updated 1 jit near 6"
