"""How much one model takes, as its server has it now."""

from __future__ import annotations

from typing import TYPE_CHECKING
from urllib.parse import quote

from jitchat.errors import KeyRefused, ProviderError, Unreachable
from jitchat.providers.catalogue.asking import Server
from jitchat.providers.catalogue.lists import chat_rows
from jitchat.providers.catalogue.ollama import ollama_could_load, ollama_loaded
from jitchat.providers.catalogue.rows import limit_of, name_of
from jitchat.providers.protocol import Endpoint
from jitchat.providers.protocols.values import at, count, text_at
from jitchat.turn import LOADED, Limit

if TYPE_CHECKING:
    import httpx

PATIENCE = 5.0
"""Seconds for one question."""
_OLLAMAS = "library"
"""The owner of every model of Ollama, where it speaks as OpenAI does."""
_LLAMA_CPPS = "llamacpp"


async def ask_limit(
    endpoint: Endpoint,
    protocol_name: str,
    transport: httpx.AsyncBaseTransport | None = None,
    *,
    patience: float = PATIENCE,
) -> Limit | None:
    """Ask how much the endpoint's model takes; None where its server does not tell or is away."""
    connect = min(patience, endpoint.connect_seconds)
    async with Server(
        endpoint, protocol_name, transport, patience=patience, connect=connect
    ) as server:
        try:
            if protocol_name == "ollama":
                return await _of_ollama(server, endpoint.model)
            if protocol_name in ("anthropic", "gemini"):
                found = await _of_one(server, endpoint.model)
                if found is not None or protocol_name == "gemini":
                    return found
            return await _of_chat(server, endpoint.model)
        except ProviderError:
            return None


async def _of_ollama(server: Server, model: str) -> Limit | None:
    """Ask what it is loaded with, else what it could be loaded with, within reason."""
    loaded = (await ollama_loaded(server)).get(_tagged(model))
    if loaded:
        return Limit(loaded, LOADED)
    return await ollama_could_load(server, model)


async def _of_one(server: Server, model: str) -> Limit | None:
    """Ask Anthropic or Gemini for the one model."""
    name = model.removeprefix("models/")
    try:
        return limit_of(await server.get(f"{server.base}/models/{quote(name, safe='@')}"))
    except (Unreachable, KeyRefused):
        raise
    except ProviderError:
        return None


async def _of_chat(server: Server, model: str) -> Limit | None:
    """Find the model in the list; llama.cpp and Ollama say on other routes what is loaded."""
    try:
        rows = await chat_rows(server)
    except (Unreachable, KeyRefused):
        raise
    except ProviderError:
        return await _of_llama_cpp(server)
    owners = {text_at(row, "owned_by") for row in rows}
    row = next((row for row in rows if name_of(row) == model), None)
    if _LLAMA_CPPS in owners:
        found = await _of_llama_cpp(server)
        return found or limit_of(row if row is not None else rows[0])
    if row is not None and text_at(row, "owned_by") == _OLLAMAS:
        loaded = (await ollama_loaded(server)).get(_tagged(model))
        return Limit(loaded, LOADED) if loaded else None
    return limit_of(row)


async def _of_llama_cpp(server: Server) -> Limit | None:
    """Ask llama.cpp's server, which has one model whatever it is called in the request."""
    try:
        properties = await server.get(f"{server.root}/props")
    except ProviderError:
        return None
    tokens = count(at(properties, "default_generation_settings", "n_ctx"))
    return Limit(tokens, LOADED) if tokens else None


def _tagged(model: str) -> str:
    """Name a model as Ollama lists it: always with a tag."""
    return model if ":" in model.rpartition("/")[2] else f"{model}:latest"
