"""Import with a census: no text of a source may be nowhere."""

from __future__ import annotations

from typing import TYPE_CHECKING

from jitchat.transfer.formats import conversations_of
from jitchat.transfer.import_run import checked, require_turns, take_all
from jitchat.transfer.source import open_source

if TYPE_CHECKING:
    from pathlib import Path

    from jitchat.store.store import ColdStore
    from jitchat.transfer.import_run import Taken


def take_checked(store: ColdStore, path: Path) -> list[Taken]:
    """Import a source, comparing each conversation with what the store returns."""
    source = open_source(path)
    found = require_turns(conversations_of(source), source)
    return list(take_all(store, checked(found), source))


def nowhere(taken: list[Taken]) -> list[tuple[str, str]]:
    """Return the strings that are nowhere, after their keys."""
    return [example for each in taken for example in each.census.examples]
