"""`jitchat config`, `paths` and `folders`: settings and file locations, with their origins."""

import os
from collections.abc import Iterator, Sequence
from dataclasses import replace
from pathlib import Path

import click

from jitchat.cli import cold_store, options, output, shell_values
from jitchat.paths import is_missing, make_private, why_unreadable
from jitchat.settings import Settings, checks, edit, keys, load
from jitchat.store.pins import AllowedFolders
from jitchat.text.sanitize import one_line


@click.command("paths", cls=options.SharingCommand)
def paths_command(flags: options.Flags) -> None:
    """Show file locations and how each was chosen."""
    rows = [
        (name, str(path), f"{origin}{_standing(path)}")
        for name, path, origin in flags.paths().rows()
    ]
    output.print_columns(rows)


def _standing(path: Path) -> str:
    if why := why_unreadable(path):
        return f" (cannot be read: {why})"
    return " (does not exist yet)" if is_missing(path) else ""


@click.command("folders", cls=options.SharingCommand)
@options.flag(
    "--forget FOLDER",
    "Ask again before a mention attaches files of FOLDER (repeatable).",
    multiple=True,
)
def folders_command(flags: options.Flags, forget: Sequence[str]) -> None:
    """List the folders whose files @path may attach.

    Before it attaches hidden files or files outside the current folder, the chat asks once for each
    folder. This lists the folders that are still allowed.
    """
    with cold_store.opened_store(flags.paths()) as store:
        allowed = AllowedFolders(store.database)
        for folder in forget:
            allowed.remove(str(Path(folder).expanduser().resolve()))
        for path in sorted(allowed.all()):
            output.say(one_line(path))


@click.group("config", cls=options.SharingGroup, invoke_without_command=True)
@options.common_options
@click.pass_context
def config_command(context: click.Context, flags: options.Flags) -> None:
    """Show every setting and its origin, or change settings.

    Without a command, every setting is printed with its value and where the value comes from.
    """
    if context.invoked_subcommand is not None:
        return
    settings = cold_store.load_settings(flags)
    cold_store.check_key_bindings(settings)
    output.print_columns(list(_with_the_key(settings, flags)))
    for warning in filter(None, (settings.retired(), *load.unknown_variables(os.environ))):
        output.say(warning, err=True)


@config_command.command("get")
@click.argument("key", shell_complete=shell_values.SETTINGS)
def get_command(flags: options.Flags, key: str) -> None:
    """Print the value of KEY.

    KEY is a setting such as window.size, or a section such as window, to print all its values.
    """
    settings = cold_store.load_settings(flags)
    rows = list(_with_the_key(settings, flags))
    known = {name: value for name, value, _ in rows}
    within = [row for row in rows if row[0].startswith(f"{key}.")]
    if key in known:
        output.say(known[key].removeprefix('"').removesuffix('"'))
    elif within:
        output.print_columns(within)
    elif checks.is_a_section(key):
        output.say(f"Nothing is set in [{key}].", err=True)
    else:
        raise checks.unknown(key, "jitchat config get")


@config_command.command("set")
@click.argument("key", shell_complete=shell_values.SETTINGS)
@click.argument("value")
def set_command(flags: options.Flags, key: str, value: str) -> None:
    """Set KEY to VALUE in the configuration file."""
    path = flags.paths().config
    if key.startswith("keys."):
        bound = {key.removeprefix("keys."): value}
        cold_store.check_key_bindings(replace(load.load_settings(path, {}), keys=bound))
    edit.set_values(path, {key: edit.value_of(key, value)})
    output.say(f"{key} is set in {path}.")


@config_command.command("unset")
@click.argument("key", shell_complete=shell_values.SETTINGS)
def unset_command(flags: options.Flags, key: str) -> None:
    """Remove KEY from the configuration file."""
    path = flags.paths().config
    if edit.unset(path, key):
        output.say(f"{key} is no longer set in {path}.")
    else:
        output.say(f"{path} does not set {key}.")


@config_command.command("edit")
def edit_command(flags: options.Flags) -> None:
    """Open the configuration file in $EDITOR, then check it."""
    path = flags.paths().config
    make_private(path.parent)
    click.edit(filename=str(path))
    load.load_settings(path, {})
    output.say(f"{path} was not created." if is_missing(path) else f"{path} is valid.")


def _with_the_key(settings: Settings, flags: options.Flags) -> Iterator[tuple[str, str, str]]:
    """Yield every setting's key, value and origin; the API key is hidden, its source is shown."""
    for key, value, origin in settings.rows():
        if key == "provider.api_key" and origin == "default":
            source = keys.key_source(settings.in_use(), os.environ, flags.paths().keys)
            yield (key, "set (hidden)", source) if source else (key, value, origin)
        else:
            yield key, value, origin
