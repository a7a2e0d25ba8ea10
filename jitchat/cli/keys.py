"""Whether `[keys]` names actions that there are, and gives no key to two of them."""

import os
import sys
from collections.abc import Iterator, Mapping

import click

from jitchat.cli.options import Flags, SharingCommand, SharingGroup, location_options
from jitchat.cli.output import is_terminal, say, say_json
from jitchat.errors import SettingsError, UsageError
from jitchat.settings import Settings
from jitchat.settings.keys import (
    THE_FILE,
    THE_RING,
    CleanedKey,
    KeysFile,
    cleaned_key,
    foreign_owner,
    key_source,
    key_sources,
    put_into_ring,
    remove_from_ring,
)
from jitchat.settings.profiles import Profile, nearest
from jitchat.text.sanitize import shorten


def require_known_keys(settings: Settings) -> None:
    """Check the user's keys.

    Raises:
        SettingsError: One is for no action, or for two.

    """
    if not settings.keys:
        return
    from jitchat.tui.keys import ACTIONS, PROMPT_ACTIONS, TURN_ACTIONS  # noqa: PLC0415  loads textual

    known = {action.id: action.keys for action in ACTIONS if action.keys} | PROMPT_ACTIONS
    known |= {name: keys for name, keys, *_ in TURN_ACTIONS}
    origin = settings.origins.get("keys", "[keys]")
    for name in settings.keys:
        if name not in known:
            raise SettingsError(
                f"{origin}: 'keys.{shorten(name, 40)}' is no action of jitchat.",
                f"[keys] may hold {', '.join(known)}.{nearest(name, known)}",
            )
    _require_distinct(known | dict(settings.keys), origin)


def _require_distinct(keys: Mapping[str, str], origin: str) -> None:
    taken: dict[str, str] = {}
    for action, listed in keys.items():
        for key in (piece.strip() for piece in listed.split(",")):
            if other := taken.get(key):
                raise SettingsError(
                    f"{origin}: {shorten(key, 40)!r} is a key of {other} and of {action}.",
                    "Give one of them another.",
                )
            taken[key] = action


def key_notes(profile: Profile, cleaned: CleanedKey, place: str, source: str) -> Iterator[str]:
    """Tell, a sentence each, what was taken off, whose it looks like, and what comes before it.

    `place` is where it was stored, `source` where the provider's key is now from, both as
    `key_source` says it.
    """
    if cleaned.removed:
        yield f"Taken off: {', '.join(cleaned.removed)}."
    owner = foreign_owner(cleaned.key, profile.name)
    if owner and profile.wants_key:
        yield f"It looks like a key of {owner}, not of {profile.name}."
    if source != place:
        yield f"The key in {source} comes before it."


@click.group("keys", cls=SharingGroup, invoke_without_command=True)
@location_options
@click.pass_context
def keys_command(context: click.Context, flags: Flags) -> None:
    """Store the keys of providers, or list where they come from.

    A key is looked for in the provider's variable, in what api_key_cmd prints, in the
    configuration, in the keys file and in the system's keyring, in this order.
    """
    context.obj = flags
    if context.invoked_subcommand is None:
        context.invoke(list_command)


@keys_command.command("set", cls=SharingCommand)
@click.argument("name")
@click.option("--keyring", is_flag=True, help="Store it in the system's keyring.")
@location_options
def set_command(flags: Flags, name: str, keyring: bool) -> None:
    """Store the key of the provider NAME.

    It is asked for, and not shown as it is typed; or it comes on standard input.
    """
    profile, file = flags.settings().profile(name), _file(flags)
    _require_keyed(profile)
    cleaned = cleaned_key(_asked_for(profile))
    if keyring:
        put_into_ring(name, cleaned.key)
        say(f"The key of {profile.title} is in the keyring.")
    else:
        file.put(name, cleaned.key)
        say(f"The key of {profile.title} is in {file.path}, which only you can read.")
    source = key_source(profile, os.environ, file.path)
    for note in key_notes(profile, cleaned, THE_RING if keyring else THE_FILE, source):
        say(f"jitchat: {note}", err=True)


@keys_command.command("list", cls=SharingCommand)
@click.option("--json", "as_json", is_flag=True, help="Print JSON.")
@location_options
def list_command(flags: Flags, as_json: bool) -> None:
    """List the providers, and where the key of each comes from."""
    settings, file = flags.settings(), _file(flags)
    _warn_of_rights(file)
    profiles = [each for each in settings.profiles() if not each.is_reader]
    sources = key_sources(profiles, os.environ, file.path)
    if as_json:
        say_json([{"provider": name, "key": source or None} for name, source in sources.items()])
        return
    width = max(len(each.name) for each in profiles)
    for each in profiles:
        say(f"{each.name:<{width}}  {sources[each.name] or _without(each)}")


@keys_command.command("remove", cls=SharingCommand)
@click.argument("name")
@location_options
def remove_command(flags: Flags, name: str) -> None:
    """Forget the stored key of the provider NAME."""
    file = _file(flags)
    places = ["the keys file"] if file.remove(name) else []
    places += ["the keyring"] if remove_from_ring(name) else []
    if not places:
        stored = ", ".join(file.keys()) or "none"
        raise UsageError(f"No key is stored for {name!r}.", f"Stored in the keys file: {stored}.")
    say(f"The key of {name} was removed from {' and from '.join(places)}.")


@keys_command.command("path", cls=SharingCommand)
@location_options
def path_command(flags: Flags) -> None:
    """Print where the keys file is."""
    file = _file(flags)
    say(str(file.path))
    _warn_of_rights(file)


def _file(flags: Flags) -> KeysFile:
    return KeysFile(flags.paths().keys)


def _require_keyed(profile: Profile) -> None:
    """Refuse a key for who has no use for one.

    Raises:
        UsageError: It is the embedded reader.

    """
    if profile.is_reader:
        raise UsageError("The reader needs no key.", "It is a part of jitchat.")


def _asked_for(profile: Profile) -> str:
    """Take the key from the keyboard, without showing it, or from standard input."""
    if is_terminal(sys.stdin):
        answer: str = click.prompt(
            f"Key of {profile.title}", hide_input=True, err=True, default="", show_default=False
        )
        return answer
    data = sys.stdin.buffer.read(1 << 16) if sys.stdin else b""
    return data.decode("utf-8-sig", "replace").removesuffix("\n").removesuffix("\r")


def _without(profile: Profile) -> str:
    """Say what would give it a key."""
    if profile.requires_key:
        return f"no key: set {profile.key_variables[0]}, or `jitchat keys set {profile.name}`"
    return "no key, which it may not want"


def _warn_of_rights(file: KeysFile) -> None:
    if warning := file.warning():
        say(f"jitchat: {warning}", err=True)
