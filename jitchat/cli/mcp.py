"""`jitchat mcp`: add, list, check and remove MCP servers."""

import asyncio
import os
from collections.abc import Sequence
from contextlib import suppress
from dataclasses import dataclass
from pathlib import Path
from typing import Any

import click

from jitchat.children import is_command, users_home
from jitchat.cli import cold_store, options, output
from jitchat.errors import UsageError
from jitchat.paths import is_missing
from jitchat.settings import edit
from jitchat.settings.sections import McpServer
from jitchat.settings.tables import rules_of, spec_of
from jitchat.store.tool_grants import ToolGrants
from jitchat.text.figures import plural
from jitchat.text.sanitize import one_line, shorten
from jitchat.text.variables import variables_in
from jitchat.tools.mcp.server import Phase, Server, ServerOptions, Servers
from jitchat.window.tokens import TokenCounter, counter_for
from jitchat.window.tool_prices import tool_prices

_LINES = 10
"""Maximum lines shown of a server's standard error."""


@click.group("mcp", cls=options.ListingGroup)
@options.location_options
def mcp_command(**_: object) -> None:
    """Add, list, check and remove MCP servers.

    MCP (Model Context Protocol) servers provide the tools that a model can call. Without a command,
    the servers are listed.
    """


@dataclass(frozen=True, slots=True)
class _ServerFlags:
    env: tuple[str, ...] = options.option(
        "Environment variable for the command (repeatable).", "NAME=VALUE", multiple=True
    )
    header: tuple[str, ...] = options.option(
        "HTTP header to send to the URL (repeatable).", "NAME=VALUE", multiple=True
    )
    cwd: str | None = options.option("Working directory of the command (default: home).", "DIR")


@mcp_command.command("add", context_settings={"allow_interspersed_args": False})
@click.argument("name")
@click.argument("words", nargs=-1, required=True, metavar="URL|COMMAND [ARG]...")
def add_command(
    flags: options.Flags, name: str, words: tuple[str, ...], server: _ServerFlags
) -> None:
    """Add the server NAME to the configuration.

    Give its URL, or the COMMAND that starts it; `--` before COMMAND is ignored. Options go before
    NAME. Keep secrets in environment variables: --env 'TOKEN=${TOKEN}'.
    """
    words = words[words[0] == "--" :] or words  # as other programs have it: add NAME -- COMMAND
    is_url = words[0].startswith(("http://", "https://"))
    if is_url and len(words) > 1:
        raise UsageError("A URL takes no arguments.", "Quote the URL if it contains blanks.")
    folder = server.cwd or users_home()
    if not (is_url or variables_in(words[0]) or is_command(words[0], folder)):
        raise UsageError(
            f"There is no command {shorten(words[0], 60)}.",
            "Install it, or check its name; options go before NAME. A relative path starts in"
            f" {folder}, or in --cwd.",
        )
    values: dict[str, edit.Value] = {
        "url" if is_url else "command": words[0],
        "args": list(words[1:]),
        "env": _pairs(server.env),
        "headers": _pairs(server.header),
        "cwd": server.cwd or "",
    }
    path = flags.paths().config
    edit.add_server(path, name, {key: value for key, value in values.items() if value})
    output.say(f"Added {name} to {path}. `jitchat mcp check {name}` starts it and lists its tools.")


def _pairs(given: Sequence[str]) -> dict[str, str]:
    pairs = [text.partition("=") for text in given]
    if any(not (name and equals) for name, equals, _ in pairs):
        raise UsageError("Write a variable or a header as NAME=VALUE.")
    return {name: value for name, _, value in pairs}


@mcp_command.command("list")
def list_command(flags: options.Flags, as_json: bool) -> None:
    """List the configured servers without starting them."""
    output.print_records(
        list(flags.settings().mcp.values()),
        lambda server: {"name": server.name, "kind": _kind(server), "enabled": server.enabled},
        lambda server: (server.name, _kind(server), "" if server.enabled else "disabled"),
        as_json=as_json,
        none="No servers are configured. `jitchat mcp add NAME COMMAND` adds one.",
    )


