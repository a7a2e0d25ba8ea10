"""Starting the guided tour."""

from __future__ import annotations

from dataclasses import replace
from pathlib import Path
from tempfile import TemporaryDirectory
from typing import TYPE_CHECKING

import click

from jitchat.cli.chat import LocalBackend, require_terminal, run_app
from jitchat.cli.chosen import chosen_in_the_app
from jitchat.cli.key_names import require_known_keys
from jitchat.cli.opening import opened_store
from jitchat.cli.options import Flags
from jitchat.transfer.intake import store_demo
from jitchat.tui import collector

if TYPE_CHECKING:
    from jitchat.session import Session
    from jitchat.settings import Settings
    from jitchat.turn import Conversation

_NAMES_A_MODEL = frozenset({"provider.name", "provider.model", "provider.base_url"})
_ALWAYS = {
    "picker.model": "",
    "summariser.model": "",
    "embedder.download": False,
    "screen.inspector": True,
}
"""Nothing is asked or fetched behind the tour, and the inspector is what it points at."""


class TourBackend(LocalBackend):
    """What the tour needs: the app's, without remarks on the settings."""

    def open_session(self, conversation: Conversation) -> Session:
        """A session on `conversation`; what there is to say of keys is said in the chat."""
        session = super().open_session(conversation)
        self.warning = ""
        return session


def run_tour(flags: Flags, pace: float | None) -> int:
    """Take the tour, with a `pace` by itself; the exit code."""
    if flags.database is not None:
        raise click.UsageError("The tour has a database of its own: leave --db out.")
    settings = tour_settings(flags)
    require_known_keys(settings)
    require_terminal("The tour needs a terminal; `jitchat --help` lists what works without one.")
    collector.rest()
    with TemporaryDirectory(prefix="jitchat-demo-") as folder:
        paths = replace(flags.paths(), database=Path(folder, "demo.db"), rot=Path(folder, "rot"))
        with opened_store(paths) as store:
            from jitchat.tui.tour.app import TourApp  # noqa: PLC0415  textual: only the tour

            backend = TourBackend(settings, paths, store)
            return run_app(TourApp(backend, store_demo(store), pace))


def tour_settings(flags: Flags) -> Settings:
    """Load the settings; the reader answers unless a flag names who does.

    Raises:
        SettingsError: A source of them is wrong.

    """
    if flags.given.keys() & _NAMES_A_MODEL:
        chosen = chosen_in_the_app(flags.paths().database)
        return replace(flags, given={**flags.given, **_ALWAYS}).settings(chosen)
    given = {**flags.given, **_ALWAYS, "provider.name": "reader"}
    return replace(flags, given=given).settings()
