"""A turn in which tools are called, as the messages of its last request."""

from __future__ import annotations

import json
from typing import TYPE_CHECKING

from jitchat.providers.protocols.protocol import protocol_named
from jitchat.providers.provider import Options
from jitchat.providers.tools import result_message
from jitchat.values import Echo, Message, Role, Tool, ToolCall, ToolResult
from tests.providers.golden import WINDOW
from tests.providers.streams import endpoint

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

ECHOES = {
    "openai": {"reasoning_content": "The city, then the time."},
    "responses": [
        {"id": "rs_1", "type": "reasoning", "summary": [], "encrypted_content": "gAAAAé"},
        {
            "id": "fc_1",
            "type": "function_call",
            "status": "completed",
            "call_id": "toolu_01",
            "name": "weather",
            "arguments": '{"city":"Köln"}',
        },
        {
            "id": "fc_2",
            "type": "function_call",
            "status": "completed",
            "call_id": "toolu_02",
            "name": "clock",
            "arguments": "{}",
        },
    ],
    "anthropic": [
        {
            "type": "thinking",
            "thinking": "The city, then the time.",
            "signature": "EqQBCgIYAhIM+/=",
        },
        {"type": "redacted_thinking", "data": "EmwKAhgB"},
        {"type": "text", "text": "I look."},
        {"type": "tool_use", "id": "toolu_01", "name": "weather", "input": {"city": "Köln"}},
        {"type": "tool_use", "id": "toolu_02", "name": "clock", "input": {}},
    ],
    "gemini": [
        {"text": "I look."},
        {
            "functionCall": {"name": "weather", "args": {"city": "Köln"}, "id": "toolu_01"},
            "thoughtSignature": "CpQBAVSoXO4=",
        },
        {"functionCall": {"name": "clock", "args": {}, "id": "toolu_02"}},
    ],
    "ollama": {"thinking": "The city, then the time."},
}
"""What each protocol wants back with the first answer of `steps`."""


def steps(protocol_name: str) -> tuple[Message, ...]:
    """Two answers with calls and their results; only the first one has an echo."""
    echo = Echo(f"{protocol_name}:openai/m", json.dumps(ECHOES[protocol_name]))
    first = ToolCall("toolu_01", "weather", '{"city":"Köln"}'), ToolCall("toolu_02", "clock", "")
    broken = ToolCall("call00003", "weather", '{"city": "Bo')
    return (
        Message(Role.ASSISTANT, "I look.", 7, first, echo),
        result_message(ToolResult("toolu_01", "weather", "21 °C"), 8),
        result_message(ToolResult("toolu_02", "clock", "No clock here.", is_error=True), 9),
        Message(Role.ASSISTANT, "", 10, (broken,)),
        result_message(ToolResult("call00003", "weather", "Not JSON.", is_error=True), 11),
    )


def sent(protocol_name: str, messages: Sequence[Message], options: Options = OFFERED) -> dict:
    request = protocol_named(protocol_name).request(endpoint(), messages, options)
    return json.loads(request.content)


def sent_messages(
    protocol_name: str, messages: Sequence[Message], options: Options = OFFERED
) -> list:
    return sent(protocol_name, messages, options)[FIELDS[protocol_name]]


def turn_with_tools(protocol_name: str) -> tuple[Message, ...]:
    return (*WINDOW, *steps(protocol_name))
