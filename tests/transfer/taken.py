"""Helpers to read what an import stored."""

from __future__ import annotations

from typing import TYPE_CHECKING

from jitchat.store.attachments import AttachmentStore, whole
from jitchat.store.path import Path as TreePath
from jitchat.store.pins import OwnInstructions
from jitchat.store.reply_notes import notes_of
from tests.transfer.files import take

if TYPE_CHECKING:
    from pathlib import Path

    from jitchat.store.store import ColdStore
    from jitchat.transfer.import_run import Taken
    from jitchat.values import Turn


def only(store: ColdStore, path: Path, *, is_whole: bool = True) -> Taken:
    """Import one conversation."""
    (taken,) = take(store, path, is_whole=is_whole)
    return taken


def path_of(store: ColdStore, taken: Taken) -> list[str]:
    """Return the texts of the current path, each after its speaker's first letter."""
    return [f"{turn.role[0]}: {turn.content}" for turn in store.turns(taken.id)]


def every_turn(store: ColdStore, taken: Taken) -> list[Turn]:
    last = store.tree(taken.id).last
    return store.turns_of(taken.id, TreePath(((1, last),)))


def model_of(store: ColdStore, turn: Turn) -> str:
    notes = notes_of(store.database, [turn.id])
    return notes[turn.id].model if turn.id in notes else ""


def reasoning_of(store: ColdStore, turn: Turn) -> str:
    notes = notes_of(store.database, [turn.id])
    return notes[turn.id].reasoning if turn.id in notes else ""


def system_of(store: ColdStore, taken: Taken) -> str | None:
    return OwnInstructions(store.database).get(taken.id).system


def files_of(store: ColdStore, taken: Taken) -> dict[int, list[tuple[str, str]]]:
    """Return each turn's files: names with texts, or with media types for pictures."""
    found: dict[int, list[tuple[str, str]]] = {}
    for file in AttachmentStore(store.database, taken.id).listed():
        held = whole(store.database, file)
        shown = file.media_type if held.picture is not None else held.text
        found.setdefault(file.turn, []).append((file.name, shown))
    return found
