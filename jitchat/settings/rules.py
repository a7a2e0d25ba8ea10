"""What a setting is made of: its type, default and meaning, and how its value is written."""

from __future__ import annotations

from collections.abc import Mapping
from dataclasses import Field, dataclass, field, fields
from typing import Any

from jitchat.text.safe import one_line


class Secret(str):
    """A key: never shown by `repr`, so neither by a traceback nor by a log line."""

    __slots__ = ()

    def __repr__(self) -> str:
        return "'•••'" if self else "''"


@dataclass(frozen=True, slots=True)
class Rule:
    """What is known of one setting beside its default."""

    help: str
    flag: str = ""
    """The command line's name for it; empty where it has none."""
    unit: str = "TEXT"
    """What the flag takes, as `--help` writes it."""
    variable: str = ""
    """A well-known variable; every setting has JITCHAT_SECTION_NAME besides."""
    choices: tuple[str, ...] = ()
    least: float | None = None
    most: float | None = None
    kind: type[Any] | None = None
    """The value's type, where the default is None: not set."""
    hidden: bool = False
    """Whether the value may hold a secret, as a Secret does."""


@dataclass(frozen=True, slots=True)
class Setting:
    """One setting, wherever it stands."""

    key: str
    """As messages call it: `section.name`, `providers.NAME.limit` …"""
    kind: type[Any]
    default: object
    rule: Rule


def setting(default: Any, help_text: str, **rule: Any) -> Any:  # noqa: ANN401  as its field's type
    """Make the field of a setting."""
    known = Rule(help_text, **rule)
    metadata, in_repr = {"rule": known}, not known.hidden
    if known.kind is dict:
        return field(default_factory=dict, metadata=metadata, repr=in_repr)
    return field(default=default, metadata=metadata, repr=in_repr)


def settings_of(table: type[Any], prefix: str) -> dict[str, Setting]:
    """List the settings of a table by their names in it."""
    return {
        each.name: _described(f"{prefix}.{each.name}", each)
        for each in fields(table)
        if "rule" in each.metadata
    }


def shown(value: object, *, hidden: bool = False) -> str:
    """Write a value as `jitchat config` does: on one line, and never a secret."""
    if isinstance(value, Mapping):
        return ", ".join(f"{one_line(name)} (hidden)" for name in value) or "none"
    if hidden or isinstance(value, Secret):
        return "set (hidden)" if value else "not set"
    if value is None:
        return "not set"
    if isinstance(value, bool):
        return str(value).lower()
    return f'"{one_line(value)}"' if isinstance(value, str) else str(value)


def _described(key: str, found: Field[Any]) -> Setting:
    rule: Rule = found.metadata["rule"]
    default = {} if rule.kind is dict else found.default
    return Setting(key, rule.kind or type(default), default, rule)
