"""The tools of the configured servers, for a session: started, offered, and stopped at its end."""

from collections.abc import AsyncIterator
from contextlib import asynccontextmanager
from pathlib import Path

from jitchat.session import Session
from jitchat.settings.servers import rules_of, spec_of
from jitchat.settings.settings import Settings
from jitchat.store.tool_grants import ToolGrants
from jitchat.tools.approvals import Approvals, Approver
from jitchat.tools.mcp.server import ServerOptions, ServerState
from jitchat.tools.mcp.servers import Servers
from jitchat.tools.toolbox import Toolbox


@asynccontextmanager
async def served_tools(
    session: Session, settings: Settings, folder: Path, approver: Approver | None = None
) -> AsyncIterator[tuple[ServerState, ...]]:
    """Have the session offer the tools of all servers that start; gives how each does.

    Without an approver, only what the settings and earlier grants allow is run.
    """
    rules = rules_of(settings.tools, settings.mcp)
    specs = [spec_of(server) for server in settings.mcp.values() if server.enabled]
    servers = Servers(specs, folder, ServerOptions(rules=rules))
    grants = ToolGrants(session.memory.store.database)
    servers.start()
    try:
        states = await servers.started()
        approvals = Approvals(rules, servers, approver, grants)
        session.use_tools(Toolbox(servers.sources(), approvals, settings.tools.max_steps))
        yield states
    finally:
        await servers.stop()
