"""Messages and items in the formats of OpenAI's two APIs, which many programs store."""

from collections.abc import Iterator, Mapping

from jitchat.transfer.attached import base64_piece, url_piece
from jitchat.transfer.blocks import result_text
from jitchat.transfer.census import strings_of
from jitchat.transfer.incoming import Tally
from jitchat.transfer.json_text import mapping, sequence, text
from jitchat.transfer.pieces import Piece, Result, Text, Thought, call_piece, sources_below

_FILES = ("file", "input_file", "image", "image_url", "image_file", "input_image")
_GIVEN = ("arguments", "input", "action", "code", "queries")
"""The fields of which one has the arguments of a call."""


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
        elif kind in _FILES:
            named = mapping(fields.get(kind)) or fields
            name = text(named.get("filename")) or text(named.get("file_id"))
            urls = (named.get("url"), named.get("file_data"), fields.get("image_url"))
            url = next((text(url) for url in (*urls, fields.get(kind)) if text(url)), "")
            is_image = kind.startswith(("image", "input_i"))
            yield url_piece(tally, "image" if is_image else "file", name, url)
        elif kind == "input_audio":
            yield audio_piece(fields.get(kind), tally)
        else:
            tally.skip("part of unknown kind", part)


def _text(value: object) -> str:
    """Return a string, or the string under `value` of an object."""
    return text(value) or text(mapping(value).get("value"))


def audio_piece(value: object, tally: Tally) -> Piece:
    fields = mapping(value)
    name = f"audio.{text(fields.get('format')) or 'wav'}"
    return base64_piece(tally, "audio", name, text(fields.get("data")))


def call_pieces(message: Mapping[str, object]) -> Iterator[Piece]:
    """Read the calls of a message: `tool_calls`, of functions or custom tools, or the older form.

    A call in the older form, `function_call`, has no id: its name identifies it.
    """
    for call in [mapping(call) for call in sequence(message.get("tool_calls"))]:
        called = mapping(call.get("function")) or mapping(call.get("custom")) or call
        yield call_piece(call.get("id"), called.get("name"), _given(called))
    if called := mapping(message.get("function_call")):
        yield call_piece("", called.get("name"), _given(called))


def is_item(fields: Mapping[str, object]) -> bool:
    """Whether it is an item of the Responses API that has no role: reasoning, a call, a result."""
    kind = text(fields.get("type"))
    return "role" not in fields and (kind == "reasoning" or kind.endswith(("_call", "_output")))


def item_pieces(item: Mapping[str, object], tally: Tally) -> Iterator[Piece]:
    """Read an item of the Responses API."""
    kind = text(item.get("type"))
    if kind == "message":
        yield from content_pieces(item.get("content"), tally)
    elif kind == "reasoning":
        parts = (*sequence(item.get("summary")), *sequence(item.get("content")))
        yield from (Thought(text(mapping(part).get("text"))) for part in parts)
    elif kind == "web_search_call":
        words = ", ".join(dict.fromkeys(strings_of({**mapping(item.get("action")), "type": ""})))
        yield Text(f"[web search: {words}]" if words else "")
    elif kind.endswith("_call"):
        called = call_piece(
            item.get("call_id") or item.get("id"), item.get("name") or kind, _given(item)
        )
        yield called
        output = item.get("output") or item.get("outputs") or item.get("results")
        if output:
            yield Result(called.id, result_text(output))
    elif kind.endswith("_output"):
        yield Result(text(item.get("call_id")), result_text(item.get("output")))
    else:
        tally.skip("item of unknown kind", item)


def _given(called: Mapping[str, object]) -> object:
    return next((called[name] for name in _GIVEN if name in called), None)
