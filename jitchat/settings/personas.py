"""Personas, the tables `[personas.NAME]`: named sets of instructions, model, parameters and tools.

A persona is merged into the settings, so that their readers need not know about it. It overrides
variables and the configuration; a flag overrides it, and so does a conversation's own system text.
"""

from collections.abc import Mapping
from dataclasses import replace

from jitchat.errors import SettingsError
from jitchat.providers.catalogue.table import READER
from jitchat.settings import checks
from jitchat.settings.sections import SAMPLING, NamedPersona, ProviderSettings
from jitchat.settings.settings import CHOSEN, Settings
from jitchat.text.sanitize import shorten
from jitchat.values import Instructions
from jitchat.window import reasons

THIS_CONVERSATION = "this conversation"
"""The origin of a conversation's own values."""
USUAL = "openai"
"""The provider if only an address or a model is given."""
_SIZES = ("limit", "reserve")
_NAME_A_MODEL = ("provider.name", "provider.model", "provider.base_url")


def require_persona(name: str, personas: Mapping[str, NamedPersona], origin: str) -> None:
    """Raise SettingsError if there is no persona of that name."""
    if name not in personas:
        known = f"Known personas: {', '.join(personas)}." if personas else "There are none yet."
        raise SettingsError(
            f"{origin}: there is no persona {shorten(name, 60)!r}.",
            f"{known} A table [personas.reviewer] adds one.{checks.nearest(name, personas)}",
        )


def with_persona(settings: Settings, name: str, picked: tuple[str, str] | None = None) -> Settings:
    """Merge a persona into the settings.

    `picked` is the (provider, model) to use instead of the persona's. The persona's parameters
    apply to either.

    Raises:
        SettingsError: There is no such persona.

    """
    require_persona(name, settings.personas, "persona")
    persona, origin = settings.personas[name], f"persona {name}"
    if (model := picked or _model_of(settings, persona)) is not None:
        settings = _with_model(settings, *model, CHOSEN if picked else origin)
    given = {key: getattr(persona, key) for key in SAMPLING}
    given = {key: value for key, value in given.items() if value not in (None, "")}
    chat, changed = replace(settings.chat, persona=name), [f"provider.{key}" for key in given]
    if persona.system.strip() and not settings.is_flag("chat.system"):
        chat, changed = replace(chat, system=persona.system), [*changed, "chat.system"]
    provider = replace(settings.provider, **given)
    origins = {**settings.origins, **dict.fromkeys(changed, origin)}
    return replace(settings, chat=chat, provider=provider, origins=origins)


def _model_of(settings: Settings, persona: NamedPersona) -> tuple[str, str] | None:
    """Return the (provider, model) of a persona; an empty model means the provider's default.

    None if the persona names neither, or a flag does.
    """
    provider, model = persona.provider.strip(), persona.model.strip()
    if not (provider or model) or any(map(settings.is_flag, _NAME_A_MODEL)):
        return None
    first, slash, rest = model.partition("/")
    if not provider and slash and first in settings.provider_names():
        return first, rest
    in_use = settings.provider.name
    return provider or (in_use if in_use != READER.name else USUAL), model


def _with_model(settings: Settings, name: str, model: str, origin: str) -> Settings:
    """Switch to a provider and model, dropping values that were set for the previous ones."""
    own, origins = settings.provider, dict(settings.origins)
    sizes = {key: getattr(own, key) for key in _SIZES if settings.is_flag(f"provider.{key}")}
    if name != own.name:
        made = ProviderSettings(name, model=model, **sizes)
        origins = {
            key: known
            for key, known in origins.items()
            if not key.startswith("provider.") or settings.is_flag(key)
        }
    elif model in ("", settings.in_use().model):
        return settings
    else:
        made = replace(own, model=model, limit=sizes.get("limit"))
    origins |= dict.fromkeys(["provider.name", *["provider.model"] * bool(model)], origin)
    return replace(settings, provider=made, origins=origins)


def settings_for(
    settings: Settings, own: Instructions, picked: tuple[str, str] | None = None
) -> Settings:
    """Return the settings of a conversation, with its persona and its own values applied."""
    name = own.persona if own.persona is not None and not missing(settings, own) else None
    name = settings.chat.persona if name is None or settings.is_flag("chat.persona") else name
    if name:
        settings = with_persona(settings, name, picked)
    elif settings.chat.persona:
        settings = replace(settings, chat=replace(settings.chat, persona=""))
    if own.system and not settings.is_flag("chat.system"):
        chat = replace(settings.chat, system=own.system)
        origins = {**settings.origins, "chat.system": THIS_CONVERSATION}
        settings = replace(settings, chat=chat, origins=origins)
    if own.size is not None and not settings.is_flag("window.size"):
        window = replace(settings.window, size=own.size)
        origins = {**settings.origins, "window.size": THIS_CONVERSATION}
        settings = replace(settings, window=window, origins=origins)
    return settings


def missing(settings: Settings, own: Instructions) -> str:
    """Return a warning if a conversation's persona is no longer configured; empty if it is."""
    if not own.persona or own.persona in settings.personas:
        return ""
    name = shorten(own.persona, 60)
    return f"The persona {name} is no longer configured. The default settings are used."


def reason_of(settings: Settings) -> str:
    """Return where the system text came from, as the reason shown at its segment."""
    origin, name = settings.origin("chat.system"), settings.chat.persona
    persona = reasons.PERSONA.format(name=name) if name else ""
    if not settings.chat.system:
        text = reasons.INSTRUCTIONS
    elif origin == THIS_CONVERSATION:
        text = reasons.OWN_INSTRUCTIONS
    else:
        text = "" if persona == origin else reasons.INSTRUCTIONS_SET
    return " · ".join(filter(None, (persona, text)))
