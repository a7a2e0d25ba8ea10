"""Querying a server: every response gives JSON or a ProviderError."""

from __future__ import annotations

import asyncio
from contextlib import aclosing

import httpx
import pytest

from jitchat.errors import KeyRefused, NotAnAnswer, ProviderError, RequestRefused, Unreachable
from jitchat.providers.catalogue.servers import ask_limit, fetch_models
from jitchat.providers.http.client import JsonClient
from tests.providers.catalogue.servers import NASTY, Routes, endless, models
from tests.providers.streams import KEY, Body, endpoint

LISTS = {
    "openai": "GET /v1/models",
    "anthropic": "GET /v1/models",
    "gemini": "GET /v1/models",
    "ollama": "GET /api/tags",
}


@pytest.mark.parametrize("protocol", LISTS)
async def test_a_nasty_answer_is_an_error_of_ours_and_no_limit(protocol):
    for nasty, answer in NASTY.items():
        routes = Routes({LISTS[protocol]: answer, "POST /api/show": answer})
        refused = None
        try:
            await fetch_models(endpoint(), protocol, routes)
        except ProviderError as error:
            refused = error
        assert refused is not None, nasty
        assert refused.what.endswith((".", "!", "?")), nasty
        assert refused.__context__ is None, nasty
        assert await ask_limit(endpoint(), protocol, routes) is None, nasty


async def test_a_body_without_end_is_not_read_to_its_end():
    body = endless()
    answer = httpx.Response(200, stream=body)
    with pytest.raises(NotAnAnswer, match="more than 8 MiB"):
        await fetch_models(endpoint(), "openai", Routes({"GET /v1/models": answer}))
    assert body.read == 9
    assert body.closed


async def test_an_answer_that_trickles_is_given_up():
    never = asyncio.Event()

    class Trickle(Body):
        async def __aiter__(self):
            yield b"{"
            await never.wait()

    routes = Routes({"GET /v1/models": httpx.Response(200, stream=Trickle([]))})
    async with aclosing(JsonClient(endpoint(), "openai", routes, patience=0.01)) as server:
        with pytest.raises(Unreachable, match=r"openai cannot be reached at http://models\.test"):
            await server.get("http://models.test/v1/models")


async def test_a_key_that_the_server_repeats_is_blotted_out():
    refused = httpx.Response(401, json={"error": {"message": f"wrong key {KEY}"}})
    with pytest.raises(KeyRefused) as raised:
        await fetch_models(endpoint(), "openai", Routes({"GET /v1/models": refused}))
    assert "•••" in raised.value.what
    assert KEY not in str(raised.value)


async def test_a_key_that_cannot_be_one_is_not_sent():
    routes = Routes({"GET /v1/models": models()})
    with pytest.raises(KeyRefused, match="has characters that no key has"):
        await fetch_models(endpoint(key="sk-…"), "openai", routes)
    assert routes.requests == []


@pytest.mark.parametrize(
    "url", ["", "models.test", "ftp://models.test", "http://", "http://a.test:99999"]
)
async def test_what_is_no_address_is_told(url):
    with pytest.raises(Unreachable):
        await fetch_models(endpoint(base_url=url), "openai", Routes({}))
    assert await ask_limit(endpoint(base_url=url), "openai", Routes({})) is None


async def test_a_login_in_the_address_is_not_repeated():
    far = endpoint(base_url="http://me:secret@models.test/v1")
    with pytest.raises(Unreachable) as raised:
        await fetch_models(far, "openai", Routes({"GET /v1/models": httpx.ConnectError("no")}))
    assert "secret" not in str(raised.value)


async def test_the_servers_own_words_are_passed_on():
    refused = httpx.Response(429, json={"error": {"message": "Slow down"}})
    with pytest.raises(RequestRefused, match="Slow down"):
        await fetch_models(endpoint(), "openai", Routes({"GET /v1/models": refused}))


@pytest.mark.parametrize(
    ("protocol", "header", "value"),
    [
        ("openai", "authorization", f"Bearer {KEY}"),
        ("ollama", "authorization", f"Bearer {KEY}"),
        ("anthropic", "x-api-key", KEY),
        ("gemini", "x-goog-api-key", KEY),
    ],
)
async def test_the_key_is_in_the_header_of_the_protocol_alone(protocol, header, value):
    routes = Routes({"GET /v1/models": {"data": [], "models": []}, "GET /api/tags": {"models": []}})
    await fetch_models(endpoint(), protocol, routes)
    for request in routes.requests:
        assert [name for name, held in request.headers.items() if KEY in held] == [header]
        assert request.headers[header] == value
        assert KEY not in str(request.url)


async def test_the_users_own_header_wins_and_is_sent_once():
    routes = Routes({"GET /v1/models": models()})
    await fetch_models(endpoint(headers={"Authorization": "Basic x"}), "openai", routes)
    assert routes.requests[0].headers.get_list("authorization") == ["Basic x"]


@pytest.mark.parametrize(
    ("protocol", "base_url", "path"),
    [
        ("anthropic", "http://a.test", "/v1/models"),
        ("anthropic", "http://a.test/v1/", "/v1/models"),
        ("gemini", "http://g.test/", "/v1beta/models"),
        ("gemini", "http://g.test/v1", "/v1/models"),
        ("ollama", "http://o.test/", "/api/tags"),
        ("ollama", "http://o.test/v1", "/api/tags"),
        ("openai", "http://o.test", "/models"),
        ("openai", "http://o.test/openai/v1", "/openai/v1/models"),
    ],
)
async def test_an_address_may_be_given_without_its_version(protocol, base_url, path):
    routes = Routes({f"GET {path}": {"data": [], "models": []}})
    assert await fetch_models(endpoint(base_url=base_url), protocol, routes) == ()
