"""`jitchat replay`: a sent window, shown unchanged."""

from __future__ import annotations

import hashlib
import json
import sqlite3
from contextlib import closing
from dataclasses import asdict
from typing import TYPE_CHECKING

import pytest

from jitchat.store.packed import pack, unpack

if TYPE_CHECKING:
    from tests.cli.conftest import Shell
    from tests.support import ScriptedProvider

pytestmark = pytest.mark.usefixtures("demo")
QUESTION = "what did we settle on for the deploy window?"


def change(jitchat: Shell, statement: str) -> None:
    with closing(sqlite3.connect(jitchat.home / "jitchat.db")) as other, other:
        other.create_function("unpacked", 1, lambda packed: json.dumps(unpack(packed)))
        other.create_function("packed", 1, lambda text: pack(json.loads(text)))
        other.execute(statement)


def test_it_prints_the_window_its_ledger_its_hash_and_the_reply(
    jitchat: Shell, scripted: ScriptedProvider
):
    assert jitchat("send", QUESTION, "--conversation", "demo").code == 0
    done = jitchat("replay", "61")
    found = jitchat("replay", "#62", "--json").json

    assert (done.code, done.err) == (0, "")
    lines = done.out.splitlines()
    assert lines[0].startswith("send 1 of 1 · #61 · ")
    assert lines[0].endswith(" · jit · scripted-1 (scripted)")
    assert lines[1].split() == ["kind", "turn", "tokens", "why", "text"]
    segments = lines[2 : 2 + len(found["segments"])]
    assert [line.split()[0] for line in segments] == [each["kind"] for each in found["segments"]]
    assert f"demo in jit: ~{found['used']:,} used + ~{found['free']:,} free" in done.out
    rows = [line for line in lines if " best lexical match" in line]
    assert [row.split()[:3] for row in rows] == [
        ["retrieved", "#9", "~37"],
        ["retrieved", "#9", "1"],
    ]
    assert lines[-4:] == [
        f"window {found['sha256']} as sent",
        "sent 100 ✓ · answer 10 ✓",
        "reply #62 (complete)",
        "Understood.",
    ]

    assert found["used"] + found["free"] + found["reserve"] == found["limit"]
    assert (found["said"], found["as_sent"], found["stop"]) == (61, True, "stop")
    assert found["usage"]["input_tokens"] == 100
    assert found["reply"] == {"turn": 62, "status": "complete", "content": "Understood."}


def test_the_printed_messages_are_those_that_were_sent(jitchat: Shell, scripted: ScriptedProvider):
    odd = "a\x1b[2Jb\r\nc\u200b d 漢字\n"
    for mode in ("jit", "full", "recency"):
        assert jitchat("send", f"{mode} {odd}", "--mode", mode, "--conversation", "demo").code == 0
    sent = zip(("jit", "full", "recency"), ("61", "63", "65"), scripted.requests, strict=True)
    for mode, turn, request in sent:
        exactly = jitchat("replay", turn, "--messages", "--json").json
        assert [each["content"] for each in exactly] == [each.content for each in request]
        pairs = [(each["role"], each["content"]) for each in exactly]
        if mode == "jit":
            pairs.append([asdict(tool) for tool in scripted.options[0].tools])
        digest = hashlib.sha256(json.dumps(pairs).encode()).hexdigest()
        assert jitchat("replay", turn, "--json").json["sha256"] == digest
        shown = jitchat("replay", turn, "--messages").out
        assert f"── message 1 of {len(request)}: system ──\n" in shown
        assert odd.rstrip("\n") in shown


def test_of_several_sends_the_last_is_shown_unless_another_is_named(
    jitchat: Shell, scripted: ScriptedProvider
):
    jitchat("send", QUESTION, "--conversation", "demo")
    change(
        jitchat,
        "INSERT INTO windows (turn, digest, header, segments, packed, sizes)"
        " SELECT turn, digest, json_set(header, '$.model', 'other'), segments, packed, sizes"
        " FROM windows",
    )

    last, first = jitchat("replay", "61"), jitchat("replay", "61", "--window", "1")
    assert last.out.startswith("send 2 of 2 · #61 · jit · other\n")
    assert "\nno reply\n" in last.out
    assert first.out.startswith("send 1 of 2")
    none = jitchat("replay", "61", "--window", "3")
    assert none.code == 2
    assert none.err == "jitchat: --window: #61 was sent 2 times. Give a number up to 2.\n"


@pytest.mark.parametrize(
    ("turn", "told"),
    [
        ("60", "#60 was not sent from jitchat, so it has no stored window."),
        ("99", "demo has no turn #99."),
        ("0", "demo has no turn #0."),
        ("x", "'x' is not a turn number."),
        ("9" * 30, "is not a turn number."),
    ],
)
def test_a_turn_that_was_never_sent_is_reported(jitchat: Shell, turn: str, told: str):
    done = jitchat("replay", turn)
    assert (done.code, done.out) == (2, "")
    assert told in done.err


def test_damage_is_reported_and_ends_with_an_error(jitchat: Shell, scripted: ScriptedProvider):
    jitchat("send", QUESTION, "--conversation", "demo")
    change(
        jitchat,
        "UPDATE pieces SET content = packed(replace(unpacked(content), 'You are', 'Be evil.'))"
        " WHERE turn IS NULL",
    )
    for how in ([], ["--json"], ["--messages"]):
        done = jitchat("replay", "61", *how)
        assert done.code == 1
        assert "Be evil." in done.out
        assert done.err.startswith("jitchat: The stored window of #61 is damaged: ")
    assert "the stored window is damaged" in jitchat("replay", "61").out
    change(jitchat, "DELETE FROM pieces")
    done = jitchat("replay", "61")
    assert (done.code, done.out) == (1, "")
    assert "is damaged" in done.err


def test_replay_writes_nothing(jitchat: Shell, scripted: ScriptedProvider):
    jitchat("send", QUESTION, "--conversation", "demo")
    before = jitchat.stored()
    jitchat("replay", "61")
    assert jitchat.stored() == before
    assert len(scripted.requests) == 1
