"""A damaged database: never overwritten, and every damage ends as a sentence."""

from __future__ import annotations

import random
import sqlite3
from pathlib import Path
from typing import TYPE_CHECKING

import pytest

from jitchat.errors import StoreError, StoreUnreadable
from jitchat.memory import Memory
from jitchat.store.database import Database
from jitchat.store.drafts import sent_drafts
from jitchat.store.store import ColdStore
from jitchat.store.windows import WindowArchive, WindowRecord
from tests.index.support import FakeEmbedder
from tests.store.segments import record_of
from tests.support import talk

if TYPE_CHECKING:
    from collections.abc import Callable

PAGE = 4096
HEADER = 100
SENT_HEADER = {
    "mode": "full",
    "model": "m",
    "exact": True,
    "budget": {"limit": 10_000, "reserve": 100},
    "full_tokens": 100,
}


@pytest.fixture(scope="module")
def healthy(tmp_path_factory) -> bytes:
    """A database with everything in it."""
    path = tmp_path_factory.mktemp("healthy") / "cold.db"
    store = ColdStore(Database(path))
    made = store.create("Talk", "talk")
    memory = Memory(store, made, FakeEmbedder())
    for number in range(30):
        said = memory.add_user_turn(f"Question {number}: which port? " + "x" * 200)
        texts = [(f"system {number}", None), *((turn.content, turn.id) for turn in memory.turns)]
        segments = [record_of("recent", text, 5, turn_id=turn_id) for text, turn_id in texts]
        memory.archive.put(said.id, WindowRecord("d", SENT_HEADER, segments, [{"turn": 1}]))
        store.append(made.id, talk(f"We agreed on {number}.", f"Ann said {number}."))
        memory.refresh()
    list(memory.index.catch_up())
    store.database.close()
    return path.read_bytes()


def look_at_everything(path: Path) -> bool:
    """Read all there is; whether it could be read."""
    try:
        database = Database(path)
    except StoreError as error:
        require_a_sentence(error)
        return False
    store = ColdStore(database)
    told = [
        error
        for look in (look_at_list, look_at_talk, look_at_index, look_at_windows, search)
        if (error := failure_of(look, store)) is not None
    ]
    database.close()
    for error in told:
        require_a_sentence(error)
    return not told


def failure_of(look: Callable[[ColdStore], object], store: ColdStore) -> StoreError | None:
    try:
        look(store)
    except StoreError as error:
        return error
    return None


def look_at_list(store: ColdStore) -> None:
    store.conversations()
    sent_drafts(store.database, 100)


def look_at_talk(store: ColdStore) -> None:
    for each in store.conversations():
        store.turns(each.id)


def look_at_index(store: ColdStore) -> None:
    for each in store.conversations():
        memory = Memory(store, each, FakeEmbedder())
        memory.retrieve("Which port did we agree on?", 1_000)


def look_at_windows(store: ColdStore) -> None:
    for each in store.conversations():
        memory = Memory(store, each)
        for turn in memory.turns:
            if (window_id := memory.archive.window_id(turn)) is not None:
                memory.archive.by_id(window_id)
        WindowArchive(store.database).sends(each.id)


def search(store: ColdStore) -> None:
    store.search("question agreed")
    store.search("port")


def require_a_sentence(error: StoreError) -> None:
    assert error.what[0].isprintable()
    assert error.what.endswith(".")
    assert "\n" not in error.what
    assert error.remedy


def zero(data: bytearray, start: int, size: int) -> None:
    data[start : start + size] = bytes(len(data[start : start + size]))


def flip(data: bytearray, chance: random.Random, start: int, stop: int, count: int) -> None:
    for _ in range(count):
        data[chance.randrange(start, stop)] ^= 1 << chance.randrange(8)


def wipe_header(data: bytearray, _: random.Random) -> None:
    zero(data, 0, HEADER)


def flip_header(data: bytearray, chance: random.Random) -> None:
    flip(data, chance, 0, HEADER, 4)


def cut(data: bytearray, chance: random.Random) -> None:
    del data[chance.randrange(1, len(data)) :]


