"""`jitchat bench memory`: two memories over the same sessions."""

from __future__ import annotations

import json
from typing import TYPE_CHECKING

import pytest

from tests.bench.labelled import conversation
from tests.transfer.files import written

if TYPE_CHECKING:
    from pathlib import Path

    from tests.cli.conftest import Shell


def asked(text: str, *evidence: int, category: str = "information_extraction", answer: str = ""):
    return {"question": text, "category": category, "evidence": list(evidence), "answer": answer}


@pytest.fixture
def labelled(tmp_path: Path) -> Path:
    talk = conversation(
        asked("What opens my locker in the gym?", 0, answer="4711"),
        asked("When is the launch?", 2, category="knowledge_update", answer="the ninth of May"),
    )
    for at, turn in enumerate(talk["turns"]):
        turn["date"] = f"2024-03-{15 + at // 21}"
    return written(tmp_path, "chats.json", [talk])


def test_both_memories_get_the_same_sessions_and_are_compared(
    jitchat: Shell, labelled: Path, tmp_path: Path
):
    out = tmp_path / "out.json"
    done = jitchat(
        "bench", "memory", "--data", labelled, "--runner", "both", "--embedder", "builtin",
        "--size", "16000", "--json", out,
    )  # fmt: skip
    assert done.code == 0, done.err
    runners = json.loads(out.read_text())["runners"]
    document, entries = runners["document"], runners["entries"]
    assert document["sessions"] == entries["sessions"] == 4
    assert document["messages"] == entries["messages"] == 84
    assert document["operations"] == 3 * 4
    assert entries["operations"] == 84 + 9
    assert document["model_calls"] == entries["model_calls"] == 0
    assert 0 < document["bytes_stored"] < entries["bytes_stored"]
    assert max(document["words"]) <= 5_000
    for runner in runners.values():
        for kind in ("single fact", "knowledge update"):
            assert (runner["held"][kind]["n"], runner["held"][kind]["window_all"]) == (1, 1.0)
    assert "fewer store operations" in done.out


def test_the_document_is_measured_unless_another_runner_is_named(jitchat: Shell, labelled: Path):
    words = ("bench", "memory", "--data", labelled, "--embedder", "none")
    assert "document " in jitchat(*words).out
    done = jitchat(*words, "--runner", "entries")
    assert "entries " in done.out
    assert "document " not in done.out


def test_an_answerer_answers_from_the_windows(jitchat: Shell, labelled: Path, tmp_path: Path):
    out = tmp_path / "out.json"
    done = jitchat(
        "bench", "memory", "--data", labelled, "--runner", "both", "--embedder", "none",
        "--answerer", "reader", "--json", out,
    )  # fmt: skip
    assert done.code == 0, done.err
    assert "document: answered by reader" in done.out
    assert "jit: answered by reader" in done.out
    assert set(json.loads(out.read_text())["answered"]) == {"document", "jit"}
