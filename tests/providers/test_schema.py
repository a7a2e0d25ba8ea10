"""Requesting an answer with a JSON Schema, in each protocol."""

from __future__ import annotations

import json
from typing import Any

import pytest

from jitchat.providers.protocols.protocol import protocol_named, protocol_names
from jitchat.providers.provider import Options
from jitchat.small_models.picker import picker_schema
from tests.providers.golden import WINDOW
from tests.providers.requested import requested
from tests.providers.streams import endpoint

SCHEMA = picker_schema([3, 9])
UNBOUNDED = {"type": "array", "items": {"type": "integer", "enum": [3, 9]}, "minItems": 1}


def body(name: str, options: Options) -> dict[str, Any]:
    request = requested(protocol_named(name), endpoint(), WINDOW, options)
    return json.loads(request.content)


def added(name: str, **more: Any) -> dict[str, Any]:
    """What a request has more of with the schema."""
    asked = body(name, Options(schema=json.dumps(SCHEMA), **more))
    plain = body(name, Options(**more))
    return {key: value for key, value in asked.items() if plain.get(key) != value}


def test_chat_completions():
    (form,) = added("openai").values()
    assert form["type"] == "json_schema"
    assert form["json_schema"] == {"name": "answer", "strict": True, "schema": SCHEMA}


def test_ollama():
    assert added("ollama") == {"format": SCHEMA}


def test_gemini():
    assert added("gemini", temperature=0.0) == {
        "generationConfig": {
            "temperature": 0.0,
            "responseMimeType": "application/json",
            "responseJsonSchema": SCHEMA,
        }
    }


def test_anthropic_which_takes_no_greatest_length():
    kept = {**SCHEMA, "properties": {"ids": UNBOUNDED}}
    form = {"type": "json_schema", "schema": kept}
    assert added("anthropic") == {"output_config": {"format": form}}
    assert added("anthropic", effort="low") == {"output_config": {"effort": "low", "format": form}}


@pytest.mark.parametrize("name", protocol_names)
def test_the_same_bytes_for_the_same_request(name):
    options = Options(schema=json.dumps(SCHEMA))
    first, second = (requested(protocol_named(name), endpoint(), WINDOW, options) for _ in range(2))
    assert first.content == second.content
