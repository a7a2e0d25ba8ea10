"""Small exports of other programs, built from what is known of their formats."""

from __future__ import annotations

import json
import sqlite3
from base64 import b64encode
from contextlib import closing
from typing import TYPE_CHECKING, Any

from tests.support import png

if TYPE_CHECKING:
    from pathlib import Path

Node = dict[str, Any]
PNG = png(640, 480)
PNG_URL = f"data:image/png;base64,{b64encode(PNG).decode()}"


def chatgpt_node(node: str, parent: str | None, role: str | None, **more: Any) -> Node:
    """A node of ChatGPT's tree; without a role, one without a message."""
    message = None
    if role is not None:
        content = more.pop("content", None) or {"content_type": "text", "parts": [more.pop("text")]}
        message = {
            "id": node,
            "author": {"role": role, "name": more.pop("name", None), "metadata": {}},
            "create_time": more.pop("at", None),
            "content": content,
            "recipient": more.pop("recipient", "all"),
            "metadata": more.pop("metadata", {}),
            **more,
        }
    return {"id": node, "message": message, "parent": parent, "children": []}


def chatgpt(*nodes: Node, current: str = "", **more: Any) -> dict[str, Any]:
    tree = {node["id"]: node for node in nodes}
    for node in nodes:
        if node["parent"] in tree:
            tree[node["parent"]]["children"].append(node["id"])
    return {
        "title": "Tides",
        "create_time": 1_772_442_840.5,
        "update_time": 1_772_442_900.0,
        "mapping": tree,
        "current_node": current or nodes[-1]["id"],
        "conversation_id": "6f1c2a9b-0000-4000-8000-000000000001",
        "is_archived": False,
        **more,
    }


def chatgpt_talk(**more: Any) -> dict[str, Any]:
    """A question that was edited, and a regenerated answer; the first one is shown."""
    return chatgpt(
        chatgpt_node("root", None, None),
        chatgpt_node("sys", "root", "system", text=""),
        chatgpt_node("u1", "sys", "user", text="When is high tide?", at=1.0),
        chatgpt_node(
            "a1", "u1", "assistant", text="At six.", at=2.0, metadata={"model_slug": "gpt-5"}
        ),
        chatgpt_node("a2", "u1", "assistant", text="At seven.", at=3.0),
        chatgpt_node("u2", "root", "user", text="When is low tide?", at=4.0),
        current="a1",
        **more,
    )


def claude(*messages: dict[str, Any], **more: Any) -> dict[str, Any]:
    return {
        "uuid": "0f0e0d0c-1111-4222-8333-444455556666",
        "name": "Kites",
        "created_at": "2026-05-01T10:00:00.000000Z",
        "updated_at": "2026-05-01T11:00:00.000000Z",
        "account": {"uuid": "ann"},
        "chat_messages": list(messages),
        **more,
    }


def claude_message(uuid: str, parent: str | None, sender: str, text: str, **more: Any) -> Node:
    fields = {
        "uuid": uuid,
        "text": text,
        "content": [{"type": "text", "text": text}] if text else [],
        "sender": sender,
        "created_at": f"2026-05-01T10:{len(uuid):02}:00Z",
        "attachments": [],
        "files": [],
        **more,
    }
    return fields if parent is None else fields | {"parent_message_uuid": parent}


def codex_session(*items: dict[str, Any], model: str = "gpt-5-codex") -> list[dict[str, Any]]:
    """A session with its envelope; each item is also in the log of screen events."""
    lines: list[Node] = [
        {"type": "session_meta", "payload": {"id": "x", "cwd": "/home/ann", "cli_version": "0.50"}},
        {"type": "turn_context", "payload": {"turn_id": "1", "model": model}},
    ]
    for item in items:
        lines.append({"type": "response_item", "payload": item})
        lines.append({"type": "event_msg", "payload": {"type": "agent_message", "message": "2"}})
    return [line | {"timestamp": "2026-06-01T08:00:00.000Z"} for line in lines]


