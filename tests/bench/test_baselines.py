"""The baselines follow their textbook definitions."""

from __future__ import annotations

import random
from math import log
from typing import TYPE_CHECKING

import numpy as np
import pytest

from jitchat.bench.recall import Bm25, Cosine, fused

if TYPE_CHECKING:
    from collections.abc import Sequence

TEXTS = ("the cat sat on the mat", "the dog", "A CAT, a cat!", "birds")


def textbook(texts: Sequence[str], question: str) -> list[float]:
    """Okapi BM25, written out word by word; texts of lower-case words and blanks."""
    split = [text.split() for text in texts]
    mean = sum(map(len, split)) / len(split)
    scores = []
    for words in split:
        damping = 1.2 * (0.25 + 0.75 * len(words) / mean)
        total = 0.0
        for word in question.split():
            having = sum(word in each for each in split)
            idf = log(1 + (len(split) - having + 0.5) / (having + 0.5))
            total += idf * words.count(word) * 2.2 / (words.count(word) + damping)
        scores.append(total)
    return scores


def test_bm25_ranks_by_the_textbooks_scores():
    draw = random.Random(7)
    texts = [" ".join(draw.choices("bcdefghj", k=draw.randint(1, 30))) for _ in range(40)]
    for question in ("b", "b c", "c c d", "h g f e d c b j"):
        scores = textbook(texts, question)
        wanted = sorted((row for row in range(40) if scores[row]), key=lambda row: -scores[row])
        assert Bm25(texts).ranked(question) == wanted


def test_a_word_is_a_run_of_letters_in_whatever_case():
    assert Bm25(TEXTS).ranked("Cat?") == [2, 0]


def test_bm25_compares_stems_without_stop_words():
    bm25 = Bm25(TEXTS)
    assert bm25.ranked("bird") == [3]
    assert bm25.ranked("what is on the") == []
    assert bm25.ranked("") == []
    assert bm25.ranked("birds birds") == [3]


def test_bm25_takes_each_character_of_chinese_for_a_word():
    assert Bm25(("我家的猫", "天气很好")).ranked("猫在哪里") == [0]


def test_of_equals_the_earlier_comes_first():
    assert Bm25(("b c", "c b", "d")).ranked("b") == [0, 1]


def test_bm25_of_nothing_finds_nothing():
    assert Bm25(()).ranked("b") == Bm25(("", "")).ranked("b") == []


class Compass:
    """Knows where four words point."""

    id, dimension = "compass", 2
    points = {"east": (2, 0), "north": (0, 3), "north-east": (1, 1), "south": (0, -1)}  # noqa: RUF012

    def embed(self, texts: Sequence[str]) -> np.ndarray:
        return np.array([self.points[text] for text in texts], dtype=np.float32)


def test_the_cosine_ranks_all_texts_by_direction_alone():
    assert Cosine(tuple(Compass.points), Compass()).ranked("east") == [0, 2, 1, 3]


def test_rankings_are_fused_by_reciprocal_ranks_with_k_of_60():
    # 0: 1/61 + 1/63; 1: 2/62; 2: 1/63; 3: 1/61
    assert 1 / 61 + 1 / 63 > 2 / 62 > 1 / 61 > 1 / 63
    assert fused([[0, 1, 2], [3, 1, 0]]) == [0, 1, 3, 2]


@pytest.mark.parametrize("ranking", [[], [2, 0, 1]])
def test_the_fusion_of_one_ranking_is_itself(ranking: list[int]):
    assert fused([ranking]) == fused([ranking, []]) == ranking
