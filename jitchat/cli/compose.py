"""The composition root: from settings to the objects that do the work."""

from __future__ import annotations

import os
from collections.abc import Sequence
from pathlib import Path
from typing import TYPE_CHECKING

from jitchat.errors import SettingsError
from jitchat.memory.database import Database
from jitchat.memory.embedder import Embedder, load_embedder
from jitchat.memory.memory import Memory
from jitchat.memory.replies import close_interrupted
from jitchat.memory.store import ColdStore
from jitchat.paths import Paths
from jitchat.providers.provider import Options, Provider
from jitchat.providers.reader import ReaderProvider
from jitchat.session import Session, SessionOptions
from jitchat.settings import Settings
from jitchat.turn import Conversation, Message
from jitchat.window.budget import Budget
from jitchat.window.plan import SYSTEM_PROMPT
from jitchat.window.tokens import TokenCounter, counter_for, request_tokens

if TYPE_CHECKING:
    from jitchat.providers.protocol import Endpoint

READER_LIMIT = 32_768
ASSUMED_LIMIT = 8_192
"""For a model whose context size nobody told us."""


def open_store(paths: Paths) -> ColdStore:
    """The cold store, with the replies of a crashed run marked as interrupted."""
    store = ColdStore(Database(paths.database))
    close_interrupted(store)
    return store


def make_embedder(settings: Settings, paths: Paths) -> Embedder:
    """The embedder of the settings, as far as it is on this machine."""
    wanted = settings.embedder
    folder = Path(wanted.path).expanduser() if wanted.path else None
    return load_embedder(wanted.name, wanted.model, folder, paths.models)


def make_counter(settings: Settings) -> TokenCounter:
    """The best counter for the model that answers."""
    return counter_for(model_name(settings), os.environ)


def make_session(
    settings: Settings, store: ColdStore, conversation: Conversation, embedder: Embedder,
    counter: TokenCounter,
) -> Session:
    """A session on one conversation."""
    heat = settings.provider.temperature
    options = SessionOptions(
        budget=make_budget(settings),
        system=settings.chat.system or SYSTEM_PROMPT,
        request=Options(temperature=heat if heat >= 0 else None),
    )
    memory = Memory(store, conversation, embedder)
    return Session(memory, make_provider(settings, counter), counter, options)


def make_budget(settings: Settings) -> Budget:
    """What a window may spend."""
    known = READER_LIMIT if settings.provider.name == "reader" else ASSUMED_LIMIT
    limit = settings.provider.limit or known
    if settings.provider.reserve >= limit:
        raise SettingsError(
            f"provider.reserve ({settings.provider.reserve:,}) leaves nothing of the limit"
            f" ({limit:,}).",
            "Lower the reserve, or raise provider.limit.",
        )
    spend = settings.window
    return Budget(limit, settings.provider.reserve, spend.recent, spend.retrieved, spend.index)


def make_provider(settings: Settings, counter: TokenCounter) -> Provider:
    """Who answers."""
    if settings.provider.name == "reader":
        return ReaderProvider(_counting(counter))
    from jitchat.providers.http import HttpProvider  # noqa: PLC0415  httpx: 100 ms, reader needs none
    from jitchat.providers.openai import OpenAiProtocol  # noqa: PLC0415

    return HttpProvider(_endpoint(settings), OpenAiProtocol())


def model_name(settings: Settings) -> str:
    """The model that answers.

    Raises:
        SettingsError: An endpoint is configured and no model.
    """
    if settings.provider.name == "reader":
        return "reader"
    if not settings.provider.model:
        raise SettingsError(
            "No model is named for the provider openai.",
            "Add --model NAME, or model under [provider] in the configuration.",
        )
    return settings.provider.model


def _endpoint(settings: Settings) -> Endpoint:
    from jitchat.providers.protocol import Endpoint  # noqa: PLC0415

    wanted = settings.provider
    return Endpoint(
        name=wanted.name,
        base_url=wanted.base_url,
        model=model_name(settings),
        key=wanted.api_key,
        read_seconds=wanted.read_seconds,
    )


def _counting(counter: TokenCounter):  # type: ignore[no-untyped-def]  # noqa: ANN202
    def count(messages: Sequence[Message], answer: str) -> tuple[int, int]:
        return request_tokens(counter, tuple(messages)), counter.count(answer)

    return count
