"""Readers of request bodies: what a model is given, in the order in which its API documents it.

Written from the providers' documentation, not from the encoders. A reader takes every field that
holds something for the model; what else a body holds must be under a key that is listed as frame,
and must not be a text.
"""

from __future__ import annotations

import hashlib
import json
import re
from base64 import b64decode
from dataclasses import dataclass
from itertools import groupby
from typing import TYPE_CHECKING, Any

from jitchat.writing.pieces import Part, Piece

if TYPE_CHECKING:
    from collections.abc import Callable, Iterable, Iterator, Sequence

_WORDS = (Part.TEXT, Part.REASONING)
_PLAIN = re.compile(r"[A-Za-z0-9_.:/@+=,-]*")
"""What a frame's string is: an id, a role, a type, a model. A sentence has blanks, a planted marker
has other signs."""
_UNSIGNED = "skip_thought_signature_validator"
"""Documented by Google as the signature for a call that no Gemini model made."""


class UnknownField(AssertionError):
    """A body has a field that is neither read nor in the list of frame keys, or a text in one."""


@dataclass(frozen=True, slots=True)
class Given:
    """Something that a model is given."""

    part: Part
    value: object
    """A text; arguments and definitions as JSON values; a SHA-256 of pictures and opaque data."""
    role: str
    """`system`, `user`, `assistant` or `tool`."""


class _Fields:
    """A JSON object whose fields are taken one by one; those left over must be the frame's."""

    def __init__(self, value: object, *frame: str) -> None:
        if not isinstance(value, dict):
            raise UnknownField(f"not an object: {value!r}")
        self._left, self._frame = dict(value), frame

    def take(self, name: str) -> Any:
        return self._left.pop(name, None)

    def texts(self, name: str) -> list[str]:
        """Take a field that is a text, or a list of texts."""
        value = self.take(name)
        return [] if value is None else [value] if isinstance(value, str) else list(value)

    def close(self) -> None:
        for name, value in self._left.items():
            if name not in self._frame:
                raise UnknownField(f"{name} = {value!r}")
            _require_frame(name, value)


def _require_frame(name: str, value: object) -> None:
    if isinstance(value, str) and not _PLAIN.fullmatch(value):
        raise UnknownField(f"a text in the frame: {name} = {value!r}")
    if isinstance(value, dict):
        for inner, each in value.items():
            _require_frame(f"{name}.{inner}", each)
    if isinstance(value, list):
        for each in value:
            _require_frame(name, each)


def _hash(data: str | bytes) -> str:
    return hashlib.sha256(data.encode() if isinstance(data, str) else data).hexdigest()


def _opaque(*values: str | None) -> Iterator[Given]:
    for value in values:
        if value and value != _UNSIGNED:
            yield Given(Part.OPAQUE, _hash(value), "assistant")


def _picture(data: str) -> Given:
    """Read a picture: base64, with or without the head of a data URL."""
    return Given(Part.PICTURE, _hash(b64decode(data.partition(";base64,")[2] or data)), "user")


def _definition(name: object, description: object, parameters: object) -> Given:
    fields = {"name": name, "description": description, "parameters": parameters}
    return Given(Part.DEFINITION, fields, "system")


def _called(name: object, arguments: object) -> Iterator[Given]:
    """Read a call; arguments are JSON, as a text or as an object."""
    value = json.loads(arguments, strict=False) if isinstance(arguments, str) else arguments
    yield Given(Part.NAME, name, "assistant")
    yield Given(Part.ARGUMENTS, value, "assistant")


# Chat completions: https://platform.openai.com/docs/api-reference/chat/create. Reasoning that goes
# back is not OpenAI's: `reasoning_content` is documented by DeepSeek, vLLM and Moonshot,
# `reasoning` and `reasoning_details` by OpenRouter, `extra_content` by Google for its compatible
# endpoint.

_OPENAI_FRAME = (
    *("model", "stream", "stream_options", "tool_choice", "max_tokens", "max_completion_tokens"),
    *("temperature", "top_p", "top_k", "seed", "reasoning_effort", "response_format"),
)


def _openai(body: dict[str, Any]) -> Iterator[Given]:
    fields = _Fields(body, *_OPENAI_FRAME)
    for tool in fields.take("tools") or ():
        yield from _function(tool)
    for message in fields.take("messages"):
        yield from _openai_message(message)
    fields.close()


