"""`jitchat rot list`, `show` and `forget`: stored runs."""

from __future__ import annotations

import json
from dataclasses import replace
from datetime import timedelta
from typing import TYPE_CHECKING

import pytest

from jitchat.cli import output
from jitchat.lab.experiment import Experiment, Result, Verdict
from jitchat.lab.facts import Kind
from jitchat.lab.run_file import Runs
from tests.lab.support import BEGUN, run_of

if TYPE_CHECKING:
    from pathlib import Path

    from tests.cli.conftest import Shell

GRID = Experiment((500, 2_000), (0.0, 1.0), (Kind.DIRECT,))


@pytest.fixture
def runs(home: Path) -> Runs:
    """Two runs: a complete one, right only in `jit`, and one that was stopped."""
    found = Runs(home / "rot")
    for day, (model, decided) in enumerate((("qwen\x1b[2J", 12), ("reader", 4))):
        begun = BEGUN + timedelta(days=day)
        file = found.create(replace(run_of(GRID, model=model), begun_at=begun))
        for cell in list(GRID.cells())[:decided]:
            right = Verdict.RIGHT if cell.mode == "jit" else Verdict.WRONG
            file.keep(Result(cell, right, "says so", "Which?", "seven", "seven", "talk", 1))
        if decided == GRID.size:
            file.end()
        file.close()
    return found


def test_without_runs_the_list_is_empty(jitchat: Shell):
    assert jitchat("rot", "list").out == "No runs yet. `jitchat rot` starts one.\n"
    assert jitchat("rot", "list", "--json").json == []
    for command in (["show", "last"], ["forget", "r1", "--yes"]):
        done = jitchat("rot", *command)
        assert (done.code, done.out) == (2, "")
        assert done.err.endswith("There are no runs yet.\n")


@pytest.mark.usefixtures("runs")
def test_runs_are_listed_with_their_shares(jitchat: Shell):
    listed = jitchat("rot", "list").out.splitlines()

    assert sorted(line.split()[0] for line in listed) == ["r1", "r2"]
    assert {line.rpartition("2k, ")[0] for line in listed} == {
        "r1  12/12  full 0 % of 4, recency 0 % of 4, jit 100 % of 4  qwen\x1b[2J, 500 to ",
        "r2   4/12  full 0 % of 2, recency 0 % of 2, jit –           reader, 500 to ",
    }
    told = {each["id"]: each for each in jitchat("rot", "list", "--json").json}
    assert told["r1"]["shares"] == {"full": 0.0, "recency": 0.0, "jit": 1.0}
    assert told["r2"]["shares"]["jit"] is None
    assert told["r2"]["answered"] == {"full": 2, "recency": 2, "jit": 0}
    assert (told["r2"]["decided"], told["r2"]["cells"], told["r2"]["ended_at"]) == (4, 12, None)


@pytest.mark.usefixtures("runs")
def test_a_run_is_shown_and_exported_again(jitchat: Shell, tmp_path: Path):
    out = tmp_path / "out.json"
    for name, begins in (("json", "{"), ("html", "<!DOCTYPE html>")):
        alone = jitchat("rot", "show", "r1", f"--{name}", "-")
        assert (alone.code, alone.err) == (0, "")
        assert alone.out.startswith(begins)
        is_page = name == "html"
        assert ("to first token" in alone.out) == is_page, "the tables would be in the way"
    assert json.loads(jitchat("rot", "show", "r1", "--json", "-").out)["run"]["id"] == "r1"
    shown = jitchat("rot", "show", "r1", "--json", out)

    assert shown.code == 0, shown.err
    assert "12 cells: 12 answered." in shown.out
    assert "\x1b" not in shown.out
    assert json.loads(out.read_text())["run"]["id"] == "r1"
    assert jitchat("rot", "show", "last").out.count("4 of 12 cells") == 1
    assert jitchat("rot", "show", "r9").err.endswith("`jitchat rot list` lists them.\n")
    unwritable = jitchat("rot", "show", "r1", "--html", tmp_path / "no" / "out.svg")
    assert (unwritable.code, unwritable.out) == (1, "")


def test_a_run_is_deleted_after_a_yes(jitchat: Shell, runs: Runs, monkeypatch: pytest.MonkeyPatch):
    refused = jitchat("rot", "forget", "r1")
    assert refused.code == 2
    assert "confirmation requires a terminal. Use --yes" in refused.err

    monkeypatch.setattr(output, "is_terminal", lambda _: True)
    asked = runs.open("r1", to_ask=True)
    kept = jitchat("rot", "forget", "r1", "--yes")
    assert (kept.code, kept.err.split(". ")[0]) == (
        1,
        "jitchat: Another jitchat is running r1",
    )
    asked.close()
    declined = jitchat("rot", "forget", "r1", stdin=b"n\n")
    assert declined.code == 1
    assert "Delete r1, qwen␛[2J, 500 to 2k, " in declined.err
    assert len(runs.all()) == 2

    done = jitchat("rot", "forget", "r1", stdin=b"y\n")
    assert done.code == 0
    assert done.err.endswith(", was deleted.\n")
    (runs.folder / "r2.db").write_bytes(b"damaged, beyond any reading" * 100)
    assert jitchat("rot", "show", "r2").code == 1
    assert jitchat("rot", "forget", "r2", "--yes").code == 0
    assert list(runs.folder.iterdir()) == []
