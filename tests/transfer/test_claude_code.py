"""Claude Code's sessions: what the user typed while it worked, commands, files, repeats, times."""

from __future__ import annotations

from datetime import UTC, datetime
from typing import TYPE_CHECKING, Any

import pytest

from tests.transfer.claude_code import SESSION, call, line, result
from tests.transfer.exports import CLAUDE_PICTURE, PNG
from tests.transfer.files import jsonl, written
from tests.transfer.growing import attachment, busy_session, operation, queued, resumed, snapshot
from tests.transfer.taken import every_turn, files_of, only, path_of, reasoning_of

if TYPE_CHECKING:
    from pathlib import Path

    from jitchat.store.store import ColdStore
    from jitchat.transfer.import_run import Taken


def taken_of(store: ColdStore, folder: Path, *lines: dict[str, Any]) -> Taken:
    return only(store, written(folder, f"{SESSION}.jsonl", jsonl(list(lines))))


def test_a_busy_session_is_one_path_without_repeats(tmp_path: Path, store: ColdStore):
    taken = taken_of(store, tmp_path, *busy_session())

    assert path_of(store, taken) == [
        "u: Read notes.md and sum up.",
        "a: ",
        "t: # Tides\nHigh at six.",
        "u: Also check the sources.",
        "u: And be brief.",
        "a: Old pond, frog",
        "u: /review the auth module",
        "a: It is sound.",
        "u: What does <system-reminder>x</system-reminder> mean?",
        "a: A reminder.",
        "u: Again",
        "a: ",
        "t: a.py",
        "u: Again",
        "a: Done.",
        "u: One more thing.",
    ]
    assert files_of(store, taken) == {1: [("notes.md", "# Tides")]}
    assert len(every_turn(store, taken)) == 16
    assert dict(taken.tally.skipped) == {
        "message that was queued and not sent": 1,
        "notice of the program": 2,
    }


def test_each_result_has_its_own_time(tmp_path: Path, store: ColdStore):
    asked = line("a1", None, "assistant", call("Read", "t1", path="a"), answer="m1")
    late = line("r1", "a1", "user", result("t1", "b")) | {"timestamp": "2026-07-01T09:30:00Z"}

    taken = taken_of(store, tmp_path, line("u1", None, "user", "Look"), asked, late)

    called, returned = store.turns(taken.id)[1:]
    assert (called.created_at, returned.created_at) == (
        datetime(2026, 7, 1, 9, 2, tzinfo=UTC), datetime(2026, 7, 1, 9, 30, tzinfo=UTC),
    )  # fmt: skip


def test_what_waits_for_a_result_is_counted_and_follows_it_later(tmp_path: Path, store: ColdStore):
    lines = [
        line("u1", None, "user", "Look"),
        line("a1", "u1", "assistant", call("Read", "t1", path="a"), answer="m1"),
        queued("q1", "a1", "Quickly."),
    ]
    first = taken_of(store, tmp_path, *lines)

    second = taken_of(store, tmp_path, *lines, line("r1", "q1", "user", result("t1", "b")))

    assert dict(first.tally.skipped) == {"message that waits for the result of a tool": 1}
    assert (first.added, second.added) == (2, 2)
    assert path_of(store, second) == ["u: Look", "a: ", "t: b", "u: Quickly."]
    assert not second.tally.skipped


@pytest.mark.parametrize(
    ("more", "counted"),
    [
        ({"commandMode": "task-notification"}, "text that the program attached"),
        ({"origin": {"kind": "task-notification"}}, "text that the program attached"),
        ({"type": "todo_reminder"}, "text that the program attached"),
    ],
)
def test_what_the_program_queued_is_not_the_users(
    tmp_path: Path, store: ColdStore, more: dict[str, Any], counted: str
):
    notice = queued("q1", "u1", "A task has ended.", **more)

    taken = taken_of(store, tmp_path, line("u1", None, "user", "Look"), notice)

    assert path_of(store, taken) == ["u: Look"]
    assert dict(taken.tally.skipped) == {counted: 1}


