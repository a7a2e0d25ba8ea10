"""Program-specific content: failures, folded calls, files, tags, notices."""

from __future__ import annotations

import json
import time
from html import escape
from typing import TYPE_CHECKING, Any

import pytest

from jitchat.errors import ImportFailed
from jitchat.transfer.open_webui import _with_details
from tests.transfer import exports
from tests.transfer.claude_code import SESSION, line
from tests.transfer.exports import chatgpt, chatgpt_node, claude, claude_message
from tests.transfer.files import jsonl, take, written
from tests.transfer.taken import (
    every_turn,
    files_of,
    model_of,
    only,
    path_of,
    reasoning_of,
    system_of,
)

if TYPE_CHECKING:
    from pathlib import Path

    from jitchat.store.store import ColdStore


def said(turns: Any) -> list[str]:
    return [f"{turn.role[0]}: {turn.content}" for turn in turns]


def test_claude_s_path_ends_at_the_newest_message_with_content(tmp_path: Path, store: ColdStore):
    found = {"type": "knowledge", "title": "Kites", "url": "https://k.example", "text": "They fly."}
    use = [
        {"type": "tool_use", "id": "t", "name": "search", "input": {}},
        {"type": "tool_result", "tool_use_id": "t", "content": [found]},
    ]
    talk = claude(
        claude_message("1", "0", "human", "Kites?"),
        claude_message("22", "1", "system", "A notice."),
        claude_message("333", "22", "assistant", "", content=use),
        claude_message("4444", "1", "assistant", ""),  # a reply that never began
    )

    taken = only(store, written(tmp_path, "c.json", [talk]))

    assert path_of(store, taken) == ["u: Kites?", "a: ", "t: Kites\nhttps://k.example\nThey fly."]
    assert dict(taken.tally.skipped) == {"message without a known role": 1, "empty message": 1}


def test_texts_that_claude_code_writes_as_the_user_are_left_out(tmp_path: Path, store: ColdStore):
    lines = [
        line("1", None, "user", "Go."),
        line("22", "1", "user", "[Request interrupted by user for tool use]"),
        line("333", "22", "user", "[Request interrupted by user] is what I saw."),
    ]

    taken = only(store, written(tmp_path, f"{SESSION}.jsonl", jsonl(lines)))

    assert path_of(store, taken) == ["u: Go.", "u: [Request interrupted by user] is what I saw."]
    assert dict(taken.tally.skipped) == {"program command": 1}


def test_opencode_s_failures_archive_and_unknown_messages_are_kept_or_counted(
    tmp_path: Path, store: ColdStore
):
    state = {"status": "completed", "input": {}, "content": [{"type": "file", "uri": "data:,x"}]}
    content = [{"type": "tool", "id": "c", "name": "read", "state": state}]
    rows: list[tuple[str, object]] = [
        ("user", {"text": "Read it."}),
        ("assistant", {"content": content, "error": {"message": "Overloaded"}}),
        ("novelty", {"text": "?"}),
        ("agent-switched", {"agent": "plan"}),
    ]
    path = exports.make_database(
        tmp_path / "opencode.db",
        "CREATE TABLE session (id TEXT PRIMARY KEY, title TEXT, time_archived INTEGER);"
        "CREATE TABLE session_message (id TEXT PRIMARY KEY, session_id TEXT, type TEXT,"
        " seq INTEGER, data TEXT);",
        session=[("ses_1", None, 1_780_000_000_000)],
        session_message=[
            (f"m{seq}", "ses_1", kind, seq, json.dumps(data))
            for seq, (kind, data) in enumerate(rows)
        ],
    )

    taken = only(store, path)

    assert path_of(store, taken) == ["u: Read it.", "a: ", "t: [file]", "a: [error: Overloaded]"]
    known = store.conversation(taken.id)
    assert (known.title, known.is_archived) == ("Read it.", True)
    assert dict(taken.tally.skipped) == {"message of unknown kind": 1}


def test_a_fork_in_llm_s_tree_keeps_the_models_of_shared_messages(tmp_path: Path, store: ColdStore):
    path = exports.make_database(
        tmp_path / "logs.db",
        exports.LLM_OLD + exports.LLM_NEW,
        messages=[
            (f"m{n}", f"m{n - 1}", "user" if n % 2 else "assistant", None) for n in (1, 2, 3)
        ],
        parts=[(n, f"m{n}", 0, "text", None, f"Number {n}.", None) for n in (1, 2, 3)],
        threads=[("one", "One", "m2", None, None), ("two", "Two", "m3", "one", None)],
        turns=[("k1", "one", "m1", "m2", "gpt-5", "2026-08-01T00:00:00")],
    )

    _, fork = take(store, path)

    turns = every_turn(store, fork)
    assert said(turns) == ["u: Number 1.", "a: Number 2.", "u: Number 3."]
    assert [model_of(store, turn) for turn in turns] == ["", "gpt-5", ""]


def test_llm_s_instructions_are_kept_and_its_files_are_in_order(tmp_path: Path, store: ColdStore):
    path = exports.make_database(
        tmp_path / "logs.db",
        exports.LLM_OLD,
        conversations=[("k1", "Sums", "gpt-5")],
        responses=[("r1", "gpt-5", "Compare.", "Be brief.", "Yes.", "k1", None, None)],
        attachments=[
            ("b", "application/pdf", "/tmp/b.pdf", None, b""),
            ("a", "image/png", None, "https://x/a.png", b""),
        ],
        prompt_attachments=[("r1", "b", 1), ("r1", "a", 0)],
    )

    taken = only(store, path)

    assert path_of(store, taken)[0] == (
        "u: Compare.\n\n[image: a.png, https://x/a.png]\n\n[file: b.pdf]"
    )
    assert system_of(store, taken) == "Be brief."
    assert not taken.tally.skipped