def said(role: str, text: str) -> dict[str, Any]:
    kind = "output_text" if role == "assistant" else "input_text"
    return {"type": "message", "role": role, "content": [{"type": kind, "text": text}]}


CODEX_PICTURE = said("user", "Look")
CODEX_PICTURE["content"].append({"type": "input_image", "image_url": PNG_URL})
CLAUDE_PICTURE = [
    {"type": "text", "text": "Look"},
    {
        "type": "image",
        "source": {
            "type": "base64",
            "media_type": "image/png",
            "data": b64encode(PNG).decode(),
        },
    },
]
CODEX_ITEMS = (
    said("user", "<environment_context>\n<cwd>/home/ann</cwd>\n</environment_context>"),
    said("user", "List the files."),
    {"type": "reasoning", "summary": [{"type": "summary_text", "text": "Use ls."}]},
    {"type": "function_call", "name": "shell", "call_id": "c1", "arguments": '{"cmd":"ls"}'},
    {"type": "function_call_output", "call_id": "c1", "output": '{"output":"a.py","metadata":{}}'},
    said("assistant", "There is a.py."),
)


def make_database(path: Path, script: str, **rows: list[tuple[object, ...]]) -> Path:
    with closing(sqlite3.connect(path)) as connection, connection:
        connection.executescript(script)
        for table, values in rows.items():
            marks = ", ".join("?" * len(values[0]))
            connection.executemany(f"INSERT INTO {table} VALUES ({marks})", values)
    return path


OPENCODE = """
    CREATE TABLE session (id TEXT PRIMARY KEY, directory TEXT, title TEXT, parent_id TEXT,
        time_created INTEGER, time_updated INTEGER);
    CREATE TABLE message (id TEXT PRIMARY KEY, session_id TEXT, data TEXT);
    CREATE TABLE part (id TEXT PRIMARY KEY, message_id TEXT, session_id TEXT, data TEXT);
"""


def opencode(path: Path) -> Path:
    moment = 1_780_000_000_000
    parts = [
        ("p1", "m1", {"type": "text", "text": "What fails?"}),
        ("p2", "m1", {"type": "text", "text": "notes of the program", "synthetic": True}),
        ("p3", "m1", {"type": "file", "filename": "log.txt", "mime": "text/plain", "url": "data:"}),
        ("p4", "m2", {"type": "step-start"}),
        ("p5", "m2", {"type": "reasoning", "text": "Run it."}),
        ("p6", "m2", {"type": "tool", "tool": "bash", "callID": "c1", "state": {
            "status": "completed", "input": {"command": "pytest"}, "output": "1 failed"}}),
        ("p7", "m2", {"type": "text", "text": "One test fails."}),
    ]  # fmt: skip
    return make_database(
        path,
        OPENCODE,
        session=[
            ("ses_1", "/home/ann", "A failing test", None, moment, moment + 5_000),
            ("ses_2", "/home/ann", "Explore", "ses_1", moment, moment),
        ],
        message=[
            ("m1", "ses_1", json.dumps({"role": "user", "time": {"created": moment}})),
            ("m2", "ses_1", json.dumps({
                "role": "assistant", "modelID": "claude-opus-4-8", "time": {"created": moment}})),
            ("m3", "ses_2", json.dumps({"role": "user"})),
        ],
        part=[(name, of, "ses_1", json.dumps(data)) for name, of, data in parts],
    )  # fmt: skip


