"""Packed rows of the hot index are found as before, and outdated packs are never used."""

from __future__ import annotations

import builtins
from typing import TYPE_CHECKING

import numpy as np
import pytest
from hypothesis import given
from hypothesis import strategies as st

from jitchat.index import conversation_index, search
from jitchat.index.embedder import NoEmbedder
from jitchat.index.indexer import Progress
from jitchat.index.quantised import products, quantised
from jitchat.index.search import HotIndex
from jitchat.index.segments import Segment
from jitchat.index.tables import IndexRow
from jitchat.index.vectors import Vectors, unit_rows
from jitchat.memory import Memory
from jitchat.values import Role, Status, Turn
from tests.examples import examples
from tests.index.support import FakeEmbedder, index, rows_read
from tests.index.test_truncation import QUESTIONS, TEXTS, rows, state_of, stretches

if TYPE_CHECKING:
    from jitchat.index.embedder import Embedder
    from jitchat.store.store import ColdStore
    from jitchat.values import IndexEntry, Retrieval

EMBEDDER = FakeEmbedder()
steps = st.lists(
    st.tuples(stretches, st.sampled_from(("pack", "store", "truncate", ""))), max_size=5
)


@pytest.fixture(autouse=True)
def _small_segments(monkeypatch):
    monkeypatch.setattr(search, "_SEGMENT", 4)


