"""Where the small models are, which do a part of the work: the picker's, the summariser's.

What is not said of one is taken from the provider that answers. A key goes to no other server
than the one that it was set for.
"""

from dataclasses import dataclass, replace
from typing import Literal

from jitchat.errors import SettingsError
from jitchat.settings.profiles import Profile, is_loopback, same_server
from jitchat.settings.sections import SmallModelSettings, shown
from jitchat.settings.settings import Settings

SmallModelSection = Literal["picker", "summariser", "compactor", "observer", "writer"]
SMALL_MODELS: tuple[SmallModelSection, ...] = (
    *("picker", "summariser", "compactor", "observer", "writer"),
)


@dataclass(frozen=True, slots=True)
class ModelAddress:
    model: str
    profile: Profile
    """Who serves it, with the sources of its key."""
    timeout: float
    """In seconds, for a whole answer."""


def address_of(settings: Settings, section: SmallModelSection) -> ModelAddress | None:
    """Find the model of a section; None where none is named.

    SettingsError where one is, and nobody said where it is; or a provider is, and no model.
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
            " nobody says where it is: the reader, which answers, has no address.",
            f"Add provider under [{section}], or base_url, for example http://localhost:11434/v1.",
        )
    model = model or profile.model
    if not model:
        raise SettingsError(
            f"{settings.origin(f'{section}.provider')}: {section}.provider is"
            f" {shown(wanted.provider)}, and no model of it is named.",
            f"Add model under [{section}].",
        )
    if wanted.api_key:
        profile = replace(
            profile, api_key=wanted.api_key, api_key_cmd="", key_variables=(), in_use=False
        )
    return ModelAddress(model, profile, wanted.timeout)


def require_addresses(settings: Settings) -> None:
    """Refuse a small model that is named and cannot be found."""
    for section in SMALL_MODELS:
        address_of(settings, section)


def _served_by(
    settings: Settings, section: SmallModelSection, wanted: SmallModelSettings
) -> Profile:
    """Say who serves it: the provider that is named, a server of its own, or who answers."""
    own_server = wanted.base_url.strip().rstrip("/")
    if wanted.provider:
        if own_server:
            raise SettingsError(
                f"{settings.origin(f'{section}.base_url')}: {section} names a provider and an"
                " address.",
                f"Keep one of them; the address of a provider is set under"
                f" [providers.{wanted.provider}].",
            )
        return settings.profile(wanted.provider)
    answers = settings.in_use()
    if not own_server:
        return answers
    if same_server(own_server, answers.base_url):
        return replace(answers, base_url=own_server)
    return Profile(
        section, section, "openai", own_server, is_local=is_loopback(own_server), configured=True
    )
