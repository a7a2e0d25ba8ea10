"""Program-specific content: failures, folded calls, files, tags, notices."""

from __future__ import annotations

import json
import re
import sqlite3
import time
import zipfile
from contextlib import closing
from datetime import UTC, datetime
from html import escape
from typing import TYPE_CHECKING, Any

import pytest

from jitchat.errors import ImportFailed
from jitchat.store.attachments import AttachmentStore
from jitchat.transfer.formats import conversations_of
from jitchat.transfer.gemini import html_text
from jitchat.transfer.open_webui import _with_details
from jitchat.transfer.source import open_source
from jitchat.values import Role, Status
from tests.transfer import exports, rich_exports
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
    from collections.abc import Callable
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
    assert dict(taken.tally.skipped) == {"message of unknown kind": 1, "file of a tool's result": 1}


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


@pytest.mark.parametrize("exported", [webui(FOLDED), webui("It is so.", output=OUTPUT)])
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


@pytest.mark.parametrize("mark", ["\ue200", "\ue200cite", "\ue200cite\ue202", "<!--", "<p a='"])
def test_marks_without_an_end_are_read_in_linear_time(tmp_path: Path, store: ColdStore, mark: str):
    said = f"Kites? {mark * 60_000} {'x' * 300_000}"
    talk = chatgpt(chatgpt_node("a1", None, "assistant", text=said))
    begun = time.perf_counter()
    taken = only(store, written(tmp_path, "conversations.json", [talk]))
    kept = re.sub("[\ue200-\ue206]", "", said)
    assert path_of(store, taken) == [f"a: {kept}"]
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


def test_chatgpt_s_marked_spans_and_sources_are_readable(tmp_path: Path, store: ColdStore):
    taken = only(store, written(tmp_path, "c.json", [rich_exports.chatgpt_search()]))

    _, answer, _, unfinished = every_turn(store, taken)
    page = "https://tides.example/page-{0}?utm_source=chatgpt.com".format
    links = [f"[Tides, page {number}]({page(number)})" for number in range(6)]
    assert answer.content == (
        f"The harbour of Saint-Malo has high tides. ({links[1]}, {links[3]}, {links[2]})\n\n"
        f"See [the tables](https://tides.example/tables), [the page]({page(4)}), and 【3†source】."
        f" [image_group: low tide, high tide]\n\nSources:\n- {links[4]}\n- {links[5]}\n"
        "- [An old page](https://old.example/page)"
    )
    assert reasoning_of(store, answer) == "Looking for a port\n\nSaint-Malo is one."
    assert (unfinished.content, reasoning_of(store, unfinished)) == ("", "The moon.")


def test_a_user_s_private_characters_are_kept(tmp_path: Path, store: ColdStore):
    asked = "My prompt is \ue0b0 \ue203 and \ue200cite\ue201."
    talk = chatgpt(chatgpt_node("u1", None, "user", text=asked))

    assert path_of(store, only(store, written(tmp_path, "c.json", [talk]))) == [f"u: {asked}"]


def test_a_conversation_opens_at_the_newest_leaf_below_the_node_that_was_shown(
    tmp_path: Path, store: ColdStore
):
    talk = chatgpt(
        chatgpt_node("u1", None, "user", text="One", at=1.0),
        chatgpt_node("a1", "u1", "assistant", text="Old", at=2.0),
        chatgpt_node("u2", "a1", "user", text="Two", at=3.0),
        chatgpt_node("a2", "u2", "assistant", text="New", at=4.0),
        chatgpt_node("a3", "u2", "assistant", text="Newest", at=5.0),
        chatgpt_node("b1", "u1", "assistant", text="Elsewhere", at=9.0),
        current="a1",
    )

    taken = only(store, written(tmp_path, "c.json", [talk]))

    assert path_of(store, taken) == ["u: One", "a: Old", "u: Two", "a: Newest"]


def test_pictures_of_results_are_kept_and_not_sent(tmp_path: Path, store: ColdStore):
    with zipfile.ZipFile(tmp_path / "export.zip", "w") as archive:
        archive.writestr("conversations.json", json.dumps([rich_exports.chatgpt_code()]))
        for name, data in rich_exports.CHATGPT_FILES.items():
            archive.writestr(name, data)

    taken = only(store, tmp_path / "export.zip")

    results = [turn for turn in every_turn(store, taken) if turn.role is Role.TOOL]
    assert results[0].content == "<Axes>\n\n[image: file-plot-1.png]"
    assert files_of(store, taken)[results[0].position] == [("file-plot-1.png", "image/png")]
    sent = AttachmentStore(store.database, taken.id).of(store.path(taken.id))
    assert [file.name for file in sent] == ["tides.csv"]


