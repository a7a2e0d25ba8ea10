"""What Ollama says of its models: which there are, what is loaded, and what could be."""

from __future__ import annotations

import asyncio
from collections.abc import AsyncIterator, Mapping, Sequence
from dataclasses import dataclass, replace
from typing import TYPE_CHECKING
from urllib.parse import urlsplit

from jitchat.errors import KeyRefused, NotAnAnswer, ProviderError
from jitchat.providers.catalogue.json_client import JsonClient, Params
from jitchat.providers.catalogue.models import (
    ModelInfo,
    chats,
    in_order,
    model_of,
    models_of,
    name_of,
    rows_of,
)
from jitchat.providers.catalogue.table import PRESETS, Preset
from jitchat.providers.protocols.json_values import at, count, text_at
from jitchat.providers.protocols.refusals import CHECK_URL
from jitchat.providers.provider import Endpoint
from jitchat.providers.this_machine import is_this_machine
from jitchat.values import LOADED, MAXIMUM, Limit

if TYPE_CHECKING:
    import httpx


OLLAMA_DEFAULT = 32_768
"""Tokens of context that Ollama is asked for where the user did not say how many.

It takes the memory for all of them when it loads a model: at the 131,072 and more for which
many small models are made, that is some 16 GiB beside the model itself, and a machine
without them answers from the processor or not at all. 32,768 fit beside an 8B model in 16 GiB.
"""
_MOST_SHOWN = 20
"""Models of one list that are asked for one by one; Ollama lists those first that changed last."""


async def ollama_models(server: JsonClient) -> tuple[ModelInfo, ...]:
    """Ask Ollama: what is on its disk, and what of that is loaded with how large a context.

    Raises:
        ProviderError: The list could not be had.

    """
    answer = await server.get(f"{server.root}/api/tags")
    if not isinstance(at(answer, "models"), list):
        raise no_list()
    loaded = await ollama_loaded(server)
    found = {name_of(row): row for row in rows_of(answer) if name_of(row) and _talks(row)}
    return in_order(
        ModelInfo(name, Limit(loaded[name], LOADED) if name in loaded else None) for name in found
    )


async def ollama_loaded(server: JsonClient) -> dict[str, int]:
    """Ask Ollama what is loaded: the context's size by name; nothing where it does not say."""
    try:
        rows = rows_of(await server.get(f"{server.root}/api/ps"))
    except ProviderError:
        return {}
    sizes = ((name_of(row), count(at(row, "context_length"))) for row in rows)
    return {name: size for name, size in sizes if name and size}


async def ollama_could_load(server: JsonClient, model: str) -> Limit | None:
    """Ask what a model could be loaded with, within reason; None where it does not say.

    Raises:
        ProviderError: It did not answer.

    """
    shown = at(await server.post(f"{server.root}/api/show", {"model": model}), "model_info")
    kind = text_at(shown, "general.architecture")
    largest = count(at(shown, f"{kind}.context_length"))
    if not largest:
        return None
    if largest <= OLLAMA_DEFAULT:
        return Limit(largest, MAXIMUM)
    return Limit(OLLAMA_DEFAULT, f"of {MAXIMUM} of {largest:,}")


async def with_limits(
    server: JsonClient, models: Sequence[ModelInfo], seconds: float
) -> tuple[ModelInfo, ...]:
    """Ask what each could be loaded with that is not loaded, all at once.

    Those of which it says nothing in so many seconds are left without.
    """
    unknown = [each.name for each in models if each.limit is None][:_MOST_SHOWN]
    async with asyncio.TaskGroup() as group:
        asked = {name: group.create_task(_in_time(server, name, seconds)) for name in unknown}
    found = {name: task.result() for name, task in asked.items()}
    return tuple(replace(each, limit=each.limit or found.get(each.name)) for each in models)


def no_list() -> NotAnAnswer:
    """Make the error for an answer that is no list of models."""
    return NotAnAnswer("The server did not answer with a list of models.", CHECK_URL)


