"""What tools, calls and results cost, as the model's prompt represents them.

No provider passes the posted tools to its model unchanged: OpenAI writes tools as TypeScript
types, Anthropic adds instructions before them, and templates of open models list them as JSON. That
text is reproduced here and counted like any other. The calibration learns what a provider adds
beyond it.
"""

import json
from collections.abc import Callable, Iterable, Mapping
from dataclasses import dataclass
from enum import StrEnum
from typing import Any

from jitchat.values import Tool, ToolCall, ToolUse

Count = Callable[[str], int]
"""Tokens of a text."""


class Style(StrEnum):
    """How a model's prompt represents tools."""

    TYPES = "types"
    """OpenAI, in both of its APIs: a namespace of functions."""
    INVOKED = "invoked"
    """Anthropic: one schema per tool, and calls as elements."""
    DECLARED = "declared"
    """Gemini: declarations."""
    LISTED = "listed"
    """Templates of open models: one line of JSON per tool, and calls in tags."""


_AROUND = {Style.TYPES: 13, Style.INVOKED: 346, Style.DECLARED: 0, Style.LISTED: 87}
"""Tokens, once, if any tool is offered: the namespace's frame; what Anthropic documents for
`tool_choice: auto`; 0, since Gemini documents none; the text on tools in Qwen 2.5's template."""
_PER_RESULT = {Style.TYPES: 8, Style.INVOKED: 14, Style.DECLARED: 6, Style.LISTED: 12}
"""Tokens around a result and its tool's name: the role, and the tags."""


def style_of(protocol: str, *, by_openai: bool = False) -> Style:
    """Choose by the protocol's name and by whether the model is OpenAI's."""
    if by_openai or protocol == "responses":
        return Style.TYPES
    return {"anthropic": Style.INVOKED, "gemini": Style.DECLARED}.get(protocol, Style.LISTED)


@dataclass(frozen=True, slots=True)
class ToolPrices:
    """In tokens."""

    around: int
    """Once, for all tools; 0 if there are none."""
    each: tuple[tuple[str, int], ...]
    """Name and tokens of each tool, in the order in which they are sent."""

    @property
    def total(self) -> int:
        return self.around + sum(tokens for _, tokens in self.each)


def tool_prices(tools: Iterable[Tool], count: Count, style: Style = Style.LISTED) -> ToolPrices:
    """Price each tool that is offered."""
    each = sorted((tool.name, count(_defined(tool, style))) for tool in tools)
    return ToolPrices(_AROUND[style] if each else 0, tuple(each))


def call_tokens(call: ToolCall, count: Count, style: Style = Style.LISTED) -> int:
    """Price a call within the assistant's message."""
    return count(_called(call, style))


def tool_tokens(use: ToolUse, count: Count, style: Style = Style.LISTED) -> int:
    """Price a message's tool calls or result, without its text and the overhead of every message.

    Reasoning that is handed back is not included, because its text is hidden; its tokens are those
    that were reported for the reply's reasoning.
    """
    calls = sum(call_tokens(call, count, style) for call in use.calls)
    answered = use.answers
    return calls if answered is None else calls + count(answered.name) + _PER_RESULT[style]


def _defined(tool: Tool, style: Style) -> str:
    schema = json.loads(tool.schema) if tool.schema.strip() else {}
    if style is Style.TYPES:
        return _as_type(tool, schema)
    known = {"name": tool.name, "description": tool.description, "parameters": schema}
    if style is Style.LISTED:
        return json.dumps({"type": "function", "function": known}, ensure_ascii=False) + "\n"
    written = json.dumps(known, ensure_ascii=False, separators=(",", ":"))
    return f"<function>{written}</function>\n" if style is Style.INVOKED else written


def _called(call: ToolCall, style: Style) -> str:
    arguments = call.arguments or "{}"
    match style:
        case Style.TYPES:
            return f" to=functions.{call.name}<|constrain|>json{arguments}"
        case Style.INVOKED:
            parameter = f'<parameter name="">{arguments}</parameter>'
            return f'<invoke name="{call.name}">\n{parameter}</invoke>\n'
        case Style.DECLARED:
            return f'{{"name":"{call.name}","args":{arguments}}}'
        case Style.LISTED:
            body = f'{{"name": "{call.name}", "arguments": {arguments}}}'
            return f"\n<tool_call>\n{body}\n</tool_call>"


_DEPTH = 8
"""Levels of a schema that are written out. OpenAI writes all; real schemas have no more."""


def _as_type(tool: Tool, schema: Mapping[str, Any]) -> str:
    """Write a tool as in OpenAI's prompt: its arguments as a type, described by comments."""
    lines = [f"// {line}" for line in tool.description.splitlines()]
    fields = _fields(schema, "", _DEPTH)
    head = f"type {tool.name} = (_: {{" if fields else f"type {tool.name} = () => any;"
    return "\n".join([*lines, head, *fields, *(["}) => any;"] if fields else []), "", ""])


def _fields(schema: Mapping[str, Any], indent: str, depth: int) -> list[str]:
    lines = []
    properties, required = schema.get("properties"), schema.get("required")
    for name, field in properties.items() if isinstance(properties, dict) else ():
        if not isinstance(field, dict):
            continue
        lines += [f"{indent}// {line}" for line in str(field.get("description", "")).splitlines()]
        is_required = isinstance(required, list) and name in required
        default = f", // default: {json.dumps(field['default'])}" if "default" in field else ","
        kind = _kind(field, indent, depth)
        lines.append(f"{indent}{name}{'' if is_required else '?'}: {kind}{default}")
    return lines


def _kind(field: Mapping[str, Any], indent: str, depth: int) -> str:
    choices = field.get("enum")
    if isinstance(choices, list):
        return " | ".join(map(json.dumps, choices))
    options = field.get("anyOf") or field.get("oneOf")
    if isinstance(options, list):
        return " | ".join(_inner(option, indent, depth) for option in options)
    match field.get("type"):
        case "array":
            return f"{_inner(field.get('items'), indent, depth)}[]"
        case "object" if depth and field.get("properties"):
            inner = _fields(field, indent + "  ", depth - 1)
            return "\n".join(["{", *inner, f"{indent}}}"])
        case list() as names:
            return " | ".join(map(str, names))
        case name:
            return _NAMES.get(str(name), str(name))


_NAMES = {"integer": "number", "None": "any"}


def _inner(field: object, indent: str, depth: int) -> str:
    return _kind(field, indent, depth - 1) if isinstance(field, dict) and depth else "any"
