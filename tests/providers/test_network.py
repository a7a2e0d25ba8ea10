"""Real sockets, on this machine only."""

from __future__ import annotations

import asyncio
import os
import re
import socket
import ssl
import struct
import sys
import threading
from contextlib import asynccontextmanager
from typing import TYPE_CHECKING

import httpx
import pytest

from jitchat.errors import StreamCut, Unreachable
from jitchat.providers.http.client import CERTIFICATES, make_client, proxy_variable
from jitchat.providers.http.provider import HttpProvider
from jitchat.providers.http.retry import Clock
from jitchat.providers.protocols.addresses import is_this_machine
from jitchat.providers.protocols.openai import OpenAiProtocol
from jitchat.providers.provider import Options, RetryScheduled
from tests.providers.streams import (
    ASKED,
    DONE,
    HELLO,
    answered,
    collect,
    delta,
    endpoint,
    event,
    no_wait,
    text_of,
)
from tests.support import has_loopback

if TYPE_CHECKING:
    from collections.abc import AsyncIterator, Callable

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
    where = endpoint(base_url=f"http://{host}:{port}/v1")
    return HttpProvider(where, OpenAiProtocol(), clock=Clock(sleep=no_wait))


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
    assert "Check that the server is running" in failure.remedy


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
        stream = answered(wanted, ASKED, Options())
        await anext(stream)
        await stream.aclose()
        await wanted.aclose()
        hold.set()


@pytest.fixture
def environment(monkeypatch: pytest.MonkeyPatch) -> Callable[..., None]:
    """environment(NAME=value): these variables alone, of those for proxies and certificates.

    The extra `socks` counts as not installed.
    """
    monkeypatch.setitem(sys.modules, "socksio", None)

    def change(**values: str) -> None:
        for name in (*PROXIES, "NO_PROXY", "no_proxy", *CERTIFICATES):
            monkeypatch.delenv(name, raising=False)
        for name, value in values.items():
            monkeypatch.setenv(name, value)

    change()
    return change


@pytest.mark.parametrize("host", ["127.0.0.1", "localhost", "127.1"])
async def test_the_way_to_this_machine_is_never_through_a_proxy(environment, host):
    environment(**dict.fromkeys(PROXIES, f"http://127.0.0.1:{closed_port()}"))
    async with server(ANSWER) as port:
        pieces, failure = await collect(at(port, host))
    assert (text_of(pieces), failure) == ("Hello", None)


def test_this_machine_is_known_by_all_of_its_names():
    own = ["localhost", "localhost.", "box.localhost", "127.0.0.1", "127.255.0.1", "127.1"]
    own += ["2130706433", "::1", "::ffff:127.0.0.1", "0.0.0.0", "::"]
    others = ["localhost.models.test", "mylocalhost", "127.0.0.1.models.test", "128.0.0.1"]
    others += ["192.168.1.2", "::2", "", "\ud800"]
    assert [host for host in own + others if is_this_machine(host)] == own


FAR, FAR_TLS = "http://models.test/v1", "https://models.test/v1"
HERE, HERE_TLS = "http://127.0.0.1:8080/v1", "https://[::1]/v1"
DEAD = "http://proxy.test:3128"
TRUSTING_NOBODY = ssl.SSLContext(ssl.PROTOCOL_TLS_CLIENT)  # to read certificates takes 40 ms


def way(address: str) -> str:
    """The proxy on the way to an address; empty where it is direct."""
    url = httpx.URL(address)
    client = make_client(url)
    chosen = client._transport_for_url(url)
    proxied = chosen is not client._transport or "Proxy" in type(chosen._pool).__name__
    return proxy_variable(url) if proxied else ""


@pytest.mark.parametrize(
    ("variables", "address", "named"),
    [
        ({"HTTPS_PROXY": DEAD}, FAR_TLS, "HTTPS_PROXY"),
        ({"https_proxy": DEAD}, FAR_TLS, "https_proxy"),
        ({"HTTPS_PROXY": "proxy.test:3128"}, FAR_TLS, "HTTPS_PROXY"),
        ({"ALL_PROXY": DEAD}, FAR_TLS, "ALL_PROXY"),
        ({"ALL_PROXY": DEAD}, FAR, "ALL_PROXY"),
        ({"ALL_PROXY": "socks5://x:1", "HTTPS_PROXY": DEAD}, FAR_TLS, "HTTPS_PROXY"),
        ({"HTTP_PROXY": DEAD}, FAR_TLS, ""),
        ({"HTTPS_PROXY": ""}, FAR_TLS, ""),
        ({"HTTPS_PROXY": DEAD, "NO_PROXY": "models.test"}, FAR_TLS, ""),
        ({"HTTPS_PROXY": DEAD, "NO_PROXY": ".test"}, FAR_TLS, ""),
        ({"HTTPS_PROXY": DEAD, "NO_PROXY": "*"}, FAR_TLS, ""),
        ({"HTTPS_PROXY": DEAD, "NO_PROXY": "[::1],other.test"}, FAR_TLS, "HTTPS_PROXY"),
        ({"HTTPS_PROXY": DEAD, "ALL_PROXY": DEAD}, HERE_TLS, ""),
        ({"HTTP_PROXY": DEAD, "ALL_PROXY": DEAD}, HERE, ""),
        ({"ALL_PROXY": "socks5://x:1"}, HERE, ""),
        ({"ALL_PROXY": "socks://x:1"}, HERE_TLS, ""),
        ({"SSL_CERT_FILE": "/nowhere/at/all.pem", "SSL_CERT_DIR": "/nowhere"}, HERE, ""),
        ({"SSL_CERT_FILE": "/nowhere/at/all.pem"}, FAR, ""),
        ({"HTTP_PROXY": "https://proxy.test:3128"}, FAR, "HTTP_PROXY"),
    ],
)
def test_the_proxy_is_the_one_that_the_environment_names_for_the_address(
    environment, monkeypatch, variables, address, named
):
    monkeypatch.setattr(httpx, "create_ssl_context", lambda **_: TRUSTING_NOBODY)
    environment(**variables)
    assert way(address) == named


