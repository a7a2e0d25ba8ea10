"""Exports of other programs: turns, branches, tools, models, times, and what is left out."""

from __future__ import annotations

import json
import sqlite3
import zipfile
from contextlib import closing
from datetime import UTC, datetime
from typing import TYPE_CHECKING

import pytest

from jitchat.store.attachments import AttachmentStore, whole
from jitchat.transfer.formats import conversations_of
from jitchat.transfer.source import open_source
from jitchat.values import Role
from tests.transfer import exports
from tests.transfer.claude_code import SESSION, claude_code_session, line
from tests.transfer.exports import chatgpt, chatgpt_node, chatgpt_talk, claude, claude_message
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
    from jitchat.transfer.import_run import Taken


# Attachments


def in_zip(folder: Path, name: str, value: object, **beside: bytes) -> Path:
    with zipfile.ZipFile(folder / "export.zip", "w") as archive:
        archive.writestr(name, json.dumps(value))
        for each, data in beside.items():
            archive.writestr(f"files/{each}", data)
    return folder / "export.zip"


def test_chatgpt_s_zip_attaches_pictures_and_documents_to_their_turns(
    tmp_path: Path, store: ColdStore
):
    picture = {"content_type": "image_asset_pointer", "asset_pointer": "sediment://file_a"}
    asked = {"content_type": "multimodal_text", "parts": [picture, "What is this?"]}
    sent = {"attachments": [{"id": "file_a", "name": "kite.png"}, {"id": "file_b", "name": "b.md"}]}
    shown = {"content_type": "multimodal_text", "parts": [picture, "The same."]}
    talk = chatgpt(
        chatgpt_node("u1", None, "user", content=asked, metadata=sent),
        chatgpt_node("a1", "u1", "assistant", content=shown),
        chatgpt_node("u2", "a1", "user", content=asked | {"parts": [picture]}),
    )
    beside = {"file_a-kite.png": exports.PNG, "file_b-b.md": b"# B"}

    taken = only(store, in_zip(tmp_path, "conversations.json", [talk], **beside))

    assert path_of(store, taken) == [
        "u: What is this?",
        "a: [image: kite.png]\n\nThe same.",
        "u: [image: kite.png]",
    ]
    assert files_of(store, taken) == {
        1: [("kite.png", "image/png"), ("b.md", "# B")],
        2: [("kite.png", "image/png")],
        3: [("kite.png", "image/png")],
    }
    kept = store.database.fetch_one("SELECT COUNT(*) FROM attachments")
    assert kept == (2,)


def test_files_that_a_later_import_has_are_added_to_known_turns(tmp_path: Path, store: ColdStore):
    file = {"file_name": "kite.txt", "extracted_content": "red"}
    quoted = "Look\n\n[file: kite.txt]\nred\n[end of kite.txt]"
    talk = claude(claude_message("1", "", "human", "Look", attachments=[file]))
    before = claude(claude_message("1", "", "human", quoted))
    only(store, written(tmp_path, "before.json", [before]))

    taken = only(store, written(tmp_path, "now.json", [talk]))

    assert (taken.added, taken.changed) == (0, 1)
    assert path_of(store, taken) == ["u: Look"]
    assert files_of(store, taken) == {1: [("kite.txt", "red")]}


SENT = [
    pytest.param("chats.json", [exports.open_webui_with(url=exports.PNG_URL)], id="open-webui"),
    pytest.param("kites.json", exports.librechat_with(text="red"), id="librechat"),
    pytest.param(
        f"{SESSION}.jsonl", [line("u1", None, "user", exports.CLAUDE_PICTURE)], id="claude-code"
    ),
    pytest.param("rollout-1.jsonl", exports.codex_session(exports.CODEX_PICTURE), id="codex"),
    pytest.param(
        "My Activity.json",
        [exports.gemini_entry(1, "Prompted Look", "<p>A kite.</p>", imageFile="kite.png")],
        id="gemini",
    ),
]


@pytest.mark.parametrize(("name", "value"), SENT)
def test_files_contained_in_an_export_are_kept(
    tmp_path: Path, store: ColdStore, name: str, value: object
):
    folder = tmp_path / "export"
    folder.mkdir()
    written(folder, name, jsonl(value) if name.endswith("l") and isinstance(value, list) else value)
    written(folder, "kite.png", exports.PNG)

    taken = only(store, folder)

    (found,) = files_of(store, taken)[1]
    assert found[1] in ("image/png", "red")
    assert path_of(store, taken)[0] == "u: Look"
    assert not taken.tally.changed.get("attachment that was kept by name only")


