"""`jitchat mcp`: servers of tools, added, listed, checked and removed."""

import asyncio
import os
from collections.abc import Sequence
from dataclasses import dataclass
from pathlib import Path
from typing import Any

import click

from jitchat.cli import cold_store, options, output
from jitchat.errors import SettingsError, UsageError
from jitchat.settings import edit
from jitchat.settings.sections import McpServer
from jitchat.settings.servers import rules_of, spec_of
from jitchat.store.tool_grants import ToolGrants
from jitchat.text.figures import plural
from jitchat.text.sanitize import one_line
from jitchat.tools.mcp.errors_file import size_of, tail
from jitchat.tools.mcp.server import Phase, Server, ServerOptions
from jitchat.tools.mcp.servers import Servers
from jitchat.tools.mcp.spec import ServerSpec, without
from jitchat.window.tokens import TokenCounter, counter_for
from jitchat.window.tool_prices import tool_prices

_LINES = 10
"""Of what a server wrote on its standard error."""


@click.group("mcp", cls=options.SharingGroup, invoke_without_command=True)
@options.location_options
@click.pass_context
def mcp_command(context: click.Context, flags: options.Flags) -> None:
    """Add, list, check and remove servers of tools.

    They speak the Model Context Protocol. Without a command, they are listed.
    """
    context.obj = flags
    if context.invoked_subcommand is None:
        context.invoke(list_command)


@dataclass(frozen=True, slots=True)
class _Besides:
    env: tuple[str, ...] = options.option("A variable for it.", multiple=True, metavar="NAME=VALUE")
    header: tuple[str, ...] = options.option(
        "A header to send to a URL.", multiple=True, metavar="NAME=VALUE"
    )
    cwd: str | None = options.option("The folder in which it runs.", metavar="DIR")


@mcp_command.command("add", context_settings={"allow_interspersed_args": False})
@click.argument("name")
@click.argument("words", nargs=-1, required=True, metavar="URL|COMMAND [ARG]...")
@options.options_as("besides", _Besides)
@options.location_options
def add_command(flags: options.Flags, name: str, words: tuple[str, ...], besides: _Besides) -> None:
    """Add the server NAME to the configuration: what starts it, or its address.

    Options go before NAME. A key is best left in a variable: --env 'TOKEN=${TOKEN}'.
    """
    is_url = words[0].startswith(("http://", "https://"))
    if is_url and len(words) > 1:
        raise UsageError("An address takes no arguments.", "Quote it, if it has blanks.")
    values: dict[str, edit.Value] = {"url" if is_url else "command": words[0]}
    if words[1:]:
        values["args"] = list(words[1:])
    more: dict[str, edit.Value] = {
        "env": _pairs(besides.env),
        "headers": _pairs(besides.header),
        "cwd": besides.cwd or "",
    }
    values |= {key: value for key, value in more.items() if value}
    path = flags.paths().config
    edit.add_server(path, name, values)
    output.say(f"{name} is in {path}. `jitchat mcp check {name}` starts it and lists its tools.")


def _pairs(given: Sequence[str]) -> dict[str, str]:
    pairs = [text.partition("=") for text in given]
    if any(not (name and equals) for name, equals, _ in pairs):
        raise UsageError("A variable or a header is NAME=VALUE.")
    return {name: value for name, _, value in pairs}


@mcp_command.command("list")
@click.option("--json", "as_json", is_flag=True, help="Print JSON.")
@options.location_options
def list_command(flags: options.Flags, as_json: bool) -> None:
    """List the servers of the configuration; none is started."""
    servers = flags.settings().mcp.values()
    if as_json:
        output.say_json([{"name": s.name, "kind": _kind(s), "enabled": s.enabled} for s in servers])
    elif servers:
        rows = [(s.name, _kind(s), "" if s.enabled else "switched off") for s in servers]
        output.print_columns(rows)
    else:
        output.say("There are no servers. `jitchat mcp add NAME COMMAND` adds one.")


