"""Damaged files are read or refused with an error, and never partly stored."""

from __future__ import annotations

import json
import random
from typing import TYPE_CHECKING

from hypothesis import given
from hypothesis import strategies as st

from jitchat.errors import ImportFailed
from jitchat.index.embedder import NoEmbedder
from jitchat.index.indexer import Indexer
from jitchat.transfer.locomo import is_locomo, read_locomo
from jitchat.transfer.plain import read_plain
from tests.examples import examples
from tests.transfer.files import jsonl, locomo_sample, plain_turns, read_file, take, written

if TYPE_CHECKING:
    from collections.abc import Callable
    from pathlib import Path

    from jitchat.store.store import ColdStore
    from jitchat.transfer.turns import FileConversation

WHOLE = [
    json.dumps([locomo_sample(), locomo_sample("conv-2")]).encode(),
    json.dumps(plain_turns(8), indent=1).encode(),
    jsonl(plain_turns(8)).encode(),
    json.dumps({"messages": plain_turns(3)}).encode("utf-16"),
]
INSERTED = [
    b"\0",
    b"\xff\xfe",
    b'"',
    b"{",
    b"[[[[",
    b"}",
    b",",
    b"\\ud800",
    b"1e999",
    b"null",
    b"\x1b[2J",
]


def mutated(whole: bytes, luck: random.Random) -> bytes:
    """Return the file with one to four random damages."""
    data = bytearray(whole)
    for _ in range(luck.randint(1, 4)):
        at = luck.randrange(len(data) + 1)
        injury = luck.randrange(5)
        if injury == 0:
            del data[at : at + luck.randint(1, 40)]
        elif injury == 1:
            data[at:at] = luck.choice(INSERTED)
        elif injury == 2:
            data[at : at + 1] = bytes([luck.randrange(256)])
        elif injury == 3:
            del data[at:]
        else:
            data[at:at] = data[at : at + luck.randint(1, 200)]
    return bytes(data)


def read_or_refused(path: Path) -> tuple[list[FileConversation], str]:
    """Return what was read, or the error about the file; any other outcome is a failure."""
    try:
        return read_file(path), ""
    except ImportFailed as error:
        return [], str(error)


def test_a_damaged_file_is_read_or_refused_and_never_half_stored(
    tmp_path: Path, store: ColdStore, rounds: Callable[[int, int], int]
):
    stored = refused = 0
    for seed in range(rounds(120, 10_000)):
        luck = random.Random(seed)
        path = written(tmp_path, "damaged", mutated(luck.choice(WHOLE), luck))
        before = len(store.conversations())
        found, told = read_or_refused(path)
        if told:
            assert str(path) in told, f"seed {seed}"
            assert len(store.conversations()) == before, f"seed {seed}"
            refused += 1
            continue
        for read, made in zip(found, take(store, path, is_whole=False), strict=True):
            if made.id and made.is_new:
                turns = tuple(turn for turn in store.turns(made.id))
                assert turns == read.turns, f"seed {seed}"
                list(Indexer(store, made.id, NoEmbedder()).catch_up())
        stored += 1
        store = _emptied(store)

    assert min(stored, refused) > rounds(120, 10_000) // 5


def _emptied(store: ColdStore) -> ColdStore:
    """Without the conversations, so that counting them stays cheap."""
    with store.database.write() as connection:
        for table in ("vectors", "index_entries", "imported_conversations", "imported_turns",
                      "turns", "conversations"):  # fmt: skip
            connection.execute(f"DELETE FROM {table}")
        connection.execute("INSERT INTO search_tokens (search_tokens) VALUES ('delete-all')")
    return store


values = st.recursive(
    st.none() | st.booleans() | st.integers() | st.floats() | st.text(max_size=8),
    lambda inner: (
        st.lists(inner, max_size=3) | st.dictionaries(st.text(max_size=8), inner, max_size=3)
    ),
    max_leaves=8,
)


@examples(24)
@given(
    items=st.lists(
        st.fixed_dictionaries(
            {}, optional=dict.fromkeys(("role", "content", "name", "created_at"), values)
        )
        | values,
        max_size=4,
    )
)
def test_every_item_of_a_random_plain_list_is_imported_or_counted(items: list[object]):
    (found,) = read_plain(items, "talk")

    assert len(found.turns) + sum(found.skipped.values()) == len(items)


@examples(24)
@given(
    key=st.sampled_from(
        ["speaker_a", "speaker_b", "session_1", "session_2_date_time", "sample_id"]
    ),
    value=values,
)
def test_every_item_of_random_locomo_data_is_imported_or_counted(key: str, value: object):
    sample = locomo_sample(**{key: value})

    assert is_locomo([sample])
    (found,) = read_locomo([sample])
    session = value if key == "session_1" else [1, 2]
    items = len(session) + 2 if isinstance(session, list) else 3
    assert len(found.turns) + sum(found.skipped.values()) == items
