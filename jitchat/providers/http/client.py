"""The HTTP client: the way to one server, with the proxy and the certificates that it needs.

The environment is read here and not by httpx, so that only the variables that concern a request
can break it, and so that the one that does is named.
"""

from __future__ import annotations

import os
import ssl
from pathlib import Path
from urllib.request import getproxies, proxy_bypass

import httpx

from jitchat.errors import Unreachable
from jitchat.providers.this_machine import is_this_machine
from jitchat.text.safe import one_line, shortened

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
    raise Unreachable(what, f"Correct {variable} ({shortened(place, 100)}), or unset it.")
