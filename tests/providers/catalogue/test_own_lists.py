"""The lists of Anthropic, Gemini and Ollama."""

from __future__ import annotations

import json

import httpx

from jitchat.providers.catalogue.models import ModelInfo
from jitchat.providers.catalogue.servers import fetch_models
from jitchat.values import Limit
from tests.providers.catalogue.servers import Routes, loaded, maximum
from tests.providers.streams import endpoint

CLAUDES = {
    "": {
        "data": [
            {
                "type": "model",
                "id": "claude-b",
                "display_name": "Claude B",
                "max_input_tokens": 200_000,
                "max_tokens": 64_000,
            }
        ],
        "has_more": True,
        "last_id": "claude-b",
    },
    "claude-b": {
        "data": [{"type": "model", "id": "claude-a"}],
        "has_more": False,
        "last_id": "claude-a",
    },
}


async def test_anthropics_pages_are_followed_and_its_limits_read():
    routes = Routes({"GET /v1/models": lambda asked: CLAUDES[asked.url.params.get("after_id", "")]})

    found = await fetch_models(endpoint(), "anthropic", routes)

    assert found == (ModelInfo("claude-a"), ModelInfo("claude-b", maximum(200_000), 64_000))
    assert [request.headers["anthropic-version"] for request in routes.requests] == [
        "2023-06-01"
    ] * 2


async def test_a_list_whose_pages_have_no_end_is_left_after_some():
    def page(asked: httpx.Request):
        number = int(asked.url.params.get("after_id", "0")) + 1
        return {"data": [{"id": f"m{number}"}], "has_more": True, "last_id": str(number)}

    routes = Routes({"GET /v1/models": page})
    assert len(await fetch_models(endpoint(), "anthropic", routes)) == len(routes.requests) == 20


async def test_a_page_that_leads_to_itself_is_asked_for_once_more_and_no_further():
    stuck = {"data": [{"id": "m"}], "has_more": True, "last_id": "m"}
    routes = Routes({"GET /v1/models": stuck})
    assert await fetch_models(endpoint(), "anthropic", routes) == (ModelInfo("m"),)
    assert len(routes.requests) == 2

    stuck = {"models": [{"name": "models/m"}], "nextPageToken": "t"}
    routes = Routes({"GET /v1/models": stuck})
    assert await fetch_models(endpoint(), "gemini", routes) == (ModelInfo("m"),)
    assert len(routes.requests) == 2


async def test_llama_cpps_list_is_read_where_it_speaks_as_anthropic_does():
    row = {"id": "tiny", "owned_by": "llamacpp", "meta": {"n_ctx": 512}}
    routes = Routes({"GET /v1/models": {"object": "list", "data": [row]}})
    assert await fetch_models(endpoint(), "anthropic", routes) == (ModelInfo("tiny", loaded(512)),)


async def test_geminis_pages_are_followed_and_only_what_generates_is_kept():
    pages = {
        "": {
            "models": [
                {
                    "name": "models/gemini-3.5-flash",
                    "inputTokenLimit": 1_048_576,
                    "outputTokenLimit": 65_536,
                    "supportedGenerationMethods": ["generateContent", "countTokens"],
                },
                {
                    "name": "models/text-finder",
                    "supportedGenerationMethods": ["embedContent"],
                },
            ],
            "nextPageToken": "n/2",
        },
        "n/2": {
            "models": [
                {
                    "name": "models/gemini-3.5-flash-tts",
                    "supportedGenerationMethods": ["generateContent"],
                },
                {
                    "name": "models/gemma-4",
                    "inputTokenLimit": 131_072,
                    "supportedGenerationMethods": ["generateContent"],
                },
            ]
        },
    }
    routes = Routes(
        {"GET /v1beta/models": lambda asked: pages[asked.url.params.get("pageToken", "")]}
    )
    found = await fetch_models(endpoint(base_url="http://g.test/v1beta/"), "gemini", routes)

    assert found == (
        ModelInfo("gemini-3.5-flash", maximum(1_048_576), 65_536),
        ModelInfo("gemma-4", maximum(131_072)),
    )


TAGS = {
    "models": [
        {"name": "llama3.2:3b", "model": "llama3.2:3b", "details": {"family": "llama"}},
        {"name": "all-minilm:22m", "details": {"family": "bert"}},
        {"name": "nomic-embed-text:latest", "details": {"family": "nomic-bert"}},
        {"name": "qwen3-embedding:8b", "capabilities": ["embedding"], "details": {}},
        {"name": "qwen3:8b", "capabilities": ["completion", "tools"], "details": {}},
        {"size": 7},
    ]
}


async def test_ollamas_models_come_with_the_context_that_is_loaded():
    routes = Routes(
        {
            "GET /api/tags": TAGS,
            "GET /api/ps": {"models": [{"name": "qwen3:8b", "context_length": 16_384}]},
        }
    )
    found = await fetch_models(endpoint(base_url="http://localhost:11434"), "ollama", routes)

    assert found == (ModelInfo("qwen3:8b", loaded(16_384)), ModelInfo("llama3.2:3b"))
    assert routes.asked == ["GET /api/tags", "GET /api/ps", "POST /api/show"]


async def test_an_ollamas_models_that_are_not_loaded_come_with_what_could_be():
    names = [f"m{number:02}" for number in range(30)]

    def shown(request: httpx.Request) -> object:
        name = json.loads(request.content)["model"]
        if name == "m01":
            return httpx.Response(500)
        return {"model_info": {"general.architecture": "q", "q.context_length": 131_072}}

    routes = Routes(
        {"GET /api/tags": {"models": [{"name": name} for name in names]}, "POST /api/show": shown}
    )
    found = await fetch_models(endpoint(base_url="http://localhost:11434"), "ollama", routes)

    told = Limit(32_768, "of the server's maximum of 131,072")
    assert [each.name for each in found] == names
    assert [each.limit for each in found] == [told, None, *[told] * 18, *[None] * 10]


async def test_an_ollama_that_does_not_say_what_is_loaded_still_has_its_list():
    routes = Routes({"GET /api/tags": TAGS})
    found = await fetch_models(endpoint(base_url="http://localhost:11434/"), "ollama", routes)
    assert [model.name for model in found] == ["llama3.2:3b", "qwen3:8b"]


async def test_an_ollama_without_models_has_an_empty_list():
    routes = Routes({"GET /api/tags": {"models": []}})
    assert await fetch_models(endpoint(), "ollama", routes) == ()
