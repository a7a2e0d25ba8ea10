"""Servers on this machine: what really answers on the usual ports."""

from __future__ import annotations

import asyncio
import json
import time

import httpx
import pytest

from jitchat.providers.catalogue import servers
from jitchat.providers.catalogue.models import LocalServer, ModelInfo
from jitchat.providers.catalogue.servers import find_local
from tests.providers.catalogue.servers import NASTY, loaded, models
from tests.support import has_loopback


class Ports(httpx.AsyncBaseTransport):
    """Machines by port, each with its routes; no other port answers."""

    def __init__(self, ports):
        self.ports, self.requests = ports, []

    async def handle_async_request(self, request):
        self.requests.append(request)
        routes = self.ports.get(request.url.port)
        if routes is None:
            raise httpx.ConnectError("refused")
        found = routes.get(request.url.path, httpx.Response(404, text="404 page not found"))
        if callable(found):
            found = found(request)
        if isinstance(found, Exception):
            raise found
        return found if isinstance(found, httpx.Response) else httpx.Response(200, json=found)


def owned(by, **more):
    return {"/v1/models": models({"id": "m", "object": "model", "owned_by": by, **more})}


OLLAMA = {
    "/api/version": {"version": "0.12.0"},
    "/api/tags": {"models": [{"name": "qwen3:8b"}]},
    "/v1/models": models({"id": "qwen3:8b", "owned_by": "library"}),
}


async def test_each_server_is_told_by_its_answer_in_the_order_of_the_presets():
    found = await find_local(
        Ports(
            {
                8000: owned("vllm", max_model_len=40_960),
                8080: owned("llamacpp", meta={"n_ctx": 512}),
                1234: owned("organization_owner"),
                11434: OLLAMA,
            }
        )
    )
    assert found == (
        LocalServer("ollama", "http://localhost:11434", (ModelInfo("qwen3:8b"),)),
        LocalServer("lmstudio", "http://localhost:1234/v1", (ModelInfo("m"),)),
        LocalServer("llamacpp", "http://localhost:8080/v1", (ModelInfo("m", loaded(512)),)),
        LocalServer("vllm", "http://localhost:8000/v1", (ModelInfo("m", loaded(40_960)),)),
    )


async def test_an_ollama_that_is_slow_to_tell_of_its_models_is_found_without_that(monkeypatch):
    monkeypatch.setattr(servers, "_SHOWN_WITHIN", 0.01)

    class Slow(Ports):
        async def handle_async_request(self, request):
            if request.url.path == "/api/show":
                await asyncio.Event().wait()
            return await super().handle_async_request(request)

    (found,) = await find_local(Slow({11434: OLLAMA}))
    assert found.models == (ModelInfo("qwen3:8b"),)


async def test_a_server_on_another_ones_port_is_what_it_says():
    found = await find_local(Ports({8080: owned("vllm"), 8000: owned("llamacpp")}))
    assert [(each.name, each.base_url) for each in found] == [
        ("vllm", "http://localhost:8080/v1"),
        ("llamacpp", "http://localhost:8000/v1"),
    ]


async def test_lm_studios_own_list_still_names_it():
    rows = models({"id": "q", "type": "llm", "max_context_length": 9, "loaded_context_length": 5})
    found = await find_local(Ports({1234: owned("organization_owner") | {"/api/v0/models": rows}}))
    assert found == (
        LocalServer("lmstudio", "http://localhost:1234/v1", (ModelInfo("q", loaded(5)),)),
    )


def closed(software):
    refused = {"error": {"message": "Invalid API Key", "type": "authentication_error"}}
    return {"/v1/models": httpx.Response(401, json=refused, headers={"server": software})}


async def test_a_llama_cpp_that_wants_a_key_is_found_by_its_name_and_nothing_else_is():
    found = await find_local(Ports({8080: closed("llama.cpp"), 8000: closed("uvicorn")}))
    assert found == (LocalServer("llamacpp", "http://localhost:8080/v1", ()),)


async def test_nothing_listens():
    assert await find_local(Ports({})) == ()


