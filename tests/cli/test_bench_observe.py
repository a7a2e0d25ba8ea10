"""`jitchat bench observe`: what is printed and saved."""

from __future__ import annotations

import json
from typing import TYPE_CHECKING

from tests.bench.labelled import conversation
from tests.bench.test_observation import QUESTIONS
from tests.transfer.files import written

if TYPE_CHECKING:
    from pathlib import Path

    from tests.cli.conftest import Shell


def test_the_command_prints_and_keeps_the_figures(jitchat: Shell, tmp_path: Path):
    chats = written(tmp_path, "chats.json", [conversation(*QUESTIONS)])
    out = tmp_path / "out.json"
    done = jitchat(
        "bench", "observe", "--data", chats, "--limit", "5000", "--size", "1500", "--json", out
    )
    assert done.code == 0, done.err
    assert "2 questions of single facts, size 1,500, limit 5,000" in done.out
    assert "windows, limit 5,000:" in done.out
    found = json.loads(out.read_text())["observe"]
    assert (found["held"], found["recency"], found["limit"]) == (2, 0, 5000)
