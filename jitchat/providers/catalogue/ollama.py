"""What Ollama says of its models: which there are, what is loaded, and what could be."""

from __future__ import annotations

import asyncio
from collections.abc import Sequence
from dataclasses import replace

from jitchat.errors import NotAnAnswer, ProviderError
from jitchat.providers.catalogue.asking import Server
from jitchat.providers.catalogue.model import ModelInfo
from jitchat.providers.catalogue.rows import chats, in_order, name_of, rows_of
from jitchat.providers.protocols.refusals import CHECK_URL
from jitchat.providers.protocols.values import at, count, text_at
from jitchat.turn import LOADED, MAXIMUM, Limit

OLLAMA_DEFAULT = 32_768
"""Tokens of context that Ollama is asked for where the user did not say how many.

It takes the memory for all of them when it loads a model: at the 131,072 and more for which
many small models are made, that is some 16 GiB beside the model itself, and a machine
without them answers from the processor or not at all. 32,768 fit beside an 8B model in 16 GiB.
"""
_MOST_SHOWN = 20
"""Models of one list that are asked for one by one; Ollama lists those first that changed last."""


async def ollama_models(server: Server) -> tuple[ModelInfo, ...]:
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


async def ollama_loaded(server: Server) -> dict[str, int]:
    """Ask Ollama what is loaded: the context's size by name; nothing where it does not say."""
    try:
        rows = rows_of(await server.get(f"{server.root}/api/ps"))
    except ProviderError:
        return {}
    sizes = ((name_of(row), count(at(row, "context_length"))) for row in rows)
    return {name: size for name, size in sizes if name and size}


async def ollama_could_load(server: Server, model: str) -> Limit | None:
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
    server: Server, models: Sequence[ModelInfo], seconds: float
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


async def _in_time(server: Server, model: str, seconds: float) -> Limit | None:
    try:
        async with asyncio.timeout(seconds):
            return await ollama_could_load(server, model)
    except (ProviderError, TimeoutError):
        return None


def _talks(row: object) -> bool:
    """Whether a model of Ollama chats; those that only embed are of the family of BERT."""
    return chats(row) and not text_at(row, "details", "family").endswith("bert")