def _function(tool: object) -> Iterator[Given]:
    fields = _Fields(tool, "type")
    inner = _Fields(fields.take("function"))
    yield _definition(inner.take("name"), inner.take("description"), inner.take("parameters"))
    inner.close()
    fields.close()


def _openai_message(message: object) -> Iterator[Given]:
    fields = _Fields(message, "role", "tool_call_id")
    role = message["role"] if isinstance(message, dict) else ""
    for name in ("reasoning_content", "reasoning"):
        yield from (Given(Part.REASONING, each, role) for each in fields.texts(name))
    for detail in fields.take("reasoning_details") or ():
        yield from _reasoning_detail(detail)
    content = fields.take("content")
    for part in content if isinstance(content, list) else ():
        inner = _Fields(part, "type")
        yield from (Given(Part.TEXT, each, role) for each in inner.texts("text"))
        if (url := inner.take("image_url")) is not None:
            address = _Fields(url, "detail")
            yield _picture(address.take("url"))
            address.close()
        inner.close()
    if isinstance(content, str):
        yield Given(Part.TEXT, content, role)
    for call in fields.take("tool_calls") or ():
        yield from _openai_call(call)
    fields.close()


def _openai_call(call: object) -> Iterator[Given]:
    fields = _Fields(call, "id", "type")
    function = _Fields(fields.take("function"))
    yield from _called(function.take("name"), function.take("arguments"))
    google = fields.take("extra_content")
    if google is not None:
        yield from _opaque(google["google"]["thought_signature"])
    function.close()
    fields.close()


def _reasoning_detail(detail: object) -> Iterator[Given]:
    fields = _Fields(detail, "type", "id", "format", "index")
    for name in ("text", "summary"):
        yield from (Given(Part.REASONING, each, "assistant") for each in fields.texts(name))
    yield from _opaque(fields.take("signature"), fields.take("data"))
    fields.close()


# Responses: https://platform.openai.com/docs/api-reference/responses/create, and the guide on
# reasoning for stateless use (`reasoning.encrypted_content`).

_RESPONSES_FRAME = (
    *("model", "stream", "store", "include", "tool_choice", "max_output_tokens"),
    *("temperature", "top_p", "reasoning", "text"),
)


def _responses(body: dict[str, Any]) -> Iterator[Given]:
    fields = _Fields(body, *_RESPONSES_FRAME)
    for tool in fields.take("tools") or ():
        inner = _Fields(tool, "type", "strict")
        yield _definition(inner.take("name"), inner.take("description"), inner.take("parameters"))
        inner.close()
    for item in fields.take("input"):
        yield from _responses_item(item)
    fields.close()


def _responses_item(item: Any) -> Iterator[Given]:
    kind = item["type"]
    if kind == "function_call":
        fields = _Fields(item, "type", "id", "call_id", "status")
        yield from _called(fields.take("name"), fields.take("arguments"))
    elif kind == "function_call_output":
        fields = _Fields(item, "type", "id", "call_id", "status")
        yield from (Given(Part.TEXT, each, "tool") for each in fields.texts("output"))
    elif kind == "reasoning":
        fields = _Fields(item, "type", "id", "status")
        for part in (*(fields.take("summary") or ()), *(fields.take("content") or ())):
            inner = _Fields(part, "type")
            yield from (Given(Part.REASONING, each, "assistant") for each in inner.texts("text"))
            inner.close()
        yield from _opaque(fields.take("encrypted_content"))
    else:
        fields = _Fields(item, "type", "id", "status", "role", "phase")
        yield from _responses_content(fields.take("content"), item["role"])
    fields.close()


def _responses_content(content: object, role: str) -> Iterator[Given]:
    if isinstance(content, str):
        yield Given(Part.TEXT, content, role)
    for part in content if isinstance(content, list) else ():
        inner = _Fields(part, "type", "annotations", "logprobs", "detail")
        for name in ("text", "refusal"):
            yield from (Given(Part.TEXT, each, role) for each in inner.texts(name))
        if (url := inner.take("image_url")) is not None:
            yield _picture(url)
        inner.close()


