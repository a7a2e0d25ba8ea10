"""The amount of text written or embedded at once is bounded, whatever the turns."""

from __future__ import annotations

from itertools import chain, pairwise
from typing import TYPE_CHECKING

from hypothesis import given
from hypothesis import strategies as st

from jitchat.index.indexer import parts_of, slices_of
from tests.examples import examples
from tests.support import talk

if TYPE_CHECKING:
    from jitchat.values import Turn

LENGTHS = st.lists(st.sampled_from([0, 1, 40, 300, 4_000, 30_000, 70_000]), max_size=60)


def of_lengths(*lengths: int) -> list[Turn]:
    return talk(*("x" * length for length in lengths))


def letters(turns: list[Turn]) -> list[int]:
    return [len(turn.content) for turn in turns]


@examples(25)
@given(LENGTHS)
def test_the_parts_are_the_turns_in_order_and_each_is_soon_written(lengths):
    turns = of_lengths(*lengths)
    parts = [list(part) for part in parts_of(turns)]
    assert list(chain.from_iterable(parts)) == turns
    assert all(len(part) == 1 or sum(letters(part)) <= 32_768 for part in parts)
    for part, following in pairwise(parts):
        assert sum(letters(part)) + letters(following)[0] > 32_768


@examples(25)
@given(LENGTHS)
def test_every_turn_is_in_one_slice_and_no_slice_takes_long(lengths):
    turns = of_lengths(*lengths)
    slices = list(slices_of(turns))
    assert sorted(chain.from_iterable(slices), key=lambda turn: turn.position) == turns
    for each in slices:
        assert 1 <= len(each) <= 16
        assert len(each) == 1 or len(each) * max(letters(each)) <= 4_096


def test_turns_of_one_length_are_embedded_together():
    slices = list(slices_of(of_lengths(*[20, 1_500] * 8)))
    assert [letters(each) for each in slices] == [[20] * 8, *[[1_500] * 2] * 4]


def test_of_very_short_turns_sixteen_are_embedded_at_once():
    assert [len(each) for each in slices_of(of_lengths(*[2] * 40))] == [16, 16, 8]