def test_claude_s_citations_summary_and_times_of_results_are_kept(tmp_path: Path, store: ColdStore):
    taken = only(store, written(tmp_path, "c.json", [rich_exports.claude_search()]))

    turns = every_turn(store, taken)
    assert path_of(store, taken)[-2:] == [
        "a: They need wind.\n\nSources:\n- https://kites.example/a\n- [B](https://kites.example/b)",
        "u: Thank you",
    ]
    (result,) = [turn for turn in turns if turn.role is Role.TOOL]
    assert result.created_at == datetime(2026, 5, 1, 10, 2, 7, tzinfo=UTC)
    assert (turns[-1].parent, turns[-1].name) == (0, "Summary")  # beside the conversation
    assert turns[-1].content == "**Overview**\n\nThe person asked what kites need."


def test_claude_s_projects_and_memories_are_conversations(tmp_path: Path, store: ColdStore):
    with zipfile.ZipFile(tmp_path / "export.zip", "w") as archive:
        archive.writestr("projects/1.json", json.dumps(rich_exports.claude_project()))
        archive.writestr("memories.json", json.dumps(rich_exports.claude_memories()))
        archive.writestr("conversations.json", json.dumps([rich_exports.claude_search()]))

    found = {taken.title: taken for taken in take(store, tmp_path / "export.zip")}

    assert found.keys() == {"Kites", "Project: Kite shop", "What Claude remembers"}
    project = found["Project: Kite shop"]
    assert store.conversation(project.id).project == "Kite shop"
    assert files_of(store, project) == {1: [("prices.md", "# Prices\n\nA kite: 9.")]}
    assert path_of(store, found["What Claude remembers"]) == [
        "u: **Work**\nAnn sells kites.\n\nThe shop opens at nine."
    ]


def test_gemini_s_html_becomes_markdown(tmp_path: Path, store: ColdStore):
    taken = only(store, written(tmp_path, "My Activity.json", rich_exports.gemini_page()))

    assert every_turn(store, taken)[1].content == (
        "Use **these**, see [the\nmanual](https://list.example/ls?a=1&b=2):\n\n"
        "3. first\n4. second\n   - inner\n\nE = mc^2^ and H~2~O\n\n"
        "```python\ndef f():\n\n    return 1  \n\n\ndef g():\n    pass\n```\n\n"
        "![A red kite](https://pics.example/kite.png)\n\n"
        "| Name | Size |\n| --- | --- |\n| a < b | 9 |\n\n> Said so."
    )


def test_html_that_is_nested_thousands_of_times_is_read_as_text():
    assert html_text("<div>" * 9_000 + "deep" + "</div>" * 9_000) == "deep"


def test_llm_s_pictures_and_fragments_are_read_from_its_database(tmp_path: Path, store: ColdStore):
    old = only(store, rich_exports.llm_old(tmp_path / "old.db"))
    new = only(store, rich_exports.llm_new(tmp_path / "new.db"))

    assert files_of(store, old) == {
        1: [("fragment", "A novel."), ("image.png", "image/png")],
        3: [("notes.txt", "red, with a tail")],
    }
    assert system_of(store, old) == "You know kites.\n\nBe brief."
    assert dict(old.tally.skipped) == {"message with instructions": 1}  # a second system prompt
    assert files_of(store, new) == {1: [("image.png", "image/png")], 3: [("file", "a note")]}


def test_a_table_that_llm_is_not_known_to_have_is_reported(tmp_path: Path):
    path = rich_exports.llm_old(tmp_path / "logs.db")
    with closing(sqlite3.connect(path)) as connection, connection:
        connection.execute("CREATE TABLE novelties (response_id TEXT, text TEXT)")
    source = open_source(path)

    list(conversations_of(source))

    assert dict(source.tally.skipped) == {"table that is not read (novelties)": 1}


def test_open_webui_s_system_prompt_and_sources_are_kept(tmp_path: Path, store: ColdStore):
    taken = only(store, written(tmp_path, "chats.json", rich_exports.open_webui_sources()))

    _, answer, cut = every_turn(store, taken)
    assert system_of(store, taken) == "You are a sailor."
    assert answer.content == (
        "At six [1].\n\n[code run]\n- name: sum, code: 1 + 1\n- output: 2"
        "\n\nSources:\n- tides.md\n- https://tides.example/a\n\n[file: sources.txt]"
    )
    ((_, read),) = files_of(store, taken)[answer.position]
    assert "The tide is high at six." in read
    assert (answer.status, cut.status) == (Status.COMPLETE, Status.CUT)
    assert store.conversation(taken.id).tags == ("moon", "sea")


