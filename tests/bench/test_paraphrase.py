"""A question that paraphrases the turn that answers it, among many other turns."""

from __future__ import annotations

from pathlib import Path

import pytest

from jitchat.index.embedder import NoEmbedder
from jitchat.index.embedding_models import DEFAULT_MODEL
from jitchat.index.load_embedder import load_embedder
from jitchat.text.words import content_words, stem
from tests.benchmarks.paraphrase import (
    OBLIQUE,
    PARAPHRASE,
    ranks_with,
    read_crowd,
    read_pairs,
    share_found,
)
from tests.support import SHARED

MINILM = SHARED / "models" / "all-MiniLM-L6-v2"
both_kinds = pytest.mark.parametrize("kind", [PARAPHRASE, OBLIQUE])


def stems_of(text: str) -> set[str]:
    return {stem(word) for word in content_words(text)}


@both_kinds
def test_a_hundred_questions_share_no_content_word_with_their_turns(kind: str):
    pairs = read_pairs(kind)
    assert len(pairs) == 100
    for pair in pairs:
        assert stems_of(pair.question), pair
        assert not stems_of(pair.question) & stems_of(pair.turn), pair


@both_kinds
def test_the_crowd_is_a_thousand_turns_of_which_none_is_a_copy(kind: str):
    crowd = [each["content"] for each in read_crowd()]
    turns = [pair.turn for pair in read_pairs(kind)]
    assert len(crowd) == 1000
    assert len({*crowd, *turns}) == 1100
    said = [stems_of(text) for text in crowd]
    for turn in map(stems_of, turns):
        assert not any(2 * len(turn & other) > len(turn) for other in said), turn


@both_kinds
def test_no_two_pairs_ask_or_say_the_same(kind: str):
    pairs = read_pairs(kind)
    for texts in ([pair.question for pair in pairs], [pair.turn for pair in pairs]):
        said = [stems_of(text) for text in texts]
        for place, one in enumerate(said):
            for other in said[:place]:
                assert len(one & other) <= len(one | other) / 2, (one, other)


def test_a_turn_that_shares_no_word_is_listed_only_beside_turns_that_do():
    """Nothing is promised of words alone; what they find is what stands next to a match."""
    ranks = ranks_with(NoEmbedder())
    assert len(ranks.retrieved) == 100
    assert share_found(ranks.retrieved, 50) < 0.25
    assert set(ranks.cosine) == {None}


def test_the_built_in_embedder_finds_other_words_more_than_every_second_time():
    ranks = ranks_with(load_embedder("builtin", DEFAULT_MODEL, None, Path()))
    assert share_found(ranks.retrieved) >= 0.53


@pytest.mark.long("whole")  # 1,000 turns are embedded
def test_minilm_finds_other_words_nine_times_of_ten():
    if not MINILM.is_dir():
        pytest.skip("needs MiniLM's ONNX files in ../shared/models/all-MiniLM-L6-v2")
    ranks = ranks_with(load_embedder("fastembed", DEFAULT_MODEL, MINILM, Path()))
    assert share_found(ranks.retrieved) >= 0.90
