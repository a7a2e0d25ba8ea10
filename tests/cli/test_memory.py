"""`jitchat memory`, `--project` and `--temporary`: what is kept, and what leaves no trace."""

from __future__ import annotations

import os
import signal
import subprocess
import sys
from typing import TYPE_CHECKING

import pytest

if TYPE_CHECKING:
    from pathlib import Path

    from tests.cli.conftest import Shell

SECRET = "xylophone"


def stored(home: Path) -> bytes:
    return b"".join(path.read_bytes() for path in home.glob("jitchat.db*"))


def test_a_fact_is_added_listed_edited_forgotten_and_exported(jitchat: Shell):
    assert "No facts in project default yet." in jitchat("memory").out
    assert jitchat("memory", "add", "Always answer in Frensh.").out.startswith("remembered as 1,")
    jitchat("memory", "edit", "1", "Always answer in French.")
    (fact,) = jitchat("memory", "list", "--json").json
    assert (fact["id"], fact["kind"]) == (2, "standing instruction")
    assert (
        "## Standing instruction\n\n- Always answer in French." in jitchat("memory", "export").out
    )
    added = jitchat("memory", "add", "From now on answer in German.").out
    assert "replaces 2: Always answer in French." in added
    assert jitchat("memory", "forget", "german").out == (
        "forgotten: From now on answer in German.\n"
    )
    assert jitchat("memory", "list", "--json").json == []
    assert len(jitchat("memory", "list", "--all", "--json").json) == 3
    assert len(jitchat("memory", "export", "--json").json["facts"]) == 3


@pytest.mark.parametrize(
    ("arguments", "told"),
    [
        (("forget", "9"), "No fact in project default matches '9'."),
        (("forget", "the port"), "'the port' matches 2 facts: 1, 2."),
        (("add", " "), "A fact needs a text."),
        (("add", "x" * 500), "has 500 characters"),
        (("list", "--project", " "), "is not a valid project name."),
    ],
)
def test_impossible_commands_are_refused_with_a_remedy(jitchat: Shell, arguments, told):
    jitchat("memory", "add", "The port of the relay is 9641.")
    jitchat("memory", "add", "The port of Lisbon has three cranes.")
    refused = jitchat("memory", *arguments)
    assert refused.code == 2
    assert told in refused.err


def test_a_statement_is_proposed_kept_and_then_in_every_window(jitchat: Shell):
    said = jitchat("send", "Always answer in French. Is it late?", "--project", "work")
    assert (
        "remember “Always answer in French.”? To keep it, run `jitchat memory keep 1`." in said.err
    )
    assert jitchat("window", "Hi", "--project", "work", "--json").json["segments"][1]["kind"] != (
        "standing"
    )
    jitchat("memory", "keep", "1", "--project", "work")
    for mode in ("full", "recency", "jit"):
        found = jitchat("window", "Hi", "--project", "work", "--mode", mode, "--json").json
        standing = next(each for each in found["segments"] if each["kind"] == "standing")
        assert standing["source"] == {"first": 1, "last": 1, "conversation": ""}


def test_a_fact_of_one_conversation_is_in_the_window_of_another_of_its_project(jitchat: Shell):
    jitchat("memory", "add", "The relay listens on port 9641.", "--project", "work")
    jitchat("send", "Hello there.", "--project", "work")
    found = jitchat("window", "Which port does the relay use?", "--project", "work", "--json").json
    (fact,) = [each for each in found["segments"] if each["kind"] == "facts"]
    assert fact["reason"] == "stated on “port, relay”"
    answered = jitchat("send", "Which port does the relay listen on?", "--project", "work").out
    assert answered.startswith("“The relay listens on port 9641.” (a fact that you kept, 20")
    other = jitchat("window", "Which port does the relay use?", "--project", "x", "--json").json
    assert all(each["kind"] != "facts" for each in other["segments"])


