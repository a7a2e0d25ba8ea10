"""Windows that were sent: kept byte for byte, and each text only once."""

from __future__ import annotations

import json
from typing import TYPE_CHECKING

import pytest
from hypothesis import given
from hypothesis import strategies as st

from jitchat.errors import StoreUnreadable
from jitchat.store.packed import pack, pack_columns, unpack
from jitchat.store.windows import Ending, WindowArchive, WindowRecord
from jitchat.values import Turn, Usage
from tests.examples import examples
from tests.support import conversation_of, talk

if TYPE_CHECKING:
    from jitchat.store.database import Database

HEADER = {"mode": "full", "model": "m", "budget": {"limit": 10}, "exact": True}
LEDGER = [{"turn": 1, "score": 0.25, "parts": {"lexical": 0.25}, "verdict": "kept"}]


@pytest.fixture
def archive(database):
    return WindowArchive(database)


@pytest.fixture
def turns(store):
    return store.turns(conversation_of(store, talk("Hello.", "Hi!", "Which port?")).id)


def segment(text: str, turn: Turn | None = None) -> dict:
    kind = "recent" if turn else "system"
    position, key = (turn.position, turn.id) if turn else (None, None)
    return {
        "kind": kind,
        "turn": position,
        "role": "user",
        "tokens": 3,
        "reason": "recent block",
        "pieces": [{"message": 1, "tokens": 3, "text": text}],
        "turn_id": key,
    }


def shown(segments: list[dict]) -> list[dict]:
    return [{key: value for key, value in each.items() if key != "turn_id"} for each in segments]


def count(database: Database, table: str) -> int:
    with database.read() as connection:
        return connection.execute(f"SELECT count(*) FROM {table}").fetchone()[0]


def test_a_window_is_stored_unchanged(archive, turns):
    segments = [segment("You are…\n\x1b"), *(segment(turn.content, turn) for turn in turns)]
    segments.append(segment("#2 Hi!", turns[1]))
    window = archive.put(turns[2].id, WindowRecord("digest", HEADER, segments, LEDGER))
    assert archive.by_id(window) == WindowRecord("digest", HEADER, shown(segments), LEDGER)


def test_of_two_windows_for_a_turn_the_later_one_applies(archive, turns):
    assert archive.window_id(turns[2]) is None
    ids = [archive.put(turns[2].id, WindowRecord(name, HEADER, [], [])) for name in ("a", "b")]
    assert archive.window_id(turns[2]) == ids[1]


def test_an_unchanged_turn_is_referenced_and_not_copied(archive, turns, database):
    window = archive.put(turns[2].id, WindowRecord("d", HEADER, [segment("Hello.", turns[0])], []))
    with database.read() as connection:
        rows = connection.execute("SELECT content FROM pieces").fetchall()
    assert not any("Hello." in json.dumps(unpack(row, "Hello.")) for (row,) in rows)
    assert archive.by_id(window).segments[0]["pieces"][0]["text"] == "Hello."


def test_a_long_chat_in_full_does_not_store_itself_squared(archive, store, database):
    """After n sends each segment is stored once, and lists of them are a few bytes a segment."""
    made = store.create("Long")
    sends = 100
    for number in range(sends):
        said = store.append(made.id, talk(f"question {number} " + "x" * 500))[0]
        segments = [segment("You are helpful.")]
        segments += [segment(turn.content, turn) for turn in store.turns(made.id)]
        archive.put(said.id, WindowRecord(f"d{number}", HEADER, segments, []))
        store.append(made.id, talk(f"answer {number} " + "y" * 500))
    with database.read() as connection:
        largest = connection.execute("SELECT max(length(packed)) FROM windows").fetchone()[0]
    assert count(database, "pieces") == 2 * sends
    assert largest < 200
    assert count(database, "windows") == sends


def test_windows_that_each_extend_the_one_before_store_what_is_new(
    archive, store, database, rounds
):
    """What windows add is at most 1.2 times the bytes of their new texts."""
    made = store.create("Long")
    segments = [segment("You are helpful.")]
    said = store.append(made.id, talk("Go on."))[0]
    archive.put(said.id, WindowRecord("d", HEADER, segments, []))
    before, new = _size(database), 0
    for number in range(rounds(100, 200)):
        for words in range(6):
            text = f"{number}.{words} " + "what a model recalls of it " * 30
            tokens = 200 + 7 * number % 31
            added = segment(text) | {"tokens": tokens, "reason": f"rank {words} on “{number}”"}
            added["pieces"] = [{"message": number + 2, "tokens": tokens - 4, "text": text}]
            segments.append(added)
            new += len(text)
        archive.put(said.id, WindowRecord(f"d{number}", HEADER, segments, []))
    assert _size(database) - before < 1.2 * new


