"""The list of models of chat completions, in the shape of each server."""

from __future__ import annotations

import json

import httpx
import pytest

from jitchat.providers.catalogue.models import ModelInfo, model_from, model_of
from jitchat.providers.catalogue.servers import fetch_models
from jitchat.providers.catalogue.table import Prices
from tests.providers.catalogue.servers import Routes, loaded, maximum, models
from tests.providers.streams import endpoint

OPENROUTER = {
    "id": "openai/gpt-5",
    "name": "OpenAI: GPT-5",
    "context_length": 400_000,
    "architecture": {"input_modalities": ["text"], "output_modalities": ["text"]},
    "pricing": {
        "prompt": "0.00000125",
        "completion": "0.00001",
        "input_cache_read": "0.000000125",
        "request": "0",
    },
    "top_provider": {"context_length": 399_000, "max_completion_tokens": 128_000},
}
TOGETHER = {
    "id": "Qwen/Qwen3",
    "type": "chat",
    "context_length": 262_144,
    "pricing": {"hourly": 0, "input": 0.2, "output": 0.6, "base": 0, "finetune": 0},
}
ONE = {
    "OpenAI": (
        models({"id": "gpt-5", "object": "model", "created": 1, "owned_by": "system"}),
        ModelInfo("gpt-5"),
    ),
    "OpenRouter": (
        models(OPENROUTER),
        ModelInfo(
            "openai/gpt-5",
            maximum(399_000),
            128_000,
            Prices(1.25, 10.0, 0.125, None, "the server"),
            pictures=False,
        ),
    ),
    "OpenRouter, a model that costs nothing": (
        models({"id": "x:free", "pricing": {"prompt": "0", "completion": "0"}}),
        ModelInfo("x:free", prices=Prices(0.0, 0.0, source="the server")),
    ),
    "OpenRouter, a price that varies": (
        models({"id": "auto", "pricing": {"prompt": "-1", "completion": "-1"}}),
        ModelInfo("auto"),
    ),
    "OpenRouter, a provider that does not tell": (
        models(
            {"id": "x", "context_length": 8_192, "top_provider": {"context_length": None}},
        ),
        ModelInfo("x", maximum(8_192)),
    ),
    "vLLM": (
        models({"id": "q", "owned_by": "vllm", "max_model_len": 40_960}),
        ModelInfo("q", loaded(40_960)),
    ),
    "llama.cpp": (
        {
            "models": [{"name": "tiny", "capabilities": ["completion"]}],
            **models(
                {
                    "id": "tiny",
                    "owned_by": "llamacpp",
                    "meta": {"n_ctx": 512, "n_ctx_train": 131_072, "n_vocab": 495},
                }
            ),
        },
        ModelInfo("tiny", loaded(512)),
    ),
    "llama.cpp that does not tell what is loaded": (
        models({"id": "tiny", "owned_by": "llamacpp", "meta": {"n_ctx_train": 4_096}}),
        ModelInfo("tiny", maximum(4_096)),
    ),
    "Groq": (
        models({"id": "llama", "context_window": 131_072, "max_completion_tokens": 32_768}),
        ModelInfo("llama", maximum(131_072), 32_768),
    ),
    "Mistral": (
        models(
            {
                "id": "mistral-large",
                "type": "base",
                "max_context_length": 131_072,
                "capabilities": {"completion_chat": True},
            }
        ),
        ModelInfo("mistral-large", maximum(131_072)),
    ),
    "Together's bare array": (
        [TOGETHER],
        ModelInfo("Qwen/Qwen3", maximum(262_144), prices=Prices(0.2, 0.6, source="the server")),
    ),
    "Together, let by the hour": (
        [{"id": "own", "type": "chat", "pricing": {"hourly": 3, "input": 0, "output": 0}}],
        ModelInfo("own"),
    ),
    "litellm": (
        models({"id": "gpt", "max_input_tokens": 272_000, "max_output_tokens": 128_000}),
        ModelInfo("gpt", maximum(272_000), 128_000),
    ),
}


async def fetched(answer, **more):
    routes = Routes({"GET /v1/models": answer, **more})
    return await fetch_models(endpoint(), "openai", routes)


@pytest.mark.parametrize("server", ONE)
async def test_each_servers_shape_is_read(server):
    answer, expected = ONE[server]
    assert await fetched(answer) == (expected,)


async def test_the_key_goes_along_in_a_header():
    routes = Routes({"GET /v1/models": models({"id": "m"})})

    await fetch_models(endpoint(key="sk-1", headers={"X-Title": "jitchat"}), "openai", routes)

    (request,) = routes.requests
    assert request.headers["authorization"] == "Bearer sk-1"
    assert request.headers["x-title"] == "jitchat"
    assert "sk-1" not in str(request.url)


async def test_without_a_key_no_header_is_sent():
    routes = Routes({"GET /v1/models": models()})
    assert await fetch_models(endpoint(key=""), "openai", routes) == ()
    assert "authorization" not in routes.requests[0].headers


async def test_those_that_are_loaded_come_first_and_else_their_names_say_where():
    found = await fetched(
        models(
            {"id": "b"}, {"id": "C"}, {"id": "z", "max_model_len": 1_024}, {"id": "a"}, {"id": "a"}
        )
    )
    assert [model.name for model in found] == ["z", "a", "b", "C"]


