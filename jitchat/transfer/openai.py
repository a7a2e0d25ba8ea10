"""Message content in the format of OpenAI's chat completions, which many programs store."""

from collections.abc import Iterator, Mapping

from jitchat.transfer.attached import url_piece
from jitchat.transfer.fields import as_arguments, mapping, sequence, text
from jitchat.transfer.incoming import Piece, Tally, Text, Thought
from jitchat.transfer.sources import sources_below
from jitchat.values import ToolCall


def content_pieces(content: object, tally: Tally) -> Iterator[Piece]:
    """Read a message's content: a string or a list of parts."""
    if isinstance(content, str):
        yield Text(content)
        return
    for part in sequence(content):
        fields = mapping(part)
        kind = text(fields.get("type"))
        if isinstance(part, str):
            yield Text(part)
        elif kind in ("text", "input_text", "output_text", "refusal"):
            said = _text(fields.get("text")) or text(fields.get("refusal"))
            cited = mapping(fields.get("text")).get("annotations")
            listed = sources_below(said, cited, fields.get("annotations"))
            yield from (Text(part) for part in (said, listed) if part)
        elif kind in ("think", "reasoning", "thinking"):
            yield Thought(_text(fields.get("think")) or _text(fields.get("text")))
        elif kind in ("image_url", "input_image", "image", "image_file", "file", "input_audio"):
            named = mapping(fields.get(kind))
            name = text(named.get("filename")) or text(named.get("file_id"))
            url = text(named.get("url")) or text(named.get("file_data")) or text(fields.get(kind))
            url = url or text(fields.get("image_url"))
            is_image = kind.startswith(("image", "input_i"))
            yield url_piece(tally, "image" if is_image else "file", name, url)
        else:
            tally.skip("part of unknown kind", part)


def _text(value: object) -> str:
    """Return a string, or the string under `value` of an object."""
    return text(value) or text(mapping(value).get("value"))


def call_pieces(calls: object) -> Iterator[Piece]:
    """Read `tool_calls`."""
    for each in sequence(calls):
        fields: Mapping[str, object] = mapping(each)
        function = mapping(fields.get("function")) or fields
        name = text(function.get("name")) or "tool"
        given = as_arguments(function.get("arguments"))
        yield ToolCall(text(fields.get("id")) or name, name, given)
