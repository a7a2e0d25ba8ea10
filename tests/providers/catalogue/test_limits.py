"""The current limit of one model, from its server."""

from __future__ import annotations

import httpx
import pytest

from jitchat.providers.catalogue.servers import ask_limit
from jitchat.values import Limit
from tests.providers.catalogue.servers import Routes, loaded, maximum, models
from tests.providers.streams import endpoint


async def asked(protocol, answers, **more):
    return await ask_limit(endpoint(**more), protocol, Routes(answers))


@pytest.mark.parametrize(
    ("row", "expected"),
    [
        ({"max_model_len": 40_960}, loaded(40_960)),
        ({"context_window": 131_072}, maximum(131_072)),
        ({"context_length": 8, "top_provider": {"context_length": 7}}, maximum(7)),
        ({}, None),
    ],
)
async def test_the_list_of_chat_completions_tells_it(row, expected):
    answers = {"GET /v1/models": models({"id": "x", "max_model_len": 1}, {"id": "m", **row})}
    assert await asked("openai", answers) == expected


async def test_a_model_that_is_not_listed_has_no_limit():
    assert (
        await asked("openai", {"GET /v1/models": models({"id": "M", "max_model_len": 1})}) is None
    )


def llama_cpp(n_ctx: int) -> dict[str, object]:
    row = {"id": "tiny", "owned_by": "llamacpp", "meta": {"n_ctx": n_ctx, "n_ctx_train": 9_999}}
    return {"GET /v1/models": models(row)}


@pytest.mark.parametrize("model", ["tiny", "whatever it is called"])
async def test_llama_cpp_tells_what_one_request_may_take_whatever_the_model_is_called(model):
    props = {"GET /props": {"default_generation_settings": {"n_ctx": 512}}}
    assert await asked("openai", llama_cpp(2_048) | props, model=model) == loaded(512)
    assert await asked("openai", llama_cpp(2_048), model=model) == loaded(2_048)


async def test_a_llama_cpp_without_a_list_is_asked_for_its_properties():
    answers = {"GET /props": {"default_generation_settings": {"n_ctx": 4_096}}}
    assert await asked("openai", answers) == loaded(4_096)


async def test_no_other_server_is_asked_for_properties():
    routes = Routes({"GET /v1/models": models({"id": "m"})})
    assert await ask_limit(endpoint(), "openai", routes) is None
    assert routes.asked == ["GET /v1/models"]


@pytest.mark.parametrize(
    "answer", [httpx.ConnectError("refused"), httpx.Response(401, json={"error": "no key"})]
)
async def test_a_server_that_is_away_or_closed_is_asked_once(answer):
    routes = Routes({"GET /v1/models": answer})
    assert await ask_limit(endpoint(), "openai", routes) is None
    assert routes.asked == ["GET /v1/models"]


async def test_lm_studio_tells_what_is_loaded_or_could_be():
    rows = models(
        {"id": "on", "type": "llm", "loaded_context_length": 4_096, "max_context_length": 32_768},
        {"id": "off", "type": "llm", "max_context_length": 32_768},
    )
    owned = models({"id": "on", "owned_by": "organization_owner"})
    answers = {"GET /v1/models": owned, "GET /api/v0/models": rows}
    assert await asked("openai", answers, model="on") == loaded(4_096)
    assert await asked("openai", answers, model="off") == maximum(32_768)


def shown(tokens: object, kind: object = "qwen3") -> dict[str, object]:
    """What `/api/show` says."""
    return {
        "POST /api/show": {
            "model_info": {
                "general.architecture": kind,
                "qwen3.context_length": tokens,
                "clip.context_length": 77,
            }
        }
    }


def ps(*rows: dict[str, object]) -> dict[str, object]:
    return {"GET /api/ps": {"models": list(rows)}}


@pytest.mark.parametrize("model", ["qwen3", "qwen3:latest"])
async def test_ollamas_loaded_size_comes_before_what_it_could_load(model):
    running = ps({"name": "qwen3:latest", "context_length": 8_192})
    assert await asked("ollama", shown(262_144) | running, model=model) == loaded(8_192)


async def test_another_model_that_is_loaded_says_nothing_of_this_one():
    running = ps({"name": "qwen3:8b", "context_length": 8_192}, {"name": "qwen3:latest"})
    assert await asked("ollama", shown(2_048) | running, model="qwen3") == maximum(2_048)


async def test_ollama_is_not_told_to_load_more_than_a_usual_machine_can_hold():
    assert await asked("ollama", shown(32_768)) == maximum(32_768)
    assert await asked("ollama", shown(262_144)) == Limit(
        32_768, "of the server's maximum of 262,144"
    )


@pytest.mark.parametrize(
    "answers", [{}, shown(0), shown("many"), shown(9, kind=None), shown(9, kind="llama")]
)
async def test_an_ollama_that_does_not_tell_has_no_limit(answers):
    assert await asked("ollama", answers) is None


async def test_ollama_that_speaks_as_openai_does_has_only_what_is_loaded():
    listed = {"GET /v1/models": models({"id": "qwen3:8b", "owned_by": "library"})} | shown(262_144)
    running = ps({"name": "qwen3:8b", "context_length": 4_096})
    assert await asked("openai", listed, model="qwen3:8b") is None
    assert await asked("openai", listed | running, model="qwen3:8b") == loaded(4_096)


async def test_gemini_and_anthropic_are_asked_for_the_one_model():
    answers = {
        "GET /v1/models/m": {"name": "models/m", "inputTokenLimit": 131_072, "max_input_tokens": 8}
    }
    assert await asked("anthropic", answers) == maximum(8)
    del answers["GET /v1/models/m"]["max_input_tokens"]
    assert await asked("gemini", answers) == maximum(131_072)
    assert await asked("gemini", answers, model="models/m") == maximum(131_072)


async def test_a_models_name_stays_one_part_of_the_address():
    routes = Routes({})
    await ask_limit(endpoint(model="../keys?a#b"), "gemini", routes)
    assert routes.asked == ["GET /v1/models/..%2Fkeys%3Fa%23b"]


async def test_llama_cpp_that_speaks_as_anthropic_does_is_found_by_its_list():
    props = {"GET /props": {"default_generation_settings": {"n_ctx": 512}}}
    assert await asked("anthropic", llama_cpp(2_048) | props) == loaded(512)