OF_OTHER_WORK = [
    {"id": "text-embedding-3-small"},
    {"id": "text-embedding-nomic-embed-text-v1.5"},
    {"id": "whisper-large-v3"},
    {"id": "tts-1-hd"},
    {"id": "gpt-4o-mini-tts"},
    {"id": "dall-e-3"},
    {"id": "gpt-image-1"},
    {"id": "omni-moderation-latest"},
    {"id": "gpt-4o-transcribe"},
    {"id": "gpt-realtime"},
    {"id": "BAAI/bge-large-en"},
    {"id": "davinci-002"},
    {"id": "flux", "type": "image"},
    {"id": "m2", "type": "embedding"},
    {"id": "lm", "type": "embeddings"},
    {"id": "painter", "architecture": {"output_modalities": ["image"]}},
    {"id": "mistral-ocr", "capabilities": {"completion_chat": False}},
    {"id": "small", "capabilities": ["embedding"]},
]


async def test_what_does_other_work_is_left_out():
    for row in OF_OTHER_WORK:
        found = await fetched(models(row, {"id": "m"}))
        assert [model.name for model in found] == ["m"], row


@pytest.mark.parametrize(
    "row",
    [
        {"id": "gpt-4o"},
        {"id": "chatgpt-4o-latest"},
        {"id": "imagination-7b"},
        {"id": "ttsiolkovsky"},
        {"id": "embed-llm", "type": "llm"},
        {"id": "seer", "architecture": {"output_modalities": ["image", "text"]}},
        {"id": "tooled", "capabilities": ["tool_use"]},
    ],
)
async def test_what_chats_stays(row):
    assert [model.name for model in await fetched(models(row))] == [row["id"]]


LM_STUDIO = models({"id": "qwen", "object": "model", "owned_by": "organization_owner"})
V1 = {
    "models": [
        {"type": "embedding", "key": "nomic", "max_context_length": 2_048},
        {"type": "llm", "key": "gemma", "loaded_instances": [], "max_context_length": 8_192},
        {
            "type": "llm",
            "key": "qwen",
            "loaded_instances": [{"id": "qwen", "config": {"context_length": 4_096}}],
            "max_context_length": 262_144,
        },
    ]
}
V0 = models(
    {"id": "nomic", "type": "embeddings", "state": "loaded", "max_context_length": 2_048},
    {"id": "gemma", "type": "vlm", "state": "not-loaded", "max_context_length": 8_192},
    {
        "id": "qwen",
        "type": "llm",
        "state": "loaded",
        "capabilities": ["tool_use"],
        "max_context_length": 262_144,
        "loaded_context_length": 4_096,
    },
)


@pytest.mark.parametrize(
    ("more", "tools"),
    [({"GET /api/v1/models": V1}, None), ({"GET /api/v0/models": V0}, True)],
    ids=["0.4", "before 0.4"],
)
async def test_lm_studio_tells_what_is_loaded(more, tools):
    assert await fetched(LM_STUDIO, **more) == (
        ModelInfo("qwen", loaded(4_096), tools=tools, pictures=None if tools is None else False),
        ModelInfo("gemma", maximum(8_192), pictures=None if tools is None else True),
    )


async def test_an_lm_studio_without_those_routes_has_names_alone():
    assert await fetched(LM_STUDIO) == (ModelInfo("qwen"),)


async def test_no_other_server_is_asked_for_lm_studios_routes():
    routes = Routes({"GET /v1/models": models({"id": "m", "owned_by": "system"})})
    await fetch_models(endpoint(), "openai", routes)
    assert routes.asked == ["GET /v1/models"]


@pytest.mark.parametrize(
    "row",
    [
        None,
        7,
        "gpt",
        [],
        {},
        {"id": None},
        {"id": 7},
        {"id": ""},
        {"id": " \n"},
        {"id": "\u200b"},
        {"id": "x" * 300},
        {"id": ["gpt"]},
    ],
)
async def test_lines_that_name_nothing_are_skipped(row):
    assert await fetched(models(row, {"id": "m"})) == (ModelInfo("m"),)


async def test_a_name_is_one_line():
    text = json.dumps(models({"id": "\x1b[31mred\u202e\nblue\ud800"}))
    (found,) = await fetched(httpx.Response(200, text=text))
    assert found.name == "\x1b[31mred\u202e blue\ufffd"


@pytest.mark.parametrize("number", [0, -1, True, "8192", None, 1e400, 2**70, [], {"a": 1}])
async def test_a_limit_that_counts_nothing_is_none(number):
    text = f'{{"data": [{{"id": "m", "context_length": {_written(number)}}}]}}'
    assert await fetched(httpx.Response(200, text=text)) == (ModelInfo("m"),)


@pytest.mark.parametrize("price", ["", "free", None, [], "nan", "inf", "-0.1", 1e400, {}])
async def test_a_price_that_is_none_is_unknown(price):
    pricing = f'{{"prompt": {_written(price)}, "completion": "0.1"}}'
    text = f'{{"data": [{{"id": "m", "pricing": {pricing}}}]}}'
    assert await fetched(httpx.Response(200, text=text)) == (ModelInfo("m"),)


def _written(value):
    return "1e400" if value == 1e400 else json.dumps(value)


@pytest.mark.parametrize(
    ("row", "tools"),
    [
        ({"supported_parameters": ["temperature", "tools"]}, True),
        ({"supported_parameters": ["temperature"]}, False),
        ({"capabilities": ["completion", "tools"]}, True),
        ({"capabilities": ["tool_use"]}, True),
        ({"capabilities": ["completion"]}, False),
        ({"capabilities": {"function_calling": True, "completion_chat": True}}, True),
        ({"capabilities": {"function_calling": False}}, False),
        ({"supports_function_calling": True}, True),
        ({"supported_parameters": []}, None),
        ({"supported_parameters": "tools", "capabilities": 7}, None),
        ({}, None),
    ],
)
def test_whether_a_model_takes_tools_is_read_where_its_server_tells(row, tools):
    model = model_of({"id": "m"} | row)
    assert model is not None
    assert model.tools is tools
    assert model_from(json.loads(json.dumps(model.fields()))) == model
