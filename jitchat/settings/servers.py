"""The tables `[mcp.NAME]`: MCP servers as configured."""

import re
from collections.abc import Mapping

from jitchat.errors import SettingsError
from jitchat.settings.sections import McpServer, ToolsSettings, settings_of
from jitchat.settings.tables import table_values, tables
from jitchat.text.sanitize import shorten
from jitchat.tools.approvals import Rules
from jitchat.tools.mcp.spec import ServerSpec

_NAME = re.compile(r"[A-Za-z0-9](?:[A-Za-z0-9-]|_(?!_)){0,31}(?<!_)")
"""Without `__`, and without `_` at its end: `__` separates the server's name from the tool's."""
EXAMPLE = "[mcp.files]"


def named_servers(given: object, origin: str, origins: dict[str, str]) -> dict[str, McpServer]:
    """Read the tables `[mcp.NAME]`, adding the origin of each value to `origins`."""
    made = {}
    for name, table in tables("mcp", EXAMPLE, given, origin):
        require_name(name, origin)
        prefix = f"mcp.{name}"
        known = settings_of(McpServer, prefix)
        server = McpServer(name, **table_values(prefix, table, known, origin))
        _require_one_way(server, origin)
        made[name] = server
        origins |= {prefix: origin} | {f"{prefix}.{key}": origin for key in table}
    return made


def require_name(name: str, origin: str) -> None:
    """Raise SettingsError if `name` is not valid for a server."""
    if not _NAME.fullmatch(name):
        raise SettingsError(
            f"{origin}: {shorten(name, 60)!r} cannot be the name of a server.",
            f"Use at most 32 letters, digits, - and single _, as in {EXAMPLE}.",
        )


def _require_one_way(server: McpServer, origin: str) -> None:
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
