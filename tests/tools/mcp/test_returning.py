"""Servers over HTTP that forget their sessions, or are down for a while."""

from __future__ import annotations

import asyncio
import json
from dataclasses import dataclass, field
from typing import Any

import pytest

from jitchat.tools.mcp.server import Phase
from jitchat.tools.mcp.spec import ServerSpec
from tests.tools.mcp.test_hostile_http import RESULTS

REFUSALS = {
    "nothing said": (404, None),
    "not found": (404, {"code": -32001, "message": "Session not found"}),
    "bad request": (400, {"code": -32000, "message": "Bad Request: No valid session ID provided"}),
}


@dataclass
class Remote:
    """A server with one tool; it knows only the sessions that it has not forgotten."""

    refusal: str = "not found"
    begun: int = 0
    calls: int = 0
    forgets: bool = False
    """Whether calls find their session forgotten, every time."""
    known: set[str] = field(default_factory=set)
    _server: asyncio.Server | None = None
    port: int = 0

    async def start(self) -> None:
        self._server = await asyncio.start_server(self._answer, "127.0.0.1", self.port)
        self.port = self._server.sockets[0].getsockname()[1]

    async def stop(self) -> None:
        assert self._server is not None
        self._server.close()
        await self._server.wait_closed()
        self.known.clear()

    @property
    def spec(self) -> ServerSpec:
        return ServerSpec("far", url=f"http://127.0.0.1:{self.port}/mcp")

    async def _answer(self, reader: asyncio.StreamReader, writer: asyncio.StreamWriter) -> None:
        head = (await reader.readuntil(b"\r\n\r\n")).decode().lower()
        fields = dict(line.split(": ", 1) for line in head.splitlines()[1:] if line)
        status, body = 405, b""
        if head.startswith("post"):
            asked = json.loads(await reader.readexactly(int(fields["content-length"])))
            status, reply = self._reply(asked, fields.get("mcp-session-id", ""))
            if reply and "id" in asked:
                body = json.dumps({"jsonrpc": "2.0", "id": asked["id"], **reply}).encode()
        writer.write(
            f"HTTP/1.1 {status} X\r\nContent-Type: application/json\r\n"
            f"Mcp-Session-Id: {self.begun}\r\nConnection: close\r\n"
            f"Content-Length: {len(body)}\r\n\r\n".encode()
            + body
        )
        writer.close()

    def _reply(self, asked: dict[str, Any], session: str) -> tuple[int, dict[str, Any] | None]:
        if asked["method"] == "initialize":
            self.begun += 1
            self.known.add(str(self.begun))
        elif asked["method"] == "server/discover":
            return 200, {"error": {"code": -32601, "message": "no such method"}}
        elif session not in self.known or (self.forgets and asked["method"] == "tools/call"):
            status, error = REFUSALS[self.refusal]
            return status, {"error": error} if error else None
        if "id" not in asked:
            return 202, None
        if asked["method"] == "tools/call":
            self.calls += 1
            return 200, {"result": {"content": [{"type": "text", "text": "Done."}]}}
        found = RESULTS.get(str(asked["method"]))
        missing = {"error": {"code": -32601, "message": "no such method"}}
        return 200, {"result": found} if found else missing


@pytest.fixture
async def remote():
    made = Remote()
    await made.start()
    yield made
    await made.stop()


@pytest.mark.parametrize("refusal", REFUSALS)
async def test_a_session_that_was_forgotten_is_begun_again_once(running, remote, refusal):
    remote.refusal = refusal
    async with running(remote.spec) as heard:
        assert (await heard.call("far__do")).content == "Done."
        remote.known.clear()
        result = await heard.call("far__do")
        assert (result.is_error, result.content) == (False, "Done.")
        assert (remote.begun, remote.calls) == (2, 2)
        (state,) = heard.servers.states()
        assert state.phase is Phase.READY


async def test_a_server_that_forgets_every_session_is_given_up(running, remote):
    async with running(remote.spec) as heard:
        remote.forgets = True
        result = await asyncio.wait_for(heard.call("far__do"), 10)
        assert result.is_error
        assert "Session not found" in result.content
        assert (remote.begun, remote.calls) == (2, 0)


async def test_a_server_that_was_down_at_the_start_is_tried_again(running, remote):
    spec = remote.spec
    await remote.stop()
    async with running(spec, pauses=(0.3, 0.3)) as heard:
        (state,) = heard.servers.states()
        assert (state.phase, "cannot be reached" in state.sentence) == (Phase.FAILED, True)
        await remote.start()
        async with asyncio.timeout(10):
            while heard.servers.states()[0].phase is not Phase.READY:
                await asyncio.sleep(0.01)
        assert (await heard.call("far__do")).content == "Done."


async def test_a_server_that_was_down_for_a_while_serves_again(running, remote):
    async with running(remote.spec, pauses=(0.1, 0.1, 0.1, 2.0)) as heard:
        await heard.call("far__do")
        await remote.stop()
        await heard.call("far__do")
        await remote.start()
        async with asyncio.timeout(10):
            while (await heard.call("far__do")).is_error:
                await asyncio.sleep(0.01)


@pytest.mark.parametrize("pauses", [(), (999.0,)], ids=["given up", "in a pause"])
async def test_a_server_that_is_down_is_started_by_hand(running, remote, pauses):
    spec = remote.spec
    await remote.stop()
    async with running(spec, pauses=pauses) as heard:
        await remote.start()
        heard.servers.start()
        (state,) = await heard.servers.started()
        assert state.phase is Phase.READY
