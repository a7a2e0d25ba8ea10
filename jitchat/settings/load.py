"""Loads the settings: the file, the environment and the flags, and which provider they put in use.

What a source says under `[provider]` is meant for the provider that this source has in mind.
Where a stronger source names another one, the weaker one's address, model and key are not
for it: they would send a key, or a text, to the wrong server.

Profiles are checked as every setting is; only the TOML has them, neither a variable nor a flag.

A key of the TOML `[section] name` is the variable JITCHAT_SECTION_NAME; a variable that is
empty counts as not set. What every source says is checked, even where another one wins.
"""

import re
from collections.abc import Iterable, Iterator, Mapping, Sequence
from dataclasses import dataclass, field, replace
from pathlib import Path
from typing import Any

from jitchat.crash import remember_secret
from jitchat.errors import SettingsError
from jitchat.providers.catalogue.table import PRESETS, READER
from jitchat.settings.checks import checked, toml_text, unknown, unknown_in_table
from jitchat.settings.profiles import CHOSEN, home_of, nearest, ollama_address, unknown_provider
from jitchat.settings.schema import (
    SECTIONS,
    Settings,
    all_keys,
    kind_of,
    rule_of,
    setting_of,
    variables_of,
)
from jitchat.settings.sections import NamedModel, NamedProvider, Setting, settings_of
from jitchat.text.sanitize import one_line, shorten

_USUAL = "openai"
"""Who is meant where only an address or a model is given."""
_NAME, _MODEL, _URL = "provider.name", "provider.model", "provider.base_url"
_IMPLYING = (_URL, _MODEL, "provider.api_key", "provider.api_key_cmd", "provider.api_key_env")


@dataclass(frozen=True, slots=True)
class Given:
    """A value, and who gave it."""

    value: object
    origin: str


_Source = Mapping[str, Given]


def provider_in_use(
    sources: Sequence[_Source], names: Sequence[str], chosen: tuple[str, str] | None
) -> dict[str, Given]:
    """Merge what the sources say under `[provider]`, the weakest first.

    `names` are the providers that there are.
    """
    said = [_own(source) for source in sources]
    if any(_NAME in source for source in said):
        merged = _for_the_named(said)
    else:
        merged = _implied({k: v for source in said for k, v in source.items()}, names, chosen)
    return _chosen(merged, names, chosen)


def _own(source: _Source) -> dict[str, Given]:
    return {key: said for key, said in source.items() if key.startswith("provider.")}


def _for_the_named(sources: Sequence[_Source]) -> dict[str, Given]:
    """Merge for the provider that the strongest source names."""
    name = next(source[_NAME] for source in reversed(sources) if _NAME in source)
    strongest = max(at for at, source in enumerate(sources) if _NAME in source)
    merged: dict[str, Given] = {}
    for at, source in enumerate(sources):
        if at >= strongest or _owner(source, at) in ("", name.value):
            merged |= source
    return merged | {_NAME: name}


def _owner(source: _Source, at: int) -> str:
    """Say which provider a source has in mind; empty where it is whichever answers.

    The variable of a key (in a source other than the file, which is the first) is for that one.
    """
    if _NAME in source:
        return str(source[_NAME].value)
    implying = _IMPLYING if at == 0 else (_URL, _MODEL)
    return _USUAL if any(_is_set(source, key) for key in implying) else ""


def _implied(
    merged: dict[str, Given], names: Sequence[str], chosen: tuple[str, str] | None
) -> dict[str, Given]:
    """Choose the provider where only its address or its model is given.

    A model that a flag or a variable names alone is one of the provider that was picked: what is
    said to a server on this machine must not leave for another one.
    """
    if _is_set(merged, _URL):
        return merged | {_NAME: Given(_USUAL, f"implied by {merged[_URL].origin}")}
    if not _is_set(merged, _MODEL):
        return merged
    said = merged[_MODEL]
    provider, _, rest = str(said.value).strip().partition("/")
    if rest and provider in names:
        kept = merged if _is_file(said) else _without_the_files(merged, provider)
        named = Given(provider, f"implied by {said.origin}")
        return kept | {_NAME: named, _MODEL: Given(rest, said.origin)}
    if chosen is not None and chosen[0] in names and not _is_file(said):
        return _without_the_files(merged, chosen[0]) | {_NAME: Given(chosen[0], CHOSEN)}
    return merged | {_NAME: Given(_USUAL, f"implied by {said.origin}")}


def _chosen(
    merged: dict[str, Given], names: Sequence[str], chosen: tuple[str, str] | None
) -> dict[str, Given]:
    """Add what was chosen in the app, where it is still there and nothing else is said."""
    if chosen is None or chosen[0] not in names:
        return merged
    provider, model = chosen
    if _NAME not in merged:
        merged = _without_the_files(merged, provider)
    merged = {_NAME: Given(provider, CHOSEN)} | merged
    if merged[_NAME].value == provider and not _is_set(merged, _MODEL):
        merged[_MODEL] = Given(model, CHOSEN)
    return merged