def test_facts_can_be_kept_at_once_or_detection_disabled(jitchat: Shell, monkeypatch):
    monkeypatch.setenv("JITCHAT_MEMORY_FACTS", "auto")
    said = jitchat("send", "We decided to host it in Oslo.", "--project", "work")
    assert "remembered: “We decided to host it in Oslo.”" in said.err
    monkeypatch.setenv("JITCHAT_MEMORY_FACTS", "off")
    assert "emojis anywhere.”" not in (
        jitchat("send", "Never use emojis anywhere.", "--project", "work").err
    )
    assert len(jitchat("memory", "list", "--project", "work", "--json").json) == 1


def test_a_project_has_its_own_conversations(jitchat: Shell):
    jitchat("send", "Hello there.", "--project", "work")
    jitchat("send", "And here.", "--project", "home")
    listed = jitchat("conversations", "--json").json
    assert [each["project"] for each in listed] == ["home", "work"]
    assert listed[0]["title"] == "And here"
    assert " home " in jitchat("conversations").out
    assert len(jitchat("conversations", "--project", "work", "--json").json) == 1
    refused = jitchat("window", "Hi", "--conversation", listed[0]["id"], "--project", "work")
    assert "is in the project home, not in work." in refused.err


def test_a_temporary_conversation_leaves_no_trace_in_the_store(jitchat: Shell):
    jitchat("memory", "add", "Always answer in French.")
    jitchat("send", "Hello there.")
    text = f"Remember that the {SECRET} is tuned. Never play the {SECRET} at night. Where is it?"
    said = jitchat("send", "--temporary", text)
    assert said.code == 0
    assert "remember “" not in said.err
    assert all(not each["temporary"] for each in jitchat("conversations", "--json").json)
    assert SECRET.encode() not in stored(jitchat.home)
    assert [each["text"] for each in jitchat("memory", "list", "--json").json] == [
        "Always answer in French."
    ]


def test_a_temporary_conversation_reads_no_memory(jitchat: Shell, monkeypatch):
    jitchat("memory", "add", "Always answer in French.")
    found = jitchat("window", "--temporary", "Hi", "--json")
    assert found.code != 0 or all(each["kind"] != "standing" for each in found.json["segments"])
    refused = jitchat("send", "--temporary", "--conversation", "demo", "Hi")
    assert "--temporary starts a new conversation." in refused.err


_TALKS = """
import os, signal, sys
from pathlib import Path
from jitchat.memory import Memory
from jitchat.store.database import Database
from jitchat.store.store import TEMPORARY_TITLE, ColdStore
from jitchat.values import Role, Status
store = ColdStore(Database(Path(sys.argv[1])))
memory = Memory(store, store.create(TEMPORARY_TITLE, temporary=True))
for number in range(4):
    memory.add_user_turn(f"The xylophone has {number} bars.")
    writer = memory.begin_reply()
    writer.add("The xylophone " * 200)
    writer.save()
    writer.finish(Status.COMPLETE)
list(memory.index.catch_up())
print("there", flush=True)
sys.stdin.readline()
"""


def test_a_temporary_conversation_left_by_a_killed_process_is_deleted_at_the_next_start(
    jitchat: Shell,
):
    jitchat("send", "Hello there.")
    process = subprocess.Popen(
        [sys.executable, "-c", _TALKS, str(jitchat.home / "jitchat.db")],
        stdin=subprocess.PIPE,
        stdout=subprocess.PIPE,
    )
    assert process.stdout is not None
    assert process.stdin is not None
    assert process.stdout.readline() == b"there\n"
    listed = jitchat("conversations")
    assert "(temporary)" in listed.out  # somebody has it open
    assert listed.err == ""
    os.kill(process.pid, signal.SIGKILL)
    process.wait()
    process.stdin.close()
    process.stdout.close()
    listed = jitchat("conversations")
    assert "(temporary)" not in listed.out
    assert "1 temporary conversation left over from an earlier run" in listed.err
    assert SECRET.encode() not in stored(jitchat.home)
    assert jitchat("conversations").err == ""
