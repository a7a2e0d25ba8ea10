"""A request as a command for a POSIX shell: the same bytes, with variables in place of secrets."""

from __future__ import annotations

import re
import shlex

from jitchat.providers.http.redaction import BLOT
from jitchat.providers.http.wired import KEY_HEADERS
from jitchat.providers.provider import Wire

_KEY = "JITCHAT_PROVIDER_API_KEY"
"""What may hold the key of any provider."""
_BY_CURL = frozenset({"host", "content-length"})
"""Headers that it makes by itself."""


def curl(wire: Wire) -> str:
    """Write the command. The body goes through a pipe: an argument's length is limited."""
    headers = [header for header in wire.headers if header[0].lower() not in _BY_CURL]
    parts = [
        f"curl --silent --show-error --no-buffer --globoff --request {wire.method}",
        *(f"--header {_header(wire, name, value)}" for name, value in headers),
        "--data-binary @-",
        _quoted(wire.url, key_variable(wire)),
    ]
    command = " \\\n  ".join(parts)
    return f"printf %s {shlex.quote(wire.body.decode())} |\n{command}\n"


def key_variable(wire: Wire) -> str:
    """Name the variable in which the command has the key."""
    return wire.key_variable or _KEY


def _header(wire: Wire, name: str, value: str) -> str:
    is_key = name.lower() in KEY_HEADERS and not value.startswith("Basic ")
    own = re.sub(r"\W", "_", name, flags=re.ASCII).upper()
    return _quoted(f"{name}: {value}", key_variable(wire) if is_key else f"JITCHAT_{own}")


def _quoted(text: str, variable: str) -> str:
    """Quote a text so that only the variable, in the place of what is blotted out, is read."""
    if BLOT not in text:
        return shlex.quote(text)
    escaped = re.sub(r'(["\\$`])', r"\\\1", text)
    return f'"{escaped.replace(BLOT, f"${{{variable}}}")}"'