def _without_the_files(merged: dict[str, Given], provider: str) -> dict[str, Given]:
    """Drop the file's key where it names nobody: then it is for the usual provider."""
    if provider == _USUAL:
        return merged
    return {k: said for k, said in merged.items() if k not in _IMPLYING or not _is_file(said)}


def _is_set(source: _Source, key: str) -> bool:
    return key in source and bool(str(source[key].value).strip())


def _is_file(said: Given) -> bool:
    return not said.origin.startswith(("$", "--"))


_PROFILE_NAME = re.compile(r"[A-Za-z0-9][A-Za-z0-9_-]{0,39}")
_OF_THE_READER = ("limit", "reserve")


@dataclass(frozen=True, slots=True)
class NamedTables:
    """What the user named, and who said it, by `providers.NAME` and `providers.NAME.key`."""

    providers: Mapping[str, NamedProvider] = field(default_factory=dict)
    models: Mapping[str, NamedModel] = field(default_factory=dict)
    origins: Mapping[str, str] = field(default_factory=dict)


def named_tables(providers: object, models: object, origin: str) -> NamedTables:
    """Read both kinds of tables.

    Raises:
        SettingsError: One is no table, has an impossible name, or holds what it cannot.

    """
    made, known, origins = dict[str, NamedProvider](), dict[str, NamedModel](), dict[str, str]()
    for name, table in _tables("providers", providers, origin):
        made[name] = _provider(name, table, origin)
        origins |= {f"providers.{name}{key}": origin for key in ("", *(f".{k}" for k in table))}
    for name, table in _tables("models", models, origin):
        prefix = f'models."{name}"'
        known[name] = NamedModel(**_values(prefix, table, settings_of(NamedModel, prefix), origin))
        origins |= {f"{prefix}.{key}": origin for key in table}
    return NamedTables(made, known, origins)


def _tables(kind: str, value: object, origin: str) -> Iterator[tuple[str, Mapping[str, object]]]:
    """Go through the tables of a kind, by their names."""
    example = "[providers.work]" if kind == "providers" else '[models."gpt-5-mini"]'
    below = f"Write {example} on a line of its own, and its keys below it."
    if not isinstance(value, dict):
        raise SettingsError(f"{origin}: {kind} must be a table of tables.", below)
    for name, table in value.items():
        if not isinstance(table, dict):
            shown = shorten(f"{kind}.{name}", 60)
            raise SettingsError(f"{origin}: {shown} must be a table.", below)
        if kind == "providers":
            _require_name(name, origin)
        elif not name.strip() or name != one_line(name):
            raise SettingsError(f"{origin}: a table under models has no name.", below)
        yield name, table


def _require_name(name: str, origin: str) -> None:
    if not _PROFILE_NAME.fullmatch(name):
        raise SettingsError(
            f"{origin}: {shorten(name, 60)!r} cannot be the name of a provider.",
            "Use letters, digits, - and _, as in [providers.work]; 40 at most.",
        )


def _provider(name: str, table: Mapping[str, object], origin: str) -> NamedProvider:
    prefix = f"providers.{name}"
    known = settings_of(NamedProvider, prefix)
    if name == READER.name:
        known = {key: known[key] for key in _OF_THE_READER}
    made = NamedProvider(name, **_values(prefix, table, known, origin))
    if name not in PRESETS and not (made.base_url.strip() or home_of(made.protocol)):
        raise SettingsError(
            f"{origin}: {prefix} has no base_url, the address of its API.",
            f'Add one, as in base_url = "https://llm.example/v1".{nearest(name.lower(), PRESETS)}',
        )
    return made


def _values(
    prefix: str, table: Mapping[str, object], known: Mapping[str, Setting], origin: str
) -> dict[str, Any]:
    for key in table:
        if key not in known:
            raise unknown_in_table(prefix, key, known, origin)
    return {key: checked(known[key], value, origin) for key, value in table.items()}


_NOT_SETTINGS = ("JITCHAT_HOME", "JITCHAT_CONFIG", "JITCHAT_DB")
"""Variables of ours that say where things are; see `jitchat.paths`."""
_BOOLEANS = {"1": True, "true": True, "yes": True, "0": False, "false": False, "no": False}
_NAMES_A_PROVIDER = ("provider.name", "picker.provider", "summariser.provider")


def load_settings(
    config: Path,
    environ: Mapping[str, str],
    flags: Mapping[str, object] | None = None,
    chosen: tuple[str, str] | None = None,
) -> Settings:
    """Merge every source. `flags` are by `section.key`; None means not given.

    `chosen` is the (provider, model) that was picked in the app: it counts where nothing else
    names a provider.

    Raises:
        SettingsError: A source cannot be read, or holds what is not a setting.

    """
    document = _read(config)
    bindings = _bindings(document.pop("keys", {}), config)
    tables = named_tables(document.pop("providers", {}), document.pop("models", {}), str(config))
    sources = [
        _checked(source)
        for source in (
            _from_document(document, config),
            _from_environment(environ),
            _from_flags(flags),
        )
    ]
    names = list({**PRESETS, **tables.providers})
    for source in sources:
        _require_known_providers(source, names)
    given = {key: said for source in sources for key, said in source.items()}
    others = {key: said for key, said in given.items() if not key.startswith("provider.")}
    return _made(
        others | provider_in_use(sources, names, chosen), tables, bindings, config, environ
    )