# ChatGPT


@pytest.mark.parametrize("shape", ["list", "object", "pretty"])
def test_chatgpt_s_path_ends_at_the_leaf_that_was_shown(
    tmp_path: Path, store: ColdStore, shape: str
):
    value = {"conversations": [chatgpt_talk()]} if shape == "object" else [chatgpt_talk()]
    text = json.dumps(value, indent=2 if shape == "pretty" else None)

    taken = only(store, written(tmp_path, "conversations.json", text))

    assert (taken.id, taken.title) == ("chatgpt-6f1c2a9b", "Tides")
    assert path_of(store, taken) == ["u: When is high tide?", "a: At six."]
    assert store.branches(taken.id) == {1: (1, 4), 2: (2, 3)}
    asked, answer, again, edited = every_turn(store, taken)
    assert (model_of(store, answer), model_of(store, again)) == ("gpt-5", "")
    assert answer.created_at == datetime.fromtimestamp(2.0, UTC)
    assert (asked.parent, again.parent, edited.parent) == (None, 1, 0)
    listed = store.conversation(taken.id)
    assert listed.created_at == datetime.fromtimestamp(1_772_442_840.5, UTC)
    assert not taken.tally.skipped


def test_a_chatgpt_conversation_without_dates_has_those_of_its_messages(
    tmp_path: Path, store: ColdStore
):
    talk = chatgpt_talk(create_time=None, update_time=None)

    taken = only(store, written(tmp_path, "c.json", [talk]))

    assert store.conversation(taken.id).created_at == datetime.fromtimestamp(1.0, UTC)


def test_chatgpt_s_tool_calls_are_paired_with_their_results(tmp_path: Path, store: ColdStore):
    code = {"content_type": "code", "language": "python", "text": "print(1 + 1)"}
    output = {"content_type": "execution_output", "text": "2"}
    thoughts = {"content_type": "thoughts", "thoughts": [{"summary": "s", "content": "Compute."}]}
    talk = chatgpt(
        chatgpt_node("u1", None, "user", text="What is 1 + 1?", at=1.0),
        chatgpt_node("t1", "u1", "assistant", content=thoughts, at=2.0),
        chatgpt_node("r1", "t1", "assistant", content={"content_type": "reasoning_recap"}, at=2.0),
        chatgpt_node("a1", "r1", "assistant", content=code, recipient="python", at=3.0),
        chatgpt_node("x1", "a1", "tool", content=output, name="python", at=4.0),
        chatgpt_node("x2", "x1", "tool", text="No warnings.", name="python", at=4.5),
        chatgpt_node("a2", "x2", "assistant", text="It is 2.", at=5.0),
        is_archived=True,
        title="",
    )

    taken = only(store, written(tmp_path, "c.json", [talk]))

    asked, called, returned, answer = store.turns(taken.id)
    (call,) = called.use.calls
    assert (call.name, json.loads(call.arguments)) == ("python", {"input": "print(1 + 1)"})
    assert reasoning_of(store, called) == "s\n\nCompute."
    assert (returned.role, returned.name) == (Role.TOOL, "python")
    assert returned.content == "2\n\nNo warnings."  # a call has one result, however many messages
    assert returned.use.answers == call
    assert (asked.content, answer.content) == ("What is 1 + 1?", "It is 2.")
    known = store.conversation(taken.id)
    assert (known.title, known.is_archived) == ("What is 1 + 1?", True)
    assert not taken.tally.skipped
    assert not taken.tally.changed


