"""`jitchat paths` and `jitchat config`: what is used, and where it comes from."""

import os
from collections.abc import Iterable, Iterator, Sequence

import click

from jitchat.cli.chosen import chosen_in_the_app
from jitchat.cli.keys import require_known_keys
from jitchat.cli.options import Flags, SharingCommand, common_options, location_options
from jitchat.cli.output import say
from jitchat.settings import Settings
from jitchat.settings.keys import key_source
from jitchat.settings.load import unknown_variables


@click.command("paths", cls=SharingCommand)
@location_options
def paths_command(flags: Flags) -> None:
    """Print where things are, and what decided it."""
    rows = [
        (name, str(path), origin if path.exists() else f"{origin} (not there yet)")
        for name, path, origin in flags.paths().rows()
    ]
    _print_columns(rows)


@click.command("config", cls=SharingCommand)
@common_options
def config_command(flags: Flags) -> None:
    """Print every setting and where its value comes from."""
    settings = flags.settings(chosen_in_the_app(flags.paths().database))
    require_known_keys(settings)
    _print_columns(_with_the_key(settings, flags))
    for warning in unknown_variables(os.environ):
        say(warning, err=True)


def _with_the_key(settings: Settings, flags: Flags) -> Iterator[tuple[str, str, str]]:
    """Go through every setting; the key is told of wherever it comes from, and never shown."""
    for key, value, origin in settings.rows():
        if key == "provider.api_key" and origin == "default":
            source = key_source(settings.in_use(), os.environ, flags.paths().keys)
            yield (key, "set (hidden)", source) if source else (key, value, origin)
        else:
            yield key, value, origin


def _print_columns(rows: Iterable[Sequence[str]]) -> None:
    """Print (name, value, origin) in three columns."""
    made = [tuple(row) for row in rows]
    first, second = (max(len(row[column]) for row in made) for column in (0, 1))
    for name, value, origin in made:
        say(f"{name:<{first}}  {value:<{second}}  {origin}")
