"""What an address says without asking anybody: whether it is this machine, and whether two are one.

What is no address is on no machine; it is refused when it is used.
"""

from __future__ import annotations

import re
from urllib.parse import SplitResult, urlsplit

from jitchat.providers.this_machine import is_this_machine

_PORTS = {"http": 80, "https": 443}
_OLLAMA_PORT = 11_434


def parts_of(url: str) -> SplitResult | None:
    """Take an address apart; None where it is none."""
    try:
        parts = urlsplit(url.strip())
        _ = parts.port
    except ValueError:
        return None
    return parts if parts.scheme in _PORTS and parts.hostname else None


def is_loopback(url: str) -> bool:
    """Whether what is sent there does not leave this machine."""
    parts = parts_of(url)
    return parts is not None and is_this_machine(parts.hostname or "")


def same_server(one: str, other: str) -> bool:
    """Whether both addresses have the same scheme, host and port."""
    first, second = parts_of(one), parts_of(other)
    if first is None or second is None:
        return one == other
    return _server(first) == _server(second)


def ollama_address(host: str) -> str:
    """Read OLLAMA_HOST as Ollama does: a host, a port, both, or an address.

    What a server listens on everywhere is this machine to its clients.
    """
    scheme, _, rest = host.strip().strip("'\"").rpartition("://")
    port = _PORTS.get(scheme, _OLLAMA_PORT)
    place, slash, path = rest.partition("/")
    found = re.fullmatch(r"(\[[^\]]*\]|[^:\[\]]*)(?::(\d*))?", place)
    name = found[1] if found else f"[{place}]"
    if found and found[2] and int(found[2]) < 1 << 16:
        port = int(found[2])
    name = {"": "127.0.0.1", "0.0.0.0": "127.0.0.1", "[::]": "[::1]"}.get(name, name)  # noqa: S104  read, not bound
    return f"{scheme or 'http'}://{name}:{port}{slash}{path}".rstrip("/")


def _server(parts: SplitResult) -> tuple[str, str | None, int | None]:
    return parts.scheme, parts.hostname, parts.port or _PORTS[parts.scheme]
