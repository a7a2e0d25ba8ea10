"""Merging the sources: flag > environment > TOML > default.

A key of the TOML `[section] name` is the variable JITCHAT_SECTION_NAME; a variable that is
empty counts as not set. What every source says is checked, even where another one wins.
"""

from __future__ import annotations

from collections.abc import Iterable, Iterator, Mapping
from dataclasses import replace
from pathlib import Path
from typing import Any

from jitchat.crash import remember_secret
from jitchat.errors import SettingsError
from jitchat.providers.catalogue.presets import PRESETS
from jitchat.settings.addresses import ollama_address
from jitchat.settings.checks import checked, nearest, toml_text, unknown
from jitchat.settings.in_use import Given, provider_in_use
from jitchat.settings.nested import NamedTables, named_tables
from jitchat.settings.profiles import unknown_provider
from jitchat.settings.values import (
    SECTIONS,
    Settings,
    all_keys,
    kind_of,
    rule_of,
    setting_of,
    variables_of,
)

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