def walked(taken: list, embedder: Embedder, *, packs: bool) -> HotIndex:
    """An index after adding and removing rows, with or without packing in between."""
    entries: dict[int, IndexEntry] = {}

    def empty() -> HotIndex:
        return HotIndex(embedder, entries_of=lambda places: [entries[place] for place in places])

    made, kept, said = empty(), list[Segment](), list[IndexRow]()
    for stretch, step in taken:
        added = rows(stretch, len(said) + 1)
        entries |= {row.position: row.entry for row in added}
        made.add(added)
        said += added
        if step == "truncate":
            said = said[: len(said) // 2]
            made.truncate(len(said))
            kept = [each for each in kept if each.last <= len(said)]
        elif step and packs:
            fresh = made.pack(len(said) - 1)
            kept = [each for each in kept if not fresh or each.start < fresh[0].start] + fresh
            if step == "store":
                made = empty()
                for each in kept:
                    made.add_segment(each)
                made.add(said[len(made) :])
    return made


@examples(40)
@given(steps)
def test_by_words_packed_rows_are_found_to_the_last_bit_as_others_are(taken):
    plain, packed = (walked(taken, NoEmbedder(), packs=packs) for packs in (False, True))
    assert state_of(packed) == state_of(plain)


def test_a_segment_can_be_added_after_a_search():
    said = rows([(text, None, 1, True) for text in TEXTS], 1)
    source = HotIndex(EMBEDDER)
    source.add(said)
    entries = {row.position: row.entry for row in said}
    segments = source.pack(len(said))
    assert len(segments) == 2

    def opened(*, asked_between: bool) -> HotIndex:
        made = HotIndex(EMBEDDER, entries_of=lambda places: [entries[place] for place in places])
        for each in segments:
            made.add_segment(each)
            if asked_between:
                state_of(made)
        return made

    assert state_of(opened(asked_between=True)) == state_of(opened(asked_between=False))


def test_by_vectors_packed_rows_score_nearly_as_others_do():
    chance = np.random.default_rng(0)
    rows = unit_rows(chance.normal(size=(900, 64)).astype(np.float32) + np.float32(0.3))
    blobs = [row.tobytes() if place % 7 else None for place, row in enumerate(rows)]
    plain, packed = Vectors(64), Vectors(64)
    for made in (plain, packed):
        made.extend(blobs)
    packed.pack(0, 500)
    packed.pack(500, 700)
    packed.pack(500, 880)
    wanted, found = plain.standardised(rows[8]), packed.standardised(rows[8])
    assert np.abs(found - wanted).max() < 0.05
    assert len(set(np.argsort(-found)[:20]) & set(np.argsort(-wanted)[:20])) >= 19
    assert packed.known().tolist() == plain.known().tolist()
    for made in (plain, packed):
        made.truncate(600)
    assert np.abs(packed.standardised(rows[8]) - plain.standardised(rows[8])).max() < 0.1


def test_products_with_quantised_rows_are_off_by_their_rounding_alone():
    chance = np.random.default_rng(0)
    rows = unit_rows(chance.normal(size=(700, 256)).astype(np.float32))
    rows[3] = 0
    made, scales = quantised(rows)
    found = products(made, scales, rows[5])
    assert found[3] == 0
    assert np.abs(found - rows @ rows[5]).max() < 0.005


def test_without_the_fast_library_products_are_the_same(monkeypatch):
    rows = unit_rows(np.random.default_rng(1).normal(size=(700, 256)).astype(np.float32))
    made, scales = quantised(rows)
    fast, found = products(made, scales, rows[5]), builtins.__import__

    def refused(name: str, *rest: object) -> object:
        if name == "simsimd":
            raise ImportError(name)
        return found(name, *rest)

    monkeypatch.setattr(builtins, "__import__", refused)
    assert np.array_equal(products(made, scales, rows[5]), fast)


# what is stored


@pytest.fixture
def memory(store: ColdStore) -> Memory:
    """A talk of fifteen turns, indexed and packed."""
    talk = store.create("A talk")
    turns = [Turn(0, Role.USER, f"{text} Told as {place}.") for place in range(2) for text in TEXTS]
    store.append(talk.id, turns[:15])
    made = Memory(store, talk, EMBEDDER)
    index(made)
    made.index.pack(least=0)
    return made


def asked(memory: Memory) -> list[Retrieval]:
    return [memory.retrieve(each, memory.turns[-1].position + 1) for each in QUESTIONS]


def opened(memory: Memory) -> Memory:
    return Memory(memory.store, memory.conversation, EMBEDDER)


def stored(memory: Memory) -> list[tuple[int, int]]:
    query = "SELECT start, last FROM index_segments ORDER BY start"
    return memory.store.database.fetch_all(query)


def test_what_is_packed_is_not_read_turn_by_turn(memory, monkeypatch):
    assert stored(memory) == [(0, 4), (4, 8), (8, 12), (12, 14)]  # the last turn may change
    before, read = asked(memory), rows_read(monkeypatch)
    assert asked(opened(memory)) == before
    assert read == [15]


def test_a_segment_that_is_not_full_grows(memory):
    memory.add_user_turn("And the tide?")
    memory.add_user_turn("High.")
    index(memory)
    memory.index.pack(least=0)
    assert stored(memory) == [(0, 4), (4, 8), (8, 12), (12, 16)]
    assert asked(opened(memory)) == asked(memory)


@pytest.mark.parametrize(
    "damage",
    [
        "UPDATE index_segments SET content = substr(content, 1, 90) || x'00' WHERE start = 4",
        "UPDATE index_segments SET content = 7 WHERE start = 4",
        "UPDATE index_segments SET checksum = checksum + 1 WHERE start = 4",
        "UPDATE index_segments SET path = '[[1, 3], [6, 8]]' WHERE start = 4",
        "DELETE FROM index_segments WHERE start = 4",
    ],
)
def test_from_a_segment_that_does_not_fit_on_turns_are_read(memory, monkeypatch, damage):
    before = asked(memory)
    memory.store.database.execute(damage)
    read = rows_read(monkeypatch)
    again = opened(memory)
    assert [found.searched for found in asked(again)] == [found.searched for found in before]
    assert read == list(range(5, 16))
    again.index.pack(least=0)
    assert stored(again) == [(0, 4), (4, 8), (8, 12), (12, 14)]


def test_what_another_version_wrote_is_passed_over(memory, monkeypatch):
    monkeypatch.setattr("jitchat.index.segments._FORMAT", 3)
    read = rows_read(monkeypatch)
    asked(opened(memory))
    assert read == list(range(1, 16))


def test_turns_that_are_indexed_again_are_no_longer_packed(memory):
    database = memory.store.database
    database.execute("DELETE FROM vectors WHERE turn = (SELECT id FROM turns WHERE position = 6)")
    index(opened(memory))
    assert stored(memory) == [(0, 4)]


def test_a_turn_whose_status_changes_is_no_longer_packed(memory):
    memory.store.set_status(memory.turns[9], Status.UNANSWERED)
    assert stored(memory) == [(0, 4), (4, 8)]


def test_of_another_branch_only_what_is_shared_is_taken_packed(memory, monkeypatch):
    memory.add_user_turn("And the gateway of the flag?", after=9)
    index(memory)
    read = rows_read(monkeypatch)
    asked(opened(memory))
    assert read == [9, 16]


def test_a_view_of_an_earlier_head_leaves_what_is_packed(memory):
    before, store = stored(memory), memory.store.with_head(memory.conversation.id, 10)
    view = Memory(store, memory.conversation, EMBEDDER)
    assert len(view.turns) == 10
    view.index.pack(least=0)
    assert view.retrieve("gateway?", 11).searched == 10
    assert stored(memory) == before


def test_a_line_that_a_model_wrote_is_shown_of_packed_turns_too(memory):
    memory.index.write_lines("tiny", {memory.turns[0]: "A port is named."})
    assert memory.index.entries([1])[0].summary == "A port is named."


def test_a_database_that_cannot_be_written_packs_in_memory(memory):
    memory.store.database.execute("DELETE FROM index_segments")
    memory.store.database.execute(
        "CREATE TRIGGER full BEFORE INSERT ON index_segments BEGIN SELECT RAISE(FAIL, 'full'); END"
    )
    again = opened(memory)
    before = asked(again)
    again.index.pack(least=0)
    assert [found.searched for found in asked(again)] == [found.searched for found in before]
    assert stored(again) == []


# what is loaded by and by


def test_a_search_uses_what_is_loaded_when_its_patience_ends(memory, monkeypatch):
    monkeypatch.setattr(conversation_index, "_AT_ONCE", 3)
    with memory.store.database.write() as connection:
        connection.execute("DELETE FROM index_segments")
    again = opened(memory)
    again.index.patience = 1e-9
    found = [again.retrieve(QUESTIONS[0], 16) for _ in range(5)]
    assert [each.searched for each in found] == [3, 6, 9, 12, 15]
    assert all(row.turn <= each.searched for each in found for row in each.candidates)
    assert not again.index.is_partial
    assert asked(again) == asked(opened(memory))


def test_remaining_rows_are_loaded_in_the_background_and_reported(memory, monkeypatch):
    monkeypatch.setattr(conversation_index, "_AT_ONCE", 3)
    monkeypatch.setattr(conversation_index, "WORTH_PACKING", 4)
    with memory.store.database.write() as connection:
        connection.execute("DELETE FROM index_segments")
    wanted, again, reported = asked(opened(memory)), opened(memory), []
    again.index.patience = 1e-9
    searched = [again.retrieve(QUESTIONS[0], 16).searched]

    def tell(progress: Progress) -> None:
        reported.append(progress)
        searched.append(again.retrieve(QUESTIONS[0], 16).searched)

    assert not list(again.index.catch_up(on_progress=tell))
    assert [each.done for each in reported] == [6, 9, 12]
    assert searched == [3, 6, 9, 12]  # a search meanwhile loads nothing itself
    assert all(each.loads and each.of == 15 for each in reported)
    assert asked(again) == wanted