# Messages: https://docs.anthropic.com/en/api/messages. A prompt is made up of the tools, the
# system text and the messages, in this order (guide on prompt caching).

_ANTHROPIC_FRAME = (
    *("model", "max_tokens", "stream", "temperature", "top_p", "top_k"),
    *("tool_choice", "cache_control", "output_config"),
)


def _anthropic(body: dict[str, Any]) -> Iterator[Given]:
    fields = _Fields(body, *_ANTHROPIC_FRAME)
    for tool in fields.take("tools") or ():
        inner = _Fields(tool, "cache_control")
        yield _definition(inner.take("name"), inner.take("description"), inner.take("input_schema"))
        inner.close()
    for block in fields.take("system") or ():
        yield from _anthropic_block(block, "system")
    for message in fields.take("messages"):
        inner = _Fields(message, "role")
        content = inner.take("content")
        for block in [{"text": content}] if isinstance(content, str) else content:
            yield from _anthropic_block(block, message["role"])
        inner.close()
    fields.close()


def _anthropic_block(block: Any, role: str) -> Iterator[Given]:
    fields = _Fields(block, "type", "id", "tool_use_id", "is_error", "cache_control")
    if block.get("type") == "tool_use":
        yield from _called(fields.take("name"), fields.take("input"))
    if block.get("type") == "tool_result":
        yield from (Given(Part.TEXT, each, "tool") for each in fields.texts("content"))
    if (source := fields.take("source")) is not None:
        inner = _Fields(source, "type", "media_type")
        yield _picture(inner.take("data"))
        inner.close()
    yield from (Given(Part.REASONING, each, role) for each in fields.texts("thinking"))
    yield from _opaque(fields.take("signature"), fields.take("data"))
    yield from (Given(Part.TEXT, each, role) for each in fields.texts("text"))
    fields.close()


# generateContent: https://ai.google.dev/api/generate-content and the guides on function calling and
# thought signatures. A function's response is an object: `output` for its output, `error` for
# details of an error.

_GEMINI_FRAME = ("toolConfig", "generationConfig")


def _gemini(body: dict[str, Any]) -> Iterator[Given]:
    fields = _Fields(body, *_GEMINI_FRAME)
    for tool in fields.take("tools") or ():
        declared = _Fields(tool)
        for each in declared.take("functionDeclarations"):
            inner = _Fields(each)
            schema = inner.take("parametersJsonSchema")
            yield _definition(inner.take("name"), inner.take("description"), schema)
            inner.close()
        declared.close()
    if (system := fields.take("systemInstruction")) is not None:
        yield from _gemini_content(system, "system")
    for content in fields.take("contents"):
        role = {"model": "assistant"}.get(content["role"], content["role"])
        yield from _gemini_content(content, role)
    fields.close()


def _gemini_content(content: object, role: str) -> Iterator[Given]:
    fields = _Fields(content, "role")
    for part in fields.take("parts"):
        inner = _Fields(part, "thought")
        part_of = Part.REASONING if part.get("thought") is True else Part.TEXT
        yield from (Given(part_of, each, role) for each in inner.texts("text"))
        if (call := inner.take("functionCall")) is not None:
            made = _Fields(call, "id")
            yield from _called(made.take("name"), made.take("args") or {})
            made.close()
        if (result := inner.take("functionResponse")) is not None:
            yield from _gemini_result(result)
        if (data := inner.take("inlineData")) is not None:
            shown = _Fields(data, "mimeType")
            yield _picture(shown.take("data"))
            shown.close()
        yield from _opaque(inner.take("thoughtSignature"))
        inner.close()
    fields.close()


def _gemini_result(result: object) -> Iterator[Given]:
    fields = _Fields(result, "id")
    yield Given(Part.NAME, fields.take("name"), "tool")
    response = _Fields(fields.take("response"))
    for name in ("output", "error"):
        yield from (Given(Part.TEXT, each, "tool") for each in response.texts(name))
    response.close()
    fields.close()


# Ollama: https://docs.ollama.com/api/chat.

_OLLAMA_FRAME = (
    *("model", "stream", "think", "options", "keep_alive", "truncate", "shift", "format"),
)