def opencode_of_whole_messages(path: Path) -> Path:
    """The second schema, with one message per row, next to a session of the first."""
    moment = 1_780_000_000_000
    tool = {"type": "tool", "id": "c1", "name": "bash", "state": {
        "status": "completed", "input": {"command": "pytest"},
        "content": [{"type": "text", "text": "1 failed"}]}}  # fmt: skip
    answer = [{"type": "reasoning", "text": "Run it."}, tool, {"type": "text", "text": "One."}]
    file = {"uri": PNG_URL, "mime": "image/png", "name": "log.png"}
    rows: list[tuple[str, object]] = [
        ("model-switched", {"model": {"id": "claude-opus-4-8"}}),
        ("user", {"text": "What fails?", "files": [file]}),
        ("assistant", {"content": answer, "model": {"id": "claude-opus-4-8"}}),
        ("compaction", {"summary": "…"}),
    ]
    opencode(path)
    return make_database(
        path,
        "CREATE TABLE session_v2 (id TEXT PRIMARY KEY, title TEXT, time_created INTEGER);"
        "CREATE TABLE session_message (id TEXT PRIMARY KEY, session_id TEXT, type TEXT,"
        " seq INTEGER, data TEXT);",
        session_v2=[("ses_9", "Again", moment)],
        session_message=[
            (
                f"msg_{9 - seq}",
                "ses_9",
                kind,
                seq,
                json.dumps({"time": {"created": moment}, **data}),
            )
            for seq, (kind, data) in enumerate(rows)
        ],
    )


LLM_OLD = """
    CREATE TABLE conversations (id TEXT PRIMARY KEY, name TEXT, model TEXT);
    CREATE TABLE responses (id TEXT PRIMARY KEY, model TEXT, prompt TEXT, system TEXT,
        response TEXT, conversation_id TEXT, datetime_utc TEXT, reasoning TEXT);
    CREATE TABLE tool_calls (id INTEGER PRIMARY KEY, response_id TEXT, name TEXT, arguments TEXT,
        tool_call_id TEXT);
    CREATE TABLE tool_results (id INTEGER PRIMARY KEY, response_id TEXT, name TEXT, output TEXT,
        tool_call_id TEXT, exception TEXT);
    CREATE TABLE attachments (id TEXT PRIMARY KEY, type TEXT, path TEXT, url TEXT, content BLOB);
    CREATE TABLE prompt_attachments (response_id TEXT, attachment_id TEXT, "order" INTEGER);
    CREATE TABLE fragments (id INTEGER PRIMARY KEY, hash TEXT, content TEXT, source TEXT);
    CREATE TABLE prompt_fragments (response_id TEXT, fragment_id INTEGER, "order" INTEGER);
"""
LLM_NEW = """
    CREATE TABLE messages (hash TEXT PRIMARY KEY, parent_hash TEXT, role TEXT,
        provider_metadata TEXT);
    CREATE TABLE parts (id INTEGER PRIMARY KEY, message_hash TEXT, position INTEGER, type TEXT,
        tool_name TEXT, text TEXT, payload TEXT);
    CREATE TABLE threads (id TEXT PRIMARY KEY, name TEXT, tip_message_hash TEXT, forked_from TEXT,
        datetime_utc TEXT);
    CREATE TABLE turns (id TEXT PRIMARY KEY, thread_id TEXT, parent_message_hash TEXT,
        tip_message_hash TEXT, model TEXT, datetime_utc TEXT);
"""


def llm_old(path: Path) -> Path:
    """A conversation with a tool, and a prompt without a conversation."""
    return make_database(
        path,
        LLM_OLD,
        conversations=[("k1", "Sums", "gpt-5")],
        responses=[
            ("r1", "gpt-5", "What is 2+2?", None, "", "k1", "2026-04-01T10:00:00", None),
            ("r2", "gpt-5", "", None, "It is 4.", "k1", "2026-04-01T10:00:05", "Easy."),
            ("r3", "gpt-5", "Alone.", None, "Indeed.", None, "2026-04-02T10:00:00", None),
        ],
        tool_calls=[(1, "r1", "add", '{"a": 2, "b": 2}', "t1")],
        tool_results=[(1, "r2", "add", "4", "t1", None)],
        attachments=[("x", "image/png", "/tmp/sum.png", None, b"")],
        prompt_attachments=[("r1", "x", 0)],
        fragments=[(1, "h", "Use the tool.", "/tmp/rules.txt")],
        prompt_fragments=[("r1", 1, 0)],
    )


