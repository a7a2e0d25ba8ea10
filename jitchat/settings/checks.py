"""Checks of values against their settings.

An error names the origin (file, variable or flag), the key, what was expected, and the nearest
valid key or value. It never quotes a secret.
"""

import math
import re
from collections.abc import Iterable, Mapping, Sequence
from pathlib import Path
from stat import S_ISFIFO

from jitchat.errors import SettingsError
from jitchat.settings.sections import NAMED, RETIRED, SECTIONS, SETTINGS, Secret, Setting, shown
from jitchat.text.sanitize import repair, shorten

_EXPECTED: dict[type, str] = {
    str: "a string",
    Secret: "a string",
    int: "a whole number",
    float: "a number",
    bool: "true or false",
    dict: 'a table of strings, for example { "X-Title" = "jitchat" }',
    tuple: 'a list of strings, for example ["one", "two"]',
}
_NAMES = (*SECTIONS, *NAMED, "keys")
LONGEST_FILE = 256 << 10
"""Maximum characters of a settings file."""
_DEEPEST = 32
_DEEP_NAME = re.compile(
    rf"""(?<![\w-])(?:(?:[\w-]++|"[^"\n]*+"|'[^'\n]*+')[ \t]*+\.[ \t]*+){{{_DEEPEST}}}"""
)
_HEADER = re.compile(r"[!#$%&'*+.^_`|~0-9A-Za-z-]{1,100}")


def nearest(wrong: str, known: Iterable[str]) -> str:
    """Suggest the closest of `known`, as a sentence; empty if none is close."""
    from difflib import get_close_matches  # noqa: PLC0415  needed only when something is wrong

    close = get_close_matches(wrong[:80], list(known), n=1, cutoff=0.5)
    return f" Did you mean {close[0]!r}?" if close else ""


def choose_one(wrong: str, choices: Sequence[str]) -> str:
    """List the choices and suggest the closest one, as a sentence."""
    return f"Use {', '.join(choices[:-1])} or {choices[-1]}.{nearest(wrong, choices)}"


def checked(known: Setting, value: object, origin: str) -> object:
    """Return the value in its setting's type.

    Raises:
        SettingsError: The value has the wrong type or is out of range.

    """
    if known.kind is int and value in known.choices:
        return value
    fitting = _of_type(known.kind, value)
    if fitting is None:
        expected = " or ".join([_EXPECTED[known.kind], *known.choices])
        raise _refused(known, origin, f"must be {expected}, not {_kind_of(known, value)}")
    if known.choices and known.kind is not int and fitting not in known.choices:
        what = f"{origin}: {known.key} cannot be {_quoted(fitting)}."
        raise SettingsError(what, choose_one(str(fitting), known.choices))
    _require_size(known, fitting, origin)
    _require_sendable(known, fitting, origin)
    return fitting


def is_a_section(name: str) -> bool:
    return name in _NAMES


def unknown(name: str, origin: str) -> SettingsError:
    section, dot, _ = name.partition(".")
    if is_key := bool(dot) and is_a_section(section):
        known = [key.partition(".")[2] for key in SETTINGS if key.startswith(f"{section}.")]
        listed = f"[{section}] can contain {', '.join(known)}."
        near = nearest(name, SETTINGS)
        if name in RETIRED:
            near = f" {name} is {RETIRED[name].help}."
        if not known:
            listed, near = f"Write its keys as {section}.NAME.KEY.", ""
    else:
        listed = f"The sections are {', '.join(_NAMES)}."
        own = [key for key in SETTINGS if key.endswith(f".{name}")]
        near = f" Did you mean {own[0]!r}?" if own else nearest(name, _NAMES)
    what = f"{_quoted(name)} is not a key" if is_key else f"{_quoted(section)} is not a section"
    return SettingsError(f"{origin}: {what} of jitchat.", listed + near)


def unknown_in_table(table: str, name: str, known: Iterable[str], origin: str) -> SettingsError:
    names = list(known)
    return SettingsError(
        f"{origin}: {_quoted(f'{table}.{name}')} is not a key of jitchat.",
        f"[{shorten(table, 60)}] can contain {', '.join(names)}.{nearest(name, names)}",
    )


