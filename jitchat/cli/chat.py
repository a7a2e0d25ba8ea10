"""Starting the terminal app: the chat, the rot lab, and the tour (`jitchat demo`)."""

from __future__ import annotations

import asyncio
import codecs
import os
import sys
import time
from collections.abc import Callable
from concurrent.futures import ThreadPoolExecutor
from contextlib import suppress
from dataclasses import replace
from pathlib import Path
from tempfile import TemporaryDirectory
from typing import TYPE_CHECKING

import click

from jitchat.cli import cold_store, options, output
from jitchat.cli.log import kept_log
from jitchat.cli.termination import heed_interrupts, leave_threads, restore_with
from jitchat.errors import StoreError
from jitchat.settings import Settings, small_models
from jitchat.store import models, unstored
from jitchat.store.requests import RequestLog
from jitchat.store.store import ColdStore
from jitchat.transfer.demo import store_demo
from jitchat.tui import garbage
from jitchat.tui.backend import Backend

if TYPE_CHECKING:
    from jitchat.lab.experiment import RunWanted
    from jitchat.paths import Paths
    from jitchat.tui.app import JitchatApp

SWITCH_SECONDS = 0.0005
"""The interpreter's switch interval: how long indexing can delay each of the event loop's many
steps between a key press and the screen. Python's default is ten times as long."""

_PERSONA = "chat.persona"
PATIENCE = 0.15
"""Maximum seconds that quitting waits for threads."""


def run_chat(flags: options.Flags, rot: RunWanted | None = None) -> int:
    """Open the chat, or the rot lab if a run is given. Return the exit code."""
    paths = flags.paths()
    cold_store.check_key_bindings(flags.settings())
    require_terminal("The chat requires a terminal. `jitchat send TEXT` works without one.")
    garbage.pause()
    cold_store.quiet_libraries()
    from jitchat.tui.app import JitchatApp  # noqa: PLC0415  textual: only the chat needs it

    heed_interrupts()
    store = cold_store.open_store(paths)
    try:
        given = {key: value for key, value in flags.given.items() if key != _PERSONA}
        plain = replace(flags, given=given)  # --persona is for the opened conversation only
        settings = plain.settings(models.ChosenModel(store.database).get())
        small_models.require_addresses(settings)
        flags = flags if rot is None else replace(flags, conversation=None)
        with (
            kept_log(paths.log),
            cold_store.chosen_conversation(store, flags) as conversation,
        ):
            if rot is None:
                with suppress(StoreError):  # if the store cannot be written
                    cold_store.keep_persona(store, conversation.id, flags)
            return run_app(JitchatApp(Backend(settings, paths, store), conversation, rot))
    finally:
        _save_pending(store)
        store.database.close()


def _save_pending(store: ColdStore) -> None:
    """Recreate a deleted database file, retry failed writes, and warn about any data lost."""
    store.database.on_notice = output.warn
    try:
        store.database.save_if_deleted()
    except StoreError as error:
        output.warn(error)
    with suppress(StoreError):
        store.unstored.store_again()
    if rests := store.unstored.rests:
        output.warn(f"{unstored.amount_of(rests)} could not be stored.")


@click.command("demo", cls=options.SharingCommand)
@options.flag("--record", "Play automatically at reading speed, then exit.")
@options.flag(
    "--pace FACTOR",
    "With --record: multiple of the reading time, such as 2 for twice as slow.",
    type=click.FloatRange(0.1, 10),
)
@options.flag("--live", "Ask a real model and watch its answers in each mode.")
@options.tour_options
def demo_command(flags: options.Flags, record: bool, pace: float | None, live: bool) -> int:
    """Take a guided tour: the same question in each mode.

    The tour has seven steps. Space, →, PgDn or Enter shows the next step, so a presentation clicker
    works too. Esc ends the tour and leaves you in the chat.

    The tour uses the demo conversation in a temporary database: your own conversations are neither
    read nor changed. The built-in reader answers, whatever the configuration says, so nothing
    leaves this machine; with --model, --provider or --base-url, that model answers instead. Your
    theme, keys and window settings apply.

    With --live, a language model answers: the local one (SmolLM2; jitchat offers to download it) or
    the one named by --model. It is asked one question in full, recency and jit, in longer and
    longer conversations, and its answers are graded as in the rot lab. Space asks the next
    question, P plays automatically, + and − set the number of near-duplicates, ← and → move the
    fact, and Esc ends.

    To record the tour, use a terminal of fixed size, for example 120 by 36:

    asciinema rec -c "jitchat demo --record" tour.cast
    """
    if pace is not None and not record:
        raise click.UsageError("--pace requires --record.")
    if flags.database is not None:
        raise click.UsageError("The tour uses a temporary database: omit --db.")
    settings = tour_settings(flags)
    cold_store.check_key_bindings(settings)
    require_terminal("The tour requires a terminal; `jitchat --help` lists other commands.")
    garbage.pause()
    app: Callable[..., JitchatApp]
    if live:
        from jitchat.tui.lab.live import LiveApp  # noqa: PLC0415  textual, and the lab

        app = LiveApp
    else:
        from jitchat.tui.tour.app import TourApp  # noqa: PLC0415  textual

        app = TourApp
    with TemporaryDirectory(prefix="jitchat-demo-") as folder:
        paths = replace(flags.paths(), database=Path(folder, "demo.db"), rot=Path(folder, "rot"))
        with cold_store.opened_store(paths) as store:
            backend = Backend(settings, paths, store, warns=False)
            own_pace = (pace or 1.0) if record else None
            try:
                return run_app(app(backend, store_demo(store), own_pace))
            finally:
                if live or settings.in_use().name != "reader":
                    _record_spent(store, flags.paths())