def _size(database: Database) -> int:
    with database.read() as connection:
        pieces = connection.execute("SELECT sum(length(content) + 6) FROM pieces").fetchone()[0]
        lists = connection.execute("SELECT sum(length(packed) + length(header)) FROM windows")
        return pieces + lists.fetchone()[0]


def test_the_reported_usage_is_stored_with_the_reply(archive, turns, database):
    window = archive.put(turns[0].id, WindowRecord("d", HEADER, [], []))
    archive.close(window, Ending(turns[1].id, Usage(1200, 34, 1000)))
    with database.read() as connection:
        row = connection.execute(
            "SELECT w.reply, q.input_tokens, q.output_tokens, q.cached_tokens"
            " FROM windows w JOIN requests q ON q.window = w.id"
        ).fetchone()
    assert row == (turns[1].id, 1200, 34, 1000)


def test_a_window_without_reply_and_usage_is_closed_as_such(archive, turns, database):
    archive.close(archive.put(turns[0].id, WindowRecord("d", HEADER, [], [])), Ending())
    with database.read() as connection:
        query = "SELECT reply, q.input_tokens, billed FROM windows, requests q"
        assert connection.execute(query).fetchone() == (None, None, 0)


def test_a_count_beyond_64_bits_does_not_crash(archive, turns, database):
    window = archive.put(turns[0].id, WindowRecord("d", HEADER, [], []))
    archive.close(window, Ending(usage=Usage(2**70, -(2**70), 2**63)))
    with database.read() as connection:
        row = connection.execute(
            "SELECT input_tokens, output_tokens, cached_tokens FROM requests"
        ).fetchone()
    assert row == (2**63 - 1, 0, 2**63 - 1)


@pytest.mark.parametrize(
    "damage",
    [
        "DELETE FROM pieces",
        "UPDATE windows SET packed = 'x'",
        "UPDATE windows SET packed = x'00'",
        "UPDATE windows SET packed = packed || x'00'",
        f"UPDATE windows SET packed = x'{pack({'rows': 1}).hex()}'",
        f"UPDATE windows SET packed = x'{pack_columns(None, [], {}, None).hex()}'",
        f"UPDATE windows SET packed = x'{pack_columns(None, [{'identity': 1}], {}, []).hex()}'",
        "UPDATE pieces SET content = 'x'",
        "UPDATE windows SET header = ''",
        f"UPDATE pieces SET content = x'{pack({'pieces': [{'same_as': 999}]}).hex()}'",
    ],
)
def test_a_damaged_window_is_reported(archive, turns, database, damage):
    archive.put(turns[0].id, WindowRecord("d", HEADER, [segment("text")], LEDGER))
    with database.write() as connection:
        connection.execute(damage)
    with pytest.raises(StoreUnreadable, match="damaged"):
        archive.by_id(1)


def test_nothing_is_left_of_a_window_that_could_not_be_stored(archive, turns, database):
    with pytest.raises(TypeError):
        archive.put(turns[0].id, WindowRecord("d", {"x": object()}, [segment("text")], []))
    assert (count(database, "blobs"), count(database, "windows")) == (0, 0)


def test_any_texts_are_stored_unchanged(archive, store):
    @examples(12)
    @given(st.lists(st.text(max_size=40), max_size=150))
    def come_back(texts):
        turns = store.append(store.create("T").id, talk(*texts, "end"))
        segments = [
            segment(text.replace("\0", "␀"), turn) for text, turn in zip(texts, turns, strict=False)
        ]
        window = archive.put(turns[-1].id, WindowRecord("d", HEADER, segments, LEDGER))
        assert archive.by_id(window).segments == shown(segments)

    come_back()


def test_the_ending_of_a_window_can_be_read(archive, turns):
    said, ending = turns[2].id, Ending(turns[1].id, Usage(10, None, 4, 2), "length", 0.5, "work")
    assert archive.ending(1) is None
    first = archive.put(said, WindowRecord("first", HEADER, [], []), Ending(provider="work"))
    archive.close(first, ending)
    second = archive.put(said, WindowRecord("second", HEADER, [], []))
    assert archive.ending(first) == ending
    assert archive.ending(second) == Ending()
