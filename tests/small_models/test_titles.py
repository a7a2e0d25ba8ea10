"""Titles: made of the first message, made better by a model, never in place of a given one."""

from __future__ import annotations

import pytest

from jitchat.draft import GO_ON
from jitchat.memory import Memory
from jitchat.small_models.summariser import TITLE_WIDTH, improve_title, name_new, title_of
from jitchat.store.store import NEW_TITLE
from tests.small_models.support import small
from tests.support import talk


@pytest.mark.parametrize(
    ("said", "title"),
    [
        ("Hello there! Can you please sort these by two keys?", "Sort these by two keys"),
        ("I'd like to plan a trip to Lisbon in March.", "Plan a trip to Lisbon in March"),
        ("which port is the metrics endpoint on?", "Which port is the metrics endpoint on"),
        ("来週の金曜日に東京で会議があります。", "来週の金曜日に東京で会議があります"),
        ("Hi!", ""),
        ("\x1b[2J?", "[2J"),
    ],
)
def test_a_title_is_the_subject_of_the_first_message(said, title):
    assert title_of(said).removeprefix("\x1b") == title


def test_the_title_of_a_long_message_is_short():
    said = "Good morning. " + "Our deploy window for the billing service broke again. " * 40
    assert "deploy window" in title_of(said)
    assert len(title_of(said)) <= TITLE_WIDTH


async def test_a_model_makes_the_title_of_a_first_exchange(store):
    made = store.create(NEW_TITLE)
    name_new(store, made, "Hi!")
    name_new(store, made, GO_ON)
    assert store.conversation(made.id).title == NEW_TITLE
    name_new(store, made, "how do I sort a list?")
    assert store.conversation(made.id).title == "Sort a list"
    store.append(made.id, talk("how do I sort a list?", "With sorted()."))
    model = small('{"titles": ["\\u001b[2J Sorting lists in Python."]}')

    assert await improve_title(Memory(store, made), model)

    assert store.conversation(made.id).title == "\x1b[2J Sorting lists in Python"


@pytest.mark.parametrize("answer", ["I cannot do that.", '{"titles": []}', '{"titles": ["…"]}'])
async def test_what_is_no_title_changes_nothing(store, answer):
    made = store.create(NEW_TITLE)
    name_new(store, made, "Sorting")
    store.append(made.id, talk("Sorting", "Well."))
    assert not await improve_title(Memory(store, made), small(answer))
    assert store.conversation(made.id).title == "Sorting"


async def test_a_given_title_and_a_later_exchange_cost_no_request(store):
    model = small('{"titles": ["Another"]}')
    made = store.create(NEW_TITLE)
    store.append(made.id, talk("Sorting", "Well."))
    store.rename(made.id, "Mine")
    assert not await improve_title(Memory(store, made), model)
    name_new(store, made, "Sorting")
    assert store.conversation(made.id).title == "Mine"

    long = store.create(NEW_TITLE)
    store.append(long.id, talk("Sorting", "Well.", "And now?"))
    assert not await improve_title(Memory(store, long), model)
    assert model.provider.requests == []
