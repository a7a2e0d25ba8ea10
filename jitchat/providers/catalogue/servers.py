"""Querying servers: their models, context sizes, and the token count of a window.

Servers on this machine are found by trying the usual ports.
"""

import asyncio
from collections.abc import Awaitable, Mapping, Sequence
from contextlib import aclosing
from dataclasses import replace
from urllib.parse import quote, urlsplit

import httpx

from jitchat.errors import KeyRefused, NotAnAnswer, ProviderError, RequestRefused, Unreachable
from jitchat.providers.catalogue import models, table
from jitchat.providers.http.client import JsonClient
from jitchat.providers.protocols.addresses import is_this_machine
from jitchat.providers.protocols.protocol import protocol_named
from jitchat.providers.protocols.refusals import CHECK_URL
from jitchat.providers.provider import Endpoint, Options
from jitchat.text.json_values import at, count, parsed, text_at
from jitchat.values import LOADED, MAXIMUM, Limit, Message, Tool

OLLAMA_DEFAULT = 32_768
"""Default context size for Ollama, in tokens.

Ollama allocates memory for the whole context when it loads a model. For the 131,072 or more tokens
that many small models support, that is about 16 GiB in addition to the model; a machine without it
falls back to the CPU or fails. 32,768 tokens fit next to an 8B model in 16 GiB.
"""
_MOST_SHOWN = 20
"""Maximum models queried one by one; Ollama lists the most recently changed ones first."""
_SHOWN_WITHIN = 2.0
"""Timeout in seconds for Ollama's details of models that are not loaded."""
_MOST_PAGES, _PAGE_SIZE = 20, 1_000
_PAGING = {
    "anthropic": ("data", "limit", "after_id", "last_id"),
    "gemini": ("models", "pageSize", "pageToken", "nextPageToken"),
}
"""Fields with the rows, the page size, the start of a page, and the start of the next page."""
_LLAMA_CPP_HEADER = "llama.cpp"
"""The `Server` header of llama.cpp, sent even if a key is required to list its models."""
_LOCAL_PATIENCE, _LOCAL_CONNECT, _LOCAL_SHOWN_WITHIN = 1.0, 0.3, 0.5
"""Timeouts in seconds for a local server, for connecting to it, and for Ollama's details."""


async def fetch_models(
    endpoint: Endpoint, protocol_name: str, transport: httpx.AsyncBaseTransport | None = None
) -> tuple[models.ModelInfo, ...]:
    """Return the server's models with what it reports about each.

    Raises:
        ProviderError: The list could not be fetched.

    """
    async with aclosing(JsonClient(endpoint, protocol_name, transport)) as client:
        if protocol_name == "ollama":
            return await _with_limits(client, await _ollama_models(client), _SHOWN_WITHIN)
        if protocol_name in _PAGING:
            return models.models_of(await _paged_rows(client, protocol_name))
        return models.models_of(await chat_rows(client))


async def _paged_rows(client: JsonClient, protocol_name: str) -> list[object]:
    listed, size, start, next_start = _PAGING[protocol_name]
    rows: list[object] = []
    after: dict[str, str] = {}
    for _ in range(_MOST_PAGES):
        answer = await client.get(f"{client.base}/models", {size: _PAGE_SIZE, **after})
        if not isinstance(at(answer, listed), list):
            raise _no_list()
        rows += models.rows_of(answer)
        token = text_at(answer, next_start)
        is_last = protocol_name == "anthropic" and at(answer, "has_more") is not True
        if is_last or not token or after == {start: token}:
            break
        after = {start: token}
    return rows


async def chat_rows(client: JsonClient) -> list[object]:
    """Return the list of a chat completions server, from LM Studio's more detailed route if any.

    Raises:
        ProviderError: The list could not be fetched.

    """
    answer = await client.get(f"{client.base}/models")
    rows = models.rows_of(answer)
    if not rows and not isinstance(answer, list) and at(answer, "data") is None:
        raise _no_list()
    if not any(text_at(row, "owned_by") == table.presets()["lmstudio"].owner for row in rows):
        return rows
    for version in ("v1", "v0"):
        try:
            own = models.rows_of(await client.get(f"{client.root}/api/{version}/models"))
        except ProviderError:
            continue
        if any(models.name_of(row) for row in own):
            return own
    return rows


async def _ollama_models(client: JsonClient) -> tuple[models.ModelInfo, ...]:
    """Return Ollama's installed models, with the context sizes of those that are loaded."""
    answer = await client.get(f"{client.root}/api/tags")
    if not isinstance(at(answer, "models"), list):
        raise _no_list()
    loaded = await ollama_loaded(client)
    names = dict.fromkeys(
        models.name_of(row)
        for row in models.rows_of(answer)
        # embedding models belong to the BERT family
        if models.chats(row) and not text_at(row, "details", "family").endswith("bert")
    )
    return models.in_order(
        models.ModelInfo(name, Limit(loaded[name], LOADED) if name in loaded else None)
        for name in filter(None, names)
    )


