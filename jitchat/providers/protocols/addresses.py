"""The base URLs of servers, and recognising addresses of this machine.

An address can have a query, such as `?api-version=1`, which is appended to every route. Pure: no
name is resolved.
"""

import ipaddress
import re
import socket
from contextlib import suppress

_HAS_VERSION = re.compile(r"/v\d[a-z\d]*+$")


def base_of(base_url: str, protocol_name: str) -> str:
    """Add a missing API version, as the vendors' own clients do; drop trailing slash and query.

    A Gemini address with a path is left as it is.
    """
    base = _without_query(base_url)
    if protocol_name == "anthropic" and not _HAS_VERSION.search(base):
        return f"{base}/v1"
    if protocol_name == "gemini" and "/" not in base.partition("://")[2]:
        return f"{base}/v1beta"
    return base


def root_of(base_url: str) -> str:
    """Remove the API version: the root of the server, for routes outside the API."""
    base = _without_query(base_url)
    return base.removesuffix("/v1").removesuffix("/api").rstrip("/")


def query_of(base_url: str) -> str:
    """Return an address's query without the question mark; empty if there is none."""
    return base_url.strip().partition("#")[0].partition("?")[2]


def _without_query(base_url: str) -> str:
    return re.split("[?#]", base_url.strip(), maxsplit=1)[0].rstrip("/")


def is_this_machine(host: str) -> bool:
    """Whether a host name or address refers to this machine."""
    name = host.rstrip(".").lower()
    if name == "localhost" or name.endswith(".localhost"):
        return True
    with suppress(OSError, UnicodeError):  # 127.1 and the like
        name = socket.inet_ntoa(socket.inet_aton(name))
    try:
        address = ipaddress.ip_address(name)
    except ValueError:
        return False
    mapped = getattr(address, "ipv4_mapped", None) or address
    return bool(mapped.is_loopback or mapped.is_unspecified)
