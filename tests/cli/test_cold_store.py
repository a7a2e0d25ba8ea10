"""What commands open: the cold store, a conversation in it, the chosen model."""

from __future__ import annotations

from typing import TYPE_CHECKING

import pytest

from jitchat.cli.cold_store import choose_conversation, open_store, opened_store, picked_model
from jitchat.errors import StoreUnreadable, UnknownConversation
from jitchat.paths import locate
from jitchat.store.database import Database
from jitchat.store.models import ChosenModel

if TYPE_CHECKING:
    from pathlib import Path

    from jitchat.store.store import ColdStore


def test_the_conversation_is_the_named_one_else_the_latest_else_the_demo(store: ColdStore):
    assert choose_conversation(store, None).id == "demo"
    mine = store.create("Mine", "mine")

    assert choose_conversation(store, None).id == mine.id
    assert choose_conversation(store, "demo").id == "demo"
    assert choose_conversation(store, "MINE").id == mine.id
    with pytest.raises(UnknownConversation):
        choose_conversation(store, "nope")
    assert len(store.conversations()) == 2


def test_a_store_that_cannot_be_read_is_not_left_open(tmp_path: Path):
    paths = locate({"JITCHAT_HOME": str(tmp_path)})
    paths.database.write_text("no database " * 100)

    with pytest.raises(StoreUnreadable):
        open_store(paths)


def test_a_store_is_closed_whatever_happens_inside(tmp_path: Path):
    paths = locate({"JITCHAT_HOME": str(tmp_path)})

    with pytest.raises(ZeroDivisionError), opened_store(paths):
        raise ZeroDivisionError

    assert [path.name for path in tmp_path.iterdir()] == ["jitchat.db"]


def test_the_model_that_was_picked_in_the_app_is_read_from_the_cold_store(tmp_path: Path):
    database = Database(tmp_path / "jitchat.db")
    ChosenModel(database).put("groq", "picked")
    database.close()

    assert picked_model(tmp_path / "jitchat.db") == ("groq", "picked")
    assert picked_model(tmp_path / "none.db") is None
    (tmp_path / "jitchat.db").write_text("no database " * 100)
    assert picked_model(tmp_path / "jitchat.db") is None
