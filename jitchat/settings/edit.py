"""Editing the configuration file, preserving its comments, order and blank lines.

A change that would make the file fail to load is not written.
"""

import codecs
import os
import re
import tempfile
import tomllib
from collections.abc import Mapping
from contextlib import suppress
from dataclasses import asdict
from pathlib import Path
from typing import TYPE_CHECKING, Any

from jitchat.errors import SettingsError, reported
from jitchat.paths import make_private, replace_file
from jitchat.settings import checks, load
from jitchat.settings.sections import NAMED, SECTIONS, NamedPersona, Secret, settings_of
from jitchat.settings.tables import require_name
from jitchat.text.sanitize import shorten

if TYPE_CHECKING:
    from tomlkit import TOMLDocument

Value = str | bool | float | list[str] | Mapping[str, str]


def add_server(path: Path, name: str, values: Mapping[str, Value]) -> None:
    """Append a table `[mcp.NAME]` with `values` by key.

    Raises:
        SettingsError: There is such a table already, or the file cannot be read or written.

    """
    require_name("mcp", name, "jitchat mcp add")
    document = _document(path)
    if name in document.get("mcp", {}):
        raise SettingsError(
            f"{path} already has a server {name}.", f"`jitchat mcp remove {name}` removes it."
        )
    set_values(path, {f"mcp.{name}.{key}": value for key, value in values.items()})


def save_persona(path: Path, persona: NamedPersona, *, replaces: bool) -> None:
    """Write the table `[personas.NAME]`; replace an existing one only if `replaces` is true.

    Raises:
        SettingsError: The name is invalid or taken, or the file cannot be read or written.

    """
    name = persona.name
    require_name("personas", name, "Save as persona")
    if name in _document(path).get("personas", {}) and not replaces:
        raise SettingsError(f"{path} already has a persona {name}.", "Choose another name.")
    table = {key: value for key, value in asdict(persona).items() if value not in (None, "")}
    del table["name"]
    set_values(path, {f"personas.{name}.{key}": value for key, value in table.items()})


def remove_server(path: Path, name: str) -> None:
    """Remove the table `[mcp.NAME]` and its subtables, including their comments."""
    document = _document(path)
    servers: Any = document.get("mcp", {})
    if name not in servers:
        listed = ", ".join(servers) or "none"
        raise SettingsError(f"{path} has no server {name!r}.", f"Servers there: {listed}.")
    del servers[name]
    _write(path, document)


def set_values(path: Path, values: Mapping[str, Value]) -> None:
    """Set values by their keys, such as `window.size` or `providers.work.model`.

    Raises:
        SettingsError: A key or a value is invalid, or the file cannot be read or written.

    """
    import tomlkit  # noqa: PLC0415  needed only to make a change

    document, made = _document(path), list[Any]()
    for key, value in values.items():
        *tables, name = parts_of(key)
        table = document
        for each in tables:
            if each not in table:
                made.append(tomlkit.table(is_super_table=each in NAMED))
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
            table.add(tomlkit.nl())  # a blank line before the next table
    _write(path, document)


def unset(path: Path, key: str) -> bool:
    """Remove a value from the file, so that its default applies; False if it was not set."""
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
    """Parse a text as the value of a setting.

    Raises:
        SettingsError: There is no such setting, it is an API key, or the value is invalid.

    """
    *tables, name = parts_of(key)
    if tables == ["keys"]:
        return text
    kind = (NAMED | SECTIONS).get(tables[0])
    known = settings_of(kind, ".".join(tables)).get(name) if kind is not None else None
    if known is None:
        raise checks.unknown(key, "jitchat config")
    if issubclass(known.kind, Secret):
        raise SettingsError(
            f"{key} is a secret, and other users can read command lines.",
            "`jitchat keys set PROVIDER` reads it from standard input.",
        )
    found: object = load.parsed(known.kind, text)
    if known.kind is dict:
        with suppress(ValueError):
            found = tomllib.loads(f"value = {text}")["value"]
    value: Any = checks.checked(known, found, "jitchat config")
    return list(value) if isinstance(value, tuple) else value


def parts_of(key: str) -> list[str]:
    """Split a key; the name of a model can contain dots: `models."gpt-5.4".limit`."""
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
            f"{shorten(key, 60)!r} is not the key of a setting.",
            f"Write SECTION.NAME, as in window.size; the sections are {listed}, and"
            ' providers.NAME, models."NAME", mcp.NAME, personas.NAME and keys.',
        )
    return parts


def _document(path: Path) -> "TOMLDocument":
    import tomlkit  # noqa: PLC0415  as above

    load.read_document(path)  # for its errors
    return (
        tomlkit.parse(checks.toml_text(path, newline="")) if path.exists() else tomlkit.document()
    )


def _write(path: Path, document: "TOMLDocument") -> None:
    """Replace the file with the document's text, if that can be loaded."""
    import tomlkit  # noqa: PLC0415  as above

    data = _as_before(path, tomlkit.dumps(document))
    with tempfile.TemporaryDirectory() as folder:
        tried = Path(folder, path.name)
        tried.touch(0o600)
        tried.write_bytes(data)
        try:
            load.load_settings(tried, {})
        except SettingsError as error:
            what = error.what.replace(str(tried), str(path))
            raise SettingsError(f"{what} Nothing was written.", error.remedy) from None
    with reported(SettingsError, f"{path} cannot be written"):
        make_private(path.parent)
        replace_file(Path(os.path.realpath(path)), data)


def _as_before(path: Path, text: str) -> bytes:
    """Encode a text with the byte-order mark, line ends and last blank lines of the file before."""
    before = path.read_bytes() if path.exists() else b""
    mark = codecs.BOM_UTF8 if before.startswith(codecs.BOM_UTF8) else b""
    end = "\r\n" if before.rpartition(b"\n")[0].endswith(b"\r") else "\n"  # the last one
    if before.count(b"\r\n") == before.count(b"\n"):
        text = re.sub(r"(?<!\r)\n", end, text)
    last = before[len(before.rstrip(b"\r\n")) :]
    if not last and text.endswith("\n"):
        last = end.encode()
    return mark + text.rstrip("\r\n").encode() + last
