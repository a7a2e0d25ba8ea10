"""Secrets are blotted out of what a server says, and of a request that is shown.

A server may repeat a key whole or cut, in capitals or small letters, or with its characters
percent-encoded: any eight characters of it in a row are taken for it. Of a request, every byte is
shown but its secrets; as a command, it reads them from variables.
"""

import copy
import re
import shlex
from collections.abc import Iterator
from itertools import groupby
from operator import itemgetter
from urllib.parse import parse_qsl, unquote

import httpx

from jitchat.errors import ProviderError
from jitchat.providers.protocols.addresses import query_of
from jitchat.providers.provider import Endpoint, Wire

_RUN = 8
BLOT = "•••"
"""What stands in the place of a secret."""
OPEN = frozenset({"http-referer", "referer", "origin", "user-agent", "x-title"})
"""Headers that say who asks; what servers say of themselves may well have words in common."""
_SECRET = re.compile(r"key|token|secret|signature|password|^(?:sig|code)$", re.IGNORECASE)
"""Names of what may be a key in an address's query."""
_CHARACTERS = re.compile(r"%[0-9a-f]{2}|.", re.IGNORECASE | re.DOTALL)


def without_secrets(error: ProviderError, endpoint: Endpoint) -> ProviderError:
    """Make the error anew, alone and without what it repeats of the endpoint's secrets."""
    made = copy.copy(error)
    made.what, made.remedy = (blotted(text, endpoint) for text in (error.what, error.remedy))
    made.args = (made.what,)
    return made


def blotted(text: str, endpoint: Endpoint) -> str:
    """Blot out eight characters or more in a row of a secret, and each short one as a word."""
    for secret in _secrets(endpoint):
        if len(secret) >= _RUN:
            text = _without_runs(text, secret.lower())
        elif secret:
            text = re.sub(rf"(?<!\w){re.escape(secret)}(?!\w)", BLOT, text, flags=re.IGNORECASE)
    return text


def _secrets(endpoint: Endpoint) -> tuple[str, ...]:
    """List what must not be shown: the key, what the address has of one, and long headers."""
    login, at, _ = endpoint.base_url.rpartition("@")
    password = unquote(login.rpartition(":")[2]) if at else ""
    headers = (
        value
        for name, value in endpoint.headers.items()
        if len(value) >= _RUN and name.lower() not in OPEN
    )
    queried = (
        value for name, value in parse_qsl(query_of(endpoint.base_url)) if _SECRET.search(name)
    )
    return tuple(filter(None, (endpoint.key, password, *headers, *queried)))


def _without_runs(text: str, secret: str) -> str:
    runs = {secret[start : start + _RUN] for start in range(len(secret) - _RUN + 1)}
    written = _CHARACTERS.findall(text)
    read = [unquote(character).lower()[:1] for character in written]
    plain = "".join(read)
    hidden = [False] * len(read)
    for start in range(len(plain) - _RUN + 1):
        if plain[start : start + _RUN] in runs:
            hidden[start : start + _RUN] = [True] * _RUN
    runs_of_either = groupby(zip(hidden, written, strict=True), key=itemgetter(0))
    return "".join(
        BLOT if is_hidden else "".join(character for _, character in run)
        for is_hidden, run in runs_of_either
    )


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
