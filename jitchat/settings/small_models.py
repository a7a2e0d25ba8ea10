"""The addresses of the small models: the picker's, the summariser's and the others'.

A value that is not set is taken from the provider in use. A key is sent only to the server that
it was set for.
"""

from dataclasses import dataclass, replace
from typing import Literal, get_args

from jitchat.errors import SettingsError
from jitchat.settings.profiles import Profile, is_loopback, same_server
from jitchat.settings.sections import SmallModelSettings, shown
from jitchat.settings.settings import Settings

SmallModelSection = Literal["picker", "summariser", "compactor", "observer", "writer"]
SMALL_MODELS: tuple[SmallModelSection, ...] = get_args(SmallModelSection)


@dataclass(frozen=True, slots=True)
class ModelAddress:
    model: str
    profile: Profile
    """The provider that serves the model, with the sources of its key."""
    timeout: float
    """Seconds for a whole answer."""


def address_of(settings: Settings, section: SmallModelSection) -> ModelAddress | None:
    """Return the model of a section; None if the section names none.

    Raises:
        SettingsError: A model without an address, or a provider without a model.

    """
    wanted: SmallModelSettings = getattr(settings, section)
    model = wanted.model.strip()
    if not model and not wanted.provider:
        return None
    profile = _served_by(settings, section, wanted)
    if profile.is_reader or not profile.base_url:
        key, value = ("provider", wanted.provider) if wanted.provider else ("model", wanted.model)
        raise SettingsError(
            f"{settings.origin(f'{section}.{key}')}: {section}.{key} is {shown(value.strip())}, but"
            " its address is unknown: the built-in reader has none.",
            f"Add provider under [{section}], or base_url, for example http://localhost:11434/v1.",
        )
    model = model or profile.model
    if not model:
        raise SettingsError(
            f"{settings.origin(f'{section}.provider')}: {section}.provider is"
            f" {shown(wanted.provider)}, but no model is set.",
            f"Add model under [{section}].",
        )
    if wanted.api_key:
        profile = replace(
            profile, api_key=wanted.api_key, api_key_cmd="", key_variables=(), in_use=False
        )
    return ModelAddress(model, profile, wanted.timeout)


def require_addresses(settings: Settings) -> None:
    """Raise SettingsError if a small model is named without a usable address."""
    for section in SMALL_MODELS:
        address_of(settings, section)


def _served_by(
    settings: Settings, section: SmallModelSection, wanted: SmallModelSettings
) -> Profile:
    """Return the profile that serves it: a named provider, a separate server, or the one in use."""
    own_server = wanted.base_url.strip().rstrip("/")
    if wanted.provider:
        if own_server:
            raise SettingsError(
                f"{settings.origin(f'{section}.base_url')}: {section} has both provider and"
                " base_url.",
                f"Keep one of them; the address of a provider is set under"
                f" [providers.{wanted.provider}].",
            )
        return settings.profile(wanted.provider)
    in_use = settings.in_use()
    if not own_server:
        return in_use
    if same_server(own_server, in_use.base_url):
        return replace(in_use, base_url=own_server)
    return Profile(
        section, section, "openai", own_server, is_local=is_loopback(own_server), configured=True
    )