def test_a_queued_message_has_its_pictures(tmp_path: Path, store: ColdStore):
    lines = line("u1", None, "user", "Wait"), queued("q1", "u1", CLAUDE_PICTURE)

    taken = taken_of(store, tmp_path, *lines)

    assert path_of(store, taken) == ["u: Wait", "u: Look"]
    assert files_of(store, taken)[2][0][1] == "image/png"


def test_a_picture_that_was_named_is_a_file_of_its_message(tmp_path: Path, store: ColdStore):
    source = CLAUDE_PICTURE[1]["source"]
    file = {"filename": "/a/b.png", "type": "file", "content": {
        "type": "image", "file": {"base64": source["data"], "type": "image/png"}}}  # fmt: skip

    taken = taken_of(
        store, tmp_path, line("u1", None, "user", "See @b.png"), attachment("f1", "u1", file)
    )

    assert files_of(store, taken) == {1: [("b.png", "image/png")]}
    assert len(PNG) > 0


@pytest.mark.parametrize(
    ("text", "said", "reason"),
    [
        ("<system-reminder>a\nb</system-reminder>\nLook", "Look", "reminder of the program"),
        ("Look\n\n<system-reminder>a</system-reminder>\n", "Look", "reminder of the program"),
        (
            "<system-reminder>a</system-reminder>\nLook\n<system-reminder>b</system-reminder>",
            "Look",
            "reminder of the program",
        ),
        ("a <system-reminder>b</system-reminder> c", None, None),
        ("`<system-reminder>`", None, None),
        ("<command-name>/clear</command-name>\n<command-args></command-args>", "",
         "program command"),
        ("<local-command-stdout>ok</local-command-stdout>", "", "program command"),
        ("<command-name>/go</command-name><command-args>a\nb</command-args>", "/go a\nb",
         "notice of the program"),
    ],
)  # fmt: skip
def test_what_the_program_wrote_is_counted_and_what_the_user_quotes_stays(
    tmp_path: Path, store: ColdStore, text: str, said: str | None, reason: str | None
):
    first, answer = line("u1", None, "user", text), snapshot("a1", "u1", "Yes.")

    taken = taken_of(store, tmp_path, first, answer)

    expected = [] if said == "" else [f"u: {text if said is None else said}"]
    assert path_of(store, taken) == [*expected, "a: Yes."]
    assert set(taken.tally.skipped) == ({reason} if reason else set())
    assert not taken.census.examples


def test_snapshots_of_thoughts_and_calls_are_one_turn(tmp_path: Path, store: ColdStore):
    thoughts = [[{"type": "thinking", "thinking": said}] for said in ("Le", "Let me", "Let me see")]
    calls = [call("Read", "t1"), call("Read", "t1", path="a.py")]
    lines = [
        line(f"a{number}", "u1", "assistant", content, answer="m1")
        for number, content in enumerate([*thoughts, *calls], start=1)
    ]

    taken = taken_of(store, tmp_path, line("u1", None, "user", "Look"), *lines)

    called = store.turns(taken.id)[1]
    assert reasoning_of(store, called) == "Let me see"
    assert [given.arguments for given in called.use.calls] == ['{"path": "a.py"}']


def test_a_resumed_session_that_goes_on_is_continued(tmp_path: Path, store: ColdStore):
    session = [
        line("u1", None, "user", "Go on"),
        snapshot("a1", "u1", "One.", "m1"),
        line("u2", "a1", "user", "Go on"),
        snapshot("a2", "u2", "Two.", "m2"),
    ]
    more = [line("u3", "x-a2", "user", "Go on"), snapshot("a3", "u3", "Three.", "m3")]

    taken = taken_of(store, tmp_path, *session, *resumed(session), *more)

    assert path_of(store, taken) == [
        "u: Go on", "a: One.", "u: Go on", "a: Two.", "u: Go on", "a: Three.",
    ]  # fmt: skip
    assert store.branches(taken.id) == {}


def test_what_was_taken_back_from_the_queue_is_counted(tmp_path: Path, store: ColdStore):
    lines = line("u1", None, "user", "Look"), operation("enqueue", "No."), operation("popAll")

    taken = taken_of(store, tmp_path, *lines)

    assert dict(taken.tally.skipped) == {"message that was queued and not sent": 1}