def test_chatgpt_names_pictures_and_leaves_out_what_was_hidden(tmp_path: Path, store: ColdStore):
    picture = {
        "content_type": "image_asset_pointer",
        "asset_pointer": "sediment://file_abc",
        "size_bytes": 80_000,
    }
    parts = {
        "content_type": "multimodal_text",
        "parts": [picture, "What is this?", None],
    }
    hidden = {"is_visually_hidden_from_conversation": True}
    talk = chatgpt(
        chatgpt_node("s1", None, "system", text="You are helpful."),
        chatgpt_node("h1", "s1", "user", text="memory", metadata=hidden),
        chatgpt_node("u1", "h1", "user", content=parts),
        chatgpt_node("a1", "u1", "assistant", text="A kite. \ue200cite\ue202turn0search1\ue201"),
    )
    with zipfile.ZipFile(tmp_path / "export.zip", "w") as archive:
        archive.writestr("conversations-000.json", json.dumps([talk]))
        archive.writestr("conversations-001.json", json.dumps([chatgpt_talk(conversation_id="2")]))
        archive.writestr("file_abc-plan.png", b"a damaged one")
        archive.writestr("user.json", '{"id": "user-1"}')
        archive.writestr("export_manifest.json", '{"files": []}')
        archive.writestr("chat.html", "<html>")

    first, second = take(store, tmp_path / "export.zip")

    assert path_of(store, first) == [
        "u: What is this?\n\n[image: file_abc-plan.png, 80 kB]",
        "a: A kite.",
    ]
    assert dict(first.tally.skipped) == {
        "message with instructions": 1,
        "message that ChatGPT hides": 1,
    }
    assert dict(first.tally.changed) == {"attachment that was kept by name only": 1}
    assert len(store.turns(second.id)) == 2


def test_files_without_conversations_in_a_zip_are_counted(tmp_path: Path):
    with zipfile.ZipFile(tmp_path / "export.zip", "w") as archive:
        archive.writestr("conversations.json", json.dumps([chatgpt_talk()]))
        archive.writestr("user.json", '{"id": "user-1"}')
        archive.writestr("broken.json", '{"id": ')
    source = open_source(tmp_path / "export.zip")

    assert len(list(conversations_of(source))) == 1
    assert dict(source.tally.skipped) == {
        "file without conversations": 1,
        "file that is cut off": 1,
    }


def test_a_cycle_of_messages_is_counted_and_the_rest_imported(tmp_path: Path, store: ColdStore):
    talk = chatgpt(
        chatgpt_node("u1", None, "user", text="Hello"),
        chatgpt_node("x", "y", "user", text="round"),
        chatgpt_node("y", "x", "user", text="and round"),
        current="u1",
    )

    taken = only(store, written(tmp_path, "c.json", [talk]))

    assert path_of(store, taken) == ["u: Hello"]
    assert dict(taken.tally.skipped) == {"message in a cycle of parents": 2}


def test_a_tree_of_any_depth_is_read(tmp_path: Path, store: ColdStore):
    nodes = [chatgpt_node("0", None, "user", text="0")]
    nodes += [
        chatgpt_node(f"{n}", f"{n - 1}", "user", text=f"{n}", at=float(n)) for n in range(1, 3_000)
    ]

    taken = only(store, written(tmp_path, "c.json", [chatgpt(*nodes)]))

    assert len(store.turns(taken.id)) == 3_000


@pytest.mark.parametrize("count", [2, 7])
def test_a_truncated_list_yields_the_complete_conversations(tmp_path: Path, count: int):
    whole = json.dumps([chatgpt_talk(conversation_id=f"{n}") for n in range(count)])
    path = written(tmp_path, "c.json", whole[:-80])
    source = open_source(path)

    assert len(list(conversations_of(source))) == count - 1
    assert dict(source.tally.skipped) == {"truncated conversation at the end of a file": 1}


# Claude


def test_claude_s_export_is_a_tree_shown_at_its_newest_leaf(tmp_path: Path, store: ColdStore):
    talk = claude(
        claude_message("333", "22", "human", "And at night?", created_at="2026-05-01T10:09:00Z"),
        claude_message("1", "", "human", "Do kites fly?"),
        claude_message("22", "1", "assistant", "Yes."),
        claude_message("4", "1", "assistant", "They do."),
    )

    taken = only(store, written(tmp_path, "conversations.json", [talk]))

    assert (taken.id, taken.title) == ("claude-0f0e0d0c", "Kites")
    assert path_of(store, taken) == ["u: Do kites fly?", "a: Yes.", "u: And at night?"]
    assert len(every_turn(store, taken)) == 4


def test_claude_without_parents_is_read_in_order(tmp_path: Path, store: ColdStore):
    talk = claude(
        claude_message("1", None, "human", "Do kites fly?"),
        claude_message("2", None, "assistant", "Yes."),
    )

    assert path_of(store, only(store, written(tmp_path, "c.json", [talk]))) == [
        "u: Do kites fly?",
        "a: Yes.",
    ]


