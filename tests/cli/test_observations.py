"""`jitchat observations`, and `jitchat send` in observe: listing, sources, undo."""

from __future__ import annotations

from typing import TYPE_CHECKING

import pytest

if TYPE_CHECKING:
    from tests.cli.conftest import Shell

pytestmark = pytest.mark.usefixtures("demo")
LIMIT = ("--limit", "9000")
QUESTION = "what did we settle on for the deploy window?"


def send(jitchat: Shell, text: str = QUESTION, *more: str):
    return jitchat("send", text, "--conversation", "demo", "--mode", "observe", *LIMIT, *more)


def fields(jitchat: Shell) -> dict:
    return jitchat("observations", "demo", "--json").json


def test_a_message_in_observe_has_turns_observed_after_its_reply(jitchat: Shell):
    done = send(jitchat)
    assert done.code == 0
    assert "Tuesday 02:00 UTC" in done.out
    assert "observed #1–#" in done.err
    again = send(jitchat)
    assert "(#9, assistant, Mon 2026-03-02)" in again.out
    found = fields(jitchat)
    assert found["tokens"] < 0.6 * found["tokens_of_turns"]
    assert all(line["turns"][0] <= found["through"] for line in found["lines"])
    (decision,) = [line for line in found["lines"] if "Tuesday 02:00 UTC" in line["text"]]
    assert (decision["turns"], decision["priority"]) == ([9, 9], "high")


def test_lines_passes_and_what_was_dropped_are_listed(jitchat: Shell):
    jitchat("observations", "demo", "--run", *LIMIT)
    told = jitchat("observations", "demo").out
    assert "tokens per request" in told
    assert "Decision: the deploy window is Tuesday 02:00 UTC." in told
    assert "(#9)" in told
    assert "passes:\n  observed #1–#" in told
    assert "by the extractor" in told
    assert "dropped by the last pass" in told
    found = fields(jitchat)["passes"]
    assert found[0]["turns"][0] == 1
    assert any(each["dropped"] for each in found)


def test_the_last_pass_and_all_passes_can_be_undone(jitchat: Shell):
    jitchat("observations", "demo", "--run", *LIMIT)
    before = fields(jitchat)["passes"]
    assert "Undone: " in jitchat("observations", "demo", "--undo").out
    assert len(fields(jitchat)["passes"]) == len(before) - 1
    assert "observed" not in send(jitchat).err
    assert "demo has no observations yet" in jitchat("observations", "demo", "--reset").out
    assert "no pass to undo" in jitchat("observations", "demo", "--undo").out
    assert jitchat.stored()["demo"]


def test_a_line_is_rewritten(jitchat: Shell):
    jitchat("observations", "demo", "--run", *LIMIT)
    jitchat("observations", "demo", "--edit", "2", "Ana said so.")
    found = fields(jitchat)
    assert found["lines"][1]["text"] == "Ana said so."
    assert found["passes"][-1]["made_by"] == "you"
    assert jitchat("observations", "demo", "--edit", "999", "x").code != 0


def test_with_confirmation_a_message_only_reports_that_turns_are_due(jitchat: Shell, monkeypatch):
    monkeypatch.setenv("JITCHAT_OBSERVER_CONSENT", "ask")
    done = send(jitchat)
    assert "run `jitchat observations --run`." in done.err
    assert fields(jitchat)["lines"] == []


def test_two_actions_at_once_are_refused(jitchat: Shell):
    done = jitchat("observations", "--undo", "--reset")
    assert done.code != 0
    assert "cannot be combined" in done.err
