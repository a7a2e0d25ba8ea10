"""`jitchat bench`: a readable table, and figures with everything they depend on."""

from __future__ import annotations

import hashlib
import json
import re
from typing import TYPE_CHECKING

import pytest

from jitchat.cli import output
from tests.bench.support import labelled_sample, question
from tests.transfer.files import brief, plain_turns, written

if TYPE_CHECKING:
    from pathlib import Path

    from tests.cli.conftest import Shell


@pytest.fixture
def data(tmp_path: Path) -> Path:
    asked = (
        question("What is on the photo of the red kite?", ["D1:2"]),
        question("Who bakes bread?", ["D2:1"], 2),
    )
    return written(tmp_path, "f.json", [labelled_sample(*asked)])


def test_the_table_has_a_row_per_category(jitchat: Shell, data: Path):
    done = jitchat("bench", "locomo", "--data", data, "--embedder", "none")
    assert done.code == 0, done.err
    heads = [line.split()[0] for line in done.out.splitlines() if line.strip()]
    assert heads.count("all") == heads.count("single-hop") == heads.count("temporal") == 4
    assert "multi-hop" not in heads


def test_every_number_is_whole_in_80_columns(
    jitchat: Shell, data: Path, monkeypatch: pytest.MonkeyPatch
):
    monkeypatch.setattr(output, "is_terminal", lambda _: True)
    monkeypatch.setenv("COLUMNS", "80")
    done = jitchat("bench", "locomo", "--data", data, "--embedder", "none", "--modes", "jit")
    assert max(map(len, done.out.splitlines())) <= 80
    assert "…" not in done.out
    first, second = (line for line in done.out.splitlines() if line.startswith(" all "))
    number, both, share = r"\d\.\d{3}", r"\d\.\d{3} / \d\.\d{3}", r"\d+\.\d%"
    assert re.fullmatch(rf"all +2( +{number}){{3}} +{both}( +{share}){{2}}", first.strip())
    assert re.fullmatch(rf"all( +{both}){{4}}", second.strip())
    assert "fraction@6" in done.out
    assert "the shortlist, by lexical" in done.out


@pytest.mark.parametrize("mode", ["full", "recency"])
def test_what_is_not_measured_in_a_mode_that_retrieves_nothing_has_no_figure(
    jitchat: Shell, data: Path, mode: str
):
    done = jitchat("bench", "locomo", "--data", data, "--embedder", "none", "--modes", mode)
    row = next(line.split() for line in done.out.splitlines() if line.startswith(" all "))
    assert row[2:5] == ["–", "–", "–"]
    assert "retrieval" not in done.out
    assert "strict any" not in done.out


def test_the_json_has_every_figure_and_what_it_depends_on(
    jitchat: Shell, data: Path, tmp_path: Path
):
    out = tmp_path / "out.json"
    done = jitchat(
        "bench", "locomo", "--data", data, "--embedder", "none", "--modes", "jit", "--json", out
    )
    assert done.code == 0, done.err
    found = json.loads(out.read_text())
    assert found["data"]["sha256"] == hashlib.sha256(data.read_bytes()).hexdigest()
    assert (found["embedder"], found["settings"]["embedder.name"]) == ("lexical", '"none"')
    jit = found["modes"]["jit"]
    assert set(jit["retrieve_ms"]) == set(jit["plan_ms"]) == {"p50", "p95"}
    scores = jit["categories"]
    assert (scores["all"]["n"], scores["single-hop"]["any_at_6"]) == (2, 1.0)
    assert scores["all"]["window_share"] < 0.6
    assert {"any_at_12", "all_at_32", "any_at_50", "strict_all_at_6"} <= set(scores["all"])


@pytest.mark.parametrize(
    ("arguments", "told"),
    [
        (("--modes", "jit,none"), "Use full, recency, jit, observe or document."),
        (("--modes", ","), "--modes cannot be ''. Use full,"),
        (
            ("--embedder", "nosuch"),
            "embedder.name cannot be 'nosuch'. Use auto, fastembed, minilm, builtin",
        ),
        (("--embedder", "builtni"), "or none. Did you mean 'builtin'?"),
        (("--embedder", "fastembed", "--embedder-path", "/nowhere"), "there is no such folder"),
        (("--json", "/nowhere/out.json"), "cannot be written"),
    ],
)
def test_invalid_options_end_with_an_error(
    jitchat: Shell, data: Path, arguments: tuple[str, ...], told: str
):
    done = jitchat("bench", "locomo", "--data", data, "--embedder", "none", *arguments)
    assert done.code in (1, 2)
    assert told in done.err