def test_claude_s_tools_thoughts_and_attachments_are_imported(tmp_path: Path, store: ColdStore):
    blocks = [
        {"type": "thinking", "thinking": "Search."},
        {"type": "text", "text": "I search."},
        {"type": "tool_use", "id": "t1", "name": "web_search", "input": {"q": "kite"}},
        {"type": "tool_result", "tool_use_id": "t1", "content": [{"type": "text", "text": "Toy"}]},
        {"type": "text", "text": "A toy."},
    ]
    talk = claude(
        claude_message(
            "1", "", "human", "What is it?",
            attachments=[{"file_name": "kite.txt", "extracted_content": "red, with a tail"}],
            files=[{"file_name": "kite.png"}], files_v2=[{"file_name": "kite.png"}],
        ),
        claude_message("2", "1", "assistant", "I search.", content=blocks),
    )  # fmt: skip

    taken = only(store, written(tmp_path, "c.json", [talk]))

    asked, called, returned, answer = store.turns(taken.id)
    assert asked.content == ("What is it?\n\n[file: kite.png]")
    assert files_of(store, taken) == {1: [("kite.txt", "red, with a tail")]}
    assert (called.content, called.use.calls[0].name) == ("I search.", "web_search")
    assert reasoning_of(store, called) == "Search."
    assert (returned.content, returned.use.answers) == ("Toy", called.use.calls[0])
    assert answer.content == "A toy."


def test_claude_s_text_is_used_if_its_content_is_empty(tmp_path: Path, store: ColdStore):
    talk = claude(claude_message("1", "", "human", "Hello", content=[]))

    assert path_of(store, only(store, written(tmp_path, "c.json", [talk]))) == ["u: Hello"]


# Claude Code


def test_claude_code_s_replies_are_joined_and_its_branches_kept(tmp_path: Path, store: ColdStore):
    path = written(tmp_path, f"{SESSION}.jsonl", jsonl(claude_code_session()))

    taken = only(store, path)

    assert taken.title == "A missing module"
    assert path_of(store, taken) == [
        "u: Why does a.py fail?",
        "a: I look.",
        "t: import b",
        "a: ",
        "t: No such file",
        "a: b is missing.",
        "u: No, delete the import.",
        "a: Deleted.",
    ]
    assert store.branches(taken.id) == {9: (7, 9)}
    turns = every_turn(store, taken)
    assert [turn.use.answers for turn in turns if turn.role is Role.TOOL] == [
        call for turn in turns for call in turn.use.calls
    ]
    assert [turn.use.is_error for turn in turns if turn.role is Role.TOOL] == [False, True]
    assert model_of(store, turns[1]) == "claude-opus-4-8"
    assert reasoning_of(store, turns[1]) == "Look."
    assert dict(taken.tally.skipped) == {
        "program command": 1,
        "reminder of the program": 1,
        "sub-agent message": 1,
    }


def test_parallel_calls_with_later_results_are_one_turn(tmp_path: Path, store: ColdStore):
    lines = claude_code_session()
    lines[6], lines[7] = lines[7], lines[6]

    taken = only(store, written(tmp_path, f"{SESSION}.jsonl", jsonl(lines)))

    called = every_turn(store, taken)[1]
    assert [call.id for call in called.use.calls] == ["t1", "t2"]
    assert [turn.role for turn in store.turns(taken.id)][1:4] == [
        Role.ASSISTANT,
        Role.TOOL,
        Role.TOOL,
    ]


def test_a_session_imported_while_it_ran_is_completed_later(tmp_path: Path, store: ColdStore):
    lines = claude_code_session()
    for count in range(3, len(lines) + 1):
        path = written(tmp_path, f"{SESSION}.jsonl", jsonl(lines[:count]))
        take(store, path)

    ending = [turn.content for turn in store.turns(store.conversations()[0].id)]
    assert len(store.conversations()) == 1
    assert ending[-3:] == ["b is missing.", "No, delete the import.", "Deleted."]
    assert ending[:3] == ["Why does a.py fail?", "I look.", "import b"]


def test_sub_agents_and_broken_lines_are_counted(tmp_path: Path, store: ColdStore):
    folder = tmp_path / "-home-ann"
    (folder / SESSION / "subagents").mkdir(parents=True)
    written(folder, f"{SESSION}.jsonl", jsonl(claude_code_session()) + '{"uuid": "half')
    written(folder / SESSION / "subagents", "agent-1.jsonl", jsonl(claude_code_session()))
    source = open_source(tmp_path)

    (found,) = conversations_of(source)
    list(found.turns)

    assert source.tally.skipped["sub-agent session"] == 1
    assert found.tally.skipped["line that is not JSON"] == 1


