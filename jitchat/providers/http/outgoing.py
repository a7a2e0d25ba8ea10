"""A request on its way out: checked before anything is sent."""

from __future__ import annotations

import re
from collections.abc import Sequence

import httpx

from jitchat.errors import KeyRefused, ProviderError, Unreachable
from jitchat.providers.http.redaction import without_secrets
from jitchat.providers.protocol import Endpoint, WireProtocol
from jitchat.providers.provider import Options
from jitchat.text.safe import shortened
from jitchat.turn import Message

_HEADER_NAME = re.compile(r"[\w!#$%&'*+.^`|~-]+", re.ASCII)


def make_request(
    endpoint: Endpoint, protocol: WireProtocol, messages: Sequence[Message], options: Options
) -> httpx.Request:
    """Make the request, with the endpoint's timeouts.

    Raises:
        KeyRefused: The key or a header holds what none can hold.
        Unreachable: The endpoint has no address.

    """
    require_sendable(endpoint)
    request = _addressed(endpoint, protocol, messages, options)
    if request is None:
        raise no_address(endpoint)
    request.extensions["timeout"] = httpx.Timeout(
        connect=endpoint.connect_seconds, read=endpoint.read_seconds, write=30.0, pool=5.0
    ).as_dict()
    return request


def require_sendable(endpoint: Endpoint) -> None:
    """Refuse what cannot be sent; no secret may be in this frame when it does.

    Raises:
        KeyRefused: The key is missing, or it or a header holds what none can hold.

    """
    if endpoint.wants_key and not endpoint.key:
        who, variable = shortened(endpoint.name, 60), endpoint.key_variable
        why = f"{variable} is not set" if variable else "none is set"
        raise KeyRefused(f"{who} wants a key, and {why}. Nothing was sent.", endpoint.key_help)
    if not _is_printable(endpoint.key) or " " in endpoint.key:
        raise KeyRefused(
            "The API key holds characters that no key has (a blank, a line break, an ellipsis …).",
            "Copy it again; it was not sent anywhere.",
        )
    wrong = [
        name
        for name, value in endpoint.headers.items()
        if not (_HEADER_NAME.fullmatch(name) and _is_printable(value))
    ]
    if wrong:
        raise KeyRefused(
            f"The header {shortened(wrong[0], 60)!r} holds characters that no header has.",
            "Write it again in the configuration; it was not sent anywhere.",
        )


def is_address(url: httpx.URL) -> bool:
    """Whether a request can be sent there."""
    return url.scheme in ("http", "https") and url.host != "" and (url.port or 80) < 1 << 16


def no_address(endpoint: Endpoint) -> ProviderError:
    """Make the error for an endpoint without an address; what it has may hold a login."""
    told = Unreachable(
        f"{shortened(endpoint.base_url, 200)!r} is not an address.",
        "Set provider.base_url, for example http://localhost:8080/v1.",
    )
    return without_secrets(told, endpoint)


def _is_printable(text: str) -> bool:
    return text.isascii() and text.isprintable()


def _addressed(
    endpoint: Endpoint, protocol: WireProtocol, messages: Sequence[Message], options: Options
) -> httpx.Request | None:
    """Make the request; None where the base URL is not an address."""
    try:
        request = protocol.request(endpoint, messages, options)
    except (httpx.InvalidURL, ValueError):
        return None
    return request if is_address(request.url) else None
