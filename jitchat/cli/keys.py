"""`jitchat keys`: the keys of providers, stored, listed and removed."""

import os
import sys

import click

from jitchat.cli import options, output
from jitchat.errors import UsageError
from jitchat.settings import keys as stored_keys
from jitchat.settings.profiles import Profile


@click.group("keys", cls=options.SharingGroup, invoke_without_command=True)
@options.location_options
@click.pass_context
def keys_command(context: click.Context, flags: options.Flags) -> None:
    """Store the keys of providers, or list where they come from.

    A key is looked for in the provider's variable, in what api_key_cmd prints, in the
    configuration, in the keys file and in the system's keyring, in this order.
    """
    context.obj = flags
    if context.invoked_subcommand is None:
        context.invoke(list_command)


@keys_command.command("set")
@click.argument("name")
@click.option("--keyring", is_flag=True, help="Store it in the system's keyring.")
@options.location_options
def set_command(flags: options.Flags, name: str, keyring: bool) -> None:
    """Store the key of the provider NAME.

    It is asked for, and not shown as it is typed; or it comes on standard input.
    """
    profile, file = flags.settings().profile(name), _file(flags)
    if profile.is_embedded:
        raise UsageError(f"The {profile.title} needs no key.", "It is a part of jitchat.")
    cleaned = stored_keys.cleaned_key(_entered_key(profile))
    if keyring:
        stored_keys.put_into_ring(name, cleaned.key)
        output.say(f"The key of {profile.title} is in the keyring.")
    else:
        file.put(name, cleaned.key)
        output.say(f"The key of {profile.title} is in {file.path}, which only you can read.")
    source = stored_keys.key_source(profile, os.environ, file.path)
    place = stored_keys.THE_RING if keyring else stored_keys.THE_FILE
    for note in stored_keys.key_notes(profile, cleaned, place, source):
        output.warn(note)


@keys_command.command("list")
@click.option("--json", "as_json", is_flag=True, help="Print JSON.")
@options.location_options
def list_command(flags: options.Flags, as_json: bool) -> None:
    """List the providers, and where the key of each comes from."""
    settings, file = flags.settings(), _file(flags)
    _warn_of_rights(file)
    profiles = [profile for profile in settings.profiles() if not profile.is_embedded]
    sources = stored_keys.key_sources(profiles, os.environ, file.path)
    if as_json:
        output.say_json(
            [{"provider": name, "key": source or None} for name, source in sources.items()]
        )
        return
    output.print_columns(
        [(profile.name, sources[profile.name] or _how_to_add(profile)) for profile in profiles]
    )


@keys_command.command("remove")
@click.argument("name")
@options.location_options
def remove_command(flags: options.Flags, name: str) -> None:
    """Forget the stored key of the provider NAME."""
    file = _file(flags)
    places = ["the keys file"] if file.remove(name) else []
    places += ["the keyring"] if stored_keys.remove_from_ring(name) else []
    if not places:
        stored = ", ".join(file.keys()) or "none"
        raise UsageError(f"No key is stored for {name!r}.", f"Stored in the keys file: {stored}.")
    output.say(f"The key of {name} was removed from {' and from '.join(places)}.")


@keys_command.command("path")
@options.location_options
def path_command(flags: options.Flags) -> None:
    """Print where the keys file is."""
    file = _file(flags)
    output.say(str(file.path))
    _warn_of_rights(file)


def _file(flags: options.Flags) -> stored_keys.KeysFile:
    return stored_keys.KeysFile(flags.paths().keys)


def _entered_key(profile: Profile) -> str:
    """Take the key from the keyboard, without showing it, or from standard input."""
    if output.is_terminal(sys.stdin):
        answer: str = click.prompt(
            f"Key of {profile.title}", hide_input=True, err=True, default="", show_default=False
        )
        return answer
    data = sys.stdin.buffer.read(1 << 16) if sys.stdin else b""
    return data.decode("utf-8-sig", "replace").removesuffix("\n").removesuffix("\r")


def _how_to_add(profile: Profile) -> str:
    if profile.requires_key:
        return f"no key: set {profile.key_variables[0]}, or `jitchat keys set {profile.name}`"
    return "no key, which it may not want"


def _warn_of_rights(file: stored_keys.KeysFile) -> None:
    if warning := file.warning():
        output.warn(warning)