async def _in_time(server: JsonClient, model: str, seconds: float) -> Limit | None:
    try:
        async with asyncio.timeout(seconds):
            return await ollama_could_load(server, model)
    except (ProviderError, TimeoutError):
        return None


def _talks(row: object) -> bool:
    """Whether a model of Ollama chats; those that only embed are of the family of BERT."""
    return chats(row) and not text_at(row, "details", "family").endswith("bert")


_PATIENCE = 1.0
_CONNECT = 0.3
_SHOWN_WITHIN = 0.5
"""Seconds more for what Ollama says of the models that are not loaded."""


LM_STUDIO = "organization_owner"
"""The owner of every model there."""


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
    server = JsonClient(endpoint, preset.protocol, transport, patience=_PATIENCE, connect=_CONNECT)
    try:
        async with server:
            async with asyncio.timeout(_PATIENCE):
                found = await _recognised(server, preset.protocol)
            if found is None or preset.protocol != "ollama":
                return found
            return replace(found, models=await with_limits(server, found.models, _SHOWN_WITHIN))
    except (ProviderError, TimeoutError):
        return None


async def _recognised(server: JsonClient, protocol_name: str) -> LocalServer | None:
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


_MOST_PAGES = 20
_PAGE = 1_000
_MODELS_SHOWN_WITHIN = 2.0
"""Seconds for what Ollama says of the models that are not loaded."""


async def fetch_models(
    endpoint: Endpoint, protocol_name: str, transport: httpx.AsyncBaseTransport | None = None
) -> tuple[ModelInfo, ...]:
    """Ask which models there are, and what the server says of each.

    Raises:
        ProviderError: The list could not be had.

    """
    async with JsonClient(endpoint, protocol_name, transport) as server:
        if protocol_name == "ollama":
            return await with_limits(server, await ollama_models(server), _MODELS_SHOWN_WITHIN)
        if protocol_name in ("anthropic", "gemini"):
            pages = _gemini_pages(server) if protocol_name == "gemini" else _pages(server)
            return models_of([row async for rows in pages for row in rows])
        return models_of(await chat_rows(server))


async def chat_rows(server: JsonClient) -> list[object]:
    """Ask a server of chat completions for its list; LM Studio tells more on a route of its own.

    Raises:
        ProviderError: The list could not be had.

    """
    answer = await server.get(f"{server.base}/models")
    rows = rows_of(answer)
    if not rows and not isinstance(answer, list) and at(answer, "data") is None:
        raise no_list()
    if any(text_at(row, "owned_by") == LM_STUDIO for row in rows):
        return await _lm_studio_rows(server) or rows
    return rows


async def _lm_studio_rows(server: JsonClient) -> list[object]:
    for version in ("v1", "v0"):
        try:
            rows = rows_of(await server.get(f"{server.root}/api/{version}/models"))
        except ProviderError:
            continue
        if any(model_of(row) for row in rows):
            return rows
    return []


async def _pages(server: JsonClient) -> AsyncIterator[list[object]]:
    """Yield the list of Anthropic, and of whoever speaks its protocol, page by page."""
    after: Params = {}
    for _ in range(_MOST_PAGES):
        answer = await server.get(f"{server.base}/models", {"limit": _PAGE, **after})
        if not isinstance(at(answer, "data"), list):
            raise no_list()
        yield rows_of(answer)
        last = text_at(answer, "last_id")
        if at(answer, "has_more") is not True or not last or after == {"after_id": last}:
            return
        after = {"after_id": last}


async def _gemini_pages(server: JsonClient) -> AsyncIterator[list[object]]:
    after: Params = {}
    for _ in range(_MOST_PAGES):
        answer = await server.get(f"{server.base}/models", {"pageSize": _PAGE, **after})
        if not isinstance(at(answer, "models"), list):
            raise no_list()
        yield rows_of(answer)
        token = text_at(answer, "nextPageToken")
        if not token or after == {"pageToken": token}:
            return
        after = {"pageToken": token}
