"""`jitchat bench`: a table to read and figures that can be traced."""

from __future__ import annotations

import hashlib
import json
from pathlib import Path

import pytest

from tests.bench.support import labelled_sample, question
from tests.cli.conftest import Shell
from tests.transfer.files import plain_turns, written


@pytest.fixture
def data(tmp_path: Path) -> Path:
    asked = (
        question("What is on the photo of the red kite?", ["D1:2"]),
        question("Who bakes bread?", ["D2:1"], 2),
    )
    return written(tmp_path, "f.json", [labelled_sample(*asked)])


def test_the_table_has_a_row_a_category(jitchat: Shell, data: Path):
    done = jitchat("bench", "locomo", "--data", data, "--embedder", "lexical")
    assert done.code == 0, done.err
    heads = [line.split()[0] for line in done.out.splitlines() if line.strip()]
    assert heads.count("all") == heads.count("single-hop") == heads.count("temporal") == 3
    assert "multi-hop" not in heads


def test_the_json_has_every_figure_and_what_it_depends_on(
    jitchat: Shell, data: Path, tmp_path: Path
):
    out = tmp_path / "out.json"
    done = jitchat(
        "bench", "locomo", "--data", data, "--embedder", "lexical", "--modes", "jit", "--json", out
    )
    assert done.code == 0, done.err
    found = json.loads(out.read_text())
    assert found["data"]["sha256"] == hashlib.sha256(data.read_bytes()).hexdigest()
    assert (found["embedder"], found["settings"]["embedder.name"]) == ("none", '"none"')
    jit = found["modes"]["jit"]
    assert set(jit["retrieve_ms"]) == set(jit["plan_ms"]) == {"p50", "p95"}
    scores = jit["categories"]
    assert (scores["all"]["n"], scores["single-hop"]["any_at_6"]) == (2, 1.0)
    assert scores["all"]["window_share"]["mean"] < 0.6
    assert set(scores["all"]["shortlist"]) == {"12", "32", "50"}


@pytest.mark.parametrize(
    ("arguments", "told"),
    [
        (("--modes", "jit,none"), "There are full, recency, jit."),
        (("--modes", ","), "none named"),
        (("--embedder", "nosuch"), "embedder.name"),
        (("--embedder", "fastembed", "--model-path", "/nowhere"), "cannot be loaded"),
        (("--json", "/nowhere/out.json"), "cannot be written"),
    ],
)
def test_what_cannot_be_is_a_sentence(
    jitchat: Shell, data: Path, arguments: tuple[str, ...], told: str
):
    done = jitchat("bench", "locomo", "--data", data, "--embedder", "lexical", *arguments)
    assert done.code in (1, 2)
    assert told in done.err


def test_another_file_is_refused(jitchat: Shell, tmp_path: Path):
    path = written(tmp_path, "f.json", plain_turns())
    done = jitchat("bench", "locomo", "--data", path)
    assert done.code != 0
    assert "not in LoCoMo's form" in done.err