def test_a_compacted_session_continues_after_the_turns_before_it(tmp_path: Path, store: ColdStore):
    lines = claude_code_session()[:3]
    boundary = {
        "type": "system", "subtype": "compact_boundary", "uuid": "c0", "parentUuid": None,
        "logicalParentUuid": "u1", "sessionId": SESSION,
    }  # fmt: skip
    summary = lines[-1] | {"uuid": "c1", "parentUuid": "c0", "isCompactSummary": True}
    after = lines[-1] | {"uuid": "c2", "parentUuid": "c1"}
    after["message"] = {"role": "user", "content": "Go on."}

    path = written(tmp_path, f"{SESSION}.jsonl", jsonl([*lines, boundary, summary, after]))

    assert path_of(store, only(store, path)) == ["u: Why does a.py fail?", "u: Go on."]


# Codex


def codex_path(store: ColdStore, tmp_path: Path, lines: list) -> tuple[Taken, list[str]]:
    name = f"rollout-2026-06-01T08-00-00-{SESSION}.jsonl"
    taken = only(store, written(tmp_path, name, jsonl(lines)))
    return taken, path_of(store, taken)


@pytest.mark.parametrize("has_envelope", [True, False])
def test_codex_is_read_from_one_of_its_two_logs(
    tmp_path: Path, store: ColdStore, has_envelope: bool
):
    lines = exports.codex_session(*exports.CODEX_ITEMS)
    if not has_envelope:
        lines = [{"id": "x", "timestamp": "2025-09-01T00:00:00Z", "instructions": None}]
        lines += [*exports.CODEX_ITEMS, {"record_type": "state"}]

    taken, path = codex_path(store, tmp_path, lines)

    assert (taken.id, taken.title) == ("codex-5c1f3c0e", "List the files.")
    assert path == ["u: List the files.", "a: ", "t: a.py", "a: There is a.py."]
    _, called, returned, _ = store.turns(taken.id)
    assert returned.use.answers == called.use.calls[0]
    assert called.use.calls[0].arguments == '{"cmd":"ls"}'
    assert reasoning_of(store, called) == "Use ls."
    assert model_of(store, called) == ("gpt-5-codex" if has_envelope else "")
    assert dict(taken.tally.skipped) == {"message with instructions": 1}


def test_codex_with_other_tools_is_read(tmp_path: Path, store: ColdStore):
    items = [
        exports.said("user", "Patch it."),
        {"type": "custom_tool_call", "name": "apply_patch", "call_id": "c", "input": "*** Begin"},
        {"type": "custom_tool_call_output", "call_id": "c", "output": "Done"},
        {"type": "web_search_call", "action": {"type": "search", "query": "kites"}},
        exports.said("assistant", "Patched."),
        {"type": "message", "role": "user", "content": [{"type": "input_novelty"}]},
        {"type": "ghost_snapshot"},
        {"type": "novelty"},
    ]

    taken, path = codex_path(store, tmp_path, exports.codex_session(*items))

    assert path == ["u: Patch it.", "a: ", "t: Done", "a: [web search: kites]\n\nPatched."]
    assert json.loads(store.turns(taken.id)[1].use.calls[0].arguments) == {"input": "*** Begin"}
    assert dict(taken.tally.skipped) == {
        "item of unknown kind": 1,
        "part of unknown kind": 1,
        "empty message": 1,
    }


# opencode and llm: databases


def test_opencode_is_read_from_its_database(tmp_path: Path, store: ColdStore):
    taken = only(store, exports.opencode(tmp_path / "opencode.db"))

    assert (taken.id, taken.title) == ("opencode-1", "A failing test")
    assert path_of(store, taken) == [
        "u: What fails?\n\n[file: log.txt]",
        "a: ",
        "t: 1 failed",
        "a: One test fails.",
    ]
    _, called, returned, answer = store.turns(taken.id)
    assert returned.use.answers == called.use.calls[0]
    assert (model_of(store, answer), reasoning_of(store, called)) == ("claude-opus-4-8", "Run it.")
    assert dict(taken.tally.skipped) == {"text that the program wrote": 1}


def test_opencode_s_tasks_are_counted(tmp_path: Path, store: ColdStore):
    path = exports.opencode(tmp_path / "opencode.db")
    with closing(sqlite3.connect(path)) as database, database:
        database.execute("CREATE TABLE todo (session_id TEXT, content TEXT, position INTEGER)")
        rows = [("ses_1", "Mend the test", 0), ("ses_1", "One test fails.", 1), ("ses_2", "x", 0)]
        database.executemany("INSERT INTO todo VALUES (?, ?, ?)", rows)

    taken = only(store, path)

    assert taken.tally.skipped["task of the session's list"] == 1  # a reply has the other one


