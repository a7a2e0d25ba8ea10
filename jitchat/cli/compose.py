"""The composition root: from settings to the objects that do the work."""

from __future__ import annotations

import os
from pathlib import Path

from jitchat.cli.answerers import (
    key_in_the_open,
    lacks_key,
    make_options,
    make_provider,
    make_small_model,
    stated_limit,
)
from jitchat.errors import SettingsError
from jitchat.memory.embedder import Embedder, load_embedder
from jitchat.memory.memory import Memory
from jitchat.memory.store import ColdStore
from jitchat.paths import Paths, absolute
from jitchat.session import Session, SessionOptions
from jitchat.settings import Settings
from jitchat.turn import Conversation, Limit
from jitchat.window.budget import Budget
from jitchat.window.plan import SYSTEM_PROMPT
from jitchat.window.tokens import TokenCounter, counter_for

__all__ = [
    "key_in_the_open", "lacks_key", "make_budget", "make_counter", "make_embedder", "make_options",
    "make_provider", "make_session", "make_small_model",
]  # fmt: skip


def make_embedder(settings: Settings, paths: Paths) -> Embedder:
    """Load the embedder of the settings, as far as it is on this machine."""
    wanted = settings.embedder
    folder = absolute(Path(wanted.path)) if wanted.path else None
    return load_embedder(wanted.name, wanted.model, folder, paths.models)


def make_counter(settings: Settings) -> TokenCounter:
    """Choose the best counter for the model that answers."""
    return counter_for(settings.model_name(), os.environ)


def make_session(
    settings: Settings,
    store: ColdStore,
    conversation: Conversation,
    embedder: Embedder,
    counter: TokenCounter,
) -> Session:
    """Start a session on one conversation."""
    options = SessionOptions(
        budget=make_budget(settings),
        system=settings.chat.system or SYSTEM_PROMPT,
        request=make_options(settings),
        picker=make_small_model(settings, "picker"),
        summariser=make_small_model(settings, "summariser"),
    )
    memory = Memory(store, conversation, embedder)
    provider = make_provider(settings, settings.in_use(), settings.model_name(), counter)
    return Session(memory, provider, counter, options)


def make_budget(settings: Settings, limit: Limit | None = None) -> Budget:
    """Say what a window may spend; `limit` where more is known than the settings say.

    Raises:
        SettingsError: The reserve leaves nothing of the limit.

    """
    profile = settings.in_use()
    limit = limit or stated_limit(profile, profile.model)
    reserve = profile.reserve_of(limit.tokens)
    if reserve >= limit.tokens:
        table, wide = (
            f"providers.{profile.name}.reserve",
            f"the limit ({limit.tokens:,}, {limit.source})",
        )
        own = table if settings.provider.reserve is None else "provider.reserve"
        if settings.provider.limit == limit.tokens:
            wide = f"provider.limit ({limit.tokens:,}, {settings.origin('provider.limit')})"
        raise SettingsError(
            f"{settings.origin(own)}: {own} ({reserve:,}) leaves nothing of {wide}.",
            "Lower the reserve, or raise the limit to the model's context size.",
        )
    spend = settings.window
    return Budget(limit.tokens, reserve, spend.recent, spend.retrieved, spend.index)