@pytest.mark.parametrize(
    ("variables", "address", "named", "why"),
    [
        ({"ALL_PROXY": "socks5://x:1"}, FAR_TLS, "ALL_PROXY", "SOCKS"),
        ({"all_proxy": "socks5h://x:1"}, FAR, "all_proxy", "SOCKS"),
        ({"ALL_PROXY": "socks://me:secret@x:1"}, FAR, "ALL_PROXY", "not the address"),
        ({"HTTP_PROXY": "http://[::1"}, FAR, "HTTP_PROXY", "not the address"),
        ({"HTTP_PROXY": "http://"}, FAR, "HTTP_PROXY", "not the address"),
        ({"HTTPS_PROXY": "http://x:99999"}, FAR_TLS, "HTTPS_PROXY", "not the address"),
        ({"https_proxy": "ftp://x"}, FAR_TLS, "https_proxy", "not the address"),
        ({"SSL_CERT_FILE": "/nowhere/at/all.pem"}, FAR_TLS, "SSL_CERT_FILE", "No such file"),
        ({"SSL_CERT_FILE": "/dev/null"}, FAR_TLS, "SSL_CERT_FILE", "CERT"),
        ({"SSL_CERT_DIR": "/nowhere"}, FAR_TLS, "SSL_CERT_DIR", "no such folder"),
        ({"REQUESTS_CA_BUNDLE": "/nowhere"}, FAR_TLS, "REQUESTS_CA_BUNDLE", "No such file"),
        ({"CURL_CA_BUNDLE": "/nowhere"}, FAR_TLS, "CURL_CA_BUNDLE", "No such file"),
        (
            {"SSL_CERT_DIR": "/nowhere", "HTTP_PROXY": "https://proxy.test"},
            FAR,
            "SSL_CERT_DIR",
            "no such folder",
        ),
    ],
)
async def test_a_variable_that_cannot_be_used_is_named(environment, variables, address, named, why):
    environment(**variables)
    _, failure = await collect(HttpProvider(endpoint(base_url=address), OpenAiProtocol()))
    assert isinstance(failure, Unreachable)
    assert named in failure.what
    assert why in failure.what
    assert named in failure.remedy
    assert "secret" not in str(failure)
    assert failure.__context__ is None


async def test_a_folder_of_certificates_is_taken(environment, tmp_path):
    for variable in ("SSL_CERT_DIR", "REQUESTS_CA_BUNDLE"):
        environment(**{variable: f"/nowhere{os.pathsep}{tmp_path}"})
        assert way(FAR_TLS) == ""


async def test_a_proxy_that_is_not_there_is_named(environment):
    environment(HTTPS_PROXY=f"http://127.0.0.1:{closed_port()}")
    _, failure = await collect(HttpProvider(endpoint(base_url=FAR_TLS), OpenAiProtocol()))
    assert isinstance(failure, Unreachable)
    assert "HTTPS_PROXY" in failure.remedy


async def test_a_client_is_made_once_and_off_the_loop(monkeypatch):
    made = []

    def counted(*args: object) -> httpx.AsyncClient:
        made.append(threading.current_thread() is threading.main_thread())
        return make_client(*args)

    monkeypatch.setattr("jitchat.providers.http.client.make_client", counted)
    async with server(ANSWER) as port:
        wanted = at(port)
        for _ in range(2):
            stream = answered(wanted, ASKED, Options())
            await anext(stream)
            await stream.aclose()
        await wanted.aclose()
    assert made == [False]


async def test_a_host_whose_name_cannot_be_looked_up_is_told():
    _, failure = await collect(at(80, host="a..b"))
    assert isinstance(failure, Unreachable)


async def test_a_connection_that_is_reset_at_a_request_is_made_again_and_that_is_said():
    requests = 0

    async def handle(reader: asyncio.StreamReader, writer: asyncio.StreamWriter) -> None:
        nonlocal requests
        requests += 1
        head = await reader.readuntil(b"\r\n\r\n")
        (length,) = re.findall(rb"content-length: (\d+)", head.lower())
        await reader.readexactly(int(length))
        if requests % 2:  # a reset, not an end
            linger = struct.pack("ii", 1, 0)
            writer.get_extra_info("socket").setsockopt(socket.SOL_SOCKET, socket.SO_LINGER, linger)
        else:
            writer.write(ANSWER)
            await writer.drain()
        writer.close()

    async with await asyncio.start_server(handle, "127.0.0.1", 0) as listening:
        wanted = at(listening.sockets[0].getsockname()[1])
        for _ in range(3):
            pieces, failure = await collect(wanted)
            assert (text_of(pieces), failure) == ("Hello", None)
            retries = [piece.why for piece in pieces if isinstance(piece, RetryScheduled)]
            assert retries == ["the connection was lost"]
        await wanted.aclose()
    assert requests == 6
