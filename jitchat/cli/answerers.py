"""The composition root's part that is about providers: who answers, who helps, and their keys."""

import os
from collections.abc import Callable, Iterator, Sequence
from dataclasses import replace

from jitchat.paths import locate
from jitchat.providers.protocols.registry import protocol_named
from jitchat.providers.provider import Endpoint, Provider, ServerQuirks
from jitchat.providers.reader import ReaderProvider
from jitchat.settings import Settings
from jitchat.settings.keys import FoundKey, find_key
from jitchat.settings.profiles import Profile
from jitchat.settings.small_models import (
    SMALL_MODELS,
    ModelAddress,
    SmallModelSection,
    address_of,
)
from jitchat.small_models.small_model import SmallModel
from jitchat.values import Message
from jitchat.window.tokens import TokenCounter, counter_for, request_tokens


def make_provider(
    profile: Profile, model: str, counter: TokenCounter, quirks: ServerQuirks | None = None
) -> Provider:
    """Make the one who answers. Slow: its key may come from a command.

    `quirks` are what its server taught before about this model; None where nobody keeps them.

    Raises:
        SettingsError: The command for its key fails, or the keys file cannot be read.

    """
    if profile.is_reader:
        return ReaderProvider(_counting(counter))
    return _over_http(endpoint_of(profile, model), profile, quirks)


def endpoint_of(profile: Profile, model: str) -> Endpoint:
    """Say where a model is served, with the key that is found for it; slow, as `make_provider`.

    Raises:
        SettingsError: See `make_provider`.

    """
    return keyed_endpoint(profile, model, key_of(profile))


def keyed_endpoint(profile: Profile, model: str, found: FoundKey | None) -> Endpoint:
    """Say where a model is served, with the key that was found."""
    return profile.endpoint(model, found.key, found.renew) if found else profile.endpoint(model, "")


def key_of(profile: Profile) -> FoundKey | None:
    """Find the key of a provider, as this process's environment and files have it.

    Raises:
        SettingsError: See `make_provider`.

    """
    return find_key(profile, os.environ, locate(os.environ).keys)


def make_small_model(found: ModelAddress, section: SmallModelSection) -> SmallModel:
    """Make the model of a section; slow, as `make_provider`.

    Raises:
        SettingsError: See `make_provider`.

    """
    profile = replace(found.profile, read_seconds=found.timeout)
    provider = _over_http(replace(endpoint_of(profile, found.model), name=section), profile)
    return SmallModel(provider, counter_for(found.model, os.environ), found.timeout)


def _over_http(where: Endpoint, profile: Profile, quirks: ServerQuirks | None = None) -> Provider:
    from jitchat.providers.http.provider import HttpProvider  # noqa: PLC0415  httpx: 100 ms, reader needs none

    return HttpProvider(where, protocol_named(profile.protocol), quirks=quirks)


def key_in_the_open(settings: Settings) -> str:
    """Warn of a key that would travel unencrypted; empty where none would. Slow at times.

    Raises:
        SettingsError: See `make_provider`.

    """
    return next(filter(None, map(exposed, _asked(settings))), "")


def exposed(profile: Profile) -> str:
    """Warn of a provider's key that would travel unencrypted; empty where it would not.

    Raises:
        SettingsError: See `make_provider`.

    """
    if profile.exposes_key and (key_of(profile) or profile.headers):
        return f"The key goes to {profile.exposes_key} unencrypted: use https."
    return ""


def lacks_key(settings: Settings) -> bool:
    """Whether the provider is known to answer nobody without a key, and there is none."""
    profile = settings.in_use()
    return profile.requires_key and key_of(profile) is None


def _asked(settings: Settings) -> Iterator[Profile]:
    """List the providers that requests go to."""
    yield settings.in_use()
    for section in SMALL_MODELS:
        found = address_of(settings, section)
        if found is not None:
            yield found.profile


def _counting(counter: TokenCounter) -> Callable[[Sequence[Message], str], tuple[int, int]]:
    """Count a request and its answer, for the reader's usage."""

    def count(messages: Sequence[Message], answer: str) -> tuple[int, int]:
        return request_tokens(counter, tuple(messages)), counter.count(answer)

    return count