def test_opencode_s_second_schema_is_read_in_addition_to_the_first(
    tmp_path: Path, store: ColdStore
):
    _, taken = take(store, exports.opencode_of_whole_messages(tmp_path / "opencode.db"))

    assert (taken.id, taken.title) == ("opencode-9", "Again")
    assert path_of(store, taken) == ["u: What fails?", "a: ", "t: 1 failed", "a: One."]
    assert files_of(store, taken) == {1: [("log.png", "image/png")]}
    _, called, returned, answer = store.turns(taken.id)
    assert returned.use.answers == called.use.calls[0]
    assert (model_of(store, answer), reasoning_of(store, called)) == ("claude-opus-4-8", "Run it.")
    assert dict(taken.tally.skipped) == {"compaction summary": 1}


def test_the_old_schema_of_llm_is_read(tmp_path: Path, store: ColdStore):
    first, alone = take(store, exports.llm_old(tmp_path / "logs.db"))

    assert (first.id, first.title) == ("llm-k1", "Sums")
    assert path_of(store, first) == [
        "u: What is 2+2?\n\n[image: sum.png]",
        "a: ",
        "t: 4",
        "a: It is 4.",
    ]
    _, called, returned, answer = store.turns(first.id)
    assert files_of(store, first) == {1: [("rules.txt", "Use the tool.")]}
    assert returned.use.answers == called.use.calls[0]
    assert (model_of(store, answer), reasoning_of(store, answer)) == ("gpt-5", "Easy.")
    assert path_of(store, alone) == ["u: Alone.", "a: Indeed."]


def test_the_new_schema_of_llm_is_read_with_its_branches(tmp_path: Path, store: ColdStore):
    taken = only(store, exports.llm_new(tmp_path / "logs.db"))

    assert taken.title == "A novel"
    assert path_of(store, taken) == ["u: A long novel.\nAnd now?", "a: ", "t: 2", "a: Two."]
    turns = {turn.content: turn for turn in every_turn(store, taken)}
    assert set(turns) == {"A long novel.\nAnd now?", "", "2", "Two.", "Never mind.", "Fine."}
    assert turns["2"].use.answers == turns[""].use.calls[0]
    assert (model_of(store, turns["Two."]), model_of(store, turns["Fine."])) == (
        "gpt-5",
        "gpt-5-mini",
    )
    assert system_of(store, taken) == "Be brief."
    assert not taken.tally.skipped


# Open WebUI, LibreChat, SillyTavern, Gemini


def test_open_webui_s_replies_of_several_models_are_kept(tmp_path: Path, store: ColdStore):
    taken = only(store, written(tmp_path, "chats.json", [exports.open_webui()]))

    assert path_of(store, taken) == [
        "u: Name a colour.",
        "a: Red.",
        "u: Look\n\n[image]",
        "a: A kite.",
    ]
    turns = {turn.content: turn for turn in every_turn(store, taken)}
    assert [model_of(store, turns[said]) for said in ("Red.", "Blue.")] == ["llama4", "qwen3"]


def test_open_webui_without_a_history_is_one_path(tmp_path: Path, store: ColdStore):
    chat = exports.open_webui()
    history = chat["chat"].pop("history")
    chat["chat"]["messages"] = list(history["messages"].values())[:2]

    taken = only(store, written(tmp_path, "chats.json", [chat]))

    assert path_of(store, taken) == ["u: Name a colour.", "a: Red."]


@pytest.mark.parametrize("recursive", [True, False])
def test_librechat_is_read_as_a_tree_and_as_a_list(
    tmp_path: Path, store: ColdStore, recursive: bool
):
    taken = only(store, written(tmp_path, "kites.json", exports.librechat(recursive=recursive)))

    turns = every_turn(store, taken)
    assert [turn.content for turn in turns] == [
        "What is a kite?", "", "A toy.", "It is a toy.", "A bird.",
    ]  # fmt: skip
    assert turns[2].use.answers == turns[1].use.calls[0]
    assert (turns[4].parent, reasoning_of(store, turns[1])) == (1, "Search first.")
    assert [model_of(store, turn) for turn in (turns[3], turns[4])] == ["gpt-5", "gpt-5-mini"]


