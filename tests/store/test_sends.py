"""The list of sends: the figures of every request in a conversation, without the texts."""

from __future__ import annotations

from dataclasses import asdict
from datetime import UTC, datetime
from typing import TYPE_CHECKING

import pytest

from jitchat.errors import StoreUnreadable
from jitchat.store.windows import Ending, Send, WindowArchive, WindowRecord
from jitchat.values import Mode, Usage
from jitchat.window.budget import Budget
from tests.store.segments import record_of
from tests.support import conversation_of, talk

if TYPE_CHECKING:
    from jitchat.store.store import ColdStore

HEADER = {
    "mode": "jit",
    "model": "m-1",
    "exact": False,
    "budget": asdict(Budget(1_000, 200)),
    "full_tokens": 120,
    "band": 7,
}
MOMENT = datetime(2026, 11, 3, 9, 30, tzinfo=UTC)


def segment(kind: str, tokens: int) -> dict:
    return record_of(kind, f"{tokens} words", tokens, turn=None, role="user")


SEGMENTS = [segment("system", 9), segment("recent", 20), segment("recent", 4)]
RECORD = WindowRecord("digest", HEADER, SEGMENTS, [], MOMENT)


@pytest.fixture
def archive(database):
    return WindowArchive(database)


@pytest.fixture
def turns(store):
    return store.turns(conversation_of(store, talk("Hello.", "Hi!", "Which port?", "8443.")).id)


def listed(store: ColdStore) -> list[Send]:
    return WindowArchive(store.database).sends("chat-1")


def change(store: ColdStore, statement: str) -> None:
    with store.database.write() as connection:
        connection.execute(statement)


def test_a_send_is_listed_with_its_figures_and_how_it_ended(archive, store, turns):
    assert listed(store) == []
    window = archive.put(turns[2].id, RECORD, Ending(provider="work"))
    archive.close(window, Ending(turns[3].id, Usage(40, 5, 30), "stop", 0.25, "work"))
    send = Send(
        *(window, 3, 4, MOMENT, Mode.JIT, "m-1", "work", {"limit": 1_000, "reserve": 200}),
        *({"system": 9, "recent": 24}, 120, 7, False, Usage(40, 5, 30), 0.25, "stop"),
        *("digest", None),
    )
    assert listed(store) == [send]
    assert (send.used, send.free, send.reserve, send.limit) == (33, 767, 200, 1_000)


def test_sends_of_all_branches_are_in_the_order_of_sending(archive, store, turns):
    first = archive.put(turns[2].id, RECORD)
    beside = store.append("chat-1", talk("From the start."), 0)[0]
    other = conversation_of(store, talk("Elsewhere."))
    archive.put(store.turns(other.id)[0].id, RECORD)
    ids = [first, archive.put(beside.id, RECORD), archive.put(turns[0].id, RECORD)]
    found = listed(store)
    assert [send.window_id for send in found] == ids
    assert [send.said for send in found] == [3, 5, 1]
    assert {send.reply for send in found} == {None}


def test_a_window_of_many_segments_has_the_sum_of_each_kind(archive, store, turns):
    many = [segment("system", 9), *(segment("recent", number) for number in range(100))]
    archive.put(turns[0].id, WindowRecord("d", HEADER, many, []))
    assert listed(store)[0].sizes == {"system": 9, "recent": sum(range(100))}
    assert listed(store)[0].sent_at is None


def test_the_stored_parts_of_the_request_are_listed(archive, store, turns):
    archive.put(turns[0].id, RECORD)
    change(store, """UPDATE windows SET request = '{"url": "http://localhost"}'""")
    assert listed(store)[0].request == {"url": "http://localhost"}


def test_listing_reads_no_text_of_a_window(archive, store, turns):
    archive.put(turns[0].id, RECORD)
    change(store, "DELETE FROM pieces")
    assert len(listed(store)) == 1


@pytest.mark.parametrize(
    "damage",
    [
        "header = ''",
        "header = '[]'",
        """header = json_set(header, '$.mode', 'other')""",
        """header = json_set(header, '$.budget', 7)""",
        """header = json_set(header, '$.budget.limit', 'x')""",
        """sizes = '{"system": "x"}'""",
        "sizes = '7'",
        "sizes = NULL",
        "sent_at = 'x'",
        "request = '{'",
    ],
)
def test_a_damaged_row_is_reported(archive, store, turns, damage):
    archive.put(turns[0].id, RECORD)
    change(store, f"UPDATE windows SET {damage}")
    with pytest.raises(StoreUnreadable, match="damaged"):
        listed(store)


def test_a_window_is_read_by_its_id(archive, turns):
    first, second = (archive.put(turns[2].id, RECORD) for _ in range(2))
    assert archive.by_id(first) == archive.by_id(second) == RECORD
    with pytest.raises(LookupError):
        archive.by_id(second + 1)
