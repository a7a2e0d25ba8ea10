"""`jitchat demo`: the guided tour."""

from dataclasses import replace
from pathlib import Path
from tempfile import TemporaryDirectory

import click

from jitchat.cli import cold_store, options
from jitchat.cli.backend import LocalBackend
from jitchat.cli.chat import require_terminal, run_app
from jitchat.settings import Settings
from jitchat.transfer.formats import store_demo
from jitchat.tui import garbage


@click.command("demo", cls=options.SharingCommand)
@click.option("--record", is_flag=True, help="Play by itself, at reading speed, and end.")
@click.option(
    "--pace",
    type=click.FloatRange(0.1, 10),
    metavar="FACTOR",
    help="With --record: 2 is twice as slow as reading takes, 0.5 twice as fast.",
)
@options.tour_options
def demo_command(flags: options.Flags, record: bool, pace: float | None) -> int:
    """Show the same question in full, recency and jit: a tour of five steps, in the chat.

    One key goes on: Space, →, PgDn or Enter, as presentation clickers send. Esc ends the tour
    and leaves a chat like any other.

    It is on the demo conversation, in a database of its own that is gone afterwards: none of your
    conversations is read or changed. The embedded reader answers, whatever the configuration
    says, so that nothing leaves this machine; --model, --provider or --base-url has a model
    answer in its place. Theme, keys and the window's sizes are as you set them.

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
    from jitchat.tui.tour.app import TourApp  # noqa: PLC0415  textual: not to print help

    with TemporaryDirectory(prefix="jitchat-demo-") as folder:
        paths = replace(flags.paths(), database=Path(folder, "demo.db"), rot=Path(folder, "rot"))
        with cold_store.opened_store(paths) as store:
            backend = LocalBackend(settings, paths, store, warns=False)
            own_pace = (pace or 1.0) if record else None
            return run_app(TourApp(backend, store_demo(store), own_pace))


_NAMES_A_MODEL = frozenset({"provider.name", "provider.model", "provider.base_url"})
_ALWAYS = {
    "picker.model": "",
    "summariser.model": "",
    "embedder.download": False,
    "screen.inspector": True,
}
"""Nothing is asked or fetched behind the tour, and the inspector is what it points at."""


def tour_settings(flags: options.Flags) -> Settings:
    """Load the settings; the reader answers unless a flag names who does."""
    if flags.given.keys() & _NAMES_A_MODEL:
        return cold_store.load_settings(replace(flags, given={**flags.given, **_ALWAYS}))
    given = {**flags.given, **_ALWAYS, "provider.name": "reader"}
    return replace(flags, given=given).settings()
