"""How much one model takes, as its server has it now, and how many tokens a window is there."""

from collections.abc import Awaitable, Mapping, Sequence
from contextlib import aclosing
from urllib.parse import quote

import httpx

from jitchat.errors import KeyRefused, NotAnAnswer, ProviderError, RequestRefused, Unreachable
from jitchat.providers.catalogue.json_client import JsonClient
from jitchat.providers.catalogue.lists import chat_rows, ollama_could_load, ollama_loaded
from jitchat.providers.catalogue.models import limit_of, name_of
from jitchat.providers.protocols.json_values import at, count, parsed, text_at
from jitchat.providers.protocols.refusals import CHECK_URL
from jitchat.providers.protocols.registry import protocol_named
from jitchat.providers.provider import Endpoint, Options
from jitchat.values import LOADED, Limit, Message

PATIENCE = 5.0
"""Seconds for one question."""
_OLLAMA_OWNER = "library"
"""The owner of every model of Ollama, where it speaks as OpenAI does."""
_LLAMA_CPP_OWNER = "llamacpp"
_INPUT = {
    "anthropic": ("model", "system", "messages"),
    "gemini": ("systemInstruction", "contents"),
}
"""The parts of a request that are input."""


async def ask_limit(
    endpoint: Endpoint,
    protocol_name: str,
    transport: httpx.AsyncBaseTransport | None = None,
    *,
    patience: float = PATIENCE,
) -> Limit | None:
    """Ask how much the endpoint's model takes; None where its server does not tell or is away."""
    connect = min(patience, endpoint.connect_seconds)
    model = endpoint.model
    asking = JsonClient(endpoint, protocol_name, transport, patience=patience, connect=connect)
    async with aclosing(asking) as client:
        try:
            if protocol_name == "ollama":
                return await _loaded(client, model) or await ollama_could_load(client, model)
            if protocol_name in ("anthropic", "gemini"):
                name = quote(model.removeprefix("models/"), safe="@")
                limit = limit_of(await _if_known(client.get(f"{client.base}/models/{name}")))
                if limit is not None or protocol_name == "gemini":
                    return limit
            return await _of_chat(client, model)
        except ProviderError:
            return None


async def _if_known(answer: Awaitable[object]) -> object:
    """Await an answer; None where the server is there and takes the key, and has none."""
    try:
        return await answer
    except (Unreachable, KeyRefused):
        raise
    except ProviderError:
        return None


async def _of_chat(client: JsonClient, model: str) -> Limit | None:
    """Find the model in the list; llama.cpp and Ollama say on other routes what is loaded."""
    rows = await _if_known(chat_rows(client))
    if not isinstance(rows, list):
        return await _of_llama_cpp(client)
    row = next((row for row in rows if name_of(row) == model), None)
    if any(text_at(row, "owned_by") == _LLAMA_CPP_OWNER for row in rows):
        return await _of_llama_cpp(client) or limit_of(row if row is not None else rows[0])
    if text_at(row, "owned_by") == _OLLAMA_OWNER:
        return await _loaded(client, model)
    return limit_of(row)


async def _of_llama_cpp(client: JsonClient) -> Limit | None:
    """Ask llama.cpp's server, which has one model whatever it is called in the request."""
    try:
        properties = await client.get(f"{client.root}/props")
    except ProviderError:
        return None
    tokens = count(at(properties, "default_generation_settings", "n_ctx"))
    return Limit(tokens, LOADED) if tokens else None


async def _loaded(client: JsonClient, model: str) -> Limit | None:
    """Ask Ollama with how large a context a model is loaded; it lists each with a tag."""
    tagged = model if ":" in model.rpartition("/")[2] else f"{model}:latest"
    tokens = (await ollama_loaded(client)).get(tagged)
    return Limit(tokens, LOADED) if tokens else None


async def count_exactly(
    endpoint: Endpoint,
    protocol_name: str,
    messages: Sequence[Message],
    transport: httpx.AsyncBaseTransport | None = None,
) -> int:
    """Ask how many tokens these messages are for the endpoint's model, all of the input.

    Anthropic, Gemini and llama.cpp's server can tell. What is counted is the very body that would
    be sent, without what says how to answer it.

    Raises:
        ProviderError: The server cannot tell, or did not.

    """
    if protocol_name == "ollama":
        raise _cannot(endpoint)
    request = protocol_named(protocol_name).request(endpoint, messages, Options())
    body = parsed(request.content.decode())
    parts = body if isinstance(body, dict) else {}
    async with aclosing(JsonClient(endpoint, protocol_name, transport)) as client:
        if protocol_name == "openai":
            return await _count_by_llama_cpp(client, endpoint, parts)
        counted = {name: parts[name] for name in _INPUT[protocol_name] if name in parts}
        url = str(request.url.copy_with(query=None))
        if protocol_name == "anthropic":
            answer = await client.post(f"{url}/count_tokens", counted)
            return _required(at(answer, "input_tokens"))
        path = url.removesuffix(":streamGenerateContent")
        named = {"model": path.removeprefix(f"{client.base}/"), **counted}
        answer = await client.post(f"{path}:countTokens", {"generateContentRequest": named})
        return _required(at(answer, "totalTokens"))


async def _count_by_llama_cpp(
    client: JsonClient, endpoint: Endpoint, parts: Mapping[str, object]
) -> int:
    """Have the server write the prompt as its template does, and split that into tokens."""
    messages = {"messages": parts.get("messages", [])}
    written = await _if_known(client.post(f"{client.root}/apply-template", messages))
    prompt = text_at(written, "prompt")
    if not prompt:
        raise _cannot(endpoint)
    content = {"content": prompt, "add_special": True, "parse_special": True}
    tokens = at(await client.post(f"{client.root}/tokenize", content), "tokens")
    return _required(len(tokens) if isinstance(tokens, list) else None)


def _required(value: object) -> int:
    tokens = count(value)
    if not tokens:
        raise NotAnAnswer("The server answered without a count of tokens.", CHECK_URL)
    return tokens


def _cannot(endpoint: Endpoint) -> RequestRefused:
    return RequestRefused(
        f"{endpoint.name} does not count tokens without answering.",
        "The count that it reports with a reply is exact.",
    )
