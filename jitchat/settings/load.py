"""Loading the settings from the file, the environment and the flags; choosing the provider in use.

The TOML key `name` under `[section]` corresponds to the variable JITCHAT_SECTION_NAME; an empty
variable counts as not set. Values of every source are checked, even if another source overrides
them. Tables with user-chosen names are checked too; only the TOML has them.

The values of a source under `[provider]` are meant for the provider that this source names or
implies. If a source of higher precedence names another provider, the address, model and key of
the lower one are dropped: they would send a key, or a text, to the wrong server.
"""

from collections.abc import Iterable, Iterator, Mapping, Sequence
from contextlib import suppress
from dataclasses import dataclass, replace
from pathlib import Path
from typing import Any

from jitchat.crash import remember_secret
from jitchat.errors import SettingsError
from jitchat.providers.catalogue.table import presets
from jitchat.settings import checks, personas, profiles, sections, settings, tables
from jitchat.text.sanitize import shorten
from jitchat.text.variables import expanded, variables_in

_NOT_SETTINGS = ("JITCHAT_HOME", "JITCHAT_CONFIG", "JITCHAT_DB")
"""Variables that set locations rather than settings; see `jitchat.paths`."""
_READ = {**sections.SETTINGS, **sections.RETIRED}
_BOOLEANS = {"1": True, "true": True, "yes": True, "0": False, "false": False, "no": False}
_NAMES_A_PROVIDER = [key for key in sections.SETTINGS if key.endswith(".provider")]
_NAME, _MODEL, _URL = "provider.name", "provider.model", "provider.base_url"
_IMPLYING = (_URL, _MODEL, "provider.api_key", "provider.api_key_cmd", "provider.api_key_env")


@dataclass(frozen=True, slots=True)
class _Value:
    value: object
    origin: str

    @property
    def is_from_file(self) -> bool:
        return not self.origin.startswith(("$", "--"))


_Source = Mapping[str, _Value]
"""The values of one source, by `section.key`."""


def load_settings(
    config: Path,
    environ: Mapping[str, str],
    flags: Mapping[str, object] | None = None,
    chosen: tuple[str, str] | None = None,
) -> settings.Settings:
    """Merge every source. `flags` are by `section.key`; None means not given.

    `chosen` is the (provider, model) that was picked in the app; it applies if no source names a
    provider.

    Raises:
        SettingsError: A source cannot be read, or has an unknown setting or an invalid value.

    """
    document = read_document(config)
    bindings = _bindings(document.pop("keys", {}), config)
    origins = {"keys": str(config)}
    named = {
        section: tables.named_tables(section, document.pop(section, {}), str(config), origins)
        for section in sections.NAMED
    }
    _require_addresses(named["providers"], str(config))
    for server in named["mcp"].values():
        tables.require_one_way(server, str(config))
    names = list({**presets(), **named["providers"]})
    for name, persona in named["personas"].items():
        if persona.provider:
            _require_provider(f"personas.{name}.provider", persona.provider, str(config), names)
    by_flag = (
        (key, _Value(value, sections.SETTINGS[key].flag))
        for key, value in (flags or {}).items()
        if value is not None
    )
    readers = (_from_document(document, config), _from_environment(environ), by_flag)
    sources = [_checked(source, names) for source in readers]
    given = {key: value for source in sources for key, value in source.items()}
    given = {key: value for key, value in given.items() if not key.startswith("provider.")}
    given = _with_size(given)
    given |= _provider_in_use(sources, names, chosen)
    values: dict[str, dict[str, Any]] = {section: {} for section in sections.SECTIONS}
    for key, value in given.items():
        section, name = key.split(".")
        if key not in sections.RETIRED:
            values[section][name] = value.value
    if (persona := given.get("chat.persona")) is not None and persona.value:
        personas.require_persona(str(persona.value), named["personas"], persona.origin)
    made = settings.Settings(
        **{section: kind(**values[section]) for section, kind in sections.SECTIONS.items()},
        **named,
        keys=bindings,
        addresses=_addresses(environ),
        origins={key: value.origin for key, value in given.items()} | origins,
    )
    for secret in made.secrets():
        remember_secret(secret)
    return made


def unknown_variables(environ: Mapping[str, str]) -> Iterator[str]:
    """Yield a sentence for each JITCHAT_ variable that is not a setting."""
    known = {*_NOT_SETTINGS, *(setting.variable for setting in sections.SETTINGS.values())}
    retired = {setting.variable for setting in sections.RETIRED.values()}
    for name in sorted(environ.keys() - known - retired):
        if name.startswith("JITCHAT_"):
            yield f"${name} is not a setting and has no effect.{checks.nearest(name, known)}"


