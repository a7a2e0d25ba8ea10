"""The one kind of request that every protocol sends: a POST of a JSON document."""

from __future__ import annotations

import json
from collections.abc import Iterable, Mapping

import httpx

from jitchat import __version__
from jitchat.providers.protocol import Endpoint
from jitchat.providers.protocols.bases import query_of

USER_AGENT = f"jitchat/{__version__}"
"""Who asks. What stands before many servers turns away a request that does not say so."""
_ANTHROPIC_VERSION = "2023-06-01"
_KEY_HEADERS = {"anthropic": ("x-api-key", "{}"), "gemini": ("x-goog-api-key", "{}")}
"""Where a protocol has its own; most servers want a bearer's token."""
_NOTHING: tuple[object, ...] = (None, "", (), [], {})


def json_request(
    endpoint: Endpoint, url: str | httpx.URL, headers: Mapping[str, str], body: Mapping[str, object]
) -> httpx.Request:
    """Make the request: the same bytes for the same body. The user's own headers win.

    Raises:
        httpx.InvalidURL: The endpoint's address is none.

    """
    request = httpx.Request("POST", addressed(endpoint, url), content=json.dumps(body).encode())
    request.headers["Content-Type"] = "application/json"
    request.headers["User-Agent"] = USER_AGENT
    for name, value in (*headers.items(), *endpoint.headers.items()):
        request.headers[name] = value
    return request


def addressed(endpoint: Endpoint, url: str | httpx.URL) -> httpx.URL:
    """Put the query of the endpoint's address behind a route of its server.

    Raises:
        httpx.InvalidURL: The address is none.

    """
    made, own = httpx.URL(url), query_of(endpoint.base_url)
    queries = (made.query.decode(), own)
    return made.copy_with(query="&".join(filter(None, queries)).encode()) if own else made


def credentials(endpoint: Endpoint, protocol_name: str) -> dict[str, str]:
    """Send the key, if there is one, as the protocol wants it; Anthropic wants a version, too."""
    version = {"anthropic-version": _ANTHROPIC_VERSION} if protocol_name == "anthropic" else {}
    if not endpoint.key:
        return version
    header, form = _KEY_HEADERS.get(protocol_name, ("Authorization", "Bearer {}"))
    return version | {header: form.format(endpoint.key)}


def filled(values: Mapping[str, object], without: Iterable[str] = ()) -> dict[str, object]:
    """Leave out what is null or empty, and what the server refuses."""
    refused = frozenset(without)
    return {
        name: value
        for name, value in values.items()
        if name not in refused and value not in _NOTHING
    }
