"""The provider and the model that were picked in the app: the weakest of all sources."""

from __future__ import annotations

from pathlib import Path

from jitchat.errors import JitchatError


def chosen_in_the_app(database: Path) -> tuple[str, str] | None:
    """Read the pick; None where there is none, or no cold store that can be read.

    What is wrong with the cold store is told by whoever needs it.
    """
    if not database.exists():
        return None
    from jitchat.memory.cold.database import Database  # noqa: PLC0415  loads sqlite-utils
    from jitchat.memory.cold.model_choice import ChosenModel  # noqa: PLC0415

    try:
        opened = Database(database)
    except JitchatError:
        return None
    try:
        return ChosenModel(opened).get()
    except JitchatError:
        return None
    finally:
        opened.close()