def test_sillytavern_s_swipes_are_versions(tmp_path: Path, store: ColdStore):
    taken = only(store, written(tmp_path, "Bo - 2026.jsonl", jsonl(exports.sillytavern())))

    assert path_of(store, taken) == ["u: Hello.", "a: Ahoy, edited.", "u: Aye."]
    turns = every_turn(store, taken)
    assert store.branches(taken.id) == {3: (2, 3, 4)}
    assert [model_of(store, turn) for turn in turns[1:4]] == ["qwen3", "llama4", ""]
    assert [turn.name for turn in turns] == ["Ann", "Bo", "Bo", "Bo", "Ann"]
    assert [turn.created_at and turn.created_at.hour for turn in turns] == [10, 10, 10, 10, 10]
    assert reasoning_of(store, turns[2]) == "A sailor."
    assert dict(taken.tally.skipped) == {"message that is hidden from the prompt": 1}


def test_notes_and_pages_attached_in_open_webui_are_files(tmp_path: Path, store: ColdStore):
    note = {"type": "note", "title": "Tides", "data": {"content": {"md": "High at *six*."}}}
    pages = [{"content": "Low at noon."}, {"content": "High at six."}]
    page = {"type": "text", "name": "tides", "url": "https://tides.example/", "docs": pages}
    asked = {"id": "1", "role": "user", "content": "Look", "files": [note, page]}
    chat = {"id": "c", "title": "Tides", "chat": {"messages": [asked]}}

    taken = only(store, written(tmp_path, "chats.json", [chat]))

    listed = AttachmentStore(store.database, taken.id).listed()
    assert [(file.name, whole(store.database, file).text) for file in listed] == [
        ("Tides", "High at *six*."),
        ("tides", "https://tides.example/\n\nLow at noon.\n\nHigh at six."),
    ]


def test_gemini_s_activity_is_split_at_long_pauses(tmp_path: Path, store: ColdStore):
    path = written(tmp_path, "My Activity.json", exports.gemini())

    second, first = take(store, path)[::-1]

    assert path_of(store, first) == [
        "u: What is the capital of Italy?",
        "a: Rome",
        "u: And France?\n\n[file: map.png]",
        "a: Paris",
    ]
    assert path_of(store, second) == ["u: How do I list files?", "a: Ask a friend.", "u: Thanks"]
    assert every_turn(store, second)[1].content == "Use **ls** & look:\n\n```\nls -l\n```\n\n- a"
    assert dict(first.tally.changed) == {
        "conversation that was inferred from times alone": 1,
        "attachment that was kept by name only": 1,
    }


def test_gemini_s_verb_is_found_in_any_language(tmp_path: Path, store: ColdStore):
    asked = ("Eins", "Zwei", "Drei", "Vier", "Elf", "Neun", "Zehn", "Zwölf")
    entries = [
        exports.gemini_entry(number, f"Prompt eingegeben: {text}", "<p>Ja</p>")
        for number, text in enumerate(asked)
    ]

    taken = only(store, written(tmp_path, "Meine Aktivitäten.json", entries))

    assert path_of(store, taken)[::2] == [f"u: {text}" for text in asked]


def test_gemini_s_verb_ends_at_its_colon_though_all_prompts_begin_alike(
    tmp_path: Path, store: ColdStore
):
    words = ("Wal", "Uhr", "Tor", "Rad", "Rum", "Öl", "Ei", "Amt")
    asked = [f"Übersetze ins Englische: {word}" for word in words]
    entries = [
        exports.gemini_entry(number, f"Prompt eingegeben: {text}", "<p>Ja</p>")
        for number, text in enumerate(asked)
    ]

    taken = only(store, written(tmp_path, "Meine Aktivitäten.json", entries))

    assert path_of(store, taken)[::2] == [f"u: {text}" for text in asked]


def test_words_that_all_of_gemini_s_titles_begin_with_are_reported(
    tmp_path: Path, store: ColdStore
):
    asked = ("Uno", "Dos", "Tres", "Cuatro", "Cinco", "Seis", "Siete", "Ocho")
    entries = [
        exports.gemini_entry(number, f"Has preguntado {text}", "<p>Sí</p>")
        for number, text in enumerate(asked)
    ]

    taken = only(store, written(tmp_path, "Mi actividad.json", entries))

    assert path_of(store, taken)[::2] == [f"u: {text}" for text in asked]
    assert taken.tally.changed["prompt without “Has preguntado”, with which all begin"] == 8


# chat completions