def test_chatgpt_s_cards_come_in_where_the_site_shows_them(tmp_path: Path, store: ColdStore):
    path = tmp_path / "c.zip"
    with zipfile.ZipFile(path, "w") as archive:
        archive.writestr("conversations.json", json.dumps([rich_exports.chatgpt_cards()]))
        archive.writestr("file_screen-1.png", exports.PNG)

    taken = only(store, path)

    asked, shown, reply, novelty = every_turn(store, taken)
    assert asked.content == (
        "[app_pairing_content]\n- text: ls -l\n- app_name: Terminal, title: kites\n\nWhere?"
    )
    chart, goods, places, *below = reply.content.split("\n\n")[1::2]
    assert chart.splitlines() == [
        "[visualization]",
        "- chartType: line, xKey: hour",
        "- title: Wind in knots",
        "- dataKey: knots, label: Gusts",
        "- hour: 6 am, knots: 12",
        "- hour: noon, knots: 21",
    ]
    assert "- title: Box kite, price: $39.90, rating: 4.5" in goods
    assert places.splitlines()[1:] == [
        "- name: Kite Hill, location: 12 Gale Road",
        "- name: The Spar, location: 3 Quay",
    ]
    assert "; [genui: content: a^2 + b^2]; Gusts of 21 knots at noon." in reply.content
    assert "[writing: content: A poem on wind.]" in "\n".join(below)
    assert novelty.content == "[diorama: caption: Kites over a bay, layers: 3]"
    assert "# On kites\n\nThey need wind.\n\nSources:\n- [Tides, page 9]" in shown.content
    assert [name for name, _ in files_of(store, taken)[shown.position]] == ["file_screen-1.png"]


@pytest.mark.parametrize("write", ["\ue200genui\ue202{}\ue201", "{}"])
def test_a_card_can_be_nested_deeply(tmp_path: Path, store: ColdStore, write: str):
    depth = 900
    state = '{"plan": ' + "[" * depth + '"A step"' + "]" * depth + "}"
    said = write.replace("{}", state)
    node = chatgpt_node("a1", None, "tool", text=said, metadata={
        "chatgpt_sdk": {"widget_state": state}})  # fmt: skip

    taken = only(store, written(tmp_path, "c.json", [chatgpt(node)]))

    assert "[plan: A step]" in every_turn(store, taken)[0].content


def test_files_of_a_whole_open_webui_chat_are_attached_to_its_first_question(
    tmp_path: Path, store: ColdStore
):
    taken = only(store, written(tmp_path, "chats.json", rich_exports.open_webui_knowledge()))

    asked, _ = every_turn(store, taken)
    assert asked.content == "Where?\n\n[file: Wiki, All pages]\n\n[file: capes.md]"
    assert files_of(store, taken)[asked.position] == [
        ("asked.md", "# Asked"),
        ("whole.md", "# Of the whole chat"),
        ("bays.md", "Bays are calm."),
    ]


@pytest.mark.parametrize("write", [json.dumps, jsonl])
def test_openai_s_calls_speech_and_items_are_kept(
    tmp_path: Path, store: ColdStore, write: Callable[[object], str]
):
    path = written(tmp_path, "talk.json", write(rich_exports.plain_functions()))

    taken = only(store, path)

    assert path_of(store, taken) == [
        "u: [audio: audio.wav]\n\n[file: n.txt]",
        "a: ",
        "t: Rain.",
        "a: It rains in Bath.\n\n[audio: audio.wav]",
        "u: Mend it.",
        "a: ",
        "t: Done.",
        "u: And now?",
        "a: ",
        "t: Clouds.",
        "a: It is cloudy.",
    ]
    turns = every_turn(store, taken)
    calls = [(call.name, call.arguments) for turn in turns for call in turn.use.calls]
    assert calls == [
        ("weather", '{"city": "Bath"}'),
        ("patch", '{"input": "- old\\n+ new"}'),
        ("sky", '{"at": "noon"}'),
    ]
    assert all(turn.use.answers for turn in turns if turn.role is Role.TOOL)
    assert reasoning_of(store, turns[8]) == "Look at the sky."
    assert not taken.tally.skipped


def test_what_stands_beside_the_messages_of_a_file_is_in_its_census(
    tmp_path: Path, store: ColdStore
):
    tool = {"type": "function", "function": {"name": "sky", "description": "Looks up."}}
    talk = {"title": "Weather", "model": "gpt", "messages": rich_exports.plain_messages()[:2]}
    path = written(tmp_path, "talk.json", {**talk, "tools": [tool], "user": "ann"})

    (taken,) = take(store, path, is_whole=False)

    assert taken.title == "Weather"
    assert dict(taken.tally.skipped) == {"definition of a tool": 2, "text that is under user": 1}


