"""Which protocol a provider speaks, and where its routes are.

An address may have a query, such as `?api-version=1`: it belongs behind each route.
"""

import re
from importlib import import_module
from typing import TYPE_CHECKING

from jitchat.errors import SettingsError
from jitchat.text.sanitize import shorten

if TYPE_CHECKING:
    from jitchat.providers.protocols.protocol import WireProtocol


_HAS_VERSION = re.compile(r"/v\d[a-z\d]*+$")


def base_of(base_url: str, protocol_name: str) -> str:
    """Add the version that is missing, as the vendors' own clients do; without slash and query.

    An address of Gemini's is taken as it is where it is more than a host.
    """
    base = _without_query(base_url)
    if protocol_name == "anthropic" and not _HAS_VERSION.search(base):
        return f"{base}/v1"
    if protocol_name == "gemini" and "/" not in base.partition("://")[2]:
        return f"{base}/v1beta"
    return base


def root_of(base_url: str) -> str:
    """Take off the API's version: the server, where it has routes of its own."""
    base = _without_query(base_url)
    return base.removesuffix("/v1").removesuffix("/api").rstrip("/")


def query_of(base_url: str) -> str:
    """Take an address's query, without its question mark; empty where there is none."""
    return base_url.strip().partition("#")[0].partition("?")[2]


def _without_query(base_url: str) -> str:
    return re.split("[?#]", base_url.strip(), maxsplit=1)[0].rstrip("/")


_PROTOCOLS = {
    "openai": "OpenAiProtocol",
    "anthropic": "AnthropicProtocol",
    "gemini": "GeminiProtocol",
    "ollama": "OllamaProtocol",
}
"""By the name of its module: its class. The embedded reader needs no protocol."""
protocol_names = tuple(_PROTOCOLS)
"""What `protocol_named` knows."""


def protocol_named(name: str) -> "WireProtocol":
    """Make the protocol; only its own module is loaded, and httpx with it.

    Raises:
        SettingsError: There is none of that name.

    """
    if name not in _PROTOCOLS:
        raise SettingsError(
            f"There is no protocol {shorten(name, 60)!r}.",
            f"Set it to one of {', '.join(protocol_names)}.",
        )
    made: WireProtocol = getattr(import_module(f"{__package__}.{name}"), _PROTOCOLS[name])()
    return made
