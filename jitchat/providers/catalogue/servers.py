"""What servers tell of their models: which there are, how much one takes, what a window counts.

Which servers answer on this machine is found out by looking at the usual ports.
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
from jitchat.providers.protocols.json_values import at, count, parsed, text_at
from jitchat.providers.protocols.protocol import protocol_named
from jitchat.providers.protocols.refusals import CHECK_URL
from jitchat.providers.provider import Endpoint, Options
from jitchat.values import LOADED, MAXIMUM, Limit, Message, Tool

OLLAMA_DEFAULT = 32_768
"""Tokens of context that Ollama is asked for where the user did not say how many.

It takes the memory for all of them when it loads a model: at the 131,072 and more for which
many small models are made, that is some 16 GiB beside the model itself, and a machine
without them answers from the processor or not at all. 32,768 fit beside an 8B model in 16 GiB.
"""
_MOST_SHOWN = 20
"""Models of one list that are asked for one by one; Ollama lists those first that changed last."""
_SHOWN_WITHIN = 2.0
"""Seconds for what Ollama says of the models that are not loaded."""
_MOST_PAGES, _PAGE_SIZE = 20, 1_000
_PAGING = {
    "anthropic": ("data", "limit", "after_id", "last_id"),
    "gemini": ("models", "pageSize", "pageToken", "nextPageToken"),
}
"""Where the rows are, and the names of the page's size, of its start, and of the next one's."""
_LLAMA_CPP_HEADER = "llama.cpp"
"""What its server calls itself, also where it was started with a key and lists nothing."""
_LOCAL_PATIENCE, _LOCAL_CONNECT, _LOCAL_SHOWN_WITHIN = 1.0, 0.3, 0.5
"""Seconds for a server on this machine; for its connection; and more for Ollama's models."""


async def fetch_models(
    endpoint: Endpoint, protocol_name: str, transport: httpx.AsyncBaseTransport | None = None
) -> tuple[models.ModelInfo, ...]:
    """Ask which models there are, and what the server says of each.

    Raises:
        ProviderError: The list could not be had.

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
    """Ask a server of chat completions for its list; LM Studio tells more on a route of its own.

    Raises:
        ProviderError: The list could not be had.

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
    """Ask Ollama: what is on its disk, and what of that is loaded with how large a context."""
    answer = await client.get(f"{client.root}/api/tags")
    if not isinstance(at(answer, "models"), list):
        raise _no_list()
    loaded = await ollama_loaded(client)
    names = dict.fromkeys(
        models.name_of(row)
        for row in models.rows_of(answer)
        # those that only embed are of the family of BERT
        if models.chats(row) and not text_at(row, "details", "family").endswith("bert")
    )
    return models.in_order(
        models.ModelInfo(name, Limit(loaded[name], LOADED) if name in loaded else None)
        for name in filter(None, names)
    )


async def ollama_loaded(client: JsonClient) -> dict[str, int]:
    """Ask Ollama what is loaded: the context's size by name; nothing where it does not say."""
    try:
        rows = models.rows_of(await client.get(f"{client.root}/api/ps"))
    except ProviderError:
        return {}
    sizes = ((models.name_of(row), count(at(row, "context_length"))) for row in rows)
    return {name: size for name, size in sizes if name and size}


async def ollama_could_load(client: JsonClient, model: str) -> Limit | None:
    """Ask what a model could be loaded with, within reason; None where it does not say.

    Raises:
        ProviderError: It did not answer.

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
    """Ask what each could be loaded with that is not loaded, all at once.

    Those of which it says nothing in so many seconds are left without.
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
    """Look at the ports on which model servers usually listen, within a second and a half.

    Args:
        transport: In place of the network.
        moved: By a preset's name, its base URL where the user moved it to another port.

    """
    places = [preset for preset in table.presets().values() if preset.is_local]
    searches = [_look(preset, _address(preset, moved or {}), transport) for preset in places]
    return tuple(server for server in await asyncio.gather(*searches) if server is not None)


def _address(preset: table.Preset, moved: Mapping[str, str]) -> str:
    """Say where to look: nowhere but on this machine."""
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
    """Tell what answers by what it says, not by its port."""
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
    # LM Studio's own list, which took the place of the common one, has no owners
    is_lm_studio = any(isinstance(row, dict) and "max_context_length" in row for row in rows)
    name = names[0] if names else "lmstudio" if is_lm_studio else ""
    return models.LocalServer(name, client.base, models.models_of(rows)) if name else None


PATIENCE = 5.0
"""Seconds for one question."""
_OLLAMA_OWNER = "library"
"""The owner of every model of Ollama, where it speaks as OpenAI does."""
_LLAMA_CPP_OWNER = "llamacpp"
_INPUT = {
    "anthropic": ("model", "tools", "system", "messages"),
    "gemini": ("systemInstruction", "tools", "contents"),
    "responses": ("model", "tools", "input"),
}
"""The parts of a request that are input."""
_COUNTING = {"anthropic": "count_tokens", "responses": "input_tokens"}
"""The route below the one that answers."""


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
                limit = models.limit_of(await _if_known(client.get(f"{client.base}/models/{name}")))
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
    row = next((row for row in rows if models.name_of(row) == model), None)
    if any(text_at(row, "owned_by") == _LLAMA_CPP_OWNER for row in rows):
        return await _of_llama_cpp(client) or models.limit_of(row if row is not None else rows[0])
    if text_at(row, "owned_by") == _OLLAMA_OWNER:
        return await _loaded(client, model)
    return models.limit_of(row)


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
    *,
    tools: tuple[Tool, ...] = (),
) -> int:
    """Ask how many tokens these messages are for the endpoint's model, all of the input.

    With the tools that are offered along with them.

    Anthropic, Gemini, OpenAI's Responses and llama.cpp's server can tell. What is counted is the
    very body that would be sent, without what says how to answer it.

    Raises:
        ProviderError: The server cannot tell, or did not.

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
    """Have the server write the prompt as its template does, and split that into tokens."""
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
        f"{endpoint.name} does not count tokens without answering.",
        "The count that it reports with a reply is exact.",
    )
