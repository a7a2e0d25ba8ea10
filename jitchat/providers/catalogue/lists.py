"""Asking a server which models it has."""

from __future__ import annotations

from collections.abc import AsyncIterator
from typing import TYPE_CHECKING

from jitchat.errors import ProviderError
from jitchat.providers.catalogue.asking import Params, Server
from jitchat.providers.catalogue.model import ModelInfo
from jitchat.providers.catalogue.ollama import no_list, ollama_models, with_limits
from jitchat.providers.catalogue.rows import model_of, models_of, rows_of
from jitchat.providers.protocol import Endpoint
from jitchat.providers.protocols.values import at, text_at

if TYPE_CHECKING:
    import httpx

_MOST_PAGES = 20
_PAGE = 1_000
_SHOWN_WITHIN = 2.0
"""Seconds for what Ollama says of the models that are not loaded."""
LM_STUDIO = "organization_owner"
"""The owner of every model there."""


async def fetch_models(
    endpoint: Endpoint, protocol_name: str, transport: httpx.AsyncBaseTransport | None = None
) -> tuple[ModelInfo, ...]:
    """Ask which models there are, and what the server says of each.

    Raises:
        ProviderError: The list could not be had.

    """
    async with Server(endpoint, protocol_name, transport) as server:
        if protocol_name == "ollama":
            return await with_limits(server, await ollama_models(server), _SHOWN_WITHIN)
        if protocol_name in ("anthropic", "gemini"):
            pages = _gemini_pages(server) if protocol_name == "gemini" else _pages(server)
            return models_of([row async for rows in pages for row in rows])
        return models_of(await chat_rows(server))


async def chat_rows(server: Server) -> list[object]:
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


async def _lm_studio_rows(server: Server) -> list[object]:
    for version in ("v1", "v0"):
        try:
            rows = rows_of(await server.get(f"{server.root}/api/{version}/models"))
        except ProviderError:
            continue
        if any(model_of(row) for row in rows):
            return rows
    return []


async def _pages(server: Server) -> AsyncIterator[list[object]]:
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


async def _gemini_pages(server: Server) -> AsyncIterator[list[object]]:
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