async def ollama_loaded(client: JsonClient) -> dict[str, int]:
    """Return the context sizes of Ollama's loaded models, by name; empty if it does not answer."""
    try:
        rows = models.rows_of(await client.get(f"{client.root}/api/ps"))
    except ProviderError:
        return {}
    sizes = ((models.name_of(row), count(at(row, "context_length"))) for row in rows)
    return {name: size for name, size in sizes if name and size}


async def ollama_could_load(client: JsonClient, model: str) -> Limit | None:
    """Return the context size to load a model with, `OLLAMA_DEFAULT` at most; None if unknown.

    Raises:
        ProviderError: Ollama did not answer.

    """
    shown = at(await client.post(f"{client.root}/api/show", {"model": model}), "model_info")
    kind = text_at(shown, "general.architecture")
    largest = count(at(shown, f"{kind}.context_length"))
    if not largest:
        return None
    if largest <= OLLAMA_DEFAULT:
        return Limit(largest, MAXIMUM)
    return Limit(OLLAMA_DEFAULT, f"of {MAXIMUM} of {largest:,}")


async def _with_limits(
    client: JsonClient, listed: Sequence[models.ModelInfo], seconds: float
) -> tuple[models.ModelInfo, ...]:
    """Add the limits of models that are not loaded, in concurrent requests.

    A model whose request takes longer than `seconds` gets no limit.
    """

    async def limit(name: str) -> Limit | None:
        try:
            async with asyncio.timeout(seconds):
                return await ollama_could_load(client, name)
        except (ProviderError, TimeoutError):
            return None

    unknown = [model.name for model in listed if model.limit is None][:_MOST_SHOWN]
    limits = dict(zip(unknown, await asyncio.gather(*map(limit, unknown)), strict=True))
    return tuple(replace(model, limit=model.limit or limits.get(model.name)) for model in listed)


def _no_list() -> NotAnAnswer:
    return NotAnAnswer("The server did not answer with a list of models.", CHECK_URL)


async def find_local(
    transport: httpx.AsyncBaseTransport | None = None, moved: Mapping[str, str] | None = None
) -> tuple[models.LocalServer, ...]:
    """Try the usual ports of model servers on this machine. Takes at most 1.5 seconds.

    Args:
        transport: Replaces the network.
        moved: Base URLs by preset, for servers that the user configured on another port.

    """
    places = [preset for preset in table.presets().values() if preset.is_local]
    searches = [_look(preset, _address(preset, moved or {}), transport) for preset in places]
    return tuple(server for server in await asyncio.gather(*searches) if server is not None)


def _address(preset: table.Preset, moved: Mapping[str, str]) -> str:
    """Return the address to try, which is always on this machine."""
    wanted = moved.get(preset.name, "")
    try:
        host = urlsplit(wanted).hostname or ""
    except ValueError:
        host = ""
    return wanted if is_this_machine(host) else preset.base_url


async def _look(
    preset: table.Preset, base_url: str, transport: httpx.AsyncBaseTransport | None
) -> models.LocalServer | None:
    client = JsonClient(
        Endpoint(preset.name, base_url, ""),
        preset.protocol,
        transport,
        patience=_LOCAL_PATIENCE,
        connect=_LOCAL_CONNECT,
    )
    try:
        async with aclosing(client):
            async with asyncio.timeout(_LOCAL_PATIENCE):
                server = await _recognise(client, preset.protocol)
            if server is None or preset.protocol != "ollama":
                return server
            known = await _with_limits(client, server.models, _LOCAL_SHOWN_WITHIN)
            return replace(server, models=known)
    except (ProviderError, TimeoutError):
        return None


async def _recognise(client: JsonClient, protocol_name: str) -> models.LocalServer | None:
    """Recognise a server by its answers rather than by its port."""
    if protocol_name == "ollama":
        if not text_at(await client.get(f"{client.root}/api/version"), "version"):
            return None
        return models.LocalServer("ollama", client.base, await _ollama_models(client))
    try:
        rows = await chat_rows(client)
    except KeyRefused:
        if client.software != _LLAMA_CPP_HEADER:
            raise
        return models.LocalServer("llamacpp", client.base, ())
    owners = {preset.owner: preset.name for preset in table.presets().values() if preset.owner}
    names = [owners[owner] for row in rows if (owner := text_at(row, "owned_by")) in owners]
    # LM Studio's own list, used instead of the common one, has no owners
    is_lm_studio = any(isinstance(row, dict) and "max_context_length" in row for row in rows)
    name = names[0] if names else "lmstudio" if is_lm_studio else ""
    return models.LocalServer(name, client.base, models.models_of(rows)) if name else None