def zero_page(data: bytearray, chance: random.Random) -> None:
    zero(data, PAGE * chance.randrange(len(data) // PAGE), PAGE)


def flip_bits(data: bytearray, chance: random.Random) -> None:
    flip(data, chance, HEADER, len(data), chance.randrange(1, 200))


def shuffle_pages(data: bytearray, chance: random.Random) -> None:
    first, second = (PAGE * chance.randrange(len(data) // PAGE) for _ in range(2))
    data[first : first + PAGE], data[second : second + PAGE] = (
        data[second : second + PAGE],
        data[first : first + PAGE],
    )


MUTATIONS = (wipe_header, flip_header, cut, zero_page, flip_bits, shuffle_pages)


def test_the_healthy_one_can_be_read(healthy, tmp_path):
    (tmp_path / "cold.db").write_bytes(healthy)
    assert look_at_everything(tmp_path / "cold.db")
    assert (tmp_path / "cold.db").read_bytes() == healthy


@pytest.mark.parametrize("mutate", MUTATIONS)
def test_every_damage_ends_as_a_sentence_and_nothing_is_overwritten(
    healthy, tmp_path, mutate, rounds
):
    path = tmp_path / "cold.db"
    for number in range(rounds(10, 170)):
        data = bytearray(healthy)
        mutate(data, random.Random(number))
        path.write_bytes(data)
        look_at_everything(path)
        assert path.read_bytes()[HEADER:] == data[HEADER:]
        for beside in ("-wal", "-shm"):
            Path(f"{path}{beside}").unlink(missing_ok=True)


def test_a_lost_first_page_is_not_taken_for_a_new_database(healthy, tmp_path):
    data = bytearray(healthy)
    zero(data, HEADER, PAGE - HEADER)
    (tmp_path / "cold.db").write_bytes(data)
    assert not look_at_everything(tmp_path / "cold.db")
    assert (tmp_path / "cold.db").read_bytes() == data


def test_a_schema_without_entries_is_damage_and_not_a_new_database(healthy, tmp_path):
    """The table of tables says that it is empty, and there are pages all the same."""
    data = bytearray(healthy)
    data[HEADER : HEADER + 8] = bytes([13, 0, 0, 0, 0, PAGE >> 8, PAGE & 255, 0])
    (tmp_path / "cold.db").write_bytes(data)
    assert not look_at_everything(tmp_path / "cold.db")
    assert (tmp_path / "cold.db").read_bytes() == data


def test_a_log_of_something_else_beside_the_database_is_survived(healthy, tmp_path):
    (tmp_path / "cold.db").write_bytes(healthy)
    (tmp_path / "cold.db-wal").write_bytes(random.Random(1).randbytes(50_000))
    assert look_at_everything(tmp_path / "cold.db")
    assert (tmp_path / "cold.db").read_bytes() == healthy


def test_the_same_damage_while_it_is_open_is_told_too(healthy, tmp_path):
    path = tmp_path / "cold.db"
    path.write_bytes(healthy)
    store = ColdStore(Database(path))
    data = bytearray(healthy)
    zero(data, PAGE, len(data) - PAGE)
    path.write_bytes(data)
    told = [failure_of(look, store) for look in (look_at_list, look_at_talk, search)]
    assert any(told)
    for error in filter(None, told):
        require_a_sentence(error)
    store.database.close()


def test_what_became_of_the_file_is_told_as_it_is(healthy, tmp_path):
    path = tmp_path / "cold.db"
    path.write_bytes(healthy)
    edited = sqlite3.connect(path)
    edited.execute("UPDATE conversations SET created_at = 'never'")
    edited.commit()
    edited.close()

    store = ColdStore(Database(path))
    with pytest.raises(StoreUnreadable, match=r"is damaged.* It was not changed"):
        store.conversations()
    with store.database.write() as connection:
        connection.execute("UPDATE conversations SET title = title")
    with pytest.raises(StoreUnreadable, match=r"is damaged.* It was written to before this"):
        store.conversations()
    store.database.close()
