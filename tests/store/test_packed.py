"""Packed JSON: what comes back is what was packed, to the last digit and the type."""

from __future__ import annotations

import struct

import pytest
from hypothesis import given
from hypothesis import strategies as st

from jitchat.store.packed import halved, pack, pack_columns, unpack, unpack_columns
from tests.examples import examples

NUMBERS = (
    st.integers()
    | st.integers(-50, 300)
    | st.floats(allow_nan=False)
    | st.sampled_from([0.0, -0.0, 0.1, 0.125, 0.77, 1.0, 1e300])
    | st.floats(-1, 1).map(lambda number: round(number, 3))
)
TEXTS = st.sampled_from(["retrieved", "index", "left out", "", "[rows]"]) | st.text(max_size=9)
FIELDS = st.none() | st.booleans() | NUMBERS | TEXTS | st.lists(NUMBERS, max_size=3)
PARTS = st.dictionaries(st.sampled_from(["lexical", "dense"]), NUMBERS)


@st.composite
def tables(draw: st.DrawFn) -> list[dict[str, object]]:
    """Rows whose columns mostly have one kind of value, as those of ledgers."""
    kinds = {"turn": st.integers(1, 900), "score": NUMBERS, "reason": TEXTS, "parts": PARTS}
    names = draw(st.lists(st.sampled_from([*kinds, "other"]), unique=True))
    row = st.fixed_dictionaries({name: kinds.get(name, FIELDS) for name in names})
    rows = draw(st.lists(row, max_size=30))
    return rows + draw(st.lists(st.dictionaries(TEXTS, FIELDS, max_size=3), max_size=4))


def test_any_rows_come_back():
    @examples(150)
    @given(tables(), st.dictionaries(TEXTS, FIELDS, max_size=3), tables())
    def come_back(first, header, second):
        read = list(unpack_columns(pack_columns(first, None, header, second)))
        assert repr(read) == repr([first, None, header, second])

    come_back()


def test_the_numbers_of_columns_take_few_bits():
    rows = [
        {"rank": rank, "score": round(1 - rank / 200, 2), "verdict": "index"} for rank in range(100)
    ]
    assert len(pack_columns(rows)) < 160


def test_a_text_that_is_stored_elsewhere_is_needed_to_read_what_repeats_it():
    text = " ".join(f"word{number}" for number in range(200))
    packed = pack(["summary", text[:400]], text)
    assert unpack(packed, text) == ["summary", text[:400]]
    assert len(packed) < 60
    with pytest.raises(ValueError, match="not "):
        unpack(packed, text.replace("word1", "ward1"))


def test_a_changed_byte_is_noticed():
    rows = [{"rank": rank, "score": rank / 100} for rank in range(40)]
    packed, noticed = pack_columns(rows), 0
    for place in range(len(packed)):
        damaged = bytearray(packed)
        damaged[place] ^= 4
        try:
            assert list(unpack_columns(bytes(damaged))) == [rows], "one that means nothing"
        except ValueError:
            noticed += 1
    assert noticed > 0.95 * len(packed)


def test_vectors_are_halved_and_what_is_too_large_is_infinite():
    stored = halved(struct.pack("<4f", 0.5, -0.25, 70_000, float("nan")))
    assert struct.unpack("<4e", stored)[:3] == (0.5, -0.25, float("inf"))
