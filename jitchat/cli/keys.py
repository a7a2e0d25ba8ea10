"""`jitchat keys`: store, list and remove the providers' API keys."""

import os
import sys

import click

from jitchat.cli import options, output
from jitchat.errors import UsageError
from jitchat.settings import keys as stored_keys
from jitchat.settings.profiles import Profile


@click.group("keys", cls=options.ListingGroup)
@options.location_options
def keys_command(**_: object) -> None:
    """Store, list and remove the providers' API keys.

    Without a command, the providers and the sources of their keys are listed. A key is looked up in
    this order: the provider's environment variable, the output of api_key_cmd, the configuration
    file, the keys file, the system's keyring.
    """


@keys_command.command("set")
@click.argument("name")
@options.flag("--keyring", "Store the key in the system's keyring.")
def set_command(flags: options.Flags, name: str, keyring: bool) -> None:
    """Store the API key of the provider NAME.

    You are prompted for the key, which is not shown as you type. It can also be piped in.
    """
    profile, file = flags.settings().profile(name), _file(flags)
    if profile.is_embedded:
        raise UsageError(f"The {profile.title} needs no key.", "It is part of jitchat.")
    cleaned = stored_keys.cleaned_key(_entered_key(profile))
    if keyring:
        stored_keys.put_into_ring(name, cleaned.key)
        output.say(f"Stored the API key of {profile.title} in the keyring.")
    else:
        file.put(name, cleaned.key)
        output.say(
            f"Stored the API key of {profile.title} in {file.path}, which only you can read."
        )
    source = stored_keys.key_source(profile, os.environ, file.path)
    place = stored_keys.THE_RING if keyring else stored_keys.THE_FILE
    for note in stored_keys.key_notes(profile, cleaned, place, source):
        output.warn(note)


@keys_command.command("list")
def list_command(flags: options.Flags, as_json: bool) -> None:
    """List the providers and where the API key of each comes from."""
    settings, file = flags.settings(), _file(flags)
    if warning := file.warning():
        output.warn(warning)
    profiles = [profile for profile in settings.profiles() if not profile.is_embedded]
    sources = stored_keys.key_sources(profiles, os.environ, file.path)
    output.print_records(
        profiles,
        lambda profile: {"provider": profile.name, "key": sources[profile.name] or None},
        lambda profile: (profile.name, sources[profile.name] or _how_to_add(profile)),
        as_json=as_json,
    )


@keys_command.command("remove")
@click.argument("name")
def remove_command(flags: options.Flags, name: str) -> None:
    """Remove the stored API key of the provider NAME."""
    file = _file(flags)
    places = ["the keys file"] if file.remove(name) else []
    places += ["the keyring"] if stored_keys.remove_from_ring(name) else []
    if not places:
        stored = ", ".join(file.keys()) or "none"
        raise UsageError(f"No key is stored for {name!r}.", f"Stored in the keys file: {stored}.")
    output.say(f"Removed the API key of {name} from {' and from '.join(places)}.")


def _file(flags: options.Flags) -> stored_keys.KeysFile:
    return stored_keys.KeysFile(flags.paths().keys)


def _entered_key(profile: Profile) -> str:
    """Read the key from the keyboard without showing it, or from standard input."""
    if output.is_terminal(sys.stdin):
        answer: str = click.prompt(
            f"{profile.title} API key", hide_input=True, err=True, default="", show_default=False
        )
        return answer
    data = sys.stdin.buffer.read(1 << 16) if sys.stdin else b""
    return data.decode("utf-8-sig", "replace").removesuffix("\n").removesuffix("\r")


def _how_to_add(profile: Profile) -> str:
    if profile.requires_key:
        return f"no key: set {profile.key_variables[0]}, or run `jitchat keys set {profile.name}`"
    return "no key (may not be required)"