async def test_something_that_is_no_model_server_is_not_offered():
    lists = NASTY | {
        "somebody's": owned("somebody")["/v1/models"],
        "no model": models(),
        "cars": {"cars": [{"id": "beetle"}]},
    }
    for name, answer in lists.items():
        ports = {port: {"/v1/models": answer} for port in (1234, 8000, 8080)}
        assert await find_local(Ports(ports)) == (), name


async def test_something_else_on_ollamas_port_is_not_offered():
    versions = NASTY | {"empty": {}, "a version": {"version": 7}, "no version": {"version": ""}}
    for name, answer in versions.items():
        assert await find_local(Ports({11434: OLLAMA | {"/api/version": answer}})) == (), name


async def test_an_ollama_without_models_is_offered_all_the_same():
    (found,) = await find_local(Ports({11434: OLLAMA | {"/api/tags": {"models": []}}}))
    assert (found.name, found.models) == ("ollama", ())


async def test_it_is_only_looked_and_no_key_goes_along():
    transport = Ports({11434: OLLAMA, 8080: owned("llamacpp")})
    await find_local(transport)
    posted = {each.url.path for each in transport.requests if each.method != "GET"}
    assert posted == {"/api/show"}
    assert {request.url.host for request in transport.requests} == {"localhost"}
    sent = {name for request in transport.requests for name in request.headers}
    assert not sent & {"authorization", "x-api-key", "x-goog-api-key", "cookie"}
    times = transport.requests[0].extensions["timeout"]
    assert (times["connect"], times["read"]) == (0.3, 1.0)


async def test_a_server_that_says_nothing_is_not_waited_for(monkeypatch):
    monkeypatch.setattr(servers, "_LOCAL_PATIENCE", 0.05)
    never = asyncio.Event()

    class Stuck(Ports):
        async def handle_async_request(self, request):
            if request.url.port != 8080:
                await never.wait()
            return await super().handle_async_request(request)

    began = time.monotonic()
    found = await find_local(Stuck({8080: owned("llamacpp")}))

    assert [each.name for each in found] == ["llamacpp"]
    assert time.monotonic() - began < 1.0


async def test_a_server_is_looked_for_where_the_user_moved_it():
    found = await find_local(
        Ports({9999: OLLAMA, 9998: owned("vllm")}),
        {"ollama": "http://127.0.0.1:9999", "vllm": "http://[::1]:9998/v1"},
    )
    assert [(each.name, each.base_url) for each in found] == [
        ("ollama", "http://127.0.0.1:9999"),
        ("vllm", "http://[::1]:9998/v1"),
    ]


@pytest.mark.parametrize("url", ["http://models.test:9999", "http://10.0.0.7:11434", "", "x"])
async def test_another_machine_is_not_looked_at(url):
    transport = Ports({11434: OLLAMA, 9999: OLLAMA})
    (found,) = await find_local(transport, {"ollama": url})
    assert found.base_url == "http://localhost:11434"
    assert {request.url.host for request in transport.requests} == {"localhost"}


@pytest.mark.skipif(not has_loopback(), reason="needs the loopback interface")
async def test_the_way_to_this_machine_is_not_through_a_proxy(monkeypatch):
    for name in ("HTTP_PROXY", "ALL_PROXY", "http_proxy", "all_proxy"):
        monkeypatch.setenv(name, "http://127.0.0.1:9")

    async def handle(reader, writer):
        path = (await reader.readuntil(b"\r\n\r\n")).split()[1].decode()
        body = json.dumps(OLLAMA.get(path, {})).encode()
        writer.write(
            b"HTTP/1.1 200 OK\r\nConnection: close\r\nContent-Length: %d\r\n\r\n" % len(body)
        )
        writer.write(body)
        await writer.drain()
        writer.close()

    listening = await asyncio.start_server(handle, "127.0.0.1", 0)
    port = listening.sockets[0].getsockname()[1]
    async with listening:
        found = await find_local(None, {"ollama": f"http://127.0.0.1:{port}"})

    assert LocalServer("ollama", f"http://127.0.0.1:{port}", (ModelInfo("qwen3:8b"),)) in found
