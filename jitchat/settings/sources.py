"""Merging the sources: flag > environment > TOML > default.

A key of the TOML `[section] name` is the variable JITCHAT_SECTION_NAME. Every error names
where it stands, the key, what was expected, and the nearest valid key.
"""

from __future__ import annotations

import difflib
import tomllib
from collections.abc import Iterator, Mapping
from dataclasses import fields, replace
from pathlib import Path
from typing import Any

from jitchat.errors import SettingsError
from jitchat.settings.values import (
    SECTIONS,
    Secret,
    Settings,
    all_keys,
    default_of,
    meta_of,
    shown,
)
from jitchat.text.safe import one_line


def load_settings(
    config: Path, environ: Mapping[str, str], flags: Mapping[str, object] | None = None
) -> Settings:
    """Merge every source. `flags` are by `section.key`; None means not given.

    Raises:
        SettingsError: A source cannot be read, or holds what is not a setting.
    """
    document = _read(config)
    keys = document.pop("keys", {})
    given = {key: (value, str(config)) for key, value in _flattened(document, config)}
    given |= dict(_from_environment(environ))
    named = {key: (value, "flag") for key, value in (flags or {}).items() if value is not None}
    given |= named
    given = _implying_a_provider(given)
    settings = Settings(keys=_checked_keys(keys, config))
    origins = {"keys": str(config)}
    for key, (value, origin) in given.items():
        section, name = key.split(".")
        part = replace(getattr(settings, section), **{name: _checked(key, value, origin)})
        settings = replace(settings, **{section: part})
        origins[key] = _origin(key, origin)
    return replace(settings, origins=origins)


def _read(config: Path) -> dict[str, Any]:
    try:
        return tomllib.loads(config.read_text(encoding="utf-8"))
    except FileNotFoundError:
        return {}
    except (tomllib.TOMLDecodeError, UnicodeDecodeError) as error:
        raise SettingsError(f"{config} is not valid TOML: {error}.", "Correct that line.") from None
    except OSError as error:
        raise SettingsError(
            f"{config} cannot be read: {error.strerror}.", "Check its permissions."
        ) from None


def _flattened(document: Mapping[str, Any], config: Path) -> Iterator[tuple[str, object]]:
    for section, values in document.items():
        if section not in SECTIONS:
            raise _unknown(section, [*SECTIONS, "keys"], str(config), "section")
        if not isinstance(values, dict):
            raise SettingsError(
                f"{config}: {section} must be a table, not {_kind_of(values)}.",
                f"Write [{section}] on a line of its own, and its keys below it.",
            )
        known = [each.name for each in fields(SECTIONS[section])]
        for name, value in values.items():
            if name not in known:
                raise _unknown(f"{section}.{name}", all_keys(), str(config), "key")
            yield f"{section}.{name}", value


def _from_environment(environ: Mapping[str, str]) -> Iterator[tuple[str, tuple[object, str]]]:
    for key in all_keys():
        own = f"JITCHAT_{key.replace('.', '_').upper()}"
        for variable in (meta_of(key)["env"], own):
            if variable and environ.get(variable):
                yield key, (_parsed(key, environ[variable]), f"${variable}")


def _implying_a_provider(
    given: dict[str, tuple[object, str]],
) -> dict[str, tuple[object, str]]:
    """A base URL or a model without a provider means the OpenAI protocol."""
    implied = [given[key] for key in ("provider.model", "provider.base_url") if key in given]
    if implied and "provider.name" not in given:
        return given | {"provider.name": ("openai", f"{implied[0][1]}, as a model is named")}
    return given


def _checked(key: str, value: object, origin: str) -> object:
    """The value as its field wants it."""
    meta, default = meta_of(key), default_of(key)
    expected = type(default)
    if expected is Secret and isinstance(value, str):
        return Secret(value.strip())
    if expected is float and type(value) is int:
        value = float(value)
    if type(value) is not expected:
        wanted = _NAMES[expected]
        raise SettingsError(
            f"{origin}: {key} must be {wanted}, not {_kind_of(value)}.", _example(key)
        )
    if meta["choices"] and value not in meta["choices"]:
        near = _nearest(str(value), meta["choices"])
        options = ", ".join(meta["choices"])
        raise SettingsError(f"{origin}: {key} cannot be {_quoted(value)}.", f"Use {options}.{near}")
    if meta["least"] is not None and isinstance(value, int) and value < meta["least"]:
        raise SettingsError(f"{origin}: {key} must be at least {meta['least']}.", _example(key))
    return value


def _checked_keys(keys: object, config: Path) -> dict[str, str]:
    if not isinstance(keys, dict) or not all(isinstance(each, str) for each in keys.values()):
        raise SettingsError(
            f"{config}: [keys] must hold texts.", 'For example: inspector = "f2,ctrl+i".'
        )
    return keys


def _parsed(key: str, text: str) -> object:
    """A variable's text as the type of its setting; left as it is where it is not one."""
    kind = type(default_of(key))
    if kind is bool:
        return {"1": True, "true": True, "yes": True, "0": False, "false": False, "no": False}.get(
            text.strip().lower(), text
        )
    try:
        return kind(text)
    except ValueError:
        return text


def _origin(key: str, origin: str) -> str:
    return {"flag": f"--{key.rpartition('.')[2].replace('_', '-')}"}.get(origin, origin)


def _unknown(key: str, known: list[str], where: str, what: str) -> SettingsError:
    return SettingsError(
        f"{where}: {_quoted(key)} is not a {what} of jitchat.",
        f"Valid {what}s: {', '.join(known)}.{_nearest(key, known)}"
        if what == "section"
        else f"`jitchat config` lists all keys.{_nearest(key, known)}",
    )


def _nearest(wrong: str, known: list[str] | tuple[str, ...]) -> str:
    found = difflib.get_close_matches(wrong, known, n=1, cutoff=0.4)
    return f" Did you mean {found[0]!r}?" if found else ""


def _example(key: str) -> str:
    return f"It is {meta_of(key)['help']}; by default {shown(default_of(key))}."


_NAMES = {
    str: "a text", Secret: "a text", int: "a whole number", float: "a number", bool: "true or false"
}


def _kind_of(value: object) -> str:
    if isinstance(value, str):
        return _quoted(value)
    kind = _NAMES.get(type(value), {dict: "a table", list: "a list"}.get(type(value), "that"))
    return kind if isinstance(value, dict | list) else f"{kind} ({value})"


def _quoted(value: object) -> str:
    return repr(one_line(str(value))[:60])
