"""Pictures: in the words of each protocol, and what they count as."""

from __future__ import annotations

import json
from base64 import b64encode
from typing import TYPE_CHECKING

import pytest

from jitchat.attachments import Picture
from jitchat.providers.catalogue.models import model_from, model_of
from jitchat.providers.catalogue.pictures import picture_tokens
from jitchat.providers.catalogue.table import read_json
from jitchat.providers.protocols.protocol import protocol_named
from jitchat.providers.provider import Endpoint, Options
from jitchat.values import Message, Role
from tests.providers.requested import requested

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
    return json.loads(requested(protocol_named(protocol), endpoint, SAID, Options()).content)


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
        ("gpt-5-2025-08-07", 1_024, 1_024, 630),
        ("gpt-4.1-mini", 1_024, 1_024, 1_659),
        ("o4-mini", 1_800, 2_400, 2_498),
        ("gpt-5-mini", 1_024, 1_024, 1_229),
        ("gpt-5-nano-2025-08-07", 1_024, 1_024, 1_536),
        ("gpt-5.2", 1_800, 2_400, 1_743),
        ("gpt-5.4", 4_032, 3_024, 2_942),
        ("gpt-5.5", 4_032, 3_024, 11_868),
        ("gpt-6-astra", 4_032, 3_024, 14_364),
        ("claude-sonnet-4-6", 1_000, 1_000, 1_296),
        ("claude-sonnet-4-6", 1_920, 1_080, 1_560),
        ("claude-haiku-4-5-20251001", 2_000, 1_500, 1_564),
        ("claude-3-5-sonnet-20241022", 1_075, 1_520, 1_551),
        ("claude-opus-4-7", 1_920, 1_080, 2_691),
        ("anthropic.claude-sonnet-5-5", 2_000, 1_500, 3_888),
        ("claude-fable-5", 3_840, 2_160, 4_784),
    ],
)
def test_a_picture_counts_as_its_provider_publishes(
    model: str, width: int, height: int, tokens: int
) -> None:
    assert picture_tokens(model, width, height) == (tokens, True)


@pytest.mark.parametrize(
    ("model", "width", "height", "tokens"),
    [
        ("gpt-5-codex", 1_024, 1_024, 630),
        ("gpt-5.1", 1_024, 1_024, 1_229),
        ("gpt-6.1-sol", 4_032, 3_024, 14_364),
        ("claude-mythos-preview", 1_000, 1_000, 1_296),
        ("gemini-2.5-flash", 384, 384, 258),
        ("gemini-2.5-flash", 960, 540, 1_548),
        ("gemini-3.5-flash", 10, 10, 1_120),
        ("gemma3:27b", 10, 10, 256),
        ("qwen2.5vl:7b", 1_024, 1_024, 37 * 37 + 2),
        ("qwen3-vl-plus", 1_024, 1_024, 32 * 32 + 2),
        ("qwen3-vl-plus", 9_000, 9_000, 128 * 128 + 2),
        ("grok-4", 2_000, 2_000, 1_792),
        ("pixtral-large", 2_048, 1_024, 65 * 32),
        ("llama3.2-vision", 1_000, 500, 3_202),
        ("llava", 1_000, 1_000, 1_296),
    ],
)
def test_what_no_provider_publishes_of_a_model_is_an_estimate(
    model: str, width: int, height: int, tokens: int
) -> None:
    assert picture_tokens(model, width, height) == (tokens, False)


def test_every_family_says_where_its_rule_is_published() -> None:
    known = read_json("pictures.json")
    assert {row["source"] for row in known["models"]} == known["sources"].keys()


@pytest.mark.parametrize("size", [(0, 0), (1, 9_000), (9_000, 1), (2**31, 2**31)])
def test_no_size_is_too_odd_to_count(size: tuple[int, int]) -> None:
    for model in (
        "gpt-4o",
        "o4-mini",
        "gpt-6-astra",
        "claude-3",
        "gemini-2.0",
        "qwen3-vl",
        "grok",
        "pixtral",
    ):
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