def _ollama(body: dict[str, Any]) -> Iterator[Given]:
    fields = _Fields(body, *_OLLAMA_FRAME)
    for tool in fields.take("tools") or ():
        yield from _function(tool)
    for message in fields.take("messages"):
        inner, role = _Fields(message, "role", "tool_call_id"), message["role"]
        if (name := inner.take("tool_name")) is not None:
            yield Given(Part.NAME, name, role)
        yield from (Given(Part.REASONING, each, role) for each in inner.texts("thinking"))
        yield from (Given(Part.TEXT, each, role) for each in inner.texts("content"))
        yield from map(_picture, inner.take("images") or ())
        for call in inner.take("tool_calls") or ():
            made = _Fields(call, "id", "type")
            function = _Fields(made.take("function"), "index")
            yield from _called(function.take("name"), function.take("arguments"))
            function.close()
            made.close()
        inner.close()
    fields.close()


READERS: dict[str, Callable[[dict[str, Any]], Iterator[Given]]] = {
    "openai": _openai,
    "responses": _responses,
    "anthropic": _anthropic,
    "gemini": _gemini,
    "ollama": _ollama,
}


def given_in(protocol_name: str, body: dict[str, Any]) -> list[Given]:
    """List what a body gives to a model."""
    return list(READERS[protocol_name](body))


def given_by(pieces: Iterable[Piece]) -> list[Given]:
    """List what pieces give to a model."""
    given = []
    for piece in pieces:
        role, value = piece.role.value, piece.text  # type: Any
        if piece.part is Part.PICTURE:
            role, value = "user", piece.picture.digest if piece.picture else None
        if piece.part is Part.OPAQUE:
            role, value = "assistant", _hash(value)
        if piece.part in (Part.ARGUMENTS, Part.DEFINITION):
            value = json.loads(value, strict=False)
        given.append(Given(piece.part, value, role))
    return given


@dataclass(frozen=True, slots=True)
class Compared:
    """What is compared: words in order, joined where they adjoin; pictures and opaque data."""

    definitions: list[object]
    words: list[Given]
    pictures: list[object]
    opaque: list[object]

    @classmethod
    def of(cls, given: Sequence[Given]) -> Compared:
        """Sort what is given; a schema without properties need not be declared."""

        def values(part: Part) -> list[Any]:
            return [each.value for each in given if each.part is part]

        aside = (Part.DEFINITION, Part.PICTURE, Part.OPAQUE)
        words = [each for each in given if each.part not in aside and each.value != ""]
        system = [each for each in words if each.role == "system"]
        rest = [each for each in words if each.role != "system"]
        definitions = [
            {name: value for name, value in each.items() if value != _NO_PARAMETERS and value}
            for each in values(Part.DEFINITION)
        ]
        words = [*_joined(system), *_joined(rest)]
        return cls(definitions, words, values(Part.PICTURE), values(Part.OPAQUE))


_NO_PARAMETERS = {"type": "object", "properties": {}}


def _joined(given: Iterable[Given]) -> Iterator[Given]:
    for (role, part), group in groupby(given, key=lambda each: (each.role, each.part)):
        if part in _WORDS:
            yield Given(part, "".join(str(each.value) for each in group), role)
        else:
            yield from group


def differences(protocol_name: str, pieces: Iterable[Piece], body: bytes) -> list[str]:
    """Say where a body and the pieces that it was encoded from differ."""
    try:
        sent = Compared.of(given_in(protocol_name, json.loads(body)))
    except UnknownField as error:
        return [f"unknown field: {error}"]
    wanted = Compared.of(given_by(pieces))
    return [
        f"{name}: pieces {_first(ours, theirs)!r}, body {_first(theirs, ours)!r}"
        for name in Compared.__slots__
        for ours, theirs in [(getattr(wanted, name), getattr(sent, name))]
        if ours != theirs
    ]


def _first(these: list[Any], others: list[Any]) -> object:
    """Return the first of these that is not as in the others."""
    for place, this in enumerate(these):
        if place >= len(others) or others[place] != this:
            return this
    return None


def texts_in(protocol_name: str, body: bytes) -> str:
    """Return all words that a body gives to a model, to look for markers in them."""
    given = given_in(protocol_name, json.loads(body))
    shown = (
        each.value if isinstance(each.value, str) else json.dumps(each.value, ensure_ascii=False)
        for each in given
        if each.part is not Part.DEFINITION
    )
    return "\n".join(shown)
