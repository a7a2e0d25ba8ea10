"""`jitchat config` and `jitchat paths`: what is used, and where it comes from."""

import os
from collections.abc import Iterator

import click

from jitchat.cli.cold_store import load_settings
from jitchat.cli.options import Flags, SharingCommand, common_options, location_options
from jitchat.cli.output import print_columns, say
from jitchat.errors import SettingsError
from jitchat.settings import Settings
from jitchat.settings.checks import nearest
from jitchat.settings.keys import key_source
from jitchat.settings.load import unknown_variables
from jitchat.text.sanitize import shorten


@click.command("paths", cls=SharingCommand)
@location_options
def paths_command(flags: Flags) -> None:
    """Print where things are, and what decided it."""
    rows = [
        (name, str(path), origin if path.exists() else f"{origin} (not there yet)")
        for name, path, origin in flags.paths().rows()
    ]
    print_columns(rows)


@click.command("config", cls=SharingCommand)
@common_options
def config_command(flags: Flags) -> None:
    """Print every setting and where its value comes from."""
    settings = load_settings(flags)
    check_key_bindings(settings)
    print_columns(list(_with_the_key(settings, flags)))
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


def check_key_bindings(settings: Settings) -> None:
    if not settings.keys:
        return
    from jitchat.tui.actions import keys_by_id  # noqa: PLC0415  loads textual

    known = keys_by_id()
    origin = settings.origins.get("keys", "[keys]")
    for name in settings.keys:
        if name not in known:
            raise SettingsError(
                f"{origin}: 'keys.{shorten(name, 40)}' is no action of jitchat.",
                f"[keys] may hold {', '.join(known)}.{nearest(name, known)}",
            )
    taken: dict[str, str] = {}
    for action, listed in (known | dict(settings.keys)).items():
        for key in (piece.strip() for piece in listed.split(",")):
            if other := taken.get(key):
                raise SettingsError(
                    f"{origin}: {shorten(key, 40)!r} is a key of {other} and of {action}.",
                    "Give one of them another.",
                )
            taken[key] = action
