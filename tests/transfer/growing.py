"""Sources that grow: each can be written up to any of its items, in the order of their writing."""

from __future__ import annotations

import sqlite3
from contextlib import closing
from dataclasses import dataclass
from typing import TYPE_CHECKING, Any

from tests.transfer import exports
from tests.transfer.claude_code import SESSION, call, claude_code_session, line, result
from tests.transfer.exports import chatgpt, chatgpt_node, claude, claude_message, said
from tests.transfer.files import jsonl, locomo_sample, plain_turns, written

if TYPE_CHECKING:
    from collections.abc import Callable, Sequence
    from pathlib import Path

    Write = Callable[[Path, int], Path]


@dataclass(frozen=True)
class Growing:
    name: str
    items: int
    write: Write
    """Write the first items into a folder; return the file."""


def lines(name: str, items: Sequence[Any]) -> Growing:
    return Growing(
        name, len(items), lambda folder, count: written(folder, name, jsonl(list(items[:count])))
    )


def values(name: str, items: Sequence[Any], whole: Callable[[Sequence[Any]], Any]) -> Growing:
    """A file that is written anew, with more in it."""
    return Growing(
        name, len(items), lambda folder, count: written(folder, name, whole(items[:count]))
    )


def rows(name: str, make: Callable[[Path], Path], table: str, then: str = "") -> Growing:
    """A database, with the first rows of a table; `then` is a statement that follows."""

    def write(folder: Path, count: int) -> Path:
        path = folder / name
        path.unlink(missing_ok=True)
        make(path)
        with closing(sqlite3.connect(path)) as connection, connection:
            connection.execute(
                f"DELETE FROM {table} WHERE rowid NOT IN"
                f" (SELECT rowid FROM {table} ORDER BY rowid LIMIT {count})"
            )
            connection.executescript(then)
        return path

    return Growing(f"{name} {make.__name__}", 8, write)


def snapshot(uuid: str, parent: str, text: str, answer: str = "m9") -> dict[str, Any]:
    return line(uuid, parent, "assistant", [{"type": "text", "text": text}], answer=answer)


def queued(uuid: str, parent: str, prompt: object, **more: Any) -> dict[str, Any]:
    attached = {
        "type": "queued_command", "commandMode": "prompt", "origin": {"kind": "human"},
        "prompt": prompt, **more,
    }  # fmt: skip
    return attachment(uuid, parent, attached)


def attachment(uuid: str, parent: str, attached: dict[str, Any]) -> dict[str, Any]:
    given = line(uuid, parent, "user", "") | {"type": "attachment", "attachment": attached}
    del given["message"]
    return given


def operation(name: str, content: str = "", second: int = 0) -> dict[str, Any]:
    given = {
        "type": "queue-operation", "operation": name, "sessionId": SESSION,
        "timestamp": f"2026-07-01T10:00:{second:02}.000Z",
    }  # fmt: skip
    return given | ({"content": content} if content else {})


COMMAND = (
    "<command-message>review is running</command-message>\n<command-name>/review</command-name>\n"
    "<command-args>the auth module</command-args>"
)


def busy_session() -> list[dict[str, Any]]:
    """A session with messages typed while it worked, files, commands, snapshots and repeats."""
    first = line("u1", None, "user", "Read notes.md and sum up.")
    file = {
        "type": "file", "filename": "/home/ann/notes.md", "displayPath": "notes.md",
        "content": {"type": "text", "file": {"content": "# Tides"}},
    }  # fmt: skip
    session = [
        first,
        attachment("f1", "u1", file),
        line("a1", "f1", "assistant", [{"type": "thinking", "thinking": "Hm."}], answer="m1"),
        line("a2", "a1", "assistant", call("Read", "t1", path="notes.md"), answer="m1"),
        operation("enqueue", "Also check the sources.", 1),
        operation("enqueue", "And be brief.", 2),
        operation("remove"),
        queued("q1", "a2", "Also check the sources."),
        line("r1", "q1", "user", result("t1", "# Tides\nHigh at six.")),
        queued("q2", "r1", [{"type": "text", "text": "And be brief."}]),
        snapshot("a3", "q2", "Old"),
        snapshot("a4", "a3", "Old pond"),
        snapshot("a5", "a4", "Old pond, frog"),
        line("u2", "a5", "user", COMMAND),
        line("b1", "u2", "assistant", [{"type": "text", "text": "It is sound."}], answer="m2"),
        line("b1", "u2", "assistant", [{"type": "text", "text": "It is sound."}], answer="m2"),
        line("u3", "b1", "user", "What does <system-reminder>x</system-reminder> mean?"),
        line("b2", "u3", "assistant", [{"type": "text", "text": "A reminder."}], answer="m3"),
        operation("enqueue", "Never mind.", 3),
        operation("popAll"),
        line("u4", "b2", "user", "Again"),
        line("b3", "u4", "assistant", call("Bash", "t2", command="ls"), answer="m4"),
        line("r2", "b3", "user", result("t2", "a.py")),
        line("u5", "r2", "user", "Again"),
        line("b4", "u5", "assistant", [{"type": "text", "text": "Done."}], answer="m5"),
    ]
    return [*session, *resumed(session), queued("q9", "x-b4", "One more thing.")]