def _kind(server: McpServer) -> str:
    """Say how it is started or reached, without what may be a key."""
    return f"runs {server.command}" if server.command else "over HTTP"


@mcp_command.command("remove")
@click.argument("name")
@options.location_options
def remove_command(flags: options.Flags, name: str) -> None:
    """Remove the server NAME, what was allowed of it for good, and what it wrote of errors."""
    paths = flags.paths()
    edit.remove_server(paths.config, name)
    if paths.database.exists():
        with cold_store.opened_store(paths) as store:
            ToolGrants(store.database).forget(name)
    (paths.servers / f"{name}.log").unlink(missing_ok=True)
    output.say(f"{name} was removed from {paths.config}.")


@mcp_command.command("check")
@click.argument("names", nargs=-1, metavar="[NAME]...")
@click.option("--json", "as_json", is_flag=True, help="Print JSON.")
@options.location_options
def check_command(flags: options.Flags, names: tuple[str, ...], as_json: bool) -> int:
    """Start servers, list their tools with what each costs, show what they wrote of errors.

    All that are not switched off, or the NAMEs. The exit code is 1 where one of them fails.
    """
    settings, folder = flags.settings(), flags.paths().servers
    if unknown := [name for name in names if name not in settings.mcp]:
        listed = ", ".join(settings.mcp) or "none"
        raise UsageError(f"There is no server {unknown[0]!r}.", f"There are: {listed}.")
    chosen = [s for s in settings.mcp.values() if s.name in names or (s.enabled and not names)]
    if not chosen:
        output.say("There is no server to check.")
        return 0
    counter = counter_for(settings.in_use().model, os.environ)
    specs = [spec_of(server) for server in chosen]
    made = ServerOptions(rules=rules_of(settings.tools, settings.mcp))
    sizes = [size_of(folder / f"{spec.name}.log") for spec in specs]
    findings = asyncio.run(_findings(Servers(specs, folder, made), counter))
    for spec, size, finding in zip(specs, sizes, findings, strict=True):
        finding["errors"] = _errors(spec, folder, size)
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


def _errors(spec: ServerSpec, folder: Path, since: int) -> list[str]:
    """Read the last lines of what it wrote, without its keys."""
    try:
        secrets = spec.expanded(os.environ).secrets()
    except SettingsError:  # a variable is not set: it was not started
        return []
    lines = tail(folder / f"{spec.name}.log", _LINES, since)
    return [without(secrets, line) for line in lines]


def _finding(server: Server, counter: TokenCounter) -> dict[str, object]:
    """Tell how a server does, and what its tools cost in tokens by the model's vocabulary."""
    state = server.state
    prices = tool_prices(server.tools(), counter.count, counter.style)
    return {
        "name": server.name,
        "ok": state.phase is Phase.READY,
        "sentence": state.sentence,
        "protocol": state.protocol,
        "tokens": prices.around + sum(tokens for _, tokens in prices.each),
        "tools": [
            {"name": tool.name, "tokens": tokens, "description": tool.description}
            for tool, (_, tokens) in zip(server.tools(), prices.each, strict=True)
        ],
        "errors": [],
    }


def _print(finding: dict[str, Any]) -> None:
    mark, colour = ("✓", "green") if finding["ok"] else ("✗", "red")
    count = plural(len(finding["tools"]), "tool")
    fine = f"{count}, {finding['tokens']:,} tokens; protocol {finding['protocol']}"
    line = f"{finding['name']}  {fine if finding['ok'] else finding['sentence']}"
    output.emit(f"{output.painted(mark, colour)} {output.painted(line, None)}")
    rows = [
        (f"  {tool['name']}", f"{tool['tokens']:,}", one_line(tool["description"]))
        for tool in finding["tools"]
    ]
    if rows:
        for row in output.fitted_columns(rows, right=(1,)):
            output.say(row.rstrip())
    if finding["errors"]:
        output.say("  it wrote on its standard error:")
        for text in finding["errors"]:
            output.say(f"  │ {text}")
