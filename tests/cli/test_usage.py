"""`jitchat usage`: totals of what was sent and what it cost."""

from __future__ import annotations

import json
from typing import TYPE_CHECKING

import pytest

from jitchat.store.database import Database

if TYPE_CHECKING:
    from pathlib import Path

    from tests.cli.conftest import Shell

SENDS = (
    # provider, model, day, cost, tokens in, cached, out
    ("anthropic", "claude-haiku-4-5", "2026-03-01", 0.5, 1_000, 400, 50),
    ("anthropic", "claude-haiku-4-5", "2026-03-02", 0.25, 500, 0, 20),
    ("groq", "gpt-oss-20b", "2026-03-02", None, 300, 0, 10),
    ("reader", "reader", "2026-03-03", 0.0, 100, 0, 5),
)


@pytest.fixture
def sent(jitchat: Shell, home: Path) -> Shell:
    """Four messages that were sent, by three models on three days."""
    for number in range(len(SENDS)):
        assert jitchat("send", f"message {number}", "--conversation", "demo").code == 0
    database = Database(home / "jitchat.db")
    for number, (provider, model, day, cost, *tokens) in enumerate(SENDS, start=1):
        database.execute(
            "UPDATE requests SET provider = ?, model = ?, sent_at = ? || 'T10:00:00+00:00',"
            " cost = ?, input_tokens = ?, cached_tokens = ?, output_tokens = ? WHERE id = ?",
            (provider, model, day, cost, *tokens, number),
        )
    database.close()
    return jitchat


def test_totals_are_by_model_most_expensive_first(sent: Shell):
    *lines, note = [line.split() for line in sent("usage").out.splitlines()]
    assert note[:3] == ["unknown:", "1", "request"]
    assert lines == [
        ["sent", "tokens", "in", "cached", "tokens", "out", "cost"],
        ["anthropic/claude-haiku-4-5", "2", "1,500", "400", "70", "$0.7500"],
        ["groq/gpt-oss-20b", "1", "300", "0", "10", "cost", "unknown"],
        ["reader", "1", "100", "0", "5", "free"],
        ["total", "4", "1,900", "400", "85", "$0.7500", "+", "1", "unknown"],
    ]


def test_totals_can_be_by_day_since_a_day(sent: Shell):
    found = json.loads(sent("usage", "--by", "day", "--since", "2026-03-02", "--json").out)
    assert [(row["name"], row["sent"], row["cost"], row["cost_unknown"]) for row in found] == [
        ("2026-03-02", 2, 0.25, 1),
        ("2026-03-03", 1, 0.0, 0),
    ]


@pytest.mark.parametrize(
    ("by", "name"), [("conversation", "demo"), ("project", "default"), ("purpose", "answer")]
)
def test_totals_can_be_by_conversation_project_and_purpose(sent: Shell, by: str, name: str):
    (row,) = json.loads(sent("usage", "--by", by, "--json").out)
    assert (row["name"], row["sent"], row["input_tokens"], row["cost"]) == (name, 4, 1_900, 0.75)


@pytest.mark.parametrize("way", ["delete", "erase"])
def test_costs_of_deleted_conversations_stay_in_every_total(sent: Shell, way: str):
    before = sent("usage", "--json").out
    flags = ("--yes", "--erase") if way == "erase" else ("--yes",)
    assert sent("conversations", "delete", "demo", *flags).code == 0

    assert sent("usage", "--json").out == before
    by = {
        by: json.loads(sent("usage", "--by", by, "--json").out)
        for by in ("conversation", "project")
    }
    assert [(row["name"], row["cost"]) for row in by["conversation"]] == [
        ("none, or deleted", 0.75)
    ]
    assert [(row["name"], row["cost"]) for row in by["project"]] == [("default", 0.75)]


def test_amounts_add_up_to_the_total_that_is_shown(sent: Shell, home: Path):
    database = Database(home / "jitchat.db")
    database.execute("UPDATE requests SET cost = 0.00125, sent_at = '2026-03-0' || id || 'T10'")
    database.execute("UPDATE requests SET cost = 0.00001 WHERE id = 4")
    database.execute("UPDATE requests SET cost = NULL, billed = 0 WHERE id = 3")
    database.close()
    lines = [line.split() for line in sent("usage", "--by", "day").out.splitlines()[1:]]
    shown = [line[5] for line in lines]
    assert shown == ["$0.0013", "$0.0012", "nothing", "<$0.0001", "$0.0025"]


def test_totals_based_on_own_counts_are_marked(sent: Shell, home: Path):
    database = Database(home / "jitchat.db")
    database.execute("UPDATE requests SET output_tokens = NULL, counted_output = 7 WHERE id = 1")
    database.close()
    told = sent("usage", "--by", "day")
    assert "~$0.5000" in told.out
    assert "~: the provider did not report all tokens" in told.out
    assert "$0.2500 + 1 unknown" in told.out


def test_a_plot_draws_what_was_charged(sent: Shell):
    drawn = sent("usage", "--plot").out
    title, *bars = drawn.partition("\n\n")[2].splitlines()
    assert title.split() == ["cost"]
    names = [line.split()[0] for line in bars]
    assert names == ["anthropic/claude-haiku-…"]  # not those whose cost is unknown
    assert bars[0].count("▇") == 54
    assert "▇" not in sent("usage").out


def test_without_any_requests_that_is_stated(jitchat: Shell):
    assert jitchat("usage").out == "Nothing has been sent yet.\n"
