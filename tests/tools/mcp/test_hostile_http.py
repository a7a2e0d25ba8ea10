"""Servers over HTTP whose bodies do not end, are compressed, or whose goodbye is not answered."""

from __future__ import annotations

import asyncio
import json
import time
import zlib
from contextlib import asynccontextmanager
from typing import TYPE_CHECKING

import pytest

from jitchat.tools.mcp.server import Phase
from jitchat.tools.mcp.spec import ServerSpec

if TYPE_CHECKING:
    from collections.abc import AsyncIterator

RESULTS = {
    "initialize": {
        "protocolVersion": "2025-11-25",
        "capabilities": {"tools": {}},
        "serverInfo": {"name": "far", "version": "1"},
    },
    "tools/list": {
        "tools": [{"name": "do", "description": "Does it.", "inputSchema": {"type": "object"}}]
    },
}
OPENINGS = {
    "json": ("Content-Type: application/json", b'{"jsonrpc": "2.0", "x": "'),
    "events": ("Content-Type: text/event-stream", b'data: {"jsonrpc": "2.0", "x": "'),
}


@asynccontextmanager
async def served(how: str) -> AsyncIterator[str]:
    """Serve one tool, whose result does not end; DELETE, which ends a session, has no answer."""

    async def answer(reader: asyncio.StreamReader, writer: asyncio.StreamWriter) -> None:
        head = (await reader.readuntil(b"\r\n\r\n")).decode()
        if head.startswith("DELETE"):
            await asyncio.Event().wait()
        if head.startswith("GET"):
            writer.write(b"HTTP/1.1 405 No\r\nContent-Length: 0\r\nConnection: close\r\n\r\n")
            writer.close()
            return
        size = next(
            int(line.split(":")[1])
            for line in head.splitlines()
            if line.lower().startswith("content-length")
        )
        request = json.loads(await reader.readexactly(size))
        if request["method"] == "tools/call":
            await send_without_end(how, writer)
        body = b""
        status = "202 Accepted"
        if "id" in request:
            found = RESULTS.get(request["method"])
            error = {"error": {"code": -32601, "message": "no such method"}}
            reply = {"result": found} if found else error
            body = json.dumps({"jsonrpc": "2.0", "id": request["id"], **reply}).encode()
            status = "200 OK"
        writer.write(
            f"HTTP/1.1 {status}\r\nContent-Type: application/json\r\nMcp-Session-Id: 1\r\n"
            f"Connection: close\r\nContent-Length: {len(body)}\r\n\r\n".encode()
            + body
        )
        writer.close()

    async def answer_to_the_end(reader: asyncio.StreamReader, writer: asyncio.StreamWriter) -> None:
        try:
            await answer(reader, writer)
        except (ConnectionError, asyncio.IncompleteReadError):
            writer.close()

    server = await asyncio.start_server(answer_to_the_end, "127.0.0.1", 0)
    try:
        yield f"http://127.0.0.1:{server.sockets[0].getsockname()[1]}/mcp"
    finally:
        server.close()


async def send_without_end(how: str, writer: asyncio.StreamWriter) -> None:
    header, opening = OPENINGS["json" if how == "zipped" else how]
    pack = zlib.compressobj(wbits=31)
    encoding = "\r\nContent-Encoding: gzip" if how == "zipped" else ""
    writer.write(f"HTTP/1.1 200 OK\r\n{header}{encoding}\r\nConnection: close\r\n\r\n".encode())
    if how == "zipped":
        writer.write(pack.compress(opening))
    else:
        writer.write(opening)
    for _ in range(200):
        part = b"x" * 1_000_000
        writer.write(pack.compress(part) if how == "zipped" else part)
        await writer.drain()
    if how == "zipped":
        writer.write(pack.flush())
        writer.close()
    else:
        await asyncio.Event().wait()


@pytest.mark.parametrize("how", ["json", "events"])
async def test_a_body_without_end_is_not_read(running, how: str):
    async with served(how) as url, running(ServerSpec("far", url=url)) as heard:
        result = await heard.call("far__do")
        (state,) = heard.servers.states()

    assert result.is_error
    assert "far sent a message of more than 16 MB, which was not read." in result.content
    assert state.phase is Phase.READY


async def test_a_small_body_is_not_unpacked_to_a_large_one(running):
    async with served("zipped") as url, running(ServerSpec("far", url=url)) as heard:
        result = await heard.call("far__do")

    assert result.is_error
    assert "far answered with an error" in result.content


async def test_a_goodbye_without_an_answer_does_not_delay_the_end(running):
    async with served("json") as url, running(ServerSpec("far", url=url)) as heard:
        (state,) = heard.servers.states()
        began = time.monotonic()
        await heard.servers.stop()

        assert time.monotonic() - began < 1
    assert state.phase is Phase.READY
