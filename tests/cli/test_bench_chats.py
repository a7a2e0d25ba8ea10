"""`jitchat bench follow-ups`, `corrections` and `dialogue`: a table each, and every figure."""

from __future__ import annotations

import json
from typing import TYPE_CHECKING

import pytest

from jitchat.bench import follow_ups
from tests.bench.labelled import asked, conversation
from tests.transfer.files import written

if TYPE_CHECKING:
    from pathlib import Path

    from tests.cli.conftest import Shell


@pytest.mark.parametrize("command", ["follow-ups", "corrections"])
def test_cases_are_shown_by_kind_and_distance(
    jitchat: Shell, tmp_path: Path, monkeypatch: pytest.MonkeyPatch, command: str
):
    name = command.replace("-", "_")
    cases = getattr(follow_ups, name)()[:2]
    monkeypatch.setattr(follow_ups, name, lambda: cases)
    out = tmp_path / "out.json"
    done = jitchat("bench", command, "--size", "900", "--request-context", "off", "--json", out)
    assert done.code == 0, done.err
    assert f"{command}: lexical, in jit, size 900, limit 32,768, request_context off" in done.out
    headings = next(line for line in done.out.splitlines() if "cases" in line).split()
    assert headings[:2] == ["kind", "cases"]
    assert headings.count("after") == len(follow_ups.DISTANCES)
    kinds = json.loads(out.read_text())["kinds"]
    assert set(kinds) == {"all", *(case.kind for case in cases)}
    assert {each["n"] for each in kinds["all"]["held"].values()} == {len(cases)}


def test_a_dialogue_is_shown_by_chat_with_its_prices(jitchat: Shell, tmp_path: Path):
    locker = asked("What is the code of my locker in the gym?", 0)
    chats = [conversation(locker, name=name) for name in ("one", "two")]
    data, out = written(tmp_path, "chats.json", chats), tmp_path / "out.json"
    done = jitchat("bench", "dialogue", "--data", data, "--size", "900", "--json", out)
    assert done.code == 0, done.err
    assert "chats: lexical, in jit, size 900, limit 32,768" in done.out
    found = json.loads(out.read_text())["chats"]
    assert list(found) == ["one", "two", "all"]
    assert found["one"] == found["two"]
    everything = found["all"]
    assert everything["messages"] == 2 * found["one"]["messages"]
    assert everything["largest"] <= 900
    assert (everything["questions"], everything["window_all"]) == (2, 1.0)
    assert f"{everything['prices']['no cache']['of_full']:.1%}" in done.out
