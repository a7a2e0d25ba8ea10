"""`jitchat bench recall`: the app compared with simple baselines, on several files in one run."""

from __future__ import annotations

import hashlib
import json
import re
from typing import TYPE_CHECKING

import pytest

from jitchat.cli import output
from tests.bench.labelled import asked, conversation, instance
from tests.bench.support import labelled_sample, question
from tests.transfer.files import brief, plain_turns, written

if TYPE_CHECKING:
    from pathlib import Path

    from tests.cli.conftest import Shell

SHARES = ("any_at_1", "any_at_6", "any_at_12", "all_at_6", "window_any", "window_all")


@pytest.fixture
def labelled(tmp_path: Path) -> Path:
    questions = (
        asked("What is the code of my locker in the gym?", 0),
        asked("When is the launch?", 2, 3, category="knowledge_update"),
        asked("And what about nothing?"),
    )
    return written(tmp_path, "chats.json", [conversation(*questions)])


@pytest.fixture
def locomo_file(tmp_path: Path) -> Path:
    kite = question("What is on the photo of the red kite?", ["D1:2"])
    return written(tmp_path, "talks.json", [labelled_sample(kite)])


def test_several_files_and_embedders_are_measured_in_one_run(
    jitchat: Shell, labelled: Path, locomo_file: Path, tmp_path: Path
):
    out = tmp_path / "out.json"
    third = written(tmp_path, "long.json", [instance()])
    done = jitchat(
        "bench", "recall", "--data", labelled, locomo_file, "--data", third,
        "--embedder", "lexical,builtin", "--embedder", "lexical", "--json", out,
    )  # fmt: skip
    assert done.code == 0, done.err
    found = json.loads(out.read_text())
    assert found["embedders"]["lexical"] == "lexical"
    assert set(found["datasets"]) == {"chats", "talks", "long"}
    for dataset in found["datasets"].values():
        assert list(dataset) == ["lexical", "builtin"]
        assert list(dataset["lexical"]) == ["jit", "bm25"]
        assert list(dataset["builtin"]) == ["jit", "bm25", "cosine", "rrf"]
        for method in dataset["builtin"].values():
            assert method["window_tokens"] > 0 < method["window_share"] <= 1
            assert method["n"] == sum(each["n"] for each in method["categories"].values())
            for name in SHARES:
                low, high = method["intervals"][name]
                assert 0 <= low <= method[name] <= high <= 1
    about = found["files"]["chats"]
    assert about["sha256"] == hashlib.sha256(labelled.read_bytes()).hexdigest()
    assert (about["conversations"], about["without_evidence"]) == (1, 1)
    chats = found["datasets"]["chats"]["builtin"]
    assert chats["jit"]["n"] == chats["rrf"]["n"] == 2
    assert chats["jit"]["categories"]["extraction"]["window_all"] == 1.0


def test_each_category_has_a_row_a_method_and_a_difference(jitchat: Shell, labelled: Path):
    done = jitchat("bench", "recall", "--data", labelled, "--embedder", "builtin")
    assert done.code == 0, done.err
    rows = [line.strip() for line in done.out.splitlines()]
    for head in ("all (2)", "extraction (1)", "knowledge update (1)"):
        assert rows.count(head) == 1
    for method in ("jit ", "bm25 ", "cosine ", "rrf ", "jit − best "):
        assert sum(row.startswith(method) for row in rows) >= 3
    assert "without an existing evidence turn, left out: 1 of 3 questions" in done.err


def test_by_all_leaves_the_categories_out(jitchat: Shell, labelled: Path):
    done = jitchat("bench", "recall", "--data", labelled, "--embedder", "lexical", "--by", "all")
    assert "all (2)" in done.out
    assert "extraction" not in done.out


def test_every_number_is_whole_in_80_columns(
    jitchat: Shell, labelled: Path, monkeypatch: pytest.MonkeyPatch
):
    monkeypatch.setattr(output, "is_terminal", lambda _: True)
    monkeypatch.setenv("COLUMNS", "80")
    done = jitchat("bench", "recall", "--data", labelled, "--embedder", "builtin")
    assert max(map(len, done.out.splitlines())) <= 80
    assert "…" not in done.out
    jit = next(line.split() for line in done.out.splitlines() if line.split()[:1] == ["jit"])
    assert len(jit) == 8
    assert all(re.fullmatch(r"[01]\.\d{3}", share) for share in jit[1:-1])


def test_a_sample_asks_fewer_and_says_so(jitchat: Shell, labelled: Path, tmp_path: Path):
    out = tmp_path / "out.json"
    arguments = ("--embedder", "lexical", "--sample", "1", "--seed", "4", "--json", out)
    assert jitchat("bench", "recall", "--data", labelled, *arguments).code == 0
    found = json.loads(out.read_text())
    assert (found["files"]["chats"]["sample"], found["files"]["chats"]["seed"]) == (1, 4)
    assert found["datasets"]["chats"]["lexical"]["jit"]["n"] == 1


