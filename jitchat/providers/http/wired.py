"""A request as it may be shown: every byte of it but its secrets."""

from __future__ import annotations

from collections.abc import Iterator

import httpx

from jitchat.providers.http.redaction import BLOT, OPEN, blotted
from jitchat.providers.protocol import Endpoint
from jitchat.providers.provider import Wire

_LOGIN = "authorization"
KEY_HEADERS = frozenset({_LOGIN, "x-api-key", "x-goog-api-key"})
"""Headers in which a protocol sends the key, as the last word of their value."""


def wire_of(request: httpx.Request, endpoint: Endpoint) -> Wire:
    """Show a request that was made for the endpoint."""
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
    own = {each.lower() for each in endpoint.headers} - OPEN
    if name.lower() in own:
        return BLOT
    key = endpoint.key
    if key and name.lower() in KEY_HEADERS and value.endswith(key):
        return f"{value.removesuffix(key)}{BLOT}"
    return blotted(value, endpoint)
