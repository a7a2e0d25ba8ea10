"""Content blocks as in Anthropic's Messages API, Claude's export and Claude Code."""

from collections.abc import Callable, Iterator, Mapping

from jitchat.store.imported import IncomingFile
from jitchat.transfer.attached import base64_piece, text_piece
from jitchat.transfer.incoming import Tally
from jitchat.transfer.json_text import as_arguments, as_json, mapping, moment_of, sequence, text
from jitchat.transfer.pieces import Piece, Result, Text, Thought, attachment, sources_below
from jitchat.values import ToolCall

_Block = Mapping[str, object]


def pieces_of(content: object, tally: Tally) -> Iterator[Piece]:
    """Read a message's content: a string or a list of blocks."""
    if isinstance(content, str):
        yield Text(content)
        return
    for block in sequence(content):
        fields = mapping(block)
        kind = text(fields.get("type"))
        if kind in _KINDS:
            yield _KINDS[kind](fields)
        elif kind in ("image", "document"):
            yield _file(kind, fields, tally)
        elif kind == "tool_result":
            yield _result(fields, tally)
        elif isinstance(block, str):
            yield Text(block)
        elif kind not in _SILENT:
            tally.skip("block of unknown kind", block)


def _file(kind: str, block: _Block, tally: Tally) -> Piece:
    name, source = text(block.get("title")) or text(block.get("file_name")), block.get("source")
    data = text(mapping(source).get("data"))
    if mapping(source).get("type") == "text" and data:
        return text_piece(tally, name, data)
    is_pdf = mapping(source).get("media_type") == "application/pdf" and "." not in name
    return base64_piece(tally, kind, f"{name or kind}.pdf" if is_pdf and data else name, data)


def _call(block: _Block) -> Piece:
    given = block.get("input")
    return ToolCall(text(block.get("id")), text(block.get("name")) or "tool", as_arguments(given))


def _result(block: _Block, tally: Tally) -> Piece:
    moment = moment_of(block.get("stop_timestamp")) or moment_of(block.get("start_timestamp"))
    parts = [mapping(part) for part in sequence(block.get("content"))]
    kept = (_file("image", part, tally) for part in parts if part.get("type") == "image")
    files = tuple(piece for piece in kept if isinstance(piece, IncomingFile))
    call = text(block.get("tool_use_id"))
    is_error = block.get("is_error") is True
    return Result(call, result_text(block.get("content")), is_error, moment, files)


def result_text(content: object) -> str:
    """Return a tool result as text: images by name only, other content as JSON."""
    if isinstance(content, str):
        return content
    if content is None:
        return ""
    parts = sequence(content) if isinstance(content, list) else (content,)
    return "\n\n".join(_part_text(part) for part in parts)


def _part_text(part: object) -> str:
    if isinstance(part, str):
        return part
    fields = mapping(part)
    if said := text(fields.get("text")):
        return "\n".join(filter(None, (text(fields.get("title")), text(fields.get("url")), said)))
    kind = text(fields.get("type"))
    if kind in ("image", "document", "file"):
        return attachment(kind, text(fields.get("name")) or text(fields.get("filename"))).text
    return as_json(part)


def _text(block: _Block) -> Piece:
    said = text(block.get("text"))
    listed = sources_below(said, block.get("citations"))
    return Text(f"{said}\n\n{listed}" if listed else said)


_KINDS: dict[str, Callable[[_Block], Piece]] = {
    "text": _text,
    "thinking": lambda block: Thought(text(block.get("thinking")) or text(block.get("text"))),
    "tool_use": _call,
    "server_tool_use": _call,
}
_SILENT = ("redacted_thinking", "token_budget", "flag")
"""Block types without content of the conversation."""