def unknown_variables(environ: Mapping[str, str]) -> Iterator[str]:
    """Say, in a sentence each, which JITCHAT_ variables set nothing."""
    known = {*_NOT_SETTINGS, *(name for key in all_keys() for name in variables_of(key))}
    for name in sorted(environ):
        if name.startswith("JITCHAT_") and name not in known:
            yield f"${name} is no setting and has no effect.{nearest(name, known)}"


def _made(
    given: Mapping[str, Given],
    tables: NamedTables,
    bindings: dict[str, str],
    config: Path,
    environ: Mapping[str, str],
) -> Settings:
    """Put the settings together from what was given."""
    parts = {name: _section(name, kind, given) for name, kind in SECTIONS.items()}
    origins = {key: said.origin for key, said in given.items()} | {"keys": str(config)}
    made = Settings(
        **parts,
        providers=tables.providers,
        models=tables.models,
        keys=bindings,
        addresses=_addresses(environ),
        origins=origins | dict(tables.origins),
    )
    for secret in made.secrets():
        remember_secret(secret)
    return made


def _addresses(environ: Mapping[str, str]) -> dict[str, tuple[str, str]]:
    """Take the addresses of presets from the variables that their own programs read."""
    found = {}
    if environ.get("OLLAMA_HOST", "").strip():
        found["ollama"] = ollama_address(environ["OLLAMA_HOST"]), "$OLLAMA_HOST"
    if environ.get("OPENAI_BASE_URL", "").strip():
        found["openai"] = environ["OPENAI_BASE_URL"].strip(), "$OPENAI_BASE_URL"
    return found


def _read(config: Path) -> dict[str, Any]:
    import tomllib  # noqa: PLC0415  4 ms, not needed to print help

    try:
        return tomllib.loads(toml_text(config))
    except FileNotFoundError:
        return {}
    except UnicodeDecodeError as error:
        raise SettingsError(
            f"{config} is not UTF-8 text (byte {error.start:,}).", "Save it as UTF-8."
        ) from None
    except ValueError as error:
        raise SettingsError(f"{config} is not valid TOML: {error}.", "Correct that line.") from None
    except RecursionError:
        raise SettingsError(f"{config} is nested too deeply.", "Write it flatter.") from None
    except OSError as error:
        raise SettingsError(
            f"The configuration {config} cannot be read: {error.strerror}.",
            "Name another file with --config, or correct this one.",
        ) from None


def _checked(source: Iterable[tuple[str, Given]]) -> dict[str, Given]:
    return {
        key: replace(said, value=checked(setting_of(key), said.value, said.origin))
        for key, said in source
    }


def _require_known_providers(source: Mapping[str, Given], names: list[str]) -> None:
    for key in _NAMES_A_PROVIDER:
        said = source.get(key)
        if said is None or (not said.value and key != "provider.name"):
            continue
        if said.value not in names:
            raise unknown_provider(str(said.value), said.origin, key, names)


def _from_document(document: Mapping[str, object], config: Path) -> Iterator[tuple[str, Given]]:
    for section, values in document.items():
        if section not in SECTIONS:
            raise unknown(section, str(config))
        if not isinstance(values, dict):
            raise SettingsError(
                f"{config}: {section} must be a table.",
                f"Write [{section}] on a line of its own, and its keys below it.",
            )
        for name, value in values.items():
            key = f"{section}.{name}"
            if key not in all_keys():
                raise unknown(key, str(config))
            yield key, Given(value, str(config))


def _from_environment(environ: Mapping[str, str]) -> Iterator[tuple[str, Given]]:
    for key in all_keys():
        for variable in variables_of(key):
            if environ.get(variable):
                yield key, Given(_parsed(key, environ[variable]), f"${variable}")


def _from_flags(flags: Mapping[str, object] | None) -> Iterator[tuple[str, Given]]:
    for key, value in (flags or {}).items():
        if value is not None:
            yield key, Given(value, rule_of(key).flag)


def _section(name: str, kind: type[Any], given: Mapping[str, Given]) -> Any:  # noqa: ANN401  one of SECTIONS
    prefix = f"{name}."
    own = {
        key.removeprefix(prefix): said.value
        for key, said in given.items()
        if key.startswith(prefix)
    }
    return kind(**own)


def _bindings(keys: object, config: Path) -> dict[str, str]:
    if not isinstance(keys, dict) or not all(isinstance(each, str) for each in keys.values()):
        raise SettingsError(
            f"{config}: [keys] must hold texts, one for each action.",
            'For example: inspector = "f2,ctrl+i".',
        )
    return keys


def _parsed(key: str, text: str) -> object:
    """Read a variable as the type of its setting; leave it as it is where it is not one."""
    kind: type[Any] = kind_of(key)
    if kind is bool:
        return _BOOLEANS.get(text.strip().lower(), text)
    try:
        return kind(text)
    except ValueError:
        return text
