"""The provider and the model that were picked in the app: the weakest of all sources."""

from pathlib import Path

from jitchat.errors import JitchatError
from jitchat.store.database import Database
from jitchat.store.models import ChosenModel


def chosen_model(database: Database) -> tuple[str, str] | None:
    """Look up the (provider, model) that was picked last; None where none was.

    Raises:
        StoreError: The cold store cannot be read.

    """
    return ChosenModel(database).get()


def chosen_in_the_app(database: Path) -> tuple[str, str] | None:
    """Look it up where no cold store is open; None also where none can be read.

    What is wrong with the cold store is told by whoever needs it.
    """
    if not database.exists():
        return None
    try:
        opened = Database(database)
    except JitchatError:
        return None
    try:
        return chosen_model(opened)
    except JitchatError:
        return None
    finally:
        opened.close()