def _record_spent(store: ColdStore, paths: Paths) -> None:
    """Copy the tour's requests to the user's database, so that `jitchat usage` includes them."""
    log = RequestLog(store.database)
    if not log.is_empty():
        with cold_store.opened_store(paths) as own:
            log.copy_to(own.database)


_NAMES_A_MODEL = frozenset({"provider.name", "provider.model", "provider.base_url"})
_ALWAYS = {
    "picker.model": "",
    "reranker.model": "",
    "summariser.model": "",
    "screen.inspector": True,
}
"""Settings of every tour: no small model is asked, and the inspector, which the tour explains, is
open."""


def tour_settings(flags: options.Flags) -> Settings:
    """Load the settings; the reader answers unless a flag names a model or provider."""
    if flags.given.keys() & _NAMES_A_MODEL:
        return cold_store.plain_settings(replace(flags, given={**flags.given, **_ALWAYS}))
    given = {**flags.given, **_ALWAYS, "provider.name": "reader"}
    return replace(flags, given=given).settings()


def require_terminal(otherwise: str) -> None:
    """Refuse to start without a screen, a keyboard, UTF-8 or a terminal type that supports both.

    Setting TERM overrides the last check.
    """
    if not output.is_terminal(sys.stdout):
        raise click.UsageError(otherwise)
    if not output.is_terminal(sys.stdin):
        what = "Standard input is not a terminal, so there is no keyboard."
        raise click.UsageError(f"{what} {otherwise}")
    encoding = sys.stdout.encoding
    if codecs.lookup(encoding).name != "utf-8":
        what = f"The terminal's encoding is {encoding}, but the screen needs UTF-8."
        wanted = "Use a terminal with UTF-8 and a locale such as LC_ALL=C.UTF-8."
        raise click.UsageError(f"{what} {wanted}")
    name = os.environ.get("TERM", "")
    if name in ("", "dumb", "unknown") and sys.platform != "win32":
        what = f"TERM is {name}" if name else "TERM is not set"
        wanted = "Set it to the type of the terminal, such as xterm-256color."
        raise click.UsageError(f"{what}, so the screen cannot be drawn. {wanted} {otherwise}")


def run_app(app: JitchatApp) -> int:
    if sys.platform != "win32":
        from jitchat.tui import driver  # noqa: PLC0415  textual; not available on Windows

        driver.widen_input()
        restore_with(driver.restorer())
    for name in ("COLUMNS", "LINES"):  # of a shell that exported its size, not this terminal's
        os.environ.pop(name, None)
    if not output.is_terminal(sys.stderr):  # where Textual draws
        sys.__stderr__ = sys.__stdout__  # type: ignore[misc]
    sys.setswitchinterval(SWITCH_SECONDS)
    leave_threads()
    with asyncio.Runner() as runner:
        runner.get_loop().set_default_executor(_Threads())
        runner.run(app.run_async())
    return app.return_code or 0


class _Threads(ThreadPoolExecutor):
    """Threads for which quitting waits at most `PATIENCE`.

    A thread that plans a window or loads a long conversation can compute for seconds.
    """

    def shutdown(self, wait: bool = True, *, cancel_futures: bool = True) -> None:
        """Start no more tasks; give short ones time to finish."""
        super().shutdown(wait=False, cancel_futures=cancel_futures)
        until = time.monotonic() + PATIENCE
        for thread in self._threads if wait else ():
            thread.join(max(0.0, until - time.monotonic()))
