"""Reading and checking tables with user-chosen names: `[kind.NAME]`."""

import re
from collections.abc import Iterator, Mapping
from typing import Any

from jitchat.errors import SettingsError
from jitchat.settings import checks, sections
from jitchat.text.sanitize import shorten


def tables(
    kind: str, example: str, value: object, origin: str
) -> Iterator[tuple[str, Mapping[str, object]]]:
    if not isinstance(value, dict):
        raise SettingsError(f"{origin}: {kind} must be a table of tables.", write_below(example))
    for name, table in value.items():
        if not isinstance(table, dict):
            what = f"{origin}: {shorten(f'{kind}.{name}', 60)} must be a table."
            raise SettingsError(what, write_below(example))
        yield name, table


_NAME = re.compile(r"[A-Za-z0-9][A-Za-z0-9_-]{0,39}")


def require_name(name: str, what: str, example: str, origin: str) -> None:
    if not _NAME.fullmatch(name):
        raise SettingsError(
            f"{origin}: {shorten(name, 60)!r} cannot be the name of {what}.",
            f"Use at most 40 letters, digits, - and _, as in {example}.",
        )


def write_below(example: str) -> str:
    return f"Write {example} on its own line, and its keys below it."


def table_values(
    prefix: str, table: Mapping[str, object], known: Mapping[str, sections.Setting], origin: str
) -> dict[str, Any]:
    for key in table:
        if key not in known:
            raise checks.unknown_in_table(prefix, key, known, origin)
    return {key: checks.checked(known[key], value, origin) for key, value in table.items()}