PATIENCE = 5.0
"""Timeout of one request in seconds."""
_OLLAMA_OWNER = "library"
"""The owner of every model in Ollama's OpenAI-compatible list."""
_LLAMA_CPP_OWNER = "llamacpp"
_INPUT = {
    "anthropic": ("model", "tools", "system", "messages"),
    "gemini": ("systemInstruction", "tools", "contents"),
    "responses": ("model", "tools", "input"),
}
"""The parts of a request that count as input."""
_COUNTING = {"anthropic": "count_tokens", "responses": "input_tokens"}
"""Routes for counting tokens, relative to the chat route."""


async def ask_limit(
    endpoint: Endpoint,
    protocol_name: str,
    transport: httpx.AsyncBaseTransport | None = None,
    *,
    patience: float = PATIENCE,
) -> Limit | None:
    """Return the context size of the endpoint's model; None if the server does not report it."""
    connect = min(patience, endpoint.connect_seconds)
    model = endpoint.model
    opened = JsonClient(endpoint, protocol_name, transport, patience=patience, connect=connect)
    async with aclosing(opened) as client:
        try:
            if protocol_name == "ollama":
                return await _loaded(client, model) or await ollama_could_load(client, model)
            if protocol_name in ("anthropic", "gemini"):
                name = quote(model.removeprefix("models/"), safe="@")
                limit = models.limit_of(await _if_known(client.get(f"{client.base}/models/{name}")))
                if limit is not None or protocol_name == "gemini":
                    return limit
            return await _of_chat(client, model)
        except ProviderError:
            return None


async def _if_known(answer: Awaitable[object]) -> object:
    """Await an answer; return None if a reachable server that accepts the key has none."""
    try:
        return await answer
    except (Unreachable, KeyRefused):
        raise
    except ProviderError:
        return None


async def _of_chat(client: JsonClient, model: str) -> Limit | None:
    """Return the limit in the list of models, or from llama.cpp's and Ollama's own routes."""
    rows = await _if_known(chat_rows(client))
    if not isinstance(rows, list):
        return await _of_llama_cpp(client)
    row = next((row for row in rows if models.name_of(row) == model), None)
    if any(text_at(row, "owned_by") == _LLAMA_CPP_OWNER for row in rows):
        return await _of_llama_cpp(client) or models.limit_of(row if row is not None else rows[0])
    if text_at(row, "owned_by") == _OLLAMA_OWNER:
        return await _loaded(client, model)
    return models.limit_of(row)


async def _of_llama_cpp(client: JsonClient) -> Limit | None:
    """Return the limit of llama.cpp's server, which has one model, whatever name is requested."""
    try:
        properties = await client.get(f"{client.root}/props")
    except ProviderError:
        return None
    tokens = count(at(properties, "default_generation_settings", "n_ctx"))
    return Limit(tokens, LOADED) if tokens else None


async def _loaded(client: JsonClient, model: str) -> Limit | None:
    """Return the context size of a model loaded in Ollama, which lists names with a tag."""
    tagged = model if ":" in model.rpartition("/")[2] else f"{model}:latest"
    tokens = (await ollama_loaded(client)).get(tagged)
    return Limit(tokens, LOADED) if tokens else None


async def count_exactly(
    endpoint: Endpoint,
    protocol_name: str,
    messages: Sequence[Message],
    transport: httpx.AsyncBaseTransport | None = None,
    *,
    tools: tuple[Tool, ...] = (),
) -> int:
    """Have the server count the input tokens of these messages and tools, for its model.

    Supported by Anthropic, Gemini, OpenAI's Responses and llama.cpp's server. The count is of the
    body that would be sent, without the parameters of the answer.

    Raises:
        ProviderError: The server does not support it, or did not answer.

    """
    if protocol_name == "ollama":
        raise _cannot(endpoint)
    request = protocol_named(protocol_name).request(endpoint, messages, Options(tools=tools))
    body = parsed(request.content.decode())
    parts = body if isinstance(body, dict) else {}
    async with aclosing(JsonClient(endpoint, protocol_name, transport)) as client:
        if protocol_name == "openai":
            return await _count_by_llama_cpp(client, endpoint, parts)
        counted = {name: parts[name] for name in _INPUT[protocol_name] if name in parts}
        url = str(request.url.copy_with(query=None))
        if counting := _COUNTING.get(protocol_name):
            answer = await client.post(f"{url}/{counting}", counted)
            return _required(at(answer, "input_tokens"))
        path = url.removesuffix(":streamGenerateContent")
        named = {"model": path.removeprefix(f"{client.base}/"), **counted}
        answer = await client.post(f"{path}:countTokens", {"generateContentRequest": named})
        return _required(at(answer, "totalTokens"))


async def _count_by_llama_cpp(
    client: JsonClient, endpoint: Endpoint, parts: Mapping[str, object]
) -> int:
    """Have the server apply its template to the messages, and tokenize the prompt."""
    messages = {name: parts[name] for name in ("tools", "messages") if name in parts}
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
        f"{endpoint.name} cannot count tokens without generating a reply.",
        "The count that it reports with a reply is exact.",
    )
