"""Personas, the tables `[personas.NAME]`: instructions, a model, parameters and tools, by a name.

One is laid over the settings; what reads them afterwards need not know of it. A flag wins over it,
it wins over variables and the configuration, and a conversation's own system text over both.
"""

from collections.abc import Mapping
from dataclasses import replace

from jitchat.errors import SettingsError
from jitchat.providers.catalogue.table import READER
from jitchat.settings import checks
from jitchat.settings.sections import NamedPersona, ProviderSettings, settings_of
from jitchat.settings.settings import CHOSEN, Settings
from jitchat.settings.tables import require_name, table_values, tables
from jitchat.text.sanitize import shorten
from jitchat.values import Instructions
from jitchat.window import reasons

EXAMPLE = "[personas.reviewer]"
THIS_CONVERSATION = "this conversation"
"""The origin of a conversation's own system text."""
USUAL = "openai"
"""Who is meant where only an address or a model is given."""
_PARAMETERS = ("temperature", "top_p", "top_k", "seed", "effort", "max_tokens")
_SIZES = ("limit", "reserve")
_NAME_A_MODEL = ("provider.name", "provider.model", "provider.base_url")


def named_personas(given: object, origin: str, origins: dict[str, str]) -> dict[str, NamedPersona]:
    """Read the tables `[personas.NAME]`; who said what goes into `origins`."""
    made = {}
    for name, table in tables("personas", EXAMPLE, given, origin):
        require_name(name, "a persona", EXAMPLE, origin)
        prefix = f"personas.{name}"
        known = settings_of(NamedPersona, prefix)
        made[name] = NamedPersona(name, **table_values(prefix, table, known, origin))
        origins |= {f"{prefix}.{key}": origin for key in table}
    return made


def require_persona(name: str, personas: Mapping[str, NamedPersona], origin: str) -> None:
    """Refuse the name of a persona that there is not; SettingsError."""
    if name not in personas:
        known = f"Known are {', '.join(personas)}." if personas else "There is none yet."
        raise SettingsError(
            f"{origin}: there is no persona {shorten(name, 60)!r}.",
            f"{known} A table {EXAMPLE} adds one.{checks.nearest(name, personas)}",
        )


def with_persona(settings: Settings, name: str, picked: tuple[str, str] | None = None) -> Settings:
    """Lay a persona over the settings; `picked` are the provider and model to use in its place.

    Its parameters count for whichever model answers.

    Raises:
        SettingsError: There is no such persona.

    """
    require_persona(name, settings.personas, "persona")
    persona, origin = settings.personas[name], f"persona {name}"
    if (answers := picked or _answerer(settings, persona)) is not None:
        settings = _answered_by(settings, *answers, CHOSEN if picked else origin)
    given = {key: getattr(persona, key) for key in _PARAMETERS}
    given = {key: value for key, value in given.items() if value not in (None, "")}
    chat, said = replace(settings.chat, persona=name), [f"provider.{key}" for key in given]
    if persona.system.strip() and not settings.is_flag("chat.system"):
        chat, said = replace(chat, system=persona.system), [*said, "chat.system"]
    provider = replace(settings.provider, **given)
    origins = {**settings.origins, **dict.fromkeys(said, origin)}
    return replace(settings, chat=chat, provider=provider, origins=origins)


def _answerer(settings: Settings, persona: NamedPersona) -> tuple[str, str] | None:
    """Tell the provider and the model of a persona, the latter empty for the provider's usual one.

    None where it names none, or a flag does.
    """
    provider, model = persona.provider.strip(), persona.model.strip()
    if not (provider or model) or any(map(settings.is_flag, _NAME_A_MODEL)):
        return None
    first, slash, rest = model.partition("/")
    if not provider and slash and first in settings.provider_names():
        return first, rest
    in_use = settings.provider.name
    return provider or (in_use if in_use != READER.name else USUAL), model


def _answered_by(settings: Settings, name: str, model: str, origin: str) -> Settings:
    """Have another model answer: what is set for another provider, or its limit, is not for it."""
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
    """Give the settings of one conversation: with its persona, and with its own system text."""
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
    return settings


def missing(settings: Settings, own: Instructions) -> str:
    """Say that the persona of a conversation is not configured any more; empty where it is."""
    if not own.persona or own.persona in settings.personas:
        return ""
    name = shorten(own.persona, 60)
    return f"The persona {name} is no longer configured: the settings' own are used."


def reason_of(settings: Settings) -> str:
    """Say whose the system text is, as the segment tells it."""
    origin, name = settings.origin("chat.system"), settings.chat.persona
    persona = reasons.PERSONA.format(name=name) if name else ""
    if not settings.chat.system:
        text = reasons.INSTRUCTIONS
    elif origin == THIS_CONVERSATION:
        text = reasons.OWN_INSTRUCTIONS
    else:
        text = "" if persona == origin else reasons.INSTRUCTIONS_SET
    return " · ".join(filter(None, (persona, text)))
