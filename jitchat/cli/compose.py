"""The composition root: from settings to the objects that do the work."""

from __future__ import annotations

import os
from collections.abc import Callable, Iterator, Sequence
from pathlib import Path
from typing import TYPE_CHECKING

from jitchat.errors import SettingsError
from jitchat.memory.embedder import Embedder, load_embedder
from jitchat.memory.memory import Memory
from jitchat.memory.store import ColdStore
from jitchat.paths import Paths, absolute
from jitchat.providers.provider import Options, Provider
from jitchat.providers.reader.reader import ReaderProvider
from jitchat.session import Session, SessionOptions
from jitchat.settings import Settings
from jitchat.settings.small_models import SMALL_MODELS, SmallModelSection, address_of
from jitchat.subcall.small_model import SmallModel
from jitchat.turn import Conversation, Message
from jitchat.window.budget import Budget
from jitchat.window.plan import SYSTEM_PROMPT
from jitchat.window.tokens import TokenCounter, counter_for, request_tokens

if TYPE_CHECKING:
    from jitchat.providers.protocol import Endpoint

READER_LIMIT = 32_768
ASSUMED_LIMIT = 8_192
"""For a model whose context size nobody told us."""
_WANTS_A_KEY = "api.openai.com"
"""Of other servers nobody knows it before they are asked."""
_THIS_MACHINE = ("localhost", "127.0.0.1", "::1")


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
    return Session(memory, make_provider(settings, counter), counter, options)


def make_budget(settings: Settings) -> Budget:
    """Say what a window may spend.

    Raises:
        SettingsError: The reserve leaves nothing of the limit.

    """
    known = READER_LIMIT if settings.provider.name == "reader" else ASSUMED_LIMIT
    limit, reserve = settings.provider.limit or known, settings.provider.reserve
    if reserve >= limit:
        wide = settings.origin("provider.limit")
        raise SettingsError(
            f"{settings.origin('provider.reserve')}: provider.reserve ({reserve:,}) leaves nothing"
            f" of provider.limit ({limit:,}, {wide}).",
            "Lower the reserve, or raise the limit to the model's context size.",
        )
    spend = settings.window
    return Budget(limit, reserve, spend.recent, spend.retrieved, spend.index)


def make_options(settings: Settings) -> Options:
    """Say what goes along with the messages."""
    heat = settings.provider.temperature
    return Options(temperature=heat if heat >= 0 else None)


def make_provider(settings: Settings, counter: TokenCounter) -> Provider:
    """Choose who answers."""
    if settings.provider.name == "reader":
        return ReaderProvider(_counting(counter))
    from jitchat.providers.http.provider import HttpProvider  # noqa: PLC0415  httpx: 100 ms, reader needs none
    from jitchat.providers.protocols.openai import OpenAiProtocol  # noqa: PLC0415

    return HttpProvider(_endpoint(settings), OpenAiProtocol())


def make_small_model(settings: Settings, section: SmallModelSection) -> SmallModel | None:
    """Choose the model of a section; None where none is named.

    Raises:
        SettingsError: Nobody says where it is.

    """
    found = address_of(settings, section)
    if found is None:
        return None
    from jitchat.providers.http.provider import HttpProvider  # noqa: PLC0415  see make_provider
    from jitchat.providers.protocol import Endpoint  # noqa: PLC0415
    from jitchat.providers.protocols.openai import OpenAiProtocol  # noqa: PLC0415

    where = Endpoint(section, found.base_url, found.model, found.key, read_seconds=found.timeout)
    provider = HttpProvider(where, OpenAiProtocol())
    return SmallModel(provider, counter_for(found.model, os.environ), found.timeout)


def key_in_the_open(settings: Settings) -> str:
    """Warn of a key that would travel unencrypted; empty where none would."""
    from urllib.parse import urlsplit  # noqa: PLC0415  only for a provider with an address

    for base_url in _keyed_addresses(settings):
        try:
            parts = urlsplit(base_url)
        except ValueError:  # what is no address is refused when it is used
            continue
        if parts.scheme == "http" and parts.hostname not in _THIS_MACHINE:
            return f"The key goes to {parts.hostname} unencrypted: use https."
    return ""


def lacks_key(settings: Settings) -> bool:
    """Whether the provider is known to answer nobody without a key, and there is none."""
    from urllib.parse import urlsplit  # noqa: PLC0415  see key_in_the_open

    wanted = settings.provider
    if wanted.name == "reader" or wanted.api_key:
        return False
    try:
        return urlsplit(wanted.base_url.strip()).hostname == _WANTS_A_KEY
    except ValueError:  # what is no address is refused when it is used
        return False


def _keyed_addresses(settings: Settings) -> Iterator[str]:
    """List the addresses that a key is sent to."""
    if settings.provider.name != "reader" and settings.provider.api_key:
        yield settings.provider.base_url
    for section in SMALL_MODELS:
        found = address_of(settings, section)
        if found is not None and found.key:
            yield found.base_url


def _endpoint(settings: Settings) -> Endpoint:
    from jitchat.providers.protocol import Endpoint  # noqa: PLC0415

    wanted = settings.provider
    return Endpoint(
        name=wanted.name,
        base_url=wanted.base_url,
        model=settings.model_name(),
        key=wanted.api_key,
        read_seconds=wanted.read_seconds,
    )


def _counting(counter: TokenCounter) -> Callable[[Sequence[Message], str], tuple[int, int]]:
    """Count a request and its answer, for the reader's usage."""

    def count(messages: Sequence[Message], answer: str) -> tuple[int, int]:
        return request_tokens(counter, tuple(messages)), counter.count(answer)

    return count
