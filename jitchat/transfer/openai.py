"""Message content in the shape of OpenAI's chat completions, which many programs store."""

from collections.abc import Iterator, Mapping

from jitchat.transfer.fields import as_arguments, mapping, sequence, text
from jitchat.transfer.incoming import Piece, Tally, Text, Thought, attachment
from jitchat.values import ToolCall


def content_pieces(content: object, tally: Tally) -> Iterator[Piece]:
    """Read a text, or a list of parts."""
    if isinstance(content, str):
        yield Text(content)
        return
    for part in sequence(content):
        fields = mapping(part)
        kind = text(fields.get("type"))
        if isinstance(part, str):
            yield Text(part)
        elif kind in ("text", "input_text", "output_text", "refusal"):
            yield Text(_text(fields.get("text")) or text(fields.get("refusal")))
        elif kind in ("think", "reasoning", "thinking"):
            yield Thought(_text(fields.get("think")) or _text(fields.get("text")))
        elif kind in ("image_url", "input_image", "image", "image_file", "file", "input_audio"):
            tally.change("attachments are named, not kept")
            named = mapping(fields.get(kind))
            name = text(named.get("filename")) or text(named.get("file_id"))
            yield attachment("image" if kind.startswith(("image", "input_i")) else "file", name)
        else:
            tally.skip("part of unknown kind")


def _text(value: object) -> str:
    """Give a text that may stand under `value`."""
    return text(value) or text(mapping(value).get("value"))


def call_pieces(calls: object) -> Iterator[Piece]:
    """Read `tool_calls`."""
    for each in sequence(calls):
        fields: Mapping[str, object] = mapping(each)
        function = mapping(fields.get("function")) or fields
        name = text(function.get("name")) or "tool"
        given = as_arguments(function.get("arguments"))
        yield ToolCall(text(fields.get("id")) or name, name, given)
