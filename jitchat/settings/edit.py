"""Edits the configuration: comments, order and blanks of the rest stay as they are.

What would not load is not written.
"""

import os
import tempfile
import tomllib
from collections.abc import Mapping
from contextlib import suppress
from dataclasses import asdict
from pathlib import Path
from typing import TYPE_CHECKING, Any

from jitchat.errors import SettingsError
from jitchat.paths import make_private, replace_file
from jitchat.settings import checks, load
from jitchat.settings.personas import EXAMPLE
from jitchat.settings.sections import (
    SECTIONS,
    McpServer,
    NamedModel,
    NamedPersona,
    NamedProvider,
    Secret,
    settings_of,
)
from jitchat.settings.servers import require_name
from jitchat.settings.tables import require_name as require_table_name
from jitchat.text.sanitize import shorten

if TYPE_CHECKING:
    from tomlkit import TOMLDocument

_TABLES: dict[str, type[Any]] = {
    "providers": NamedProvider,
    "models": NamedModel,
    "mcp": McpServer,
    "personas": NamedPersona,
}
"""Sections that are made of tables with names of the user's own."""
Value = str | bool | float | list[str] | Mapping[str, str]


def add_server(path: Path, name: str, values: Mapping[str, Value]) -> None:
    """Append a table `[mcp.NAME]`; SettingsError where there is one, or the file is not as wanted.

    `values` are by key, as the table has them.
    """
    require_name(name, "jitchat mcp add")
    document = _document(path)
    if name in document.get("mcp", {}):
        raise SettingsError(
            f"{path} has a server {name} already.", f"`jitchat mcp remove {name}` removes it."
        )
    set_values(path, {f"mcp.{name}.{key}": value for key, value in values.items()})


def save_persona(path: Path, persona: NamedPersona, *, replaces: bool) -> None:
    """Write the table `[personas.NAME]`; one that is there already only where it `replaces` it.

    Raises:
        SettingsError: It cannot have that name, or the file is not as wanted.

    """
    name = persona.name
    require_table_name(name, "a persona", EXAMPLE, "Save as persona")
    if name in _document(path).get("personas", {}) and not replaces:
        raise SettingsError(f"{path} has a persona {name} already.", "Give it another name.")
    table = {key: value for key, value in asdict(persona).items() if value not in (None, "")}
    del table["name"]
    set_values(path, {f"personas.{name}.{key}": value for key, value in table.items()})


def remove_server(path: Path, name: str) -> None:
    """Remove the table `[mcp.NAME]` and those below it, with the comments within."""
    document = _document(path)
    servers: Any = document.get("mcp", {})
    if name not in servers:
        listed = ", ".join(servers) or "none"
        raise SettingsError(f"{path} has no server {name!r}.", f"It has: {listed}.")
    del servers[name]
    _write(path, document)


def set_values(path: Path, values: Mapping[str, Value]) -> None:
    """Set values by their keys, `window.recent` or `providers.work.model`.

    Raises:
        SettingsError: A key or a value is not one, or the file cannot be read or written.

    """
    import tomlkit  # noqa: PLC0415  needed only where something is changed

    document, made = _document(path), list[Any]()
    for key, value in values.items():
        *tables, name = parts_of(key)
        table = document
        for each in tables:
            if each not in table:
                made.append(tomlkit.table(is_super_table=each in _TABLES))
                table[each] = made[-1]
            table = table[each]
        if isinstance(value, Mapping):
            inline = tomlkit.inline_table()
            inline.update(value)
            table[name] = inline
        elif isinstance(value, str):
            table[name] = tomlkit.string(value, multiline="\n" in value)
        else:
            table[name] = value
    for table in made:
        if not table.is_super_table():
            table.add(tomlkit.nl())  # a blank line ahead of the next table
    _write(path, document)


def unset(path: Path, key: str) -> bool:
    """Take a value out of the file, so that its default holds; False where none is there."""
    document = _document(path)
    *tables, name = parts_of(key)
    table: Any = document
    for each in tables:
        table = table.get(each, {})
    if name not in table:
        return False
    del table[name]
    _write(path, document)
    return True


def value_of(key: str, text: str) -> Value:
    """Read a text as the value of a setting.

    Raises:
        SettingsError: There is no such setting, it is a key, or the text is no value of it.

    """
    *tables, name = parts_of(key)
    if tables == ["keys"]:
        return text
    kind = _TABLES.get(tables[0], SECTIONS.get(tables[0]))
    known = settings_of(kind, ".".join(tables)).get(name) if kind is not None else None
    if known is None:
        raise checks.unknown(key, "jitchat config")
    if issubclass(known.kind, Secret):
        raise SettingsError(
            f"{key} is a key: on a command line others may read it.",
            "`jitchat keys set PROVIDER` takes one from standard input.",
        )
    found: object = load.parsed(known.kind, text)
    if known.kind is dict:
        with suppress(ValueError):
            found = tomllib.loads(f"value = {text}")["value"]
    value: Any = checks.checked(known, found, "jitchat config")
    return list(value) if isinstance(value, tuple) else value


def parts_of(key: str) -> list[str]:
    """Take a key apart; the name of a model may have points: `models."gpt-5.4".limit`."""
    found: object = {}
    with suppress(ValueError):
        found = tomllib.loads(f"{key} = 0")
    parts = list[str]()
    while isinstance(found, dict) and len(found) == 1:
        ((name, found),) = found.items()
        parts.append(name)
    if len(parts) < 2 or isinstance(found, dict):
        listed = ", ".join(SECTIONS)
        raise SettingsError(
            f"{shorten(key, 60)!r} is no key of a setting.",
            f"It is SECTION.NAME, as in window.recent; sections are {listed}, and"
            ' providers.NAME, models."NAME", mcp.NAME, personas.NAME and keys.',
        )
    return parts


def _document(path: Path) -> "TOMLDocument":
    import tomlkit  # noqa: PLC0415  as above

    try:
        text = checks.toml_text(path)
        tomllib.loads(text)
        return tomlkit.parse(text)
    except FileNotFoundError:
        return tomlkit.document()
    except (OSError, UnicodeDecodeError) as error:
        raise SettingsError(f"{path} cannot be read ({type(error).__name__}).") from None
    except (ValueError, RecursionError) as error:
        raise SettingsError(f"{path} is not valid TOML: {error}.", "Correct that line.") from None


def _write(path: Path, document: "TOMLDocument") -> None:
    """Put the text in the file's place, if it can be loaded."""
    import tomlkit  # noqa: PLC0415  as above

    text = f"{tomlkit.dumps(document).strip()}\n".removeprefix("\n")
    with tempfile.TemporaryDirectory() as folder:
        tried = Path(folder, path.name)
        tried.touch(0o600)
        tried.write_text(text, encoding="utf-8")
        try:
            load.load_settings(tried, {})
        except SettingsError as error:
            told = error.what.replace(str(tried), str(path))
            raise SettingsError(f"{told} Nothing was written.", error.remedy) from None
    try:
        make_private(path.parent)
        replace_file(Path(os.path.realpath(path)), text.encode())
    except OSError as error:
        raise SettingsError(f"{path} cannot be written: {error.strerror}.") from None
