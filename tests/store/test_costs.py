"""The cost of a conversation: all its sends, with unknown costs counted separately."""

from __future__ import annotations

from typing import TYPE_CHECKING

import pytest

from jitchat.store.database import Database
from jitchat.store.requests import RequestLog, Spent
from jitchat.store.usage import Grouping, usage_by
from jitchat.store.windows import Ending, WindowArchive, WindowRecord
from jitchat.values import Usage
from tests.support import conversation_of, talk

if TYPE_CHECKING:
    from jitchat.store.store import ColdStore

USAGE = Usage(100, 10)


class Sends:
    """Sends of one conversation, each ending in its own way."""

    def __init__(self, store: ColdStore) -> None:
        self.conversation = conversation_of(store, talk("Which port?", "8443.")).id
        self.said, self.reply = (turn.id for turn in store.turns(self.conversation))
        self.archive = WindowArchive(store.database)

    def send(self, *, answered: bool = True, model: str = "m", **ending: object) -> None:
        window = self.archive.put(self.said, WindowRecord("d", {"model": model}, [], []))
        reply = self.reply if answered else None
        self.archive.close(window, Ending(reply, **ending))  # type: ignore[arg-type]


@pytest.fixture
def sends(store: ColdStore) -> Sends:
    return Sends(store)


def spent(store: ColdStore, sends: Sends) -> Spent:
    return RequestLog(store.database).spent(sends.conversation)


def test_alternatives_and_failures_count(store, sends):
    sends.send(usage=USAGE, cost=0.25, provider="work")
    sends.send(usage=USAGE, cost=0.5, provider="work")
    sends.send(usage=Usage(100, 0), cost=0.125, provider="work", answered=False)

    assert spent(store, sends) == Spent(0.875, 0)


@pytest.mark.parametrize(
    ("ending", "unknown"),
    [
        ({"usage": USAGE, "provider": "work"}, 1),
        ({"usage": None, "provider": "work"}, 1),
        ({"usage": USAGE, "provider": "work", "answered": False}, 1),
        ({"usage": None, "provider": "work", "answered": False}, 0),
        ({"usage": None, "counted": USAGE, "provider": "work", "answered": False}, 1),
        ({"usage": USAGE, "model": "gpt-4"}, 1),
        ({"usage": USAGE, "cost": 0.0, "provider": "ollama"}, 0),
    ],
)
def test_a_reply_of_unknown_cost_is_counted_and_a_refused_request_is_not(
    store, sends, ending, unknown
):
    sends.send(usage=USAGE, cost=0.25, provider="work")
    sends.send(**ending)

    assert spent(store, sends) == Spent(0.25, unknown)


def test_costs_are_totalled_per_conversation(store, sends):
    other, unused = Sends(store), Sends(store)
    sends.send(usage=USAGE, cost=0.25, provider="work")
    other.send(usage=USAGE, cost=1.0, provider="work")

    assert RequestLog(store.database).spent_by_conversation() == {
        sends.conversation: Spent(0.25),
        other.conversation: Spent(1.0),
    }
    assert spent(store, unused) == Spent()


def test_billed_requests_are_copied_without_their_conversation(store, sends, tmp_path):
    sends.send(usage=USAGE, cost=0.25, provider="work")
    sends.send(answered=False)
    other = Database(tmp_path / "own.db")
    RequestLog(store.database).copy_to(other)
    (row,) = usage_by(other, Grouping.CONVERSATION)
    assert (row.name, row.spent, row.spent.sends) == ("none, or deleted", Spent(0.25), 1)
    other.close()
