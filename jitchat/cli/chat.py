"""The terminal app is started here: the chat, the rot lab in it, and `jitchat demo`, the tour."""

from __future__ import annotations

import asyncio
import os
import sys
import time
from concurrent.futures import ThreadPoolExecutor
from contextlib import suppress
from dataclasses import replace
from pathlib import Path
from tempfile import TemporaryDirectory
from typing import TYPE_CHECKING

import click

from jitchat.cli import cold_store, options, output
from jitchat.cli.backend import LocalBackend
from jitchat.cli.log import kept_log
from jitchat.cli.termination import heed_interrupts, leave_threads, restore_with
from jitchat.errors import StoreError
from jitchat.settings import Settings, small_models
from jitchat.store import models, unstored
from jitchat.store.requests import RequestLog
from jitchat.store.store import ColdStore
from jitchat.transfer.demo import store_demo
from jitchat.tui import garbage

if TYPE_CHECKING:
    from jitchat.lab.experiment import RunWanted
    from jitchat.paths import Paths
    from jitchat.tui.app import JitchatApp
    from jitchat.tui.lab.live import LiveApp
    from jitchat.tui.tour.app import TourApp

SWITCH_SECONDS = 0.0005
"""How long indexing may keep the interpreter from the event loop; Python's default is ten times
that, at each of the many steps between a key and the screen."""

_PERSONA = "chat.persona"
PATIENCE = 0.15
"""Seconds that quitting waits for threads."""


def run_chat(flags: options.Flags, rot: RunWanted | None = None) -> int:
    """Open the chat, or the rot lab with what it is to ask; the exit code."""
    paths = flags.paths()
    cold_store.check_key_bindings(flags.settings())
    require_terminal("The chat needs a terminal. `jitchat send TEXT` works without one.")
    garbage.pause()
    cold_store.quiet_libraries()
    from jitchat.tui.app import JitchatApp  # noqa: PLC0415  textual: only the chat needs it

    heed_interrupts()
    store = cold_store.open_store(paths)
    try:
        given = {key: value for key, value in flags.given.items() if key != _PERSONA}
        plain = replace(flags, given=given)  # the persona is for the conversation that opens
        settings = plain.settings(models.ChosenModel(store.database).get())
        small_models.require_addresses(settings)
        flags = flags if rot is None else replace(flags, conversation=None)
        with (
            kept_log(paths.log),
            cold_store.chosen_conversation(store, flags) as conversation,
        ):
            if rot is None:
                with suppress(StoreError):  # of a store that takes nothing
                    cold_store.keep_persona(store, conversation.id, flags)
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
        _warn(f"{unstored.amount_of(rests)} could not be stored.")


def _warn(sentence: str) -> None:
    with suppress(output.OutputError):  # the terminal may be gone
        output.warn(sentence)


@click.command("demo", cls=options.SharingCommand)
@click.option("--record", is_flag=True, help="Play by itself, at reading speed, and end.")
@click.option(
    "--pace",
    type=click.FloatRange(0.1, 10),
    metavar="FACTOR",
    help="With --record: 2 is twice as slow as reading takes, 0.5 twice as fast.",
)
@click.option("--live", is_flag=True, help="Ask a real model, and watch it answer in each mode.")
@options.tour_options
def demo_command(flags: options.Flags, record: bool, pace: float | None, live: bool) -> int:
    """Show the same question in each mode: a tour of seven steps, in the chat.

    One key goes on: Space, →, PgDn or Enter, as presentation clickers send. Esc ends the tour
    and leaves a chat like any other.

    It is on the demo conversation, in a database of its own that is gone afterwards: none of your
    conversations is read or changed. The built-in reader answers, whatever the configuration
    says, so that nothing leaves this machine; --model, --provider or --base-url has a model
    answer in its place. Theme, keys and the window's sizes are as you set them.

    With --live a language model answers instead, the one that runs here (SmolLM2, which it offers
    to fetch) or the one that --model names: one question in full, recency and jit, in longer and
    longer talk, graded as in the rot lab. Space asks on, P plays by itself, + and − set the
    near-duplicates, ← and → where the fact was said, Esc ends.

    For a recording, have the recorder's terminal at a fixed size, 120 by 36 for example:

    asciinema rec -c "jitchat demo --record" tour.cast
    """
    if pace is not None and not record:
        raise click.UsageError("--pace is for --record: without it, you set the pace.")
    if flags.database is not None:
        raise click.UsageError("The tour has a database of its own: leave --db out.")
    settings = tour_settings(flags)
    cold_store.check_key_bindings(settings)
    require_terminal("The tour needs a terminal; `jitchat --help` lists what works without one.")
    garbage.pause()
    app = _live_app() if live else _tour_app()
    with TemporaryDirectory(prefix="jitchat-demo-") as folder:
        paths = replace(flags.paths(), database=Path(folder, "demo.db"), rot=Path(folder, "rot"))
        with cold_store.opened_store(paths) as store:
            backend = LocalBackend(settings, paths, store, warns=False)
            own_pace = (pace or 1.0) if record else None
            try:
                return run_app(app(backend, store_demo(store), own_pace))
            finally:
                if live or settings.in_use().name != "reader":
                    _record_spent(store, flags.paths())


def _record_spent(store: ColdStore, paths: Paths) -> None:
    """Have what a tour asked of a model in the user's own sums."""
    log = RequestLog(store.database)
    if log.last_id():
        with cold_store.opened_store(paths) as own:
            log.copy_to(own.database)


def _tour_app() -> type[TourApp]:
    from jitchat.tui.tour.app import TourApp  # noqa: PLC0415  textual: not to print help

    return TourApp


def _live_app() -> type[LiveApp]:
    from jitchat.tui.lab.live import LiveApp  # noqa: PLC0415  textual: not to print help

    return LiveApp


_NAMES_A_MODEL = frozenset({"provider.name", "provider.model", "provider.base_url"})
_ALWAYS = {
    "picker.model": "",
    "reranker.model": "",
    "summariser.model": "",
    "embedder.download": False,
    "screen.inspector": True,
}
"""Nothing is asked or fetched behind the tour, and the inspector is what it points at."""


def tour_settings(flags: options.Flags) -> Settings:
    """Load the settings; the reader answers unless a flag names who does."""
    if flags.given.keys() & _NAMES_A_MODEL:
        return cold_store.plain_settings(replace(flags, given={**flags.given, **_ALWAYS}))
    given = {**flags.given, **_ALWAYS, "provider.name": "reader"}
    return replace(flags, given=given).settings()


def require_terminal(otherwise: str) -> None:
    """See to it that there is a screen to draw on, a keyboard, and a terminal that knows both.

    Who knows better sets TERM.
    """
    if not output.is_terminal(sys.stdout):
        raise click.UsageError(otherwise)
    if not output.is_terminal(sys.stdin):
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
    if sys.platform != "win32":
        from jitchat.tui import driver  # noqa: PLC0415  textual; and not there on Windows

        driver.widen_input()
        restore_with(driver.restorer())
    sys.setswitchinterval(SWITCH_SECONDS)
    leave_threads()
    with asyncio.Runner() as runner:
        runner.get_loop().set_default_executor(_Threads())
        runner.run(app.run_async())
    return app.return_code or 0


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
