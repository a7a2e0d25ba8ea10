"""How the command line shows a turn that is recalled as an excerpt."""

from __future__ import annotations

from typing import TYPE_CHECKING

from tests.long_answers import QUESTION, long_talk
from tests.transfer.files import written

if TYPE_CHECKING:
    from pathlib import Path

    from tests.cli.conftest import Shell


def test_window_why_and_json_show_the_passages_of_the_turn(jitchat: Shell, tmp_path: Path):
    said = [{"role": each.role.value, "content": each.content} for each in long_talk()]
    jitchat("import", written(tmp_path, "long.json", said))

    window = jitchat("window", QUESTION, "--conversation", "long", "--json").json
    (found,) = (each for each in window["segments"] if "excerpt" in each)
    excerpt, content = found["excerpt"], long_talk()[3].content
    assert found["turn"] == 4
    for passage in excerpt["passages"]:
        text = content[passage["start"] : passage["end"]]
        assert text in window["messages"][-1]["content"]
    kept = sum(passage["tokens"] for passage in excerpt["passages"])
    whole = kept + sum(excerpt["left_out"])
    assert (found["form"], found["whole"]) == ("excerpt", whole)
    assert found["reason"].startswith(f"excerpt, ~{found['tokens']} of ~{whole:,}: ")
    row = next(row for row in window["ledger"] if row["turn"] == 4)
    assert row["reason"] == found["reason"]
    assert row["tokens"] >= whole

    paper = jitchat("window", QUESTION, "--conversation", "long").out
    assert "1 turn is included as an excerpt; `jitchat why` names the passages\n" in paper
    told = jitchat("why", "4", QUESTION, "--conversation", "long").out
    assert "Its passages: “## Gateway " in told