def _kind(server: McpServer) -> str:
    """Describe how a server is started or reached, without arguments that may contain a key."""
    return f"runs {server.command}" if server.command else "over HTTP"


@mcp_command.command("remove")
@click.argument("name")
def remove_command(flags: options.Flags, name: str) -> None:
    """Remove the server NAME with its permissions and its error log."""
    paths = flags.paths()
    edit.remove_server(paths.config, name)
    if not is_missing(paths.database):
        with cold_store.opened_store(paths) as store:
            ToolGrants(store.database).forget(name)
    (paths.servers / f"{name}.log").unlink(missing_ok=True)
    output.say(f"Removed {name} from {paths.config}.")


@mcp_command.command("check")
@click.argument("names", nargs=-1, metavar="[NAME]...")
def check_command(flags: options.Flags, names: tuple[str, ...], as_json: bool) -> int:
    """Start servers and list their tools, token counts and errors.

    Without NAME, all enabled servers are checked. The exit code is 1 if a server fails.
    """
    settings, folder = flags.settings(), flags.paths().servers
    if unknown := [name for name in names if name not in settings.mcp]:
        listed = ", ".join(settings.mcp) or "none"
        raise UsageError(f"There is no server {unknown[0]!r}.", f"Configured: {listed}.")
    chosen = [s for s in settings.mcp.values() if s.name in names or (s.enabled and not names)]
    if not chosen:
        output.tell([], "There are no servers to check.", as_json=as_json)
        return 0
    counter = counter_for(settings.in_use().model, os.environ)
    specs = [spec_of(server) for server in chosen]
    made = ServerOptions(rules=rules_of(settings.tools, settings.mcp), pointer="")
    logs = [folder / f"{spec.name}.log" for spec in specs]
    sizes = [log.stat().st_size if log.exists() else 0 for log in logs]
    findings = asyncio.run(_findings(Servers(specs, folder, made), counter))
    for log, size, finding in zip(logs, sizes, findings, strict=True):
        finding["errors"] = _tail(log, size)
    if as_json:
        output.say_json(findings)
    else:
        for finding in findings:
            _print(finding)
    return 0 if all(finding["ok"] for finding in findings) else 1


async def _findings(servers: Servers, counter: TokenCounter) -> list[dict[str, object]]:
    servers.start()
    try:
        await servers.started()
        return [_finding(server, counter) for server in servers.sources()]
    finally:
        await servers.stop()


def _tail(path: Path, since: int) -> list[str]:
    """Read the last lines that were written after byte `since`, or all if the log was cut."""
    with suppress(OSError):
        written = path.read_bytes()
        start = since if since <= len(written) else 0
        return written[start:].decode("utf-8", "replace").splitlines()[-_LINES:]
    return []


def _finding(server: Server, counter: TokenCounter) -> dict[str, object]:
    """Report a server's state and the tokens of its tools, by the tokenizer of the model in use."""
    state = server.state
    prices = tool_prices(server.tools(), counter.count, counter.style)
    return {
        "name": server.name,
        "ok": state.phase is Phase.READY,
        "sentence": state.sentence,
        "protocol": state.protocol,
        "tokens": prices.around + sum(tokens for _, tokens in prices.by_tool),
        "tools": [
            {"name": tool.name, "tokens": tokens, "description": tool.description}
            for tool, (_, tokens) in zip(server.tools(), prices.by_tool, strict=True)
        ],
        "errors": [],
    }


def _print(finding: dict[str, Any]) -> None:
    count = plural(len(finding["tools"]), "tool")
    summary = f"{count}, {finding['tokens']:,} tokens; protocol {finding['protocol']}"
    line = f"{finding['name']}  {summary if finding['ok'] else finding['sentence']}"
    output.print_check(line, passes=finding["ok"])
    if finding["ok"] and finding["sentence"]:
        output.say(f"  {finding['sentence']}")
    rows = [
        (f"  {tool['name']}", f"{tool['tokens']:,}", one_line(tool["description"]))
        for tool in finding["tools"]
    ]
    if rows:
        output.print_columns(rows, right=(1,), cut=True)
    if finding["errors"]:
        output.say("  standard error:")
        for text in finding["errors"]:
            output.say(f"  │ {text}")
