"""The HTTP client: the way to one server, with the proxy and the certificates that it needs.

The environment is read here and not by httpx, so that only the variables that concern a request
can break it, and so that the one that does is named.
"""

import os
import re
import ssl
from collections.abc import Sequence
from dataclasses import replace
from pathlib import Path
from urllib.request import getproxies, proxy_bypass

import httpx

from jitchat.errors import KeyRefused, ProviderError, SettingsError, Unreachable
from jitchat.providers.http.redaction import without_secrets
from jitchat.providers.http.retry import Failure
from jitchat.providers.provider import Endpoint, Options, WireProtocol
from jitchat.providers.this_machine import is_this_machine
from jitchat.text.sanitize import one_line, shorten
from jitchat.values import Message

CERTIFICATES = {
    "SSL_CERT_FILE": False,
    "SSL_CERT_DIR": True,
    "REQUESTS_CA_BUNDLE": True,
    "CURL_CA_BUNDLE": False,
}
"""Variables that name the certificates to trust, by rank; whether one may be a folder."""


def make_client(
    url: httpx.URL, transport: httpx.AsyncBaseTransport | None = None
) -> httpx.AsyncClient:
    """Make the client for the server of `url`. Reading certificates takes 40 ms: a thread's work.

    Redirects are not followed, for they would take the key to another server.

    Raises:
        Unreachable: A variable of the environment cannot be used.

    """
    if transport is not None:
        return httpx.AsyncClient(transport=transport, trust_env=False)
    variable, address = _proxy_setting(url)
    is_secure = url.scheme == "https" or address.lower().startswith("https:")
    context = _certificates() if is_secure else None
    try:
        proxy = _proxy(address, context) if address else None
        return httpx.AsyncClient(proxy=proxy, verify=context or False, trust_env=False)
    except ImportError:
        reason = "a SOCKS proxy needs the package socksio"
    except (ValueError, httpx.InvalidURL):
        reason = "it is not the address of an HTTP proxy"
    what = f"The proxy that {variable} names cannot be used: {reason}."
    raise Unreachable(what, f"Correct {variable}, or unset it.")


def proxy_variable(url: httpx.URL) -> str:
    """Name the variable that puts a proxy on the way; empty where there is none."""
    return _proxy_setting(url)[0]


def _proxy_setting(url: httpx.URL) -> tuple[str, str]:
    """Find the proxy on the way, and what names it; there is none on the way to this machine."""
    given = getproxies()
    kind = url.scheme if given.get(url.scheme) else "all"
    address = given.get(kind, "")
    if not address or is_this_machine(url.host) or proxy_bypass(url.netloc.decode()):
        return "", ""
    names = (f"{kind}_proxy", f"{kind.upper()}_PROXY")
    variable = next((name for name in names if os.environ.get(name)), "the system")
    return variable, address if "://" in address else f"http://{address}"


def _proxy(address: str, context: ssl.SSLContext | None) -> httpx.Proxy:
    proxy = httpx.Proxy(address)
    if not proxy.url.host or (proxy.url.port or 80) >= 1 << 16:
        raise ValueError(address)
    is_secure = proxy.url.scheme == "https"
    return httpx.Proxy(address, ssl_context=context) if is_secure else proxy


def _certificates() -> ssl.SSLContext:
    """Read the certificates that are trusted: those of the environment, or else certifi's."""
    variable = next((name for name in CERTIFICATES if os.environ.get(name)), "")
    if not variable:
        return httpx.create_ssl_context(trust_env=False)
    place, may_be_folder = os.environ[variable], CERTIFICATES[variable]
    try:
        if may_be_folder and any(Path(each).is_dir() for each in place.split(os.pathsep)):
            return ssl.create_default_context(capath=place)
        if variable != "SSL_CERT_DIR":
            return ssl.create_default_context(cafile=place)
        reason = "no such folder"
    except OSError as error:
        reason = one_line(error.strerror or str(error)) or type(error).__name__
    what = f"The certificates that {variable} names cannot be read: {reason}."
    raise Unreachable(what, f"Correct {variable} ({shorten(place, 100)}), or unset it.")


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
        who, variable = shorten(endpoint.name, 60), endpoint.key_variable
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
            f"The header {shorten(wrong[0], 60)!r} holds characters that no header has.",
            "Write it again in the configuration; it was not sent anywhere.",
        )


def is_address(url: httpx.URL) -> bool:
    """Whether a request can be sent there."""
    return url.scheme in ("http", "https") and url.host != "" and (url.port or 80) < 1 << 16


def no_address(endpoint: Endpoint) -> ProviderError:
    """Make the error for an endpoint without an address; what it has may hold a login."""
    told = Unreachable(
        f"{shorten(endpoint.base_url, 200)!r} is not an address.",
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


_BEFORE_THE_WAY = (httpx.ConnectError, httpx.ConnectTimeout, httpx.ProxyError)
_LOST = (httpx.ReadError, httpx.WriteError)


def unreached(name: str, url: httpx.URL, error: Exception) -> Failure:
    """Make the failure of a request to which no response came; `name` is the provider's."""
    reason = reason_of(error)
    where = f"{url.scheme}://{url.netloc.decode()}"
    what = f"{name} cannot be reached at {where}: {reason}."
    told = Unreachable(what, _remedy(url, error, reason))
    return Failure(told, why="the connection was lost", is_lost=_is_lost(error, reason))


def reason_of(error: Exception) -> str:
    """Tell what happened, as a clause without its full stop."""
    if isinstance(error, httpx.TimeoutException | TimeoutError):
        return "no answer in time"
    return one_line(str(error)).rstrip(".") or type(error).__name__


def _is_lost(error: Exception, reason: str) -> bool:
    """Whether a connection that was made has broken, as one that was kept for long may."""
    is_hung_up = isinstance(error, httpx.RemoteProtocolError) and "disconnected" in reason
    return is_hung_up or isinstance(error, _LOST)


def _remedy(url: httpx.URL, error: Exception, reason: str) -> str:
    if "CERTIFICATE_VERIFY_FAILED" in reason:
        return "If a proxy of your network stands between, set SSL_CERT_FILE to its certificates."
    if isinstance(error, _BEFORE_THE_WAY) and (variable := proxy_variable(url)):
        return f"Is the proxy right that {variable} names, and provider.base_url?"
    return "Is the server running, and provider.base_url right?"


def renewed(endpoint: Endpoint) -> Endpoint | None:
    """Make the endpoint with another key; None where there is none. Slow: a command may run.

    Where the command fails, the server's refusal is what is told.
    """
    if endpoint.renew is None:
        return None
    try:
        key = endpoint.renew(endpoint.key)
    except SettingsError:
        return None
    return replace(endpoint, key=key) if key != endpoint.key else None
