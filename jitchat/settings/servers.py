"""The tables `[mcp.NAME]`: MCP servers as configured."""

from collections.abc import Mapping

from jitchat.errors import SettingsError
from jitchat.settings.sections import McpServer, ToolsSettings
from jitchat.tools.approvals import Rules
from jitchat.tools.mcp.spec import ServerSpec


def require_one_way(server: McpServer, origin: str) -> None:
    """Refuse a server with both a command and a URL, neither, or settings of the other kind."""
    command, url, prefix = server.command.strip(), server.url.strip(), f"mcp.{server.name}"
    if bool(command) == bool(url):
        has = "both command and url" if command else "neither command nor url"
        raise SettingsError(
            f"{origin}: {prefix} has {has}.",
            'Set command for a server that runs here, as in command = "uvx", or url for one that'
            ' is reached over HTTP, as in url = "https://tools.example/mcp".',
        )
    of_other_way = ("headers",) if command else ("args", "env", "cwd")
    if wrong := next((name for name in of_other_way if getattr(server, name)), ""):
        what = "runs here" if command else "is reached over HTTP"
        raise SettingsError(
            f"{origin}: {prefix}.{wrong} has no effect: the server {what}.",
            f"Remove {wrong}.",
        )
    if url and not url.startswith(("http://", "https://", "${")):
        raise SettingsError(
            f"{origin}: {prefix}.url is not an HTTP address.",
            "It must begin with https:// or http://.",
        )


def spec_of(server: McpServer) -> ServerSpec:
    """Return how a server is started or reached; variables in it are expanded at that time."""
    return ServerSpec(
        name=server.name,
        command=server.command.strip(),
        args=server.args,
        env=server.env,
        cwd=server.cwd.strip(),
        url=server.url.strip(),
        headers=server.headers,
        timeout=server.timeout,
        enabled=server.enabled,
    )


def rules_of(tools: ToolsSettings, servers: Mapping[str, McpServer]) -> Rules:
    """Combine the rules for all servers with those of each server."""
    rules = Rules(tools.allow, tools.ask, tools.deny)
    for name, server in servers.items():
        rules = rules.with_rules_of(name, Rules(server.allow, server.ask, server.deny))
    return rules
