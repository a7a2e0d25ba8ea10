"""A small Claude Code session with everything that makes these files hard to read."""

from __future__ import annotations

from typing import Any

SESSION = "5c1f3c0e-8b1d-4c47-9a51-0d6f6f0a7b11"


def line(uuid: str, parent: str | None, kind: str, content: object, **more: Any) -> dict[str, Any]:
    message: dict[str, Any] = {"role": kind, "content": content}
    if kind == "assistant":
        message |= {"id": more.pop("answer"), "model": "claude-opus-4-8", "type": "message"}
    return {
        "uuid": uuid,
        "parentUuid": parent,
        "type": kind,
        "sessionId": SESSION,
        "cwd": "/home/ann/harbor",
        "gitBranch": "main",
        "version": "2.1.9",
        "isSidechain": False,
        "timestamp": f"2026-07-01T09:{len(uuid):02}:00.000Z",
        "message": message,
        **more,
    }


def result(call: str, content: object, *, is_error: bool = False) -> list[dict[str, Any]]:
    return [{"type": "tool_result", "tool_use_id": call, "content": content, "is_error": is_error}]


def call(name: str, identity: str, **given: object) -> list[dict[str, Any]]:
    return [{"type": "tool_use", "id": identity, "name": name, "input": given}]


def claude_code_session() -> list[dict[str, Any]]:
    """A question, an answer with two calls at once, and one branch that was rewound."""
    read, listed = call("Read", "t1", path="a.py"), call("Bash", "t2", command="ls")
    command = "<command-name>/clear</command-name>\n<command-message>clear</command-message>"
    asked = "Why does a.py fail?\n<system-reminder>not said</system-reminder>"
    return [
        {"type": "file-history-snapshot", "messageId": "x", "snapshot": {}},
        line("u0", None, "user", command),
        line("u1", "u0", "user", asked),
        line("a1", "u1", "assistant", [{"type": "thinking", "thinking": "Look."}], answer="m1"),
        line("a2", "a1", "assistant", [{"type": "text", "text": "I look."}], answer="m1"),
        line("a3", "a2", "assistant", read, answer="m1"),
        line("r1", "a3", "user", result("t1", [{"type": "text", "text": "import b"}])),
        line("a4", "a3", "assistant", listed, answer="m1"),
        line("r2", "a4", "user", result("t2", "No such file", is_error=True)),
        {"type": "progress", "uuid": "p1", "parentUuid": "r2", "sessionId": SESSION},
        line("s1", "p1", "assistant", "aside", answer="m8") | {"isSidechain": True},
        line("b1", "p1", "assistant", [{"type": "text", "text": "b is missing."}], answer="m2"),
        line("u2", "b1", "user", [{"type": "text", "text": "Then write b.py."}]),
        line("b2", "u2", "assistant", [{"type": "text", "text": "Written."}], answer="m3"),
        line("u3", "b1", "user", "No, delete the import."),
        line("b3", "u3", "assistant", [{"type": "text", "text": "Deleted."}], answer="m4"),
        {"type": "summary", "summary": "A missing module", "leafUuid": "b3"},
    ]