def _of_type(expected: type, value: object) -> object:
    """Return the value in its setting's type; None if it has another type."""
    if isinstance(value, str) and issubclass(expected, str):
        return Secret(value.strip()) if expected is Secret else repair(value)
    if expected is dict:
        return _headers(value)
    if expected is tuple:
        return _texts(value)
    if expected is float and type(value) in (int, float):
        try:
            return float(value)  # type: ignore[arg-type]  # it is a number, as just tested
        except OverflowError:
            return math.inf
    return value if type(value) is expected else None


def _headers(value: object) -> dict[str, Secret] | None:
    if not isinstance(value, Mapping) or not all(isinstance(text, str) for text in value.values()):
        return None
    return {str(name): Secret(text.strip()) for name, text in value.items()}


def _texts(value: object) -> tuple[str, ...] | None:
    if not isinstance(value, list | tuple) or not all(isinstance(text, str) for text in value):
        return None
    return tuple(repair(text) for text in value)


def _require_size(known: Setting, value: object, origin: str) -> None:
    least, most = known.least, known.most
    if not isinstance(value, int | float) or isinstance(value, bool):
        return
    if isinstance(value, float) and not math.isfinite(value):
        raise _refused(known, origin, f"must be a finite number, not {value}")
    if least is not None and value < least:
        raise _refused(known, origin, f"must be at least {least:g}, not {_quoted(value)}")
    if most is not None and value > most:
        raise _refused(known, origin, f"must be at most {most:g}, not {_quoted(value)}")


def _require_sendable(known: Setting, value: object, origin: str) -> None:
    """Refuse a key or a header that no request can carry: it must be printable ASCII."""
    if isinstance(value, Secret) and not (_is_sendable(value) and " " not in value):
        raise _refused(
            known, origin, "has characters that no key has (a space, a line break, an ellipsis …)"
        )
    if not isinstance(value, Mapping):
        return
    if known.key.endswith(".env"):
        _require_variables(known, value, origin)
        return
    for name, text in value.items():
        if not _HEADER.fullmatch(name):
            raise _refused(known, origin, f"has {_quoted(name)}, which is not a valid header name")
        if not _is_sendable(text):
            raise _refused(known, origin, f"has a {name} that is not printable ASCII")


def _require_variables(known: Setting, value: Mapping[str, str], origin: str) -> None:
    """Refuse names and values that no environment can contain."""
    for name, text in value.items():
        if not name or "=" in name or "\0" in name:
            raise _refused(
                known, origin, f"has {_quoted(name)}, which is not a valid variable name"
            )
        if "\0" in text:
            raise _refused(known, origin, f"has a {shorten(name, 60)} that contains a NUL")


def _is_sendable(text: str) -> bool:
    return text.isascii() and text.isprintable()


def _refused(known: Setting, origin: str, why: str) -> SettingsError:
    default = "" if known.default is None else f". Default: {shown(known.default)}"
    return SettingsError(f"{origin}: {known.key} {why}.", f"Meaning: {known.help}{default}.")


def _kind_of(known: Setting, value: object) -> str:
    """Describe the value; without quoting it if it may be a secret."""
    if known.hidden or known.kind is Secret:
        return "the given value"
    if known.kind is dict and isinstance(value, dict):
        return "a table of other values"
    if isinstance(value, dict | list):
        return "a table" if isinstance(value, dict) else "a list"
    return shown(value) if isinstance(value, bool) else _quoted(value)


def _quoted(value: object) -> str:
    try:
        return repr(shorten(value, 60)) if isinstance(value, str) else str(value)[:60]
    except ValueError:  # an int of more than 4,300 digits has no text
        return "that number"


def toml_text(path: Path, newline: str | None = None) -> str:
    """Read a TOML file, refusing one that its parser would take much time or memory for.

    With "" for `newline`, line ends stay as they are.

    Raises:
        SettingsError: It is a pipe, it is too large, or a name in it has too many parts.
        OSError: The file cannot be read.
        UnicodeDecodeError: The file is not UTF-8.

    """
    if S_ISFIFO(path.stat().st_mode):  # opening it would wait for a writer
        raise SettingsError(f"{path} is a pipe.", "Name a file.")
    with path.open(encoding="utf-8-sig", newline=newline) as file:
        text = file.read(LONGEST_FILE + 1)
    if len(text) > LONGEST_FILE:
        raise SettingsError(f"{path} is larger than {LONGEST_FILE >> 10} KB.", "Shorten it.")
    if _DEEP_NAME.search(text):
        raise SettingsError(
            f"{path} has a name of more than {_DEEPEST} parts (a.b.c…).", "Use fewer levels."
        )
    return text
