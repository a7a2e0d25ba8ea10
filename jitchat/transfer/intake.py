"""Storing what was read."""

from __future__ import annotations

from collections.abc import Sequence
from importlib.resources import files

from jitchat.memory.cold.store import ColdStore
from jitchat.transfer.plain import read_plain
from jitchat.transfer.report import Found
from jitchat.turn import Conversation

DEMO_ID = "demo"
DEMO_TITLE = "Release planning (demo)"


def store_all(store: ColdStore, found: Sequence[Found]) -> list[tuple[Found, Conversation | None]]:
    """Store every conversation that has turns, or nothing at all; None for those without."""
    with store.database.write():
        return [(each, store_found(store, each) if each.turns else None) for each in found]


def store_found(store: ColdStore, found: Found) -> Conversation:
    """Make a new conversation with all of its turns, or none of it."""
    with store.database.write():
        made = store.create(found.title, found.id)
        store.append(made.id, found.turns)
        return store.conversation(made.id)


def store_demo(store: ColdStore) -> Conversation:
    """Store the bundled demo conversation."""
    import json  # noqa: PLC0415  used on the first run only

    text = (files("jitchat.transfer") / "demo.jsonl").read_text(encoding="utf-8")
    lines = [json.loads(line) for line in text.splitlines() if line.strip()]
    return store_found(store, read_plain(lines, DEMO_ID)[0].titled(DEMO_TITLE))
