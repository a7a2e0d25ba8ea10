"""Stored lists of servers' models, and the chosen model."""

from __future__ import annotations

import pytest

from jitchat.errors import StoreUnreadable
from jitchat.store.models import ChosenModel, ModelLists

SERVER = "https://models.test/v1"
ROWS = ({"name": "a", "limit": 8_192, "limit_source": "the server's maximum"}, {"name": "ü"})


def test_a_list_is_stored_with_its_time(database, clock):
    fetched_at = ModelLists(database, clock).put(SERVER, ROWS)

    assert ModelLists(database).get(SERVER) == (fetched_at, ROWS)
    assert fetched_at.tzinfo is not None


def test_a_later_list_replaces_only_that_servers_list(database, clock):
    lists = ModelLists(database, clock)
    lists.put(SERVER, ROWS)
    other = lists.put("http://localhost:8080/v1", ROWS)
    later = lists.put(SERVER, [{"name": "b"}])

    assert lists.get(SERVER) == (later, ({"name": "b"},))
    assert lists.get("http://localhost:8080/v1") == (other, ROWS)


def test_a_server_that_was_never_asked_has_no_list_and_one_without_models_has_an_empty_one(
    database, clock
):
    lists = ModelLists(database, clock)
    assert lists.get(SERVER) is None

    fetched_at = lists.put(SERVER, [])
    assert lists.get(SERVER) == (fetched_at, ())


@pytest.mark.parametrize("damage", ["", "{}", "[1]", "[", '"a"'])
def test_a_damaged_list_is_reported(database, clock, damage):
    lists = ModelLists(database, clock)
    lists.put(SERVER, ROWS)
    with database.write() as connection:
        connection.execute("UPDATE model_lists SET models = ?", (damage,))

    with pytest.raises(StoreUnreadable):
        lists.get(SERVER)


def test_the_latest_choice_applies(database):
    chosen = ChosenModel(database)
    assert chosen.get() is None

    chosen.put("groq", "llama-3.1-8b-instant")
    chosen.put("ollama", "qwen3:8b")

    assert ChosenModel(database).get() == ("ollama", "qwen3:8b")
