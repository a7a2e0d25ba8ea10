"""Which servers run on this machine. They are found and offered, never used unasked."""

from __future__ import annotations

import asyncio
import ipaddress
from dataclasses import dataclass
from typing import TYPE_CHECKING
from urllib.parse import urlsplit

from jitchat.errors import ProviderError
from jitchat.providers.catalogue.asking import Server
from jitchat.providers.catalogue.lists import LM_STUDIO, chat_rows, ollama_models
from jitchat.providers.catalogue.model import ModelInfo
from jitchat.providers.catalogue.presets import PRESETS, Preset
from jitchat.providers.catalogue.rows import models_of
from jitchat.providers.protocol import Endpoint
from jitchat.providers.protocols.values import text_at

if TYPE_CHECKING:
    import httpx

_PATIENCE = 1.0
_CONNECT = 0.3
_OWNERS = {"llamacpp": "llamacpp", "vllm": "vllm", LM_STUDIO: "lmstudio"}
"""Whom a server names as its models' owner: 8000 and 8080 are the ports of all sorts of servers."""
_OLLAMA_PORT = 11434


@dataclass(frozen=True, slots=True)
class LocalServer:
    """A server that answers."""

    name: str
    """The preset's: what it is, wherever it was found."""
    base_url: str
    """Where it was found."""
    models: tuple[ModelInfo, ...]


async def find_local(
    transport: httpx.AsyncBaseTransport | None = None, ollama_host: str = ""
) -> tuple[LocalServer, ...]:
    """Look at the ports on which model servers usually listen, within a second.

    Args:
        transport: In place of the network.
        ollama_host: The value of OLLAMA_HOST, where it is set.

    """
    places = [preset for preset in PRESETS.values() if preset.is_local]
    tried = [_answering(each, _address(each, ollama_host), transport) for each in places]
    return tuple(found for found in await asyncio.gather(*tried) if found is not None)


def ollama_address(value: str) -> str | None:
    """Read OLLAMA_HOST as a base URL; None where it is not on this machine, or no address."""
    scheme, separator, rest = value.strip().rpartition("://")
    scheme = scheme or "http"
    try:
        parts = urlsplit(f"{scheme}://{rest}")
        host, usual = parts.hostname or "localhost", 443 if scheme == "https" else 80
        port = parts.port or (usual if separator else _OLLAMA_PORT)
        if host != "localhost":
            address = ipaddress.ip_address(host)
            if not (address.is_loopback or address.is_unspecified):
                return None
            host = "localhost" if address.is_unspecified else host
    except ValueError:
        return None
    return f"{scheme}://{f'[{host}]' if ':' in host else host}:{port}"


def _address(preset: Preset, ollama_host: str) -> str:
    elsewhere = ollama_address(ollama_host) if preset.name == "ollama" and ollama_host else None
    return elsewhere or preset.base_url


async def _answering(
    preset: Preset, base_url: str, transport: httpx.AsyncBaseTransport | None
) -> LocalServer | None:
    endpoint = Endpoint(preset.name, base_url, "")
    server = Server(endpoint, preset.protocol, transport, patience=_PATIENCE, connect=_CONNECT)
    try:
        async with asyncio.timeout(_PATIENCE), server:
            return await _recognised(server, preset.protocol)
    except (ProviderError, TimeoutError):
        return None


async def _recognised(server: Server, protocol_name: str) -> LocalServer | None:
    """Tell what answers by what it says, not by its port."""
    if protocol_name == "ollama":
        if not text_at(await server.get(f"{server.root}/api/version"), "version"):
            return None
        return LocalServer("ollama", server.base, await ollama_models(server))
    rows = await chat_rows(server)
    names = [_OWNERS[owner] for row in rows if (owner := text_at(row, "owned_by")) in _OWNERS]
    # LM Studio's own list, which took the place of the common one, has no owners.
    is_lm_studio = any(isinstance(row, dict) and "max_context_length" in row for row in rows)
    name = names[0] if names else "lmstudio" if is_lm_studio else ""
    return LocalServer(name, server.base, models_of(rows)) if name else None
