"""`jitchat paths` and `jitchat config`: what is used, and where it comes from."""

from __future__ import annotations

import click

from jitchat.cli.options import Flags, common_options
from jitchat.text.safe import visible


@click.command("paths")
@common_options
def paths_command(flags: Flags) -> None:
    """Print where the configuration, the database, models and crash reports are."""
    paths = flags.paths()
    for name in ("config", "database", "models", "crash"):
        path = getattr(paths, name)
        click.echo(visible(f"{name:<10}{path}{'' if path.exists() else '  (not there yet)'}"))


@click.command("config")
@common_options
def config_command(flags: Flags) -> None:
    """Print every setting, its value, and where the value comes from."""
    rows = list(flags.settings().rows())
    widths = [max(len(row[column]) for row in rows) for column in (0, 1)]
    for key, value, origin in rows:
        click.echo(visible(f"{key:<{widths[0]}}  {value:<{widths[1]}}  {origin}"))
