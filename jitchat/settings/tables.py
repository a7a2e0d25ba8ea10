"""Tables with names chosen by the user, `[providers.NAME]` and the like: reading, checking, use."""

import re
from collections.abc import Mapping
from dataclasses import dataclass
from typing import Any

from jitchat.errors import SettingsError
from jitchat.providers.catalogue.table import READER
from jitchat.settings import checks, sections
from jitchat.settings.sections import McpServer, ToolsSettings
from jitchat.text.sanitize import one_line, shorten
from jitchat.tools.approvals import Rules
from jitchat.tools.mcp.spec import ServerSpec

_OF_THE_READER = ("limit", "reserve")


@dataclass(frozen=True, slots=True)
class _Naming:
    """How the tables of a section are named."""

    what: str
    example: str
    pattern: re.Pattern[str]
    allowed: str


_USUAL = re.compile(r"[A-Za-z0-9][A-Za-z0-9_-]{0,39}")
_USUAL_ALLOWED = "at most 40 letters, digits, - and _"
_OF_SERVER = re.compile(r"[A-Za-z0-9](?:[A-Za-z0-9-]|_(?!_)){0,31}(?<!_)")
"""Without `__`, and without `_` at its end: `__` separates the server's name from the tool's."""
_NOT_EMPTY = re.compile(".+")
_NAMING = {
    "providers": _Naming("a provider", "[providers.work]", _USUAL, _USUAL_ALLOWED),
    "models": _Naming("a model", '[models."gpt-5-mini"]', _NOT_EMPTY, "words on one line"),
    "mcp": _Naming(
        "a server", "[mcp.files]", _OF_SERVER, "at most 32 letters, digits, - and single _"
    ),
    "personas": _Naming("a persona", "[personas.reviewer]", _USUAL, _USUAL_ALLOWED),
}


def named_tables(section: str, given: object, origin: str, origins: dict[str, str]) -> Any:  # noqa: ANN401  as the section's field of `Settings`
    """Read the tables of a section by their names, adding the origin of each value to `origins`.

    Raises:
        SettingsError: One is not a table, has an invalid name, or an unknown or invalid value.

    """
    example = _NAMING[section].example
    if not isinstance(given, dict):
        raise SettingsError(f"{origin}: {section} must be a table of tables.", write_below(example))
    made = {}
    for name, table in given.items():
        if not isinstance(table, dict):
            what = f"{origin}: {shorten(f'{section}.{name}', 60)} must be a table."
            raise SettingsError(what, write_below(example))
        require_name(section, name, origin)
        key = sections.key_of_table(section, name)
        known = sections.settings_of(sections.NAMED[section], key)
        if (section, name) == ("providers", READER.name):
            known = {name: known[name] for name in _OF_THE_READER}
        made[name] = sections.NAMED[section](name=name, **_values(key, table, known, origin))
        origins |= {key: origin} | {f"{key}.{name}": origin for name in table}
    return made


def require_name(section: str, name: str, origin: str) -> None:
    """Raise SettingsError if `name` is not valid for a table of the section."""
    naming = _NAMING[section]
    if name != one_line(name) or not naming.pattern.fullmatch(name):
        raise SettingsError(
            f"{origin}: {shorten(name, 60)!r} cannot be the name of {naming.what}.",
            f"Use {naming.allowed}, as in {naming.example}.",
        )


def write_below(example: str) -> str:
    return f"Write {example} on its own line, and its keys below it."


def _values(
    key: str, table: Mapping[str, object], known: Mapping[str, sections.Setting], origin: str
) -> dict[str, Any]:
    for name in table:
        if name not in known:
            raise checks.unknown_in_table(key, name, known, origin)
    return {name: checks.checked(known[name], value, origin) for name, value in table.items()}


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
