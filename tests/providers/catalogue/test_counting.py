"""Exact token counts by the server of the model."""

from __future__ import annotations

import json

import httpx
import pytest

from jitchat.errors import NotAnAnswer, ProviderError, RequestRefused, Unreachable
from jitchat.providers.catalogue.servers import count_exactly
from jitchat.providers.protocols.protocol import protocol_named
from jitchat.providers.provider import Options
from jitchat.values import Tool
from tests.providers.catalogue.servers import NASTY, Routes
from tests.providers.requested import requested
from tests.providers.streams import ASKED, KEY, endpoint

TEMPLATE = {"POST /apply-template": {"prompt": "<s>hello"}}
TOKENS = {"POST /tokenize": {"tokens": [1, 2, 3]}}
ROUTES = {
    "anthropic": "POST /v1/messages/count_tokens",
    "gemini": "POST /v1/models/m:countTokens",
    "openai": "POST /apply-template",
}


def sent(protocol: str) -> dict[str, object]:
    """The body of the request that would be sent."""
    return json.loads(requested(protocol_named(protocol), endpoint(), ASKED, Options()).content)


def body(routes: Routes) -> dict[str, object]:
    return json.loads(routes.requests[-1].content)


async def test_anthropic_counts_the_body_without_what_is_about_the_answer():
    routes = Routes({ROUTES["anthropic"]: {"input_tokens": 26}})

    assert await count_exactly(endpoint(), "anthropic", ASKED, routes) == 26

    whole = sent("anthropic")
    assert body(routes) == {name: whole[name] for name in ("model", "system", "messages")}
    assert routes.requests[0].headers["x-api-key"] == KEY


async def test_gemini_counts_the_system_text_too():
    routes = Routes({ROUTES["gemini"]: {"totalTokens": 31}})

    assert await count_exactly(endpoint(), "gemini", ASKED, routes) == 31

    whole = sent("gemini")
    assert body(routes) == {
        "generateContentRequest": {
            "model": "models/m",
            "systemInstruction": whole["systemInstruction"],
            "contents": whole["contents"],
        }
    }
    assert "alt=sse" not in str(routes.requests[0].url)


async def test_gemini_is_named_its_model_where_the_address_has_no_version():
    routes = Routes({"POST /v1beta/models/m:countTokens": {"totalTokens": 1}})
    assert await count_exactly(endpoint(base_url="http://g.test"), "gemini", ASKED, routes) == 1
    assert body(routes)["generateContentRequest"]["model"] == "models/m"


async def test_llama_cpp_writes_the_prompt_and_splits_it():
    routes = Routes(TEMPLATE | TOKENS)

    assert await count_exactly(endpoint(), "openai", ASKED, routes) == 3

    template, tokenize = (json.loads(request.content) for request in routes.requests)
    assert template == {"messages": sent("openai")["messages"]}
    assert tokenize == {"content": "<s>hello", "add_special": True, "parse_special": True}


@pytest.mark.parametrize("protocol", ["openai", "ollama"])
async def test_a_server_that_cannot_count_says_so(protocol):
    with pytest.raises(RequestRefused, match="cannot count tokens without generating a reply"):
        await count_exactly(endpoint(), protocol, ASKED, Routes({}))


async def test_a_server_that_is_away_is_not_one_that_cannot():
    away = Routes({"POST /apply-template": httpx.ConnectError("refused")})
    with pytest.raises(Unreachable):
        await count_exactly(endpoint(), "openai", ASKED, away)


@pytest.mark.parametrize("protocol", ROUTES)
async def test_a_nasty_answer_is_an_error_of_ours(protocol):
    for nasty, answer in NASTY.items():
        try:
            count = await count_exactly(
                endpoint(), protocol, ASKED, Routes({ROUTES[protocol]: answer})
            )
        except ProviderError:
            continue
        pytest.fail(f"{nasty} is taken for a count: {count}")


@pytest.mark.parametrize(
    ("protocol", "answers"),
    [
        ("anthropic", {ROUTES["anthropic"]: {"input_tokens": "26"}}),
        ("anthropic", {ROUTES["anthropic"]: {}}),
        ("gemini", {ROUTES["gemini"]: {"totalTokens": -1}}),
        ("openai", TEMPLATE | {"POST /tokenize": {"tokens": 3}}),
        ("openai", TEMPLATE | {"POST /tokenize": {"tokens": []}}),
    ],
)
async def test_an_answer_without_a_count_is_told(protocol, answers):
    with pytest.raises(NotAnAnswer, match="without a count"):
        await count_exactly(endpoint(), protocol, ASKED, Routes(answers))


@pytest.mark.parametrize("protocol", ["anthropic", "gemini"])
async def test_the_tools_are_counted_along_with_the_messages(protocol):
    routes = Routes({ROUTES[protocol]: {"input_tokens": 99, "totalTokens": 99}})
    tools = (Tool("clock", "The time.", ""),)
    assert await count_exactly(endpoint(), protocol, ASKED, routes, tools=tools) == 99
    asked = body(routes)
    assert "clock" in json.dumps(asked.get("generateContentRequest", asked)["tools"])


async def test_llama_cpps_template_writes_the_tools():
    routes = Routes(TEMPLATE | TOKENS)
    tools = (Tool("clock", "The time.", ""),)
    assert await count_exactly(endpoint(), "openai", ASKED, routes, tools=tools) == 3
    written = json.loads(routes.requests[0].content)
    assert written["tools"][0]["function"]["name"] == "clock"
