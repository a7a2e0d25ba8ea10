"""Opening the cold store and choosing a conversation: all that the first frame waits for."""

import logging
from collections.abc import Iterator
from contextlib import contextmanager

from jitchat.cli.output import warn
from jitchat.paths import Paths
from jitchat.store.database import Database
from jitchat.store.replies import close_interrupted
from jitchat.store.store import ColdStore
from jitchat.transfer.formats import DEMO_ID, store_demo
from jitchat.values import Conversation


def quiet_libraries() -> None:
    """Keep libraries' log lines off the terminal: on the screen they would be drawn over it."""
    logging.getLogger().addHandler(logging.NullHandler())
    logging.getLogger("httpx").setLevel(logging.WARNING)


def open_store(paths: Paths) -> ColdStore:
    """Open the cold store, and mark the replies of a crashed run as interrupted."""
    database = Database(paths.database)
    database.on_notice = warn
    try:
        store = ColdStore(database)
        close_interrupted(store)
    except BaseException:  # closed whatever it was, and passed on
        database.close()
        raise
    return store


@contextmanager
def opened_store(paths: Paths) -> Iterator[ColdStore]:
    """Open the cold store for a while."""
    quiet_libraries()
    store = open_store(paths)
    try:
        if warning := store.database.warning():
            warn(warning)
        yield store
    finally:
        store.database.close()


def choose_conversation(store: ColdStore, wanted: str | None) -> Conversation:
    """Find the one that is wanted, else the one touched last; the demo is stored when needed.

    Raises:
        UnknownConversation: There is none of that id or title.

    """
    latest = store.latest() if wanted is None else None
    if latest is not None:
        return latest
    if wanted is None or (
        wanted == DEMO_ID and all(each.id != DEMO_ID for each in store.conversations())
    ):
        return store_demo(store)
    return store.conversation(wanted)