def resumed(session: Sequence[dict[str, Any]]) -> list[dict[str, Any]]:
    """The same lines, as a program writes them when it resumes a session."""
    again = []
    for given in session:
        if given["type"] in ("user", "assistant"):
            parent = given["parentUuid"]
            uuids = {"uuid": f"x-{given['uuid']}", "parentUuid": parent and f"x-{parent}"}
            again.append(given | uuids)
    known = {given["uuid"] for given in again}
    for place, given in enumerate(again):
        if given["parentUuid"] not in known:
            again[place] = given | {"parentUuid": again[place - 1]["uuid"] if place else None}
    return again


def codex_that_was_resumed() -> list[dict[str, Any]]:
    head, context, *first = exports.codex_session(*exports.CODEX_ITEMS)
    more = exports.codex_session(said("user", "And now?"), said("assistant", "Nothing."))[2:]
    again = exports.codex_session(said("user", "List the files."), said("assistant", "As before."))
    return [head, context, *first, head, context, *first, *more, *again[2:]]


def chatgpt_nodes() -> list[dict[str, Any]]:
    node = chatgpt_node
    code = {"content_type": "code", "text": "print(1)"}
    output = {"content_type": "execution_output", "text": "1"}
    return [
        node("root", None, None),
        node("u1", "root", "user", text="When is high tide?", at=1.0),
        node("a1", "u1", "assistant", text="At six.", at=2.0),
        node("u2", "a1", "user", text="And low?", at=3.0),
        node("a2", "u2", "assistant", content=code, recipient="python", at=4.0),
        node("x2", "a2", "tool", content=output, name="python", at=5.0),
        node("a3", "x2", "assistant", text="At noon.", at=6.0),
        node("a4", "u1", "assistant", text="At seven.", at=7.0),
        node("u3", "root", "user", text="Is it deep?", at=8.0),
        node("a5", "u3", "assistant", text="Yes.", at=9.0),
    ]


def claude_messages() -> list[dict[str, Any]]:
    file = {"file_name": "kite.txt", "extracted_content": "red"}
    return [
        claude_message("1", "", "human", "Look", attachments=[file]),
        claude_message("22", "1", "assistant", "A kite."),
        claude_message("333", "22", "human", "Whose?"),
        claude_message("4444", "333", "assistant", "Mine."),
        claude_message("55555", "22", "human", "Which colour?"),
    ]


def open_webui_chat(messages: Sequence[dict[str, Any]]) -> list[dict[str, Any]]:
    chat = exports.open_webui()
    history = chat["chat"]["history"]
    history["messages"] = {message["id"]: message for message in messages}
    history["currentId"] = messages[-1]["id"] if messages else ""
    return [chat]


def jitchat_json(turns: Sequence[dict[str, Any]]) -> dict[str, Any]:
    talk = {
        "id": "talk", "title": "Talk", "created_at": "2026-03-01T10:00:00+00:00", "turns": turns,
    }  # fmt: skip
    return {"format": "jitchat", "version": 1, "conversations": [talk]}


def jitchat_turns() -> list[dict[str, Any]]:
    return [
        {
            "position": number,
            "role": "user" if number % 2 else "assistant",
            "content": f"Message {number}.",
            "created_at": f"2026-03-01T10:00:{number:02}+00:00",
            **({} if number % 2 else {"model": "m", "cost": 0.5, "usage": {"input_tokens": 3}}),
            **({"parent": 2} if number == 5 else {}),
        }
        for number in range(1, 9)
    ]


def sessions(count: int) -> dict[str, Any]:
    talk = [
        {"speaker": ("Bo", "Ann")[number % 2], "dia_id": f"D1:{number}", "text": f"No. {number}."}
        for number in range(1, count + 1)
    ]
    return locomo_sample(session_1=talk, session_2=[], session_10=[])


LAST_TIP = """
    UPDATE threads SET tip_message_hash = (SELECT tip_message_hash FROM turns ORDER BY id DESC)
"""
SOURCES = [
    lines(f"{SESSION}.jsonl", claude_code_session()),
    lines(f"{SESSION[:-1]}2.jsonl", busy_session()),
    lines("rollout-1.jsonl", exports.codex_session(*exports.CODEX_ITEMS)),
    lines("rollout-2.jsonl", codex_that_was_resumed()),
    lines("sillytavern.jsonl", exports.sillytavern()),
    lines("plain.jsonl", plain_turns(9)),
    values("chatgpt.json", chatgpt_nodes(), lambda nodes: [chatgpt(*nodes)]),
    values("claude.json", claude_messages(), lambda messages: [claude(*messages)]),
    values(
        "open-webui.json",
        list(exports.open_webui()["chat"]["history"]["messages"].values()),
        open_webui_chat,
    ),
    values(
        "librechat.json",
        exports.librechat(recursive=False)["messages"],
        lambda messages: exports.librechat(recursive=False) | {"messages": messages},
    ),
    values("gemini.json", exports.gemini()[::-1], lambda entries: list(entries)[::-1]),
    values("locomo.json", range(8), lambda numbers: [sessions(len(numbers))]),
    values("own.json", jitchat_turns(), jitchat_json),
    rows("opencode.db", exports.opencode, "part"),
    rows("opencode-2.db", exports.opencode_of_whole_messages, "session_message"),
    rows("llm.db", exports.llm_old, "responses"),
    rows("llm-2.db", exports.llm_new, "turns", LAST_TIP),
]
