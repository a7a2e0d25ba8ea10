"""All servers in the settings: started together, looked up by name, stopped together."""

import asyncio
from collections.abc import Callable, Iterable
from pathlib import Path

from jitchat.tools.approvals import Claims
from jitchat.tools.mcp.server import Server, ServerOptions, ServerState
from jitchat.tools.mcp.spec import ServerSpec


class Servers:
    """The configured servers. Create it in a running event loop; `start` starts the servers."""

    def __init__(
        self,
        specs: Iterable[ServerSpec],
        folder: Path,
        options: ServerOptions | None = None,
        on_change: Callable[[ServerState], object] = lambda _: None,
    ) -> None:
        """`folder` holds the servers' standard error, one file each."""
        self._servers = {
            spec.name: Server(spec, folder / f"{spec.name}.log", options, on_change)
            for spec in specs
        }

    def start(self) -> None:
        """Start all servers in the background; `on_change` receives their states."""
        for server in self._servers.values():
            server.start()

    async def started(self) -> tuple[ServerState, ...]:
        """Wait until every server is ready or has failed."""
        return tuple(await asyncio.gather(*(each.started() for each in self._servers.values())))

    async def stop(self) -> None:
        """Stop all servers together, and the processes that they started."""
        await asyncio.gather(*(server.stop() for server in self._servers.values()))

    def sources(self) -> tuple[Server, ...]:
        return tuple(self._servers.values())

    def server(self, name: str) -> Server:
        return self._servers[name]

    def states(self) -> tuple[ServerState, ...]:
        return tuple(server.state for server in self._servers.values())

    def claims_of(self, source: str, tool: str) -> Claims | None:
        """Look up a server's claims about a tool, by the name under which the tool is offered."""
        server = self._servers.get(source)
        return server.claims_of(tool) if server is not None else None
