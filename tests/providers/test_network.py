"""Real sockets, on this machine only."""

from __future__ import annotations

import asyncio
import socket
from collections.abc import AsyncIterator
from contextlib import asynccontextmanager

import httpx
import pytest

from jitchat.errors import StreamCut, Unreachable
from jitchat.providers.http.provider import HttpProvider
from jitchat.providers.protocols.openai import OpenAiProtocol
from jitchat.providers.provider import Options
from tests.providers.streams import ASKED, DONE, HELLO, collect, delta, endpoint, event, text_of
from tests.support import has_loopback

HEAD = b"HTTP/1.1 200 OK\r\nContent-Type: text/event-stream\r\nTransfer-Encoding: chunked\r\n\r\n"
PROXIES = ("HTTP_PROXY", "HTTPS_PROXY", "ALL_PROXY", "http_proxy", "https_proxy", "all_proxy")


pytestmark = pytest.mark.skipif(not has_loopback(), reason="needs the loopback interface")


def chunk(text: str) -> bytes:
    return f"{len(text.encode()):x}\r\n{text}\r\n".encode()


ANSWER = HEAD + chunk(HELLO) + chunk(DONE) + b"0\r\n\r\n"


@asynccontextmanager
async def server(answer: bytes, *, hold: asyncio.Event | None = None) -> AsyncIterator[int]:
    """A server that answers every request with these bytes; with `hold`, then waits for it."""

    async def handle(reader: asyncio.StreamReader, writer: asyncio.StreamWriter) -> None:
        head = await reader.readuntil(b"\r\n\r\n")
        length = next(
            int(line.split(b":")[1])
            for line in head.split(b"\r\n")
            if b"ontent-" in line and b"ength" in line
        )
        await reader.readexactly(length)
        writer.write(answer)
        await writer.drain()
        if hold is not None:
            await hold.wait()
        writer.close()

    listening = await asyncio.start_server(handle, "127.0.0.1", 0)
    try:
        yield listening.sockets[0].getsockname()[1]
    finally:
        listening.close()
        await listening.wait_closed()


def at(port: int, host: str = "127.0.0.1") -> HttpProvider:
    return HttpProvider(endpoint(base_url=f"http://{host}:{port}/v1"), OpenAiProtocol())


def closed_port() -> int:
    with socket.socket() as taken:
        taken.bind(("127.0.0.1", 0))
        return int(taken.getsockname()[1])


async def test_an_answer_comes_over_a_real_connection():
    async with server(ANSWER) as port:
        pieces, failure = await collect(at(port))
    assert (text_of(pieces), failure) == ("Hello", None)


async def test_a_closed_port_is_told_with_its_address():
    port = closed_port()
    _, failure = await collect(at(port))
    assert isinstance(failure, Unreachable)
    assert f"cannot be reached at http://127.0.0.1:{port}: " in failure.what
    assert "Is the server running" in failure.remedy


async def test_a_port_that_no_machine_has_is_told():
    _, failure = await collect(at(99_999))
    assert isinstance(failure, Unreachable)


async def test_a_host_name_that_cannot_be_one_is_told():
    _, failure = await collect(at(80, host=f"{'a' * 70}.localhost"))
    assert isinstance(failure, Unreachable)


async def test_a_connection_that_is_closed_half_way_keeps_what_came():
    async with server(HEAD + chunk(event(delta("Hel"))) + b"40\r\ndata") as port:
        pieces, failure = await collect(at(port))
    assert text_of(pieces) == "Hel"
    assert isinstance(failure, StreamCut)


async def test_something_that_does_not_speak_http_is_told():
    async with server(b"SSH-2.0-OpenSSH_9.2\r\n") as port:
        _, failure = await collect(at(port))
    assert isinstance(failure, Unreachable)


async def test_a_server_that_keeps_the_connection_open_after_the_end_is_not_waited_for():
    hold = asyncio.Event()
    async with server(HEAD + chunk(HELLO) + chunk(DONE), hold=hold) as port:
        pieces, failure = await collect(at(port))
        hold.set()
    assert (text_of(pieces), failure) == ("Hello", None)


async def test_closing_the_stream_hangs_up():
    hold = asyncio.Event()
    async with server(HEAD + chunk(event(delta("Hel"))), hold=hold) as port:
        wanted = at(port)
        stream = wanted.stream(ASKED, Options())
        await anext(stream)
        await stream.aclose()
        await wanted.aclose()
        hold.set()


@pytest.mark.parametrize("host", ["127.0.0.1", "localhost"])
async def test_the_way_to_this_machine_is_never_through_a_proxy(monkeypatch, host):
    for name in PROXIES:
        monkeypatch.setenv(name, f"http://127.0.0.1:{closed_port()}")
    async with server(ANSWER) as port:
        pieces, failure = await collect(at(port, host))
    assert (text_of(pieces), failure) == ("Hello", None)


async def test_nor_is_the_encrypted_way(monkeypatch):
    for name in PROXIES:
        monkeypatch.setenv(name, "http://127.0.0.1:9")
    for address in ("https://localhost/v1", "https://127.0.0.1:8443/v1", "https://[::1]/v1"):
        url = httpx.URL(address)
        wanted = HttpProvider(endpoint(base_url=address), OpenAiProtocol())
        client = wanted._ready(url)
        assert client._transport_for_url(url) is client._transport
        await wanted.aclose()
    far = HttpProvider(endpoint(base_url="https://models.test/v1"), OpenAiProtocol())
    client = far._ready(httpx.URL("https://models.test/v1"))
    assert client._transport_for_url(httpx.URL("https://models.test/v1")) is not client._transport
    await far.aclose()


@pytest.mark.parametrize(
    ("name", "value"),
    [
        ("ALL_PROXY", "socks5://127.0.0.1:9"),
        ("ALL_PROXY", "socks://127.0.0.1:9"),
        ("NO_PROXY", "[::1]"),
        ("SSL_CERT_FILE", "/nowhere/at/all.pem"),
    ],
)
async def test_an_environment_that_httpx_cannot_use_is_told_and_does_not_touch_this_machine(
    monkeypatch, name, value
):
    for proxy in PROXIES:
        monkeypatch.delenv(proxy, raising=False)
    monkeypatch.setenv("HTTPS_PROXY", "http://127.0.0.1:9")
    monkeypatch.setenv(name, value)
    far = HttpProvider(endpoint(base_url="https://models.test/v1"), OpenAiProtocol())
    _, failure = await collect(far)
    assert isinstance(failure, Unreachable)
    if "127.0.0.1:9" not in failure.what:
        assert name in failure.remedy
    async with server(ANSWER) as port:
        pieces, failure = await collect(at(port))
    assert (text_of(pieces), failure) == ("Hello", None)
