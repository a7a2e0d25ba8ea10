"""Where a provider's key comes from. Slow: a command may run, a keyring may be asked.

The first source that has one wins: the variable JITCHAT_PROVIDER_API_KEY for the provider that
answers, the provider's own variables, `api_key_cmd`, `api_key` in the configuration, the keys
file, the keyring. Every key that is found is remembered as a secret, so that no report shows it.
"""

from __future__ import annotations

from collections.abc import Callable, Iterable, Iterator, Mapping
from dataclasses import dataclass, field
from functools import cache
from pathlib import Path

from jitchat.crash import remember_secret
from jitchat.settings.key_command import key_from_command, renewed_key
from jitchat.settings.key_ring import key_from_ring
from jitchat.settings.keys_file import KeysFile
from jitchat.settings.profile import Profile
from jitchat.settings.rules import Secret

OF_WHO_ANSWERS = "JITCHAT_PROVIDER_API_KEY"
THE_FILE, THE_RING = "the keys file", "the keyring"

_Filed = Callable[[], Mapping[str, Secret]]
"""Reads the keys file; only where no source before it has a key."""


@dataclass(frozen=True, slots=True)
class FoundKey:
    """A key, and where it was found."""

    key: Secret
    source: str
    """A $VARIABLE, `api_key_cmd`, `the configuration`, `the keys file` or `the keyring`."""
    renew: Callable[[str], str] | None = field(default=None, repr=False, compare=False)
    """Gives another key in place of the one that a server refused; slow, and raises what
    `find_key` raises. None where there is no other."""


def find_key(profile: Profile, environ: Mapping[str, str], keys_file: Path) -> FoundKey | None:
    """Find the key of a provider; None where there is none.

    Raises:
        SettingsError: Its command fails, or the keys file cannot be read.

    """
    for source, key in _stored(profile, environ, KeysFile(keys_file).keys):
        found = key_from_command(profile.api_key_cmd, profile.name) if key is None else key
        if found:
            remember_secret(found)
            return FoundKey(found, source, _renewal(profile) if key is None else None)
    return None


def _renewal(profile: Profile) -> Callable[[str], str]:
    def renew(refused: str) -> str:
        found = renewed_key(profile.api_key_cmd, profile.name, refused)
        remember_secret(found)
        return found

    return renew


def key_source(profile: Profile, environ: Mapping[str, str], keys_file: Path) -> str:
    """Say where the key would come from, without running a command; empty for nowhere.

    Raises:
        SettingsError: The keys file cannot be read.

    """
    return key_sources([profile], environ, keys_file)[profile.name]


def key_sources(
    profiles: Iterable[Profile], environ: Mapping[str, str], keys_file: Path
) -> dict[str, str]:
    """Say it of several, by name; the keys file is read once.

    Raises:
        SettingsError: The keys file cannot be read.

    """
    filed = cache(KeysFile(keys_file).keys)
    return {each.name: _source(each, environ, filed) for each in profiles}


def _source(profile: Profile, environ: Mapping[str, str], filed: _Filed) -> str:
    sources = (source for source, key in _stored(profile, environ, filed) if key != "")
    return next(sources, "")


def _stored(
    profile: Profile, environ: Mapping[str, str], filed: _Filed
) -> Iterator[tuple[str, Secret | None]]:
    """Go through the sources, best first; None stands for what the command would print."""
    if profile.is_reader:
        return
    variables = (*((OF_WHO_ANSWERS,) if profile.in_use else ()), *profile.key_variables)
    for variable in variables:
        yield f"${variable}", Secret(environ.get(variable, "").strip())
    if profile.api_key_cmd:
        yield "api_key_cmd", None
    yield "the configuration", profile.api_key
    yield THE_FILE, filed().get(profile.name, Secret())
    yield THE_RING, key_from_ring(profile.name)
