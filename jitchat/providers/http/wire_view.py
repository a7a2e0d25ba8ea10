"""A request as it may be shown: every byte of it but its secrets."""

import re
import shlex
from collections.abc import Iterator

import httpx

from jitchat.providers.http.redaction import BLOT, OPEN, blotted
from jitchat.providers.provider import Endpoint, Wire

_LOGIN = "authorization"
KEY_HEADERS = frozenset({_LOGIN, "x-api-key", "x-goog-api-key"})
"""Headers in which a protocol sends the key, as the last word of their value."""


def wire_of(request: httpx.Request, endpoint: Endpoint) -> Wire:
    address = request.url.copy_with(userinfo=b"")
    return Wire(
        method=request.method,
        url=blotted(str(address), endpoint),
        headers=tuple(_headers(request, endpoint)),
        body=request.content,
        key_variable=endpoint.key_variable,
    )


def _headers(request: httpx.Request, endpoint: Endpoint) -> Iterator[tuple[str, str]]:
    """Go through the headers; the login of an address is one of them, by the time it is sent."""
    login = f"Basic {BLOT}" if request.url.userinfo else ""
    for raw_name, raw_value in request.headers.raw:
        name, value = raw_name.decode("ascii"), raw_value.decode("ascii", "replace")
        is_login = login and name.lower() == _LOGIN
        yield name, login if is_login else _shown(name, value, endpoint)
    if login and _LOGIN not in request.headers:
        yield "Authorization", login


def _shown(name: str, value: str, endpoint: Endpoint) -> str:
    """Blot out the key in a header, and all of one that the user set."""
    own = {header.lower() for header in endpoint.headers} - OPEN
    if name.lower() in own:
        return BLOT
    key = endpoint.key
    if key and name.lower() in KEY_HEADERS and value.endswith(key):
        return f"{value.removesuffix(key)}{BLOT}"
    return blotted(value, endpoint)


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
