"""The benchmark of indexing: both sides embed the same texts, of the stated lengths."""

from __future__ import annotations

from typing import TYPE_CHECKING

import pytest

from jitchat.errors import EmbedderUnavailable
from tests.benchmarks.backlog import WORDS, index, measured, mixed_turns, texts_of
from tests.index.support import FailingEmbedder, FakeEmbedder
from tests.support import talk

if TYPE_CHECKING:
    import numpy as np


class Model:
    """As much of `TextEmbedding` as is timed."""

    def __init__(self) -> None:
        self.asked: list[tuple[list[str], int]] = []

    def embed(self, texts: list[str], batch_size: int) -> list[np.ndarray]:
        self.asked.append((texts, batch_size))
        return []


def test_the_prose_is_the_same_each_time_and_both_short_and_long():
    turns = mixed_turns(40)
    assert turns == mixed_turns(40)
    assert {len(turn.content.split()) for turn in turns} == set(WORDS)
    assert len({turn.content for turn in turns}) == 40


def test_both_sides_get_the_same_texts_in_every_round():
    turns, embedder = mixed_turns(20), FakeEmbedder()
    embedder._model = model = Model()
    rounds = measured(turns, embedder, 2, 256)
    texts = [turn.content for turn in turns]
    assert model.asked == [(texts, 256)] * 3
    assert sorted(text for asked in embedder.asked for text in asked) == sorted(texts * 3)
    assert len(rounds) == 2
    assert all(each.within < each.backlog.seconds for each in rounds)


def test_a_text_that_the_backlog_cuts_is_no_fair_comparison():
    long = talk("x" * 5_000)
    with pytest.raises(AssertionError, match="other texts"):
        texts_of(long, FakeEmbedder())


def test_a_backlog_without_vectors_is_not_timed():
    with pytest.raises(EmbedderUnavailable):
        index(mixed_turns(2), FailingEmbedder())
