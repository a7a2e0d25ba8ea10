"""Sharing out what a message costs."""

from __future__ import annotations

import pytest
from hypothesis import given
from hypothesis import strategies as st

from jitchat.window.render import shares
from tests.examples import examples
from tests.window.counters import Characters, Lines, Words


@pytest.mark.parametrize("counter", [Characters(), Words(), Lines()])
@examples(16)
@given(texts=st.lists(st.text(max_size=20), max_size=12))
def test_shares_add_up_to_the_price_of_all_texts_joined(counter, texts):
    found = shares(texts, counter.count)
    assert len(found) == len(texts)
    assert sum(found) == (counter.count("".join(texts)) if texts else 0)
    assert all(share >= 0 for share in found)


def test_what_a_counter_rounds_up_is_taken_from_the_first_texts():
    texts = ["abcde", "a", "abcdefgh", "abcdef", "ab"]
    assert [Characters().count(text) for text in texts] == [2, 1, 2, 2, 1]
    assert shares(texts, Characters().count) == [1, 0, 2, 2, 1]


def test_texts_that_add_up_keep_their_own_price():
    assert shares(["abcd", "abcdefgh", ""], Characters().count) == [1, 2, 0]
