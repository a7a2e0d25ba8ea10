"""A server's results as the text that a model reads. Pure."""

import json
from collections.abc import Iterable
from typing import Any

import mcp_types as types

from jitchat.text.figures import plural
from jitchat.text.sanitize import one_line, repair

_EMPTY = "The tool gave back nothing."


def text_of(result: types.CallToolResult) -> str:
    """Write a result: its texts, values that no text repeats, and a line for other content."""
    parts = [block_text(block) for block in result.content]
    values = result.structured_content
    if values is not None and not _says_the_same(parts, values):
        parts.append(json.dumps(values, indent=2, ensure_ascii=False))
    return repair("\n\n".join(filter(None, parts)) or _EMPTY)


def _says_the_same(parts: Iterable[str], values: Any) -> bool:  # noqa: ANN401  any JSON
    """Whether the texts repeat the values, as servers do for older clients."""
    read = [_value_of(part) for part in parts]
    alone = values.get("result") if isinstance(values, dict) and len(values) == 1 else values
    return any(each in (values, alone) for each in (read, *read, *parts))


def _value_of(text: str) -> Any:  # noqa: ANN401  any JSON
    try:
        return json.loads(text)
    except (ValueError, RecursionError):
        return text


def block_text(block: types.ContentBlock) -> str:
    match block:
        case types.TextContent():
            return block.text
        case types.ImageContent() | types.AudioContent():
            return _named(block.type, block.mime_type, size=_bytes_of(block.data))
        case types.ResourceLink():
            return _named("resource", block.mime_type, f"{block.name}: {block.uri}")
        case types.EmbeddedResource():
            return resource_text(block.resource)


def resource_text(resource: types.TextResourceContents | types.BlobResourceContents) -> str:
    """Write a resource: its text below its address, or a line for other content."""
    if isinstance(resource, types.TextResourceContents):
        return f"{one_line(resource.uri)}\n{resource.text}"
    return _named("resource", resource.mime_type, resource.uri, _bytes_of(resource.blob))


def _named(kind: str, mime_type: str | None, name: str = "", size: int | None = None) -> str:
    parts = [one_line(part) for part in (kind, name, mime_type or "") if part]
    if size is not None:
        parts.append(plural(size, "byte"))
    return f"[{', '.join(parts)}; not shown]"


def _bytes_of(base64: str) -> int:
    return len(base64.rstrip("=")) * 3 // 4


def prompt_text(result: types.GetPromptResult) -> str:
    """Write the messages of a prompt, with their roles unless all are the user's."""
    spoken = [(message.role, block_text(message.content)) for message in result.messages]
    if {role for role, _ in spoken} <= {"user"}:
        return repair("\n\n".join(text for _, text in spoken))
    return repair("\n\n".join(f"{role}: {text}" for role, text in spoken))


def annotation_words(tool: types.Tool) -> tuple[str, ...]:
    """Return in words what a server claims about a tool."""
    hints = tool.annotations
    if hints is None:
        return ()
    words = (
        (hints.read_only_hint, "read only", "not read only"),
        (hints.destructive_hint, "destructive", "not destructive"),
        (hints.idempotent_hint, "safe to repeat", "not safe to repeat"),
        (hints.open_world_hint, "accesses external systems", "accesses no external systems"),
    )
    return tuple(yes if hint else no for hint, yes, no in words if hint is not None)