def _addresses(environ: Mapping[str, str]) -> dict[str, tuple[str, str]]:
    """Return the addresses of presets that are set by other programs' well-known variables."""
    found: dict[str, tuple[str, str]] = {}
    for name, preset in presets().items():
        given = {
            variable: environ[variable].strip().rstrip("/")
            for variable in variables_in(preset.base_url)
            if environ.get(variable, "").strip()
        }
        if given:
            with suppress(LookupError):  # a variable of the address is not set
                found[name] = expanded(preset.base_url, given), f"${next(iter(given))}"
    if environ.get("OLLAMA_HOST", "").strip():
        found["ollama"] = profiles.ollama_address(environ["OLLAMA_HOST"]), "$OLLAMA_HOST"
    if environ.get("OPENAI_BASE_URL", "").strip():
        found["openai"] = environ["OPENAI_BASE_URL"].strip(), "$OPENAI_BASE_URL"
    return found


# The sources, one by one


def read_document(config: Path) -> dict[str, Any]:
    """Read the file; empty if there is none. Raises SettingsError if it cannot be read."""
    import tomllib  # noqa: PLC0415  4 ms, not needed to print help

    try:
        return tomllib.loads(checks.toml_text(config))
    except FileNotFoundError:
        return {}
    except UnicodeDecodeError as error:
        raise SettingsError(
            f"{config} is not UTF-8 text (byte {error.start:,}).", "Save it as UTF-8."
        ) from None
    except ValueError as error:
        raise SettingsError(f"{config} is not valid TOML: {error}.", "Correct that line.") from None
    except RecursionError:
        raise SettingsError(f"{config} is nested too deeply.", "Use fewer levels.") from None
    except OSError as error:
        raise SettingsError(
            f"The configuration {config} cannot be read: {error.strerror}.",
            "Name another file with --config, or correct this one.",
        ) from None


def _from_document(document: Mapping[str, object], config: Path) -> Iterator[tuple[str, _Value]]:
    for section, values in document.items():
        if section not in sections.SECTIONS:
            raise checks.unknown(section, str(config))
        if not isinstance(values, dict):
            what = f"{config}: {section} must be a table."
            raise SettingsError(what, tables.write_below(f"[{section}]"))
        for name, value in values.items():
            yield f"{section}.{name}", _Value(value, str(config))


def _from_environment(environ: Mapping[str, str]) -> Iterator[tuple[str, _Value]]:
    for key, setting in _READ.items():
        if given := environ.get(setting.variable):
            yield key, _Value(parsed(setting.kind, given), f"${setting.variable}")


def parsed(kind: type[Any], text: str) -> object:
    """Convert a text to the type of its setting; return it unchanged if it does not convert."""
    if kind is tuple:
        return tuple(part.strip() for part in text.split(",") if part.strip())
    if kind is bool:
        return _BOOLEANS.get(text.strip().lower(), text)
    try:
        return kind(text)
    except ValueError:
        return text


def _checked(source: Iterable[tuple[str, _Value]], providers: list[str]) -> dict[str, _Value]:
    """Check every value of a source, and that the providers it names exist."""
    found = {}
    for key, given in source:
        if key not in _READ:
            raise checks.unknown(key, given.origin)
        value = checks.checked(_READ[key], given.value, given.origin)
        found[key] = replace(given, value=value)
    for key in (_NAME, *_NAMES_A_PROVIDER):
        named = found.get(key)
        if named is None or (not named.value and key != _NAME):
            continue
        _require_provider(key, str(named.value), named.origin, providers)
    return found


def _with_size(given: dict[str, _Value]) -> dict[str, _Value]:
    """Add the size to which the former parts add up, if one is above its default."""
    parts: dict[str, Any] = {key: known.default for key, known in sections.RETIRED.items()}
    own: dict[str, Any] = {key: given[key].value for key in parts if key in given}
    raised = [key for key in own if own[key] > parts[key]]
    if not raised or "window.size" in given:
        return given
    size = sum((parts | own).values())
    return given | {"window.size": _Value(size, f"implied by {raised[0]}")}


def _require_provider(key: str, name: str, origin: str, providers: list[str]) -> None:
    if name not in providers:
        raise SettingsError(
            f"{origin}: {key} is {shorten(name, 60)!r}, but there is no such provider.",
            settings.known_providers(name, providers),
        )


# Tables with user-chosen names


