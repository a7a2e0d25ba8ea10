"""Starting the terminal app."""

from __future__ import annotations

import asyncio
import os
import sys
import time
from collections.abc import Callable
from concurrent.futures import ThreadPoolExecutor
from contextlib import suppress
from pathlib import Path
from typing import TYPE_CHECKING

import click

from jitchat.cli import opening
from jitchat.cli.chosen import chosen_model
from jitchat.cli.keys import require_known_keys
from jitchat.cli.model_backend import ModelBackend
from jitchat.cli.opening import choose_conversation, quiet_libraries
from jitchat.cli.options import Flags
from jitchat.cli.output import OutputError, is_terminal, warn
from jitchat.cli.termination import heed_interrupts, leave_threads, restore_with
from jitchat.errors import StoreError
from jitchat.index.embedder import Embedder
from jitchat.index.embedding_models import model_cached
from jitchat.paths import Paths
from jitchat.settings import Settings
from jitchat.settings.small_models import require_addresses
from jitchat.store.store import ColdStore
from jitchat.store.unstored import amount_of
from jitchat.tui import garbage
from jitchat.tui.driver import widen_input
from jitchat.values import Conversation

if TYPE_CHECKING:
    from jitchat.lab.experiment import RunWanted
    from jitchat.session import Session
    from jitchat.tui.app import JitchatApp

SWITCH_SECONDS = 0.0005
"""How long indexing may keep the interpreter from the event loop; Python's default is ten times
that, at each of the many steps between a key and the screen."""

PATIENCE = 0.15
"""Seconds that quitting waits for threads."""


class LocalBackend(ModelBackend):
    """What the app needs, made from the settings and loaded when it is first needed."""

    def __init__(self, settings: Settings, paths: Paths, store: ColdStore) -> None:
        super().__init__(settings, paths, store)
        self.crash: Path = paths.crash
        self.warning = ""
        self._embedder: Embedder | None = None

    def open_session(self, conversation: Conversation) -> Session:
        """A session on `conversation`; the first call loads the embedder and the vocabulary."""
        # The first frame does not wait for any of this: 300 ms of imports.
        from jitchat.cli.compose import key_in_the_open, make_embedder  # noqa: PLC0415
        from jitchat.memory import Memory  # noqa: PLC0415

        warnings = [
            key_in_the_open(self.settings), self.doubt(), self.store.database.warning()
        ]  # fmt: skip
        if self._embedder is None:
            self._embedder = make_embedder(
                self.settings, self._paths, lambda error: warnings.append(str(error))
            )
        self.warning = " ".join(filter(None, warnings))
        return self.session_on(Memory(self.store, conversation, self._embedder))

    @property
    def may_fetch_model(self) -> bool:
        """Whether a better embedder is missing, and allowed to be fetched."""
        wanted = self.settings.embedder
        asked = wanted.name == "auto" and wanted.download and not wanted.path
        return asked and not model_cached(wanted.model, self._paths.models)

    async def fetch_model(self, on_progress: Callable[[int], None]) -> tuple[bool, str]:
        """Download the embedding model in a process of its own."""
        from jitchat.index.download import fetch_model  # noqa: PLC0415

        outcome = await fetch_model(self.settings.embedder.model, self._paths.models, on_progress)
        return outcome.fetched, outcome.sentence

    def better_embedder(self) -> Embedder | None:
        """The embedder that was downloaded; sessions opened from now on use it too."""
        from jitchat.cli.compose import make_embedder  # noqa: PLC0415  see open_session

        found = make_embedder(self.settings, self._paths)
        if self._embedder is not None and found.id == self._embedder.id:
            return None
        self._embedder = found
        return found

    def hint(self) -> str:
        """How to add a real model."""
        return (
            "Ctrl+L lists the providers; Enter takes a key or lists models.\n"
            "Ollama, LM Studio, llama.cpp, vLLM are found once they run here.\n"
            f"Others of your own: {self._paths.config}"
        )


def run_chat(flags: Flags, wanted: str | None, rot: RunWanted | None = None) -> int:
    """Open the chat, or the rot lab with what it is to ask; the exit code."""
    settings, paths = flags.settings(), flags.paths()
    require_known_keys(settings)
    require_terminal("The chat needs a terminal. `jitchat send TEXT` works without one.")
    garbage.pause()
    quiet_libraries()
    from jitchat.tui.app import JitchatApp  # noqa: PLC0415  textual: only the chat needs it

    heed_interrupts()
    store = opening.open_store(paths)
    try:
        settings = flags.settings(chosen_model(store.database))
        require_addresses(settings)
        conversation = choose_conversation(store, wanted)
        return run_app(JitchatApp(LocalBackend(settings, paths, store), conversation, rot))
    finally:
        _save_the_last(store)
        store.database.close()


def _save_the_last(store: ColdStore) -> None:
    """Save a file that was deleted, store what the store refused before; say what is lost."""
    store.database.on_notice = _warn
    try:
        store.database.save_if_deleted()
    except StoreError as error:
        _warn(str(error))
    with suppress(StoreError):
        store.unstored.store_again()
    if rests := store.unstored.rests:
        _warn(f"{amount_of(rests)} could not be stored.")


def _warn(sentence: str) -> None:
    with suppress(OutputError):  # the terminal may be gone
        warn(sentence)


def require_terminal(otherwise: str) -> None:
    """See to it that there is a screen to draw on, a keyboard, and a terminal that knows both.

    Who knows better sets TERM.

    Raises:
        click.UsageError: One is missing; `otherwise` says what to do.

    """
    if not is_terminal(sys.stdout):
        raise click.UsageError(otherwise)
    if not is_terminal(sys.stdin):
        what = "There is no keyboard: standard input is not a terminal."
        raise click.UsageError(f"{what} {otherwise}")
    name = os.environ.get("TERM", "")
    if name in ("", "dumb", "unknown") and sys.platform != "win32":
        what = f"TERM is {name}" if name else "TERM is not set"
        wanted = "set it to what the terminal is, such as xterm-256color."
        raise click.UsageError(
            f"{what}, which is a terminal without a screen: {wanted} {otherwise}"
        )


def run_app(app: JitchatApp) -> int:
    """Run the app to its end; the exit code."""
    widen_input()
    if sys.platform != "win32":
        from jitchat.tui.driver import restorer  # noqa: PLC0415  not there on Windows

        restore_with(restorer())
    sys.setswitchinterval(SWITCH_SECONDS)
    leave_threads()
    asyncio.run(_run(app))
    return app.return_code or 0


async def _run(app: JitchatApp) -> None:
    asyncio.get_running_loop().set_default_executor(_Threads())
    await app.run_async()


class _Threads(ThreadPoolExecutor):
    """Threads that quitting waits for no longer than `PATIENCE`.

    One that plans for a draft, or loads a long conversation, may compute for seconds.
    """

    def shutdown(self, wait: bool = True, *, cancel_futures: bool = True) -> None:
        """Begin nothing more; have what is short done."""
        super().shutdown(wait=False, cancel_futures=cancel_futures)
        until = time.monotonic() + PATIENCE
        for thread in self._threads if wait else ():
            thread.join(max(0.0, until - time.monotonic()))
