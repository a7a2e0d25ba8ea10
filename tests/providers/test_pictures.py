"""Pictures: in the words of each protocol, and what they count as."""

from __future__ import annotations

import json
from base64 import b64encode
from typing import TYPE_CHECKING

import pytest

from jitchat.attachments import Picture
from jitchat.providers.catalogue.models import model_from, model_of
from jitchat.providers.catalogue.pictures import picture_tokens
from jitchat.providers.protocols.protocol import protocol_named
from jitchat.providers.provider import Endpoint, Options
from jitchat.values import Message, Role

if TYPE_CHECKING:
    from typing import Any

SHOT = Picture("shot.png", "d" * 64, "image/png", 800, 600, b"\x89PNG")
DATA = b64encode(SHOT.data).decode()
URL = f"data:image/png;base64,{DATA}"
SAID = (
    Message(Role.SYSTEM, "Be brief."),
    Message(Role.USER, "What is this?", pictures=(SHOT,)),
    Message(Role.ASSISTANT, "A shot."),
    Message(Role.USER, "And now?"),
)


def body(protocol: str) -> dict[str, Any]:
    endpoint = Endpoint("http://localhost:1/v1", "some", "key")
    return json.loads(protocol_named(protocol).request(endpoint, SAID, Options()).content)


@pytest.mark.parametrize(
    ("protocol", "where", "message"),
    [
        (
            "openai",
            "messages",
            {
                "role": "user",
                "content": [
                    {"type": "image_url", "image_url": {"url": URL}},
                    {"type": "text", "text": "What is this?"},
                ],
            },
        ),
        (
            "responses",
            "input",
            {
                "type": "message",
                "role": "user",
                "content": [
                    {"type": "input_image", "image_url": URL},
                    {"type": "input_text", "text": "What is this?"},
                ],
            },
        ),
        ("ollama", "messages", {"role": "user", "content": "What is this?", "images": [DATA]}),
        (
            "gemini",
            "contents",
            {
                "role": "user",
                "parts": [
                    {"inlineData": {"mimeType": "image/png", "data": DATA}},
                    {"text": "What is this?"},
                ],
            },
        ),
    ],
)
def test_a_picture_stands_ahead_of_its_messages_text(
    protocol: str, where: str, message: dict[str, Any]
) -> None:
    said = body(protocol)[where]
    assert message in said
    assert DATA not in json.dumps([each for each in said if each != message])


def test_anthropics_blocks_have_the_picture_and_the_mark_of_the_cache_behind_them() -> None:
    first, *_ = body("anthropic")["messages"]
    image, text = first["content"]
    source = {"type": "base64", "media_type": "image/png", "data": DATA}
    assert image == {"type": "image", "source": source}
    assert text["text"] == "What is this?"


@pytest.mark.parametrize(
    ("model", "width", "height", "tokens"),
    [
        ("gpt-4o", 1_024, 1_024, 765),
        ("gpt-4o", 4_096, 8_192, 1_105),
        ("openai/gpt-4o-mini", 512, 512, 8_500),
        ("gpt-5", 1_024, 1_024, 630),
        ("gpt-4.1-mini", 1_024, 1_024, 1_659),
        ("o4-mini", 1_800, 2_400, 2_498),
        ("claude-sonnet-4-5", 1_000, 1_000, 1_334),
        ("claude-sonnet-4-5", 8_000, 8_000, 1_600),
        ("gemini-2.5-flash", 384, 384, 258),
        ("gemini-2.5-flash", 960, 540, 516),
        ("gemini-3-pro", 10, 10, 1_120),
    ],
)
def test_a_picture_counts_as_its_provider_publishes(
    model: str, width: int, height: int, tokens: int
) -> None:
    assert picture_tokens(model, width, height) == (tokens, True)


@pytest.mark.parametrize("size", [(0, 0), (1, 9_000), (9_000, 1), (2**31, 2**31)])
def test_no_size_is_too_odd_to_count(size: tuple[int, int]) -> None:
    for model in ("gpt-4o", "o4-mini", "claude-3", "gemini-2.0"):
        assert picture_tokens(model, *size)[0] > 0
    assert not picture_tokens("llava", *size)[1]


@pytest.mark.parametrize(
    ("row", "sees"),
    [
        ({"id": "a", "architecture": {"input_modalities": ["text", "image"]}}, True),
        ({"id": "a", "architecture": {"input_modalities": ["text"]}}, False),
        ({"name": "a", "capabilities": ["completion", "vision"]}, True),
        ({"name": "a", "capabilities": ["completion", "tools"]}, False),
        ({"id": "a", "capabilities": {"vision": False}}, False),
        ({"id": "a", "type": "vlm", "capabilities": ["tool_use"]}, True),
        ({"id": "a"}, None),
    ],
)
def test_lists_of_models_tell_whether_one_sees(row: dict[str, Any], sees: bool | None) -> None:
    told = model_of(row)
    assert told is not None
    assert told.pictures is sees
    assert model_from(told.fields()).pictures is sees