def test_librechat_s_instructions_tags_quotes_and_cut_replies_are_kept(
    tmp_path: Path, store: ColdStore
):
    agent = only(store, written(tmp_path, "a.json", rich_exports.librechat_agent()))
    branches = only(store, written(tmp_path, "b.json", rich_exports.librechat_branches()))

    assert system_of(store, agent) == "Know all kites."
    assert store.conversation(agent.id).tags == ("toys", "wind")
    assert path_of(store, agent)[0] == "u: > a toy on a line\n\nWhat is this?"
    statuses = [turn.status for turn in every_turn(store, agent)]
    assert statuses == [*[Status.COMPLETE] * 3, Status.CUT, Status.CUT]
    assert [turn.status for turn in every_turn(store, branches)] == [
        Status.COMPLETE, Status.CUT, Status.CUT, Status.COMPLETE, Status.COMPLETE,
    ]  # fmt: skip


def test_opencode_s_subtasks_retries_and_files_of_results_come_in(tmp_path: Path, store: ColdStore):
    moment = 1_780_000_000_000
    picture = {"mime": "image/png", "filename": "plot.png", "url": exports.PNG_URL}
    parts = [
        ("p1", "m1", {"type": "subtask", "description": "Look around", "agent": "explore",
                      "prompt": "List the tests."}),
        ("p2", "m2", {"type": "retry", "attempt": 1, "error": {"data": {"message": "Overloaded"}}}),
        ("p3", "m2", {"type": "tool", "tool": "plot", "callID": "c1", "state": {
            "status": "completed", "input": {}, "output": "Drawn.", "attachments": [picture],
            "time": {"start": moment, "end": moment + 60_000}}}),
    ]  # fmt: skip
    path = exports.make_database(
        tmp_path / "opencode.db",
        exports.OPENCODE,
        session=[("ses_1", "/home/ann", "Tests", None, moment, moment)],
        message=[
            ("m1", "ses_1", json.dumps({"role": "user", "time": {"created": moment}})),
            ("m2", "ses_1", json.dumps({"role": "assistant", "time": {"created": moment}})),
        ],
        part=[(name, of, "ses_1", json.dumps(data)) for name, of, data in parts],
    )

    taken = only(store, path)

    assert path_of(store, taken) == [
        "u: Look around\n\nList the tests.",
        "a: [error: Overloaded]",
        "t: Drawn.\n\n[image: plot.png]",
    ]
    called, returned = store.turns(taken.id)[1:]
    assert files_of(store, taken) == {3: [("plot.png", "image/png")]}
    assert called.created_at == datetime.fromtimestamp(moment / 1000, UTC)
    assert returned.created_at == datetime.fromtimestamp(moment / 1000 + 60, UTC)


def test_codex_s_exit_codes_are_counted_and_results_have_their_own_times(
    tmp_path: Path, store: ColdStore
):
    output = json.dumps({"output": "a.py", "metadata": {"exit_code": 0, "duration_seconds": 0.1}})
    lines = exports.codex_session(*exports.CODEX_ITEMS[:4])
    returned = {"type": "function_call_output", "call_id": "c1", "output": output}
    later = {"type": "response_item", "payload": returned, "timestamp": "2026-06-01T08:05:00Z"}

    taken = only(store, written(tmp_path, "rollout-1.jsonl", jsonl([*lines, later])))

    result = store.turns(taken.id)[-1]
    assert (result.content, result.created_at) == ("a.py", datetime(2026, 6, 1, 8, 5, tzinfo=UTC))
    assert taken.tally.skipped["exit code"] == 1


def test_sillytavern_s_author_s_note_is_the_chat_s_instructions(tmp_path: Path, store: ColdStore):
    head, *messages = exports.sillytavern()
    head["chat_metadata"] |= {"note_prompt": "Speak like a pirate.", "note_depth": 4}

    taken = only(store, written(tmp_path, "chat.jsonl", jsonl([head, *messages])))

    assert system_of(store, taken) == "Speak like a pirate."


def test_sillytavern_s_messages_are_known_by_who_said_them_when(tmp_path: Path, store: ColdStore):
    head, first, *rest = exports.sillytavern()
    only(store, written(tmp_path, "chat.jsonl", jsonl([head, first, *rest])))

    again = only(store, written(tmp_path, "chat.jsonl", jsonl([head, *rest, rest[-1]])))
    rest[0] |= {"mes": "Ahoy, edited twice."}
    edited = only(store, written(tmp_path, "chat.jsonl", jsonl([head, first, *rest])))

    assert (again.added, again.changed) == (0, 0)
    assert (edited.added, edited.changed) == (0, 1)
    assert "a: Ahoy, edited twice." in path_of(store, edited)
