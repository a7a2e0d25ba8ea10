"""Edits the configuration as text: comments, order and blanks of the rest stay as they are."""

import re
import tomllib
from collections.abc import Mapping
from pathlib import Path

from jitchat.errors import SettingsError
from jitchat.paths import make_private, replace_file
from jitchat.settings import checks
from jitchat.settings.servers import require_name

Value = str | bool | float | list[str] | Mapping[str, str]
_HEADER = re.compile(r"\s*+\[\[?+([^\]]++)\]\]?+\s*+(?:#.*)?$")


def add_server(path: Path, name: str, values: Mapping[str, Value]) -> None:
    """Append a table `[mcp.NAME]`; SettingsError where there is one, or the file is not as wanted.

    `values` are by key, as the table has them.
    """
    require_name(name, "jitchat mcp add")
    text = _text(path)
    if name in _servers(text, path):
        raise SettingsError(
            f"{path} has a server {name} already.", f"`jitchat mcp remove {name}` removes it."
        )
    lines = [f"{key} = {_toml(value)}" for key, value in values.items()]
    gap = "" if not text else "\n" if text.endswith("\n") else "\n\n"
    made = f"{text}{gap}[mcp.{name}]\n" + "\n".join(lines) + "\n"
    _write(path, made, _servers(text, path) | {name: dict(values)})


def remove_server(path: Path, name: str) -> None:
    """Remove the table `[mcp.NAME]` and those below it, with the comments within."""
    text = _text(path)
    known = _servers(text, path)
    if name not in known:
        listed = ", ".join(known) or "none"
        raise SettingsError(f"{path} has no server {name!r}.", f"It has: {listed}.")
    kept, is_inside = [], False
    for line in text.splitlines(keepends=True):
        if found := _HEADER.match(line):
            is_inside = _names(found[1].strip())[:2] == ["mcp", name]
        if not is_inside:
            kept.append(line)
    _write(path, "".join(kept), {key: value for key, value in known.items() if key != name})


def _names(header: str) -> list[str]:
    return [part.strip().strip("\"'") for part in header.split(".")]


def _text(path: Path) -> str:
    try:
        return checks.toml_text(path)
    except FileNotFoundError:
        return ""
    except (OSError, UnicodeDecodeError) as error:
        raise SettingsError(f"{path} cannot be read ({type(error).__name__}).") from None


def _servers(text: str, path: Path) -> dict[str, object]:
    try:
        found = tomllib.loads(text).get("mcp", {})
    except ValueError as error:
        raise SettingsError(f"{path} is not valid TOML: {error}.", "Correct that line.") from None
    return dict(found) if isinstance(found, dict) else {}


def _write(path: Path, text: str, wanted: Mapping[str, object]) -> None:
    """Put the text in the file's place, if it says what it is to say and nothing else changes."""
    if _servers(text, path) != wanted:
        raise SettingsError(
            f"The server's table in {path} is written in a way that cannot be edited here.",
            "Edit it by hand: [mcp.NAME] on a line of its own, and its keys below it.",
        )
    try:
        make_private(path.parent)
        replace_file(path.resolve(), text.encode())
    except OSError as error:
        raise SettingsError(f"{path} cannot be written: {error.strerror}.") from None


def _toml(value: Value) -> str:
    if isinstance(value, bool):
        return str(value).lower()
    if isinstance(value, str):
        return _quoted(value)
    if isinstance(value, Mapping):
        return "{ " + ", ".join(f"{_quoted(k)} = {_quoted(v)}" for k, v in value.items()) + " }"
    if isinstance(value, list):
        return f"[{', '.join(map(_quoted, value))}]"
    return str(value)


def _quoted(text: str) -> str:
    """Write a basic string of TOML."""
    escaped = text.replace("\\", "\\\\").replace('"', '\\"')
    return '"' + "".join(_escaped(character) for character in escaped) + '"'


def _escaped(character: str) -> str:
    is_control = ord(character) < 0x20 or ord(character) == 0x7F
    return f"\\u{ord(character):04X}" if is_control else character