def llm_new(path: Path) -> Path:
    """A thread whose second question was asked in two ways, and one with a fragment and a tool."""
    call = json.dumps({"arguments": {"a": 1}, "tool_call_id": "t1"})
    answer = json.dumps({"output": "2", "tool_call_id": "t1"})
    borrowed = json.dumps({"text_ref": [{"fragment": 1}, {"literal": "\nAnd now?"}]})
    return make_database(
        path,
        LLM_OLD + LLM_NEW,
        fragments=[(1, "h", "A long novel.", None)],
        messages=[
            ("b2:s", None, "system", None),
            ("b2:1", "b2:s", "user", None),
            ("b2:2", "b2:1", "assistant", None),
            ("b2:3", "b2:2", "user", None),
            ("b2:4", "b2:3", "assistant", None),
            ("b2:5", "b2:2", "user", None),
            ("b2:6", "b2:5", "assistant", None),
        ],
        parts=[
            (1, "b2:s", 0, "text", None, "Be brief.", None),
            (2, "b2:1", 0, "text", None, None, borrowed),
            (3, "b2:2", 0, "reasoning", None, "Hm.", None),
            (4, "b2:2", 1, "tool_call", "next", None, call),
            (5, "b2:3", 0, "tool_result", "next", None, answer),
            (6, "b2:4", 0, "text", None, "Two.", None),
            (7, "b2:5", 0, "text", None, "Never mind.", None),
            (8, "b2:6", 0, "text", None, "Fine.", None),
        ],
        threads=[("k9", "A novel", "b2:4", None, "2026-09-01T10:00:00")],
        turns=[
            ("01", "k9", "b2:1", "b2:2", "gpt-5", "2026-09-01T10:00:01"),
            ("02", "k9", "b2:5", "b2:6", "gpt-5-mini", "2026-09-01T10:00:02"),
            ("03", "k9", "b2:3", "b2:4", "gpt-5", "2026-09-01T10:00:03"),
        ],
    )


def open_webui() -> dict[str, Any]:
    def message(name: str, parent: str | None, role: str, content: object, **more: Any) -> Node:
        fields = {"id": name, "parentId": parent, "childrenIds": [], "role": role}
        return fields | {"content": content, "timestamp": 1_780_000_000 + len(name), **more}

    picture = [
        {"type": "text", "text": "Look"},
        {"type": "image_url", "image_url": {"url": "data:"}},
    ]
    messages = [
        message("1", None, "user", "Name a colour."),
        message("2", "1", "assistant", "Red.", model="llama4"),
        message("3", "1", "assistant", "Blue.", model="qwen3"),
        message("4", "2", "user", picture),
        message("5", "4", "assistant", "A kite.", model="llama4"),
    ]
    history = {"currentId": "5", "messages": {each["id"]: each for each in messages}}
    return {
        "id": "c0ffee00-1111-4222-8333-444455556666",
        "user_id": "ann",
        "title": "Colours",
        "chat": {"title": "Colours", "models": ["llama4"], "history": history, "messages": []},
        "created_at": 1_780_000_000,
        "updated_at": 1_780_000_100,
    }


def open_webui_with(**file: object) -> dict[str, Any]:
    """A chat with one question that has a picture attached."""
    asked = {"id": "1", "role": "user", "content": "Look", "timestamp": 1_780_000_000}
    asked["files"] = [{"type": "image", **file}]
    return {"id": "c1", "title": "Kites", "chat": {"messages": [asked]}}


