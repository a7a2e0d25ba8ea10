"""An address with a query, which is appended to the route of each request."""

from __future__ import annotations

import httpx
import pytest

from jitchat.providers.catalogue.servers import count_exactly, fetch_models
from jitchat.providers.protocols.protocol import protocol_named
from jitchat.providers.provider import Options
from tests.providers.catalogue.servers import Routes
from tests.providers.requested import requested
from tests.providers.streams import ASKED, collect, endpoint, provider

QUERY = "api-version=2024-10-21&a=%2Fb"


@pytest.mark.parametrize(
    ("protocol", "base", "url"),
    [
        ("openai", "https://h/v1?", f"https://h/v1/chat/completions?{QUERY}"),
        ("openai", "https://h/v1/?", f"https://h/v1/chat/completions?{QUERY}"),
        ("anthropic", "https://h?", f"https://h/v1/messages?{QUERY}"),
        (
            "gemini",
            "https://h?",
            "https://h/v1beta/models/m:streamGenerateContent?alt=sse&" + QUERY,
        ),
        ("ollama", "http://h:1/v1?", f"http://h:1/api/chat?{QUERY}"),
    ],
)
def test_the_query_stands_behind_the_route(protocol, base, url):
    where = endpoint(base_url=f"{base}{QUERY}#part")
    assert str(requested(protocol_named(protocol), where, ASKED, Options()).url) == url


async def test_every_question_beside_the_chat_has_it_too():
    routes = Routes(
        {
            "GET /v1/models": {"data": []},
            "POST /v1/messages/count_tokens": {"input_tokens": 7},
        }
    )
    where = endpoint(base_url=f"https://h.test?{QUERY}")
    assert await fetch_models(where, "anthropic", routes) == ()
    assert await count_exactly(where, "anthropic", ASKED, routes) == 7
    queries = [request.url.query.decode() for request in routes.requests]
    assert queries == [f"limit=1000&{QUERY}", QUERY]


async def test_a_key_in_a_query_is_blotted_out_and_a_version_is_not():
    said = {"error": {"message": "bad subscription mango-tango-77 for 2024-10-21"}}
    where = "https://h/v1?subscription-key=mango-tango-77&api-version=2024-10-21"
    _, failure = await collect(provider(httpx.Response(400, json=said), base_url=where))
    assert failure is not None
    assert "bad subscription ••• for 2024-10-21" in failure.what
