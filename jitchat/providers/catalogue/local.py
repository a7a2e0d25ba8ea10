"""Which servers run on this machine. They are found and offered, never used unasked."""

from __future__ import annotations

import asyncio
from collections.abc import Mapping
from dataclasses import dataclass, replace
from typing import TYPE_CHECKING
from urllib.parse import urlsplit

from jitchat.errors import KeyRefused, ProviderError
from jitchat.providers.catalogue.asking import Server
from jitchat.providers.catalogue.lists import LM_STUDIO, chat_rows
from jitchat.providers.catalogue.model import ModelInfo
from jitchat.providers.catalogue.ollama import ollama_models, with_limits
from jitchat.providers.catalogue.presets import PRESETS, Preset
from jitchat.providers.catalogue.rows import models_of
from jitchat.providers.protocol import Endpoint
from jitchat.providers.protocols.values import text_at
from jitchat.providers.this_machine import is_this_machine

if TYPE_CHECKING:
    import httpx

_PATIENCE = 1.0
_CONNECT = 0.3
_SHOWN_WITHIN = 0.5
"""Seconds more for what Ollama says of the models that are not loaded."""
_OWNERS = {"llamacpp": "llamacpp", "vllm": "vllm", LM_STUDIO: "lmstudio"}
"""Whom a server names as its models' owner: 8000 and 8080 are the ports of all sorts of servers."""
_LLAMA_CPP_HEADER = "llama.cpp"
"""What its server calls itself, also where it was started with a key and lists nothing."""


@dataclass(frozen=True, slots=True)
class LocalServer:
    """A server that answers."""

    name: str
    """The preset's: what it is, wherever it was found."""
    base_url: str
    """Where it was found."""
    models: tuple[ModelInfo, ...]
    """None where it has none, or tells only who has its key."""


async def find_local(
    transport: httpx.AsyncBaseTransport | None = None, moved: Mapping[str, str] | None = None
) -> tuple[LocalServer, ...]:
    """Look at the ports on which model servers usually listen, within a second and a half.

    Args:
        transport: In place of the network.
        moved: By a preset's name, its base URL where the user moved it to another port.

    """
    places = [preset for preset in PRESETS.values() if preset.is_local]
    tried = [_answering(each, _address(each, moved or {}), transport) for each in places]
    return tuple(found for found in await asyncio.gather(*tried) if found is not None)


def _address(preset: Preset, moved: Mapping[str, str]) -> str:
    """Say where to look: nowhere but on this machine."""
    wanted = moved.get(preset.name, "")
    return wanted if is_this_machine(_host(wanted)) else preset.base_url


async def _answering(
    preset: Preset, base_url: str, transport: httpx.AsyncBaseTransport | None
) -> LocalServer | None:
    endpoint = Endpoint(preset.name, base_url, "")
    server = Server(endpoint, preset.protocol, transport, patience=_PATIENCE, connect=_CONNECT)
    try:
        async with server:
            async with asyncio.timeout(_PATIENCE):
                found = await _recognised(server, preset.protocol)
            if found is None or preset.protocol != "ollama":
                return found
            return replace(found, models=await with_limits(server, found.models, _SHOWN_WITHIN))
    except (ProviderError, TimeoutError):
        return None


async def _recognised(server: Server, protocol_name: str) -> LocalServer | None:
    """Tell what answers by what it says, not by its port."""
    if protocol_name == "ollama":
        if not text_at(await server.get(f"{server.root}/api/version"), "version"):
            return None
        return LocalServer("ollama", server.base, await ollama_models(server))
    try:
        rows = await chat_rows(server)
    except KeyRefused:
        if server.software != _LLAMA_CPP_HEADER:
            raise
        return LocalServer("llamacpp", server.base, ())
    names = [_OWNERS[owner] for row in rows if (owner := text_at(row, "owned_by")) in _OWNERS]
    # LM Studio's own list, which took the place of the common one, has no owners.
    is_lm_studio = any(isinstance(row, dict) and "max_context_length" in row for row in rows)
    name = names[0] if names else "lmstudio" if is_lm_studio else ""
    return LocalServer(name, server.base, models_of(rows)) if name else None


def _host(url: str) -> str:
    try:
        return urlsplit(url).hostname or ""
    except ValueError:
        return ""