@pytest.mark.parametrize("command", [("locomo", "--data", "DATA"), ("scaling", "--turns", "2")])
@pytest.mark.parametrize("place", ["nosuch/out.json", ".", "f.json/out.json"])
def test_an_unwritable_figures_file_is_refused_before_measuring(
    jitchat: Shell, data: Path, tmp_path: Path, command: tuple[str, ...], place: str
):
    named = (data if each == "DATA" else each for each in command)
    done = jitchat("bench", *named, "--json", tmp_path / place)
    assert (done.code, done.out) == (1, "")
    assert done.err.startswith(f"jitchat: {tmp_path / place} cannot be written: ")
    assert not (tmp_path / "nosuch").exists()


@pytest.mark.parametrize("place", ["nosuch/a.jsonl", "f.json/a.jsonl"])
def test_an_unwritable_answers_file_is_refused_before_measuring(
    jitchat: Shell, data: Path, tmp_path: Path, place: str
):
    kept = ("--answerer", "reader", "--answers", tmp_path / place)
    done = jitchat("bench", "locomo", "--data", data, *kept)
    assert (done.code, done.out) == (1, "")
    assert f"The answers cannot be saved in {tmp_path / place}: " in done.err
    assert not (tmp_path / "nosuch").exists()


@pytest.mark.parametrize(
    ("content", "told"),
    [
        (plain_turns(), "is not in LoCoMo's format"),
        (b"", "is empty"),
        (b"\xff\xfe\xfa", "is not JSON"),
        ("[" * 200_000, "is nested too deeply"),
        ([labelled_sample() | {"qa": {}}], "has no questions"),
        ([labelled_sample(question("?", [], 4) | {"category": [4]})], "has no questions"),
    ],
    ids=brief,
)
def test_a_file_in_another_format_is_refused(
    jitchat: Shell, tmp_path: Path, content: object, told: str
):
    path = written(tmp_path, "f.json", content)
    done = jitchat("bench", "locomo", "--data", path)
    assert done.code == 1
    assert done.err.startswith(f"jitchat: {path} {told}")
    assert "Give LoCoMo's file" in done.err
    assert done.out == ""


def test_a_missing_file_is_refused(jitchat: Shell, tmp_path: Path):
    done = jitchat("bench", "locomo", "--data", tmp_path / "none.json")
    assert done.code == 1
    assert done.err.startswith(f"jitchat: There is no file {tmp_path / 'none.json'}.")
    assert jitchat("bench", "locomo", "--data", tmp_path).code == 1


def test_nonexistent_evidence_is_reported_and_counts_as_missed(jitchat: Shell, tmp_path: Path):
    found, unknown = question("Who has a red kite?", ["D1:2"]), question("And else?", ["D9:99"])
    data, out = written(tmp_path, "f.json", [labelled_sample(found, unknown)]), tmp_path / "o.json"
    done = jitchat("bench", "locomo", "--data", data, "--modes", "full", "--json", out)
    assert done.code == 0
    assert "without an existing evidence turn, missed in any case: 1 of 2 questions\n" in done.err
    assert json.loads(out.read_text())["modes"]["full"]["categories"]["all"]["window_any"] == 0.5


@pytest.mark.parametrize("text", ["what is it of the and", "?!", "red kite " * 11_112], ids=brief)
def test_odd_questions_are_measured(jitchat: Shell, tmp_path: Path, text: str):
    data = written(tmp_path, "f.json", [labelled_sample(question(text, ["D1:2"]))])
    done = jitchat("bench", "locomo", "--data", data, "--modes", "jit,recency")
    assert (done.code, done.err) == (0, "")


def test_a_conversation_of_one_turn_is_measured(jitchat: Shell, tmp_path: Path):
    sample = labelled_sample(question("Hello?", ["D1:1"]))
    talk = {"speaker_a": "Ann", "speaker_b": "Bo"}
    talk["session_1"] = [{"speaker": "Ann", "dia_id": "D1:1", "text": "Hello Bo."}]
    data, out = written(tmp_path, "f.json", [sample | {"conversation": talk}]), tmp_path / "o.json"
    assert jitchat("bench", "locomo", "--data", data, "--json", out).code == 0
    for mode in json.loads(out.read_text())["modes"].values():
        assert mode["categories"]["all"]["window_all"] == 1.0
