"""A turn in which tools are called, as the messages of its last request."""

from __future__ import annotations

import json
from typing import TYPE_CHECKING

from jitchat.providers.protocols.protocol import protocol_named
from jitchat.providers.provider import Options
from jitchat.values import Echo, Message, Role, Tool, ToolCall, ToolResult, ToolUse
from jitchat.writing.calls import (
    arguments_object,
    given_id,
)
from tests.providers.golden import WINDOW
from tests.providers.requested import requested
from tests.providers.streams import endpoint
from tests.support import result_message

if TYPE_CHECKING:
    from collections.abc import Sequence

FIELDS = {
    "openai": "messages",
    "responses": "input",
    "anthropic": "messages",
    "gemini": "contents",
    "ollama": "messages",
}
"""Where a request of each protocol has its messages."""
WEATHER = Tool(
    "weather",
    "The weather of a city, today.",
    json.dumps(
        {
            "type": "object",
            "properties": {"city": {"type": "string"}, "days": {"type": "integer"}},
            "required": ["city"],
            "additionalProperties": False,
        }
    ),
)
CLOCK = Tool("clock", "The time now.", '{"type": "object"}')
OFFERED = Options(tools=(WEATHER, CLOCK))

FIRST = (ToolCall("toolu_01", "weather", '{"city":"Köln"}'), ToolCall("toolu_02", "clock", ""))
THOUGHT = "The city, then the time."
ENCRYPTED = {"responses": "gAAAAAB", "gemini": "CpQBAVSoXO4="}
"""What these protocols want back in place of a thought."""


def echo_of(protocol_name: str, calls: Sequence[ToolCall] = FIRST) -> Echo:
    """What a protocol wants back with an answer that makes these calls."""
    return Echo(f"{protocol_name}:openai/m", json.dumps(_ECHOES[protocol_name](calls)))


def _responses(calls: Sequence[ToolCall]) -> list:
    thought = {"id": "rs_1", "type": "reasoning", "summary": [], "encrypted_content": "gAAAAABé="}
    items = [
        {
            "id": f"fc_{number}",
            "type": "function_call",
            "status": "completed",
            "call_id": call.id,
            "name": call.name,
            "arguments": call.arguments,
        }
        for number, call in enumerate(calls)
    ]
    return [thought, *items]


def _anthropic(calls: Sequence[ToolCall]) -> list:
    return [
        {"type": "thinking", "thinking": THOUGHT, "signature": "EqQBCgIYAhIM+/="},
        {"type": "redacted_thinking", "data": "EmwKAhgB"},
        {"type": "text", "text": "I look."},
        *(
            {"type": "tool_use", "id": c.id, "name": c.name, "input": arguments_object(c)}
            for c in calls
        ),
    ]


def _gemini(calls: Sequence[ToolCall]) -> list:
    parts = [
        {"functionCall": {"name": c.name, "args": arguments_object(c)} | _given(c)} for c in calls
    ]
    parts[0]["thoughtSignature"] = "CpQBAVSoXO4="
    return [{"text": "I look."}, *parts]


def _given(call: ToolCall) -> dict[str, str]:
    return {"id": call.id} if given_id(call.id) else {}


_ECHOES = {
    "openai": lambda _: {"reasoning_content": THOUGHT},
    "responses": _responses,
    "anthropic": _anthropic,
    "gemini": _gemini,
    "ollama": lambda _: {"thinking": THOUGHT},
}


def steps(protocol_name: str) -> tuple[Message, ...]:
    """Two answers with calls and their results; only the first one has an echo."""
    broken = ToolCall("call00003", "weather", '{"city": "Bo')
    return (
        Message(Role.ASSISTANT, "I look.", 7, ToolUse(FIRST, echo_of(protocol_name))),
        result_message(ToolResult(FIRST[0], "21 °C"), 8),
        result_message(ToolResult(FIRST[1], "No clock here.", is_error=True), 9),
        Message(Role.ASSISTANT, "", 10, ToolUse((broken,))),
        result_message(ToolResult(broken, "Not JSON.", is_error=True), 11),
    )


def sent(protocol_name: str, messages: Sequence[Message], options: Options = OFFERED) -> dict:
    request = requested(protocol_named(protocol_name), endpoint(), messages, options)
    return json.loads(request.content)


def sent_messages(
    protocol_name: str, messages: Sequence[Message], options: Options = OFFERED
) -> list:
    return sent(protocol_name, messages, options)[FIELDS[protocol_name]]


def turn_with_tools(protocol_name: str) -> tuple[Message, ...]:
    return (*WINDOW, *steps(protocol_name))
