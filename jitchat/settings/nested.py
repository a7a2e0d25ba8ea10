"""The tables that the user names: `[providers.NAME]` and `[models."NAME"]`.

They are checked as every setting is; only the TOML has them, neither a variable nor a flag.
"""

from __future__ import annotations

import re
from collections.abc import Iterator, Mapping
from dataclasses import dataclass, field
from typing import Any

from jitchat.errors import SettingsError
from jitchat.providers.catalogue.presets import PRESETS, READER
from jitchat.settings.checks import checked, nearest, unknown_in_table
from jitchat.settings.profiles import home_of
from jitchat.settings.rules import Setting, settings_of
from jitchat.settings.sections import NamedModel, NamedProvider
from jitchat.text.safe import one_line, shortened

_NAME = re.compile(r"[A-Za-z0-9][A-Za-z0-9_-]{0,39}")
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
            shown = shortened(f"{kind}.{name}", 60)
            raise SettingsError(f"{origin}: {shown} must be a table.", below)
        if kind == "providers":
            _require_name(name, origin)
        elif not name.strip() or name != one_line(name):
            raise SettingsError(f"{origin}: a table under models has no name.", below)
        yield name, table


def _require_name(name: str, origin: str) -> None:
    if not _NAME.fullmatch(name):
        raise SettingsError(
            f"{origin}: {shortened(name, 60)!r} cannot be the name of a provider.",
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