def _require_addresses(providers: Mapping[str, sections.NamedProvider], origin: str) -> None:
    """Refuse a provider of the user's own without an address."""
    for name, provider in providers.items():
        if name not in presets() and not (
            provider.base_url.strip() or settings.home_of(provider.protocol)
        ):
            raise SettingsError(
                f"{origin}: providers.{name} has no base_url.",
                'Add one, as in base_url = "https://llm.example/v1".'
                f"{checks.nearest(name.lower(), presets())}",
            )


def _bindings(keys: object, config: Path) -> dict[str, str]:
    if not isinstance(keys, dict) or not all(isinstance(text, str) for text in keys.values()):
        raise SettingsError(
            f"{config}: [keys] must map each action to a string.",
            'For example: inspector = "f2,ctrl+i".',
        )
    return keys


# Which provider is in use


def _provider_in_use(
    sources: Sequence[_Source], names: Sequence[str], chosen: tuple[str, str] | None
) -> dict[str, _Value]:
    """Merge the values under `[provider]`; `sources` are in ascending precedence.

    `names` are those of all providers.
    """
    of_provider = [
        {key: given for key, given in source.items() if key.startswith("provider.")}
        for source in sources
    ]
    if any(_NAME in source for source in of_provider):
        merged = _with_named_provider(of_provider)
    else:
        values = {key: given for source in of_provider for key, given in source.items()}
        merged = _with_implied_provider(values, names, chosen)
    return _with_chosen(merged, names, chosen)


def _with_named_provider(sources: Sequence[_Source]) -> dict[str, _Value]:
    strongest = max(at for at, source in enumerate(sources) if _NAME in source)
    name = sources[strongest][_NAME]
    merged: dict[str, _Value] = {}
    for at, source in enumerate(sources):
        if at >= strongest or _provider_meant(source, at) in ("", name.value):
            merged |= source
    return merged | {_NAME: name}


def _provider_meant(source: _Source, at: int) -> str:
    """Return the provider that a source names or implies; empty if it applies to any provider.

    A key in a variable (a source other than the file, which is the first) applies to any provider.
    """
    if _NAME in source:
        return str(source[_NAME].value)
    implying = _IMPLYING if at == 0 else (_URL, _MODEL)
    return personas.USUAL if any(_is_set(source, key) for key in implying) else ""


def _with_implied_provider(
    merged: dict[str, _Value], names: Sequence[str], chosen: tuple[str, str] | None
) -> dict[str, _Value]:
    """Choose the provider if only its address or its model is given.

    A bare model in a flag or a variable belongs to the provider that was picked in the app: a
    conversation with a server on this machine must not be sent to another one.
    """
    if _is_set(merged, _URL):
        return merged | {_NAME: _Value(personas.USUAL, f"implied by {merged[_URL].origin}")}
    if not _is_set(merged, _MODEL):
        return merged
    model = merged[_MODEL]
    provider, _, rest = str(model.value).strip().partition("/")
    if rest and provider in names:
        kept = merged if model.is_from_file else _without_the_files(merged, provider)
        named = _Value(provider, f"implied by {model.origin}")
        return kept | {_NAME: named, _MODEL: _Value(rest, model.origin)}
    if chosen is not None and chosen[0] in names and not model.is_from_file:
        return _without_the_files(merged, chosen[0]) | {_NAME: _Value(chosen[0], settings.CHOSEN)}
    return merged | {_NAME: _Value(personas.USUAL, f"implied by {model.origin}")}


def _with_chosen(
    merged: dict[str, _Value], names: Sequence[str], chosen: tuple[str, str] | None
) -> dict[str, _Value]:
    """Add the choice made in the app, if its provider still exists and no source overrides it."""
    if chosen is None or chosen[0] not in names:
        return merged
    provider, model = chosen
    if _NAME not in merged:
        merged = _without_the_files(merged, provider)
    merged = {_NAME: _Value(provider, settings.CHOSEN)} | merged
    if merged[_NAME].value == provider and not _is_set(merged, _MODEL):
        merged[_MODEL] = _Value(model, settings.CHOSEN)
    return merged


def _without_the_files(merged: dict[str, _Value], provider: str) -> dict[str, _Value]:
    """Drop the file's address, model and key: without a provider they belong to the default one."""
    if provider == personas.USUAL:
        return merged
    return {
        key: given
        for key, given in merged.items()
        if key not in _IMPLYING or not given.is_from_file
    }


def _is_set(source: _Source, key: str) -> bool:
    return key in source and bool(str(source[key].value).strip())
