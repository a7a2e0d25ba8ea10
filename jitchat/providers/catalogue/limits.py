"""How much one model takes, as its server has it now.

What is counted is the very body that would be sent, without what says how to answer it.
"""

from __future__ import annotations

from collections.abc import Mapping, Sequence
from typing import TYPE_CHECKING
from urllib.parse import quote

from jitchat.errors import KeyRefused, NotAnAnswer, ProviderError, RequestRefused, Unreachable
from jitchat.providers.catalogue.json_client import JsonClient
from jitchat.providers.catalogue.lists import chat_rows, ollama_could_load, ollama_loaded
from jitchat.providers.catalogue.models import limit_of, name_of
from jitchat.providers.protocols.json_values import at, count, parsed, text_at
from jitchat.providers.protocols.refusals import CHECK_URL
from jitchat.providers.protocols.registry import protocol_named
from jitchat.providers.provider import Endpoint, Options
from jitchat.values import LOADED, Limit, Message

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
    async with JsonClient(
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


async def _of_ollama(server: JsonClient, model: str) -> Limit | None:
    """Ask what it is loaded with, else what it could be loaded with, within reason."""
    loaded = (await ollama_loaded(server)).get(_tagged(model))
    if loaded:
        return Limit(loaded, LOADED)
    return await ollama_could_load(server, model)


async def _of_one(server: JsonClient, model: str) -> Limit | None:
    """Ask Anthropic or Gemini for the one model."""
    name = model.removeprefix("models/")
    try:
        return limit_of(await server.get(f"{server.base}/models/{quote(name, safe='@')}"))
    except (Unreachable, KeyRefused):
        raise
    except ProviderError:
        return None


async def _of_chat(server: JsonClient, model: str) -> Limit | None:
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


async def _of_llama_cpp(server: JsonClient) -> Limit | None:
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


_COUNTED = {
    "anthropic": ("model", "system", "messages"),
    "gemini": ("systemInstruction", "contents"),
}
"""The parts of a request that are input."""


async def count_exactly(
    endpoint: Endpoint,
    protocol_name: str,
    messages: Sequence[Message],
    transport: httpx.AsyncBaseTransport | None = None,
) -> int:
    """Ask how many tokens these messages are for the endpoint's model, all of the input.

    Anthropic, Gemini and llama.cpp's server can tell.

    Raises:
        ProviderError: The server cannot tell, or did not.

    """
    if protocol_name == "ollama":
        raise _cannot(endpoint)
    made = protocol_named(protocol_name).request(endpoint, messages, Options())
    body = parsed(made.content.decode())
    parts = body if isinstance(body, dict) else {}
    async with JsonClient(endpoint, protocol_name, transport) as server:
        if protocol_name == "openai":
            return await _by_llama_cpp(server, endpoint, parts)
        counted = {name: parts[name] for name in _COUNTED[protocol_name] if name in parts}
        url = str(made.url.copy_with(query=None))
        if protocol_name == "anthropic":
            answer = await server.post(f"{url}/count_tokens", counted)
            return _counted(at(answer, "input_tokens"))
        path = url.removesuffix(":streamGenerateContent")
        named = {"model": path.removeprefix(f"{server.base}/"), **counted}
        answer = await server.post(f"{path}:countTokens", {"generateContentRequest": named})
        return _counted(at(answer, "totalTokens"))


async def _by_llama_cpp(server: JsonClient, endpoint: Endpoint, parts: Mapping[str, object]) -> int:
    """Have the server write the prompt as its template does, and split that into tokens."""
    try:
        written = await server.post(
            f"{server.root}/apply-template", {"messages": parts.get("messages", [])}
        )
    except (Unreachable, KeyRefused):
        raise
    except ProviderError:
        written = None
    prompt = text_at(written, "prompt")
    if not prompt:
        raise _cannot(endpoint)
    said = {"content": prompt, "add_special": True, "parse_special": True}
    tokens = at(await server.post(f"{server.root}/tokenize", said), "tokens")
    return _counted(len(tokens) if isinstance(tokens, list) else None)


def _counted(value: object) -> int:
    """Read the count.

    Raises:
        NotAnAnswer: There is none.

    """
    found = count(value)
    if not found:
        raise NotAnAnswer("The server answered without a count of tokens.", CHECK_URL)
    return found


def _cannot(endpoint: Endpoint) -> RequestRefused:
    return RequestRefused(
        f"{endpoint.name} does not count tokens without answering.",
        "The count that it reports with a reply is exact.",
    )