def test_a_missing_embedder_is_left_out_and_reported(jitchat: Shell, labelled: Path):
    done = jitchat("bench", "recall", "--data", labelled, "--embedder", "minilm,lexical")
    assert done.code == 0
    assert "minilm is skipped. The embedding model minilm is not in " in done.err
    assert "lexical, window in jit" in done.out


def test_without_any_embedder_there_is_an_error(jitchat: Shell, labelled: Path):
    done = jitchat("bench", "recall", "--data", labelled, "--embedder", "minilm")
    assert (done.code, done.out) == (1, "")
    assert "Run `jitchat models fetch minilm`" in done.err.splitlines()[-1]


@pytest.mark.parametrize(
    ("arguments", "told"),
    [
        ((), "No file is given."),
        (("--embedder", "lexicla"), "none or lexical. Did you mean 'lexical'?"),
        (("--by", "nothing"), "'category', 'all'"),
        (("--json", "/nowhere/out.json"), "cannot be written"),
    ],
)
def test_invalid_options_end_with_an_error(
    jitchat: Shell, labelled: Path, arguments: tuple[str, ...], told: str
):
    named = ("--data", labelled) if arguments else ()
    done = jitchat("bench", "recall", *named, *arguments)
    assert done.code in (1, 2)
    assert told in done.err
    assert done.out == ""


def test_two_files_of_one_name_are_refused_and_one_named_twice_is_read_once(
    jitchat: Shell, labelled: Path, tmp_path: Path
):
    (tmp_path / "other").mkdir()
    twin = written(tmp_path / "other", labelled.name, labelled.read_text())
    done = jitchat("bench", "recall", "--data", labelled, twin)
    assert done.err.startswith("jitchat: Two files are named chats")
    again = jitchat("bench", "recall", labelled, labelled, "--embedder", "lexical")
    assert again.code == 0
    assert again.out.count("chats: ") == 1


@pytest.mark.parametrize(
    ("content", "told"),
    [
        (plain_turns(), "is not in LoCoMo's format or"),
        (b"", "is empty"),
        ("[" * 200_000, "is nested too deeply"),
        ([conversation(asked("What?"))], "has no question whose evidence is a turn"),
    ],
    ids=brief,
)
def test_a_broken_file_ends_the_run_before_anything_is_measured(
    jitchat: Shell, labelled: Path, tmp_path: Path, content: object, told: str
):
    path = written(tmp_path, "f.json", content)
    done = jitchat("bench", "recall", "--data", labelled, path)
    assert (done.code, done.out) == (1, "")
    assert f"jitchat: {path} {told}" in done.err


def test_a_conversation_of_one_turn_is_measured(jitchat: Shell, tmp_path: Path):
    only = {"turns": [{"id": 1, "role": "user", "content": "Hello."}]}
    data = written(tmp_path, "f.json", [only | {"questions": [asked("Hello?", 1)]}])
    out = tmp_path / "o.json"
    assert jitchat("bench", "recall", data, "--embedder", "builtin", "--json", out).code == 0
    for method in json.loads(out.read_text())["datasets"]["f"]["builtin"].values():
        assert method["window_all"] == 1.0


@pytest.mark.parametrize("text", ["what is it of the and", "?!", "gym " * 11_112], ids=brief)
def test_odd_questions_are_measured(jitchat: Shell, tmp_path: Path, text: str):
    data = written(tmp_path, "f.json", [conversation(asked(text, 0))])
    done = jitchat("bench", "recall", "--data", data, "--embedder", "builtin")
    assert (done.code, done.err) == (0, "")


def test_a_question_that_does_not_fit_is_reported(jitchat: Shell, tmp_path: Path):
    data = written(tmp_path, "f.json", [conversation(asked("gym " * 9_000, 0), asked("gym?", 0))])
    arguments = ("--embedder", "lexical", "--limit", "6000")
    done = jitchat("bench", "recall", "--data", data, *arguments)
    assert done.code == 0, done.err
    assert "f, jit: 1 of 2 questions did not fit the window." in done.err
    none = written(tmp_path, "g.json", [conversation(asked("gym " * 9_000, 0))])
    done = jitchat("bench", "recall", "--data", none, *arguments)
    assert done.code == 1
    assert (
        "No question fits 6,000 tokens in jit. Give the model's context size with --limit."
        in done.err
    )


def test_a_file_cannot_write_to_the_terminal(jitchat: Shell, tmp_path: Path):
    odd = asked("gym?", 0, category="\x1b[31m[red]kind[/red]")
    done = jitchat("bench", "recall", written(tmp_path, "f.json", [conversation(odd)]))
    assert done.code == 0, done.err
    assert "\x1b" not in done.out
    assert "[red]kind[/red] (1)" in done.out
