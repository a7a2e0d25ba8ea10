"""Real servers: started for a test, and stopped with it."""

from __future__ import annotations

import asyncio
import json
import sys
from contextlib import asynccontextmanager
from dataclasses import dataclass, field
from typing import TYPE_CHECKING, Any

import pytest

from jitchat.tools.mcp.server import Phase, ServerOptions, Servers, ServerState
from jitchat.tools.mcp.spec import ServerSpec
from jitchat.values import ToolCall, ToolResult
from tests.support import ROOT

if TYPE_CHECKING:
    from collections.abc import AsyncIterator, Callable
    from pathlib import Path

FRIENDLY = ServerSpec(
    "friendly", sys.executable, ("-m", "tests.tools.mcp.friendly_server"), cwd=str(ROOT)
)
STEP: Any = None
"""Servers know nothing of windows."""


def hostile(how: str, **more: object) -> ServerSpec:
    script = str(ROOT / "tests" / "tools" / "mcp" / "hostile_server.py")
    return ServerSpec("hostile", sys.executable, ("-S", script, how), **more)


@dataclass
class Running:
    servers: Servers
    heard: list[ServerState] = field(default_factory=list)
    news: asyncio.Event = field(default_factory=asyncio.Event)

    def hear(self, state: ServerState) -> None:
        self.heard.append(state)
        self.news.set()

    async def until(self, is_so: Callable[[], bool]) -> None:
        """Wait for a state after which it is so."""
        async with asyncio.timeout(20):
            while not is_so():
                self.news.clear()
                await self.news.wait()

    @property
    def phases(self) -> list[Phase]:
        return [state.phase for state in self.heard]

    def tools(self) -> list[str]:
        return [tool.name for source in self.servers.sources() for tool in source.tools()]

    async def restart(self, name: str) -> ServerState:
        server = self.servers.server(name)
        await server.stop()
        server.start()
        return await server.started()

    async def call(self, name: str, **arguments: object) -> ToolResult:
        source = self.servers.server(name.partition("__")[0])
        call = ToolCall("1", name, json.dumps(arguments))
        return (await source.run(call, arguments, STEP)).result


Start = "Callable[..., AbstractAsyncContextManager[Running]]"


@pytest.fixture
def running(tmp_path: Path) -> Start:
    """running(*specs, **options): servers that were started, each ready or failed."""

    @asynccontextmanager
    async def start(*specs: ServerSpec, **options: Any) -> AsyncIterator[Running]:
        made = ServerOptions(**{"pauses": (0.0, 0.0), **options})
        heard = Running(None)  # type: ignore[arg-type]  # set below
        heard.servers = Servers(specs, tmp_path / "servers", made, heard.hear)
        heard.servers.start()
        try:
            async with asyncio.timeout(20):
                await heard.servers.started()
            yield heard
        finally:
            await heard.servers.stop()

    return start
