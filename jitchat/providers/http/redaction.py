"""Redacting secrets from a server's messages, and from requests that are shown.

A server may repeat a key in full or in part, in upper or lower case, or percent-encoded: any eight
consecutive characters of a key are redacted. A request is shown in full except for its secrets; as
a command, it reads them from variables.
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
"""Replacement for a secret."""
OPEN = frozenset({"http-referer", "referer", "origin", "user-agent", "x-title"})
"""Headers that are not secret: they identify the client."""
_SECRET = re.compile(r"key|token|secret|signature|password|^(?:sig|code)$", re.IGNORECASE)
"""Names of query parameters that may hold a key."""
_CHARACTERS = re.compile(r"%[0-9a-f]{2}|.", re.IGNORECASE | re.DOTALL)


def without_secrets(error: ProviderError, endpoint: Endpoint) -> ProviderError:
    """Copy the error, without its context and without the endpoint's secrets in its text."""
    made = copy.copy(error)
    made.what, made.remedy = (blotted(text, endpoint) for text in (error.what, error.remedy))
    made.args = (made.what,)
    return made


def blotted(text: str, endpoint: Endpoint) -> str:
    """Redact eight or more consecutive characters of a secret, and each short secret as a word."""
    for secret in _secrets(endpoint):
        if len(secret) >= _RUN:
            text = _without_runs(text, secret.lower())
        elif secret:
            text = re.sub(rf"(?<!\w){re.escape(secret)}(?!\w)", BLOT, text, flags=re.IGNORECASE)
    return text


def _secrets(endpoint: Endpoint) -> tuple[str, ...]:
    """Return the secrets: the key, secrets in the address, and long headers."""
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
"""Headers in which a protocol sends the key, as the last word of the value."""


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
    """Yield the headers, including the one that httpx makes of a login in the address."""
    login = f"Basic {BLOT}" if request.url.userinfo else ""
    for raw_name, raw_value in request.headers.raw:
        name, value = raw_name.decode("ascii"), raw_value.decode("ascii", "replace")
        is_login = login and name.lower() == _LOGIN
        yield name, login if is_login else _shown(name, value, endpoint)
    if login and _LOGIN not in request.headers:
        yield "Authorization", login


def _shown(name: str, value: str, endpoint: Endpoint) -> str:
    """Redact the key in a header, and the whole value of a header that the user set."""
    own = {header.lower() for header in endpoint.headers} - OPEN
    if name.lower() in own:
        return BLOT
    key = endpoint.key
    if key and name.lower() in KEY_HEADERS and value.endswith(key):
        return f"{value.removesuffix(key)}{BLOT}"
    return blotted(value, endpoint)


_KEY = "JITCHAT_PROVIDER_API_KEY"
"""The variable that can hold the key of any provider."""
_BY_CURL = frozenset({"host", "content-length"})
"""Headers that curl adds itself."""


def curl(wire: Wire) -> str:
    """Return the request as a curl command. The body is piped, since arguments are limited."""
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
    """Return the variable from which the command reads the key."""
    return wire.key_variable or _KEY


def _header(wire: Wire, name: str, value: str) -> str:
    is_key = name.lower() in KEY_HEADERS and not value.startswith("Basic ")
    own = re.sub(r"\W", "_", name, flags=re.ASCII).upper()
    return _quoted(f"{name}: {value}", key_variable(wire) if is_key else f"JITCHAT_{own}")


def _quoted(text: str, variable: str) -> str:
    """Quote a text for the shell, with redacted parts replaced by the variable."""
    if BLOT not in text:
        return shlex.quote(text)
    escaped = re.sub(r'(["\\$`])', r"\\\1", text)
    return f'"{escaped.replace(BLOT, f"${{{variable}}}")}"'
