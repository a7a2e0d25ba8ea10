"""The tools of the configured MCP servers: started, offered to a session, and stopped with it."""

from __future__ import annotations

from collections.abc import AsyncIterator, Callable
from contextlib import asynccontextmanager
from pathlib import Path
from typing import TYPE_CHECKING

from jitchat.settings.settings import Settings
from jitchat.settings.tables import rules_of, spec_of
from jitchat.store.tool_grants import ToolGrants
from jitchat.tools.approvals import Approvals, Approver
from jitchat.tools.mcp.elicitation import Elicitor
from jitchat.tools.mcp.server import ServerOptions, Servers, ServerState
from jitchat.tools.toolbox import Toolbox

if TYPE_CHECKING:
    from jitchat.session import Session


@asynccontextmanager
async def served_tools(
    session: Session, settings: Settings, folder: Path, approver: Approver | None = None
) -> AsyncIterator[tuple[ServerState, ...]]:
    """Offer the tools of all servers that start; yield each server's state.

    Without an approver, only tools that the settings or earlier grants allow are run.
    """
    servers = make_servers(settings, folder)
    servers.start()
    try:
        states = await servers.started()
        grants = ToolGrants(session.memory.store.database)
        session.use_tools(make_toolbox(settings, servers, approver, grants))
        yield states
    finally:
        await servers.stop()


def make_servers(
    settings: Settings,
    folder: Path,
    on_change: Callable[[ServerState], object] = lambda _: None,
    elicitor: Elicitor | None = None,
) -> Servers:
    """Make the enabled servers without starting them."""
    rules = rules_of(settings.tools, settings.mcp)
    specs = [spec_of(server) for server in settings.mcp.values() if server.enabled]
    return Servers(specs, folder, ServerOptions(rules=rules, elicitor=elicitor), on_change)


def make_toolbox(
    settings: Settings, servers: Servers, approver: Approver | None, grants: ToolGrants
) -> Toolbox:
    """Combine the servers' tools with the rules and the approver that confirm their use."""
    approvals = Approvals(rules_of(settings.tools, settings.mcp), servers, approver, grants)
    return Toolbox(servers.sources(), approvals, settings.tools.max_steps)