def webui(content: str, **more: Any) -> list[dict[str, Any]]:
    messages = {
        "u": {"id": "u", "role": "user", "content": "Why?"},
        "a": {"id": "a", "parentId": "u", "role": "assistant", "content": content, **more},
    }
    history = {"currentId": "a", "messages": messages}
    chat = {"history": history, "tags": ["kites", "of two words"]}
    return [{"id": "c", "title": "T", "archived": True, "chat": chat}]


ARGUMENTS = {"q": "1 < 2"}
FOLDED = (
    '<details type="reasoning" done="true" duration="3">\n<summary>Thought a while</summary>\n'
    "&gt; I look.\n&gt; It is 1 &lt; 2.\n</details>\nLet me see.\n"
    '<details type="tool_calls" done="true" id="c1" name="look"'
    f' arguments="{escape(json.dumps(json.dumps(ARGUMENTS)))}" result="&quot;found&quot;"'
    ' files="">\n<summary>Tool Executed</summary>\n</details>\nIt is so.'
)
OUTPUT = [
    {"type": "reasoning", "summary": [], "content": [{"text": "I look.\nIt is 1 < 2."}]},
    {"type": "message", "content": [{"type": "output_text", "text": "Let me see."}]},
    {"type": "function_call", "call_id": "c1", "name": "look", "arguments": json.dumps(ARGUMENTS)},
    {"type": "function_call_output", "call_id": "c1", "output": [{"text": "found"}]},
    {"type": "message", "content": [{"type": "output_text", "text": "It is so."}]},
]


@pytest.mark.parametrize("exported", [webui(FOLDED), webui("ignored", output=OUTPUT)])
def test_open_webui_s_reasoning_and_calls_are_separated_from_the_text(
    tmp_path: Path, store: ColdStore, exported: object
):
    taken = only(store, written(tmp_path, "chats.json", exported))

    _, called, returned, answer = store.turns(taken.id)
    assert said((called, returned, answer)) == ["a: Let me see.", "t: found", "a: It is so."]
    (call,) = called.use.calls
    assert (call.name, json.loads(call.arguments), returned.use.answers) == (
        "look",
        ARGUMENTS,
        call,
    )
    assert reasoning_of(store, called) == "I look.\nIt is 1 < 2."
    known = store.conversation(taken.id)
    assert (known.is_archived, known.tags) == (True, ("kites", "of-two-words"))


@pytest.mark.parametrize(
    "piece",
    ['<details type="reasoning"\'', '<details type="tool_calls" a="', '<details type="reasoning">'],
)
def test_unclosed_blocks_are_parsed_in_linear_time(piece: str):
    begun = time.perf_counter()
    (text,) = (each for each in _with_details(piece * 20_000) if getattr(each, "text", ""))
    assert getattr(text, "text", "") == piece * 20_000
    assert time.perf_counter() - begun < 5.0


def test_citations_without_an_end_are_read_in_linear_time(tmp_path: Path, store: ColdStore):
    marks = "\ue200" * 300_000
    talk = chatgpt(chatgpt_node("u1", None, "user", text=f"Kites?{marks}"))
    begun = time.perf_counter()
    taken = only(store, written(tmp_path, "conversations.json", [talk]))
    assert path_of(store, taken) == [f"u: Kites?{marks}"]
    assert time.perf_counter() - begun < 5.0


def test_sillytavern_s_files_and_tools_are_kept(tmp_path: Path, store: ColdStore):
    file = {"name": "notes.txt", "url": "/user/files/1.txt", "text": "Tides."}
    roll = {"id": "c1", "name": "roll", "parameters": '{"n": 1}', "result": "4"}
    lines: list[dict[str, Any]] = [
        {
            "user_name": "Ann",
            "character_name": "Bo",
            "chat_metadata": {"integrity": "\ud800"},  # not valid text
        },
        {"name": "Ann", "is_user": True, "mes": "", "extra": {"file": file, "image": "a/kite.png"}},
        {"name": "Bo", "is_user": False, "is_system": True, "mes": "Tool calls: roll",
         "extra": {"tool_invocations": [roll]}},
    ]  # fmt: skip

    taken = only(store, written(tmp_path, "Bo - 1.jsonl", jsonl(lines)))

    assert path_of(store, taken) == ["u: [image: kite.png]", "a: ", "t: 4"]
    assert files_of(store, taken) == {1: [("notes.txt", "Tides.")]}
    assert store.conversation(taken.id).title == "Bo - 1"


def test_takeout_s_html_is_recognized_and_the_error_says_how_to_get_json(
    tmp_path: Path, store: ColdStore
):
    page = '<html><body><div class="outer-cell mdl-cell"><p>Gemini-Apps</p></div></body></html>'
    path = written(tmp_path, "MeineAktivitäten.html", page)
    for source in (path, tmp_path):
        with pytest.raises(ImportFailed, match=r"activity in HTML\. Request JSON from Takeout"):
            take(store, source)
