"""What a command opens: the cold store, the model that was picked in the app, a conversation.

Nothing here waits for more than the first frame of the app needs.
"""

import logging
from collections.abc import Iterator
from contextlib import closing, contextmanager
from pathlib import Path

from jitchat.cli import options, output
from jitchat.cli.log import kept_log
from jitchat.errors import JitchatError, SettingsError
from jitchat.paths import Paths
from jitchat.settings import Settings, checks
from jitchat.store import models, replies
from jitchat.store.database import Database
from jitchat.store.store import ColdStore
from jitchat.text.sanitize import shorten
from jitchat.transfer.formats import DEMO_ID, store_demo
from jitchat.values import Conversation


def quiet_libraries() -> None:
    """Keep libraries' log lines off the terminal: on the screen they would be drawn over it."""
    logging.getLogger().addHandler(logging.NullHandler())
    logging.getLogger("httpx").setLevel(logging.WARNING)


def open_store(paths: Paths) -> ColdStore:
    """Open the cold store, and mark the replies of a crashed run as interrupted."""
    database = Database(paths.database)
    database.on_notice = output.warn
    try:
        store = ColdStore(database)
        replies.close_interrupted(store)
    except BaseException:  # closed whatever it was, and passed on
        database.close()
        raise
    return store


@contextmanager
def opened_store(paths: Paths) -> Iterator[ColdStore]:
    quiet_libraries()
    store = open_store(paths)
    with closing(store.database), kept_log(paths.log):
        if warning := store.database.warning():
            output.warn(warning)
        yield store


def load_settings(flags: options.Flags) -> Settings:
    """Load the settings, with the model that was picked in the app as their weakest source."""
    return flags.settings(picked_model(flags.paths().database))


def picked_model(path: Path) -> tuple[str, str] | None:
    """Look up the provider and model that were picked in the app; None where none can be read.

    What is wrong with the cold store is told by whoever needs it.
    """
    if not path.exists():
        return None
    try:
        with closing(Database(path)) as database:
            return models.ChosenModel(database).get()
    except JitchatError:
        return None


def choose_conversation(store: ColdStore, wanted: str | None) -> Conversation:
    """Find the one that is wanted, else the one touched last; the demo is stored when needed."""
    if wanted is None:
        return store.latest() or store_demo(store)
    if wanted == DEMO_ID and all(known.id != DEMO_ID for known in store.conversations()):
        return store_demo(store)
    return store.conversation(wanted)


def check_key_bindings(settings: Settings) -> None:
    if not settings.keys:
        return
    from jitchat.tui.actions import keys_by_id  # noqa: PLC0415  loads textual

    known = keys_by_id()
    origin = settings.origins.get("keys", "[keys]")
    for name in settings.keys:
        if name not in known:
            raise SettingsError(
                f"{origin}: 'keys.{shorten(name, 40)}' is no action of jitchat.",
                f"[keys] may hold {', '.join(known)}.{checks.nearest(name, known)}",
            )
    taken: dict[str, str] = {}
    for action, listed in (known | dict(settings.keys)).items():
        for key in (piece.strip() for piece in listed.split(",")):
            if other := taken.get(key):
                raise SettingsError(
                    f"{origin}: {shorten(key, 40)!r} is a key of {other} and of {action}.",
                    "Give one of them another.",
                )
            taken[key] = action