def test_chat_completions_jsonl_has_one_conversation_per_line(tmp_path: Path, store: ColdStore):
    call = {"id": "c1", "type": "function", "function": {"name": "add", "arguments": '{"a": 1}'}}
    first = [
        {"role": "system", "content": "Be brief."},
        {"role": "user", "content": [{"type": "text", "text": "1 + 1?"}]},
        {"role": "assistant", "content": None, "tool_calls": [call]},
        {"role": "tool", "tool_call_id": "c1", "content": "2"},
        {"role": "assistant", "content": "2"},
    ]
    lines = [{"messages": first}, {"messages": [{"role": "user", "content": "Hello"}]}]

    one, other = take(store, written(tmp_path, "tuning.jsonl", jsonl(lines)))

    assert path_of(store, one) == ["u: 1 + 1?", "a: ", "t: 2", "a: 2"]
    _, called, returned, _ = store.turns(one.id)
    assert returned.use.answers == called.use.calls[0]
    assert path_of(store, other) == ["u: Hello"]
    assert system_of(store, one) == "Be brief."
    assert not one.tally.skipped


ANNOTATED = {
    "text": "It opens at six.",
    "annotations": [
        {"type": "url_citation", "url": "https://one.example/", "title": "One"},
        {"type": "url_citation", "url_citation": {"url": "https://two.example/", "title": "Two"}},
    ],
}
REPLY = "It opens at six.\n\nSources:\n- [One](https://one.example/)\n- [Two](https://two.example/)"


def test_a_reply_s_annotations_are_listed_as_its_sources(tmp_path: Path, store: ColdStore):
    part = {"type": "output_text", **ANNOTATED}
    message = {"role": "assistant", "content": [part]}
    by_message = {"role": "assistant", "content": ANNOTATED["text"]}
    by_message["annotations"] = ANNOTATED["annotations"]
    value = {"value": ANNOTATED["text"], "annotations": ANNOTATED["annotations"]}
    talk = exports.librechat(recursive=False)
    reply = {"isCreatedByUser": False, "text": "", "content": [{"type": "text", "text": value}]}
    talk["messages"][-1] |= reply
    session = [
        {"timestamp": "2026-03-01T00:00:00Z", "type": "session_meta", "payload": {"id": "s"}},
        {"type": "response_item", "payload": {"type": "message", **message}},
    ]
    files = [
        written(tmp_path, "parts.json", [message]),
        written(tmp_path, "message.json", [by_message]),
        written(tmp_path, "rollout-1.jsonl", jsonl(session)),
        written(tmp_path, "talk.json", talk),
    ]

    replies = [every_turn(store, only(store, file))[-1].content for file in files]

    assert replies == [REPLY] * len(files)


def test_a_refusal_is_a_reply(tmp_path: Path, store: ColdStore):
    asked = {"role": "user", "content": "How?"}
    refused = {"role": "assistant", "content": None, "refusal": "I can't help with that."}

    taken = only(store, written(tmp_path, "talk.json", [asked, refused]))

    assert path_of(store, taken) == ["u: How?", "a: I can't help with that."]


# all programs


ALL = {
    "chatgpt.json": [chatgpt_talk()],
    "claude.json": [claude(claude_message("1", "", "human", "Hello"))],
    f"{SESSION}.jsonl": jsonl(claude_code_session()),
    "rollout.jsonl": jsonl(exports.codex_session(*exports.CODEX_ITEMS)),
    "open-webui.json": [exports.open_webui()],
    "librechat.json": exports.librechat(recursive=True),
    "sillytavern.jsonl": jsonl(exports.sillytavern()),
    "gemini.json": exports.gemini(),
}


def test_a_folder_of_all_formats_is_recognized_by_content_and_imported_once(
    tmp_path: Path, store: ColdStore
):
    for number, content in enumerate(ALL.values()):
        is_lines = isinstance(content, str)
        written(tmp_path, f"{number}.json{'l' if is_lines else ''}", content)
    exports.opencode(tmp_path / "a.db")
    exports.llm_old(tmp_path / "b.db")

    first, second = take(store, tmp_path), take(store, tmp_path)

    origins = store.database.fetch_all("SELECT DISTINCT source FROM imported_conversations")
    assert {source for (source,) in origins} == {
        "chatgpt", "claude", "claude-code", "codex", "gemini", "librechat", "llm", "open-webui",
        "opencode", "sillytavern",
    }  # fmt: skip
    assert all(each.added and each.is_new for each in first)
    assert not any(each.added for each in second)
    assert len(store.conversations()) == len(first)
