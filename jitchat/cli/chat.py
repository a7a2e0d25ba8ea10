"""Starting the terminal app."""

from __future__ import annotations

import sys
from collections.abc import Callable
from pathlib import Path
from typing import TYPE_CHECKING

import click

from jitchat.cli.compose import make_counter, make_embedder, make_session, model_name, open_store
from jitchat.cli.options import Flags
from jitchat.memory.store import ColdStore
from jitchat.transfer.intake import DEMO_ID, store_demo
from jitchat.turn import Conversation

if TYPE_CHECKING:
    from jitchat.memory.embedder import Embedder
    from jitchat.paths import Paths
    from jitchat.session import Session
    from jitchat.settings import Settings
    from jitchat.window.tokens import TokenCounter


class LocalBackend:
    """What the app needs, made from the settings and loaded when it is first needed."""

    def __init__(self, settings: Settings, paths: Paths, store: ColdStore) -> None:
        self.settings, self.store = settings, store
        self.crash: Path = paths.crash
        self._paths = paths
        self._embedder: Embedder | None = None
        self._counter: TokenCounter | None = None

    def open_session(self, conversation: Conversation) -> Session:
        """A session on `conversation`; the first call loads the embedder and the vocabulary."""
        self._embedder = self._embedder or make_embedder(self.settings, self._paths)
        self._counter = self._counter or make_counter(self.settings)
        return make_session(self.settings, self.store, conversation, self._embedder, self._counter)

    @property
    def may_download(self) -> bool:
        """Whether a better embedder is missing, and allowed to be fetched."""
        return False

    async def download(self, on_progress: Callable[[int], None]) -> str:
        """Fetch the embedding model."""
        return ""

    def better_embedder(self) -> Embedder | None:
        """The embedder that was downloaded."""
        return None

    def hint(self) -> str:
        """How to add a real model."""
        return (
            "jitchat --base-url http://localhost:11434/v1 --model NAME, with OPENAI_API_KEY if the"
            f" server wants a key; or base_url and model under [provider] in {self._paths.config}"
        )


def run_chat(flags: Flags, wanted: str | None) -> int:
    """Open the chat; the exit code."""
    settings, paths = flags.settings(), flags.paths()
    model_name(settings)
    store = open_store(paths)
    latest = store.latest() or store_demo(store)
    conversation = _wanted(store, wanted) if wanted else latest
    if not sys.stdout.isatty():
        raise click.UsageError("The chat needs a terminal. `jitchat send TEXT` works without one.")
    from jitchat.tui.app import JitchatApp  # noqa: PLC0415  textual: only the chat needs it

    app = JitchatApp(LocalBackend(settings, paths, store), conversation)
    app.run()
    store.database.close()
    return app.return_code or 0


def _wanted(store: ColdStore, wanted: str) -> Conversation:
    if wanted == DEMO_ID and all(each.id != DEMO_ID for each in store.conversations()):
        return store_demo(store)
    return store.conversation(wanted)
