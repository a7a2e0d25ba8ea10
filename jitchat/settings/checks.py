"""Whether a value fits its setting; if not, an error that says where, what and what instead.

An error names the origin (file, variable or flag), the key, what was expected, and the nearest
valid key or value. It never quotes a secret.
"""

from __future__ import annotations

import math
from collections.abc import Iterable

from jitchat.errors import SettingsError
from jitchat.settings.values import SECTIONS, Secret, all_keys, default_of, rule_of, shown
from jitchat.text.safe import repaired, shortened

_EXPECTED: dict[type, str] = {
    str: "a text",
    Secret: "a text",
    int: "a whole number",
    float: "a number",
    bool: "true or false",
}
_FOUND: dict[type, str] = {dict: "a table", list: "a list"}


def checked(key: str, value: object, origin: str) -> object:
    """Return the value as its setting wants it.

    Raises:
        SettingsError: It has another type, or is out of range.

    """
    fitting = _of_type(key, value)
    if fitting is None:
        expected = _EXPECTED[type(default_of(key))]
        raise _refused(key, origin, f"must be {expected}, not {_kind_of(key, value)}")
    _require_choice(key, fitting, origin)
    _require_size(key, fitting, origin)
    return fitting


def unknown(name: str, origin: str) -> SettingsError:
    """Make the error for a section or a key that does not exist."""
    section, dot, _ = name.partition(".")
    if dot:
        known = [key.partition(".")[2] for key in all_keys() if key.startswith(f"{section}.")]
        listed = f"[{section}] may hold {', '.join(known)}."
        near = nearest(name, all_keys())
    else:
        listed = f"Sections are {', '.join([*SECTIONS, 'keys'])}."
        own = [key for key in all_keys() if key.endswith(f".{name}")]
        near = f" Did you mean {own[0]!r}?" if own else nearest(name, [*SECTIONS, "keys"])
    what = "key" if dot else "section"
    return SettingsError(f"{origin}: {_quoted(name)} is not a {what} of jitchat.", listed + near)


def nearest(wrong: str, known: Iterable[str]) -> str:
    """Ask for the closest of `known`, as a sentence; empty where none is close."""
    from difflib import get_close_matches  # noqa: PLC0415  needed only when something is wrong

    found = get_close_matches(wrong[:80], list(known), n=1, cutoff=0.5)
    return f" Did you mean {found[0]!r}?" if found else ""


def _of_type(key: str, value: object) -> object:
    """Return the value in its setting's type; None where it has another."""
    expected = type(default_of(key))
    if isinstance(value, str) and issubclass(expected, str):
        return Secret(value.strip()) if expected is Secret else repaired(value)
    if expected is float and type(value) in (int, float):
        try:
            return float(value)  # type: ignore[arg-type]  # it is a number, as just tested
        except OverflowError:
            return math.inf
    return value if type(value) is expected else None


def _require_choice(key: str, value: object, origin: str) -> None:
    choices = rule_of(key).choices
    if choices and value not in choices:
        listed = f"Use {', '.join(choices[:-1])} or {choices[-1]}."
        raise SettingsError(
            f"{origin}: {key} cannot be {_quoted(value)}.", listed + nearest(str(value), choices)
        )


def _require_size(key: str, value: object, origin: str) -> None:
    least = rule_of(key).least
    if not isinstance(value, int | float) or isinstance(value, bool):
        return
    if isinstance(value, float) and not math.isfinite(value):
        raise _refused(key, origin, f"must be a finite number, not {value}")
    if least is not None and value < least:
        raise _refused(key, origin, f"must be at least {least:g}, not {_quoted(value)}")


def _refused(key: str, origin: str, why: str) -> SettingsError:
    about = f"It is {rule_of(key).help}; by default {shown(default_of(key))}."
    return SettingsError(f"{origin}: {key} {why}.", about)


def _kind_of(key: str, value: object) -> str:
    """Say what was given, without its value where that may be a secret."""
    if isinstance(default_of(key), Secret):
        return "what is there"
    if type(value) in _FOUND:
        return _FOUND[type(value)]
    return shown(value) if isinstance(value, bool) else _quoted(value)


def _quoted(value: object) -> str:
    try:
        return repr(shortened(value, 60)) if isinstance(value, str) else str(value)[:60]
    except ValueError:  # an int of more than 4,300 digits has no text
        return "that number"