def librechat_with(**file: object) -> dict[str, Any]:
    """A question with an attached file."""
    asked = {"messageId": "m1", "text": "Look", "isCreatedByUser": True}
    asked["files"] = [{"filename": "kite.txt", **file}]
    return {"conversationId": "d1", "title": "Kites", "messages": [asked]}


def librechat(*, recursive: bool) -> dict[str, Any]:
    none = "00000000-0000-0000-0000-000000000000"

    def message(name: str, parent: str, sender: str, text: str, **more: Any) -> Node:
        return {
            "messageId": name,
            "parentMessageId": parent,
            "text": text,
            "sender": sender,
            "isCreatedByUser": sender == "User",
            "createdAt": "2026-02-03T04:05:06.000Z",
            **more,
        }

    search = {"id": "t1", "name": "search", "args": '{"q": "kite"}', "output": "A toy."}
    answer = [
        {"type": "think", "think": "Search first."},
        {"type": "tool_call", "tool_call": search},
        {"type": "text", "text": {"value": "It is a toy."}},
    ]
    messages = [
        message("m1", none, "User", "What is a kite?"),
        message("m2", "m1", "GPT", "", content=answer, model="gpt-5"),
        message("m3", "m1", "GPT", "A bird."),
    ]
    fields: dict[str, Any] = {
        "conversationId": "d00d0000-1111-4222-8333-444455556666",
        "title": "Kites",
        "endpoint": "openAI",
        "options": {"model": "gpt-5-mini"},
        "recursive": recursive,
    }
    if not recursive:
        return fields | {"messages": messages}
    first, *rest = messages
    return fields | {"messagesTree": [first | {"children": [e | {"children": []} for e in rest]}]}


def sillytavern() -> list[dict[str, Any]]:
    return [
        {"user_name": "unused", "character_name": "unused", "create_date": "2026-01-01",
         "chat_metadata": {"integrity": "abc-123"}},
        {"name": "Ann", "is_user": True, "is_system": False, "send_date": "2026-01-01T10:00:00Z",
         "mes": "Hello."},
        {"name": "Bo", "is_user": False, "is_system": False, "mes": "Ahoy, edited.", "swipe_id": 1,
         "send_date": "January 1, 2026 10:01am", "swipes": ["Hi.", "Ahoy.", "Hey."],
         "swipe_info": [{"send_date": 1_767_261_600_000, "extra": {"model": "qwen3"}}, {}, {}],
         "extra": {"model": "llama4", "reasoning": "A sailor."}},
        {"name": "System", "is_user": False, "is_system": True, "mes": "hidden",
         "send_date": "2026-01-01 @10h 02m 03s"},
        {"name": "Ann", "is_user": True, "is_system": False, "mes": "Aye.",
         "send_date": "2026-01-01 @10h 02m 03s"},
    ]  # fmt: skip


def gemini_entry(minute: int, title: str, *answers: str, **more: Any) -> dict[str, Any]:
    return {
        "header": "Gemini Apps",
        "title": title,
        "time": f"2026-03-01T{10 + minute // 60}:{minute % 60:02}:00.000Z",
        "products": ["Gemini Apps"],
        "safeHtmlItem": [{"html": answer} for answer in answers],
        **more,
    }


def gemini() -> list[dict[str, Any]]:
    """Two conversations, the newest entry first, as Takeout has it."""
    code = "<p>Use <b>ls</b> &amp; look:</p><pre><code>ls -l\n</code></pre><ul><li>a</li></ul>"
    return [
        gemini_entry(95, "Prompted Thanks"),
        gemini_entry(90, "Prompted How do I list files?", code, "<p>Ask a friend.</p>"),
        gemini_entry(20, "Used an extension"),
        gemini_entry(10, "Prompted And France?", "<p>Paris</p>", attachedFiles=["map.png"]),
        gemini_entry(0, "Prompted What is the capital of Italy?", "<p>Rome</p>"),
        gemini_entry(5, "Watched a film") | {"header": "YouTube", "products": ["YouTube"]},
    ]
