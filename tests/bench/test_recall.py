"""The app and the baselines are asked the same questions under equal conditions."""

from __future__ import annotations

from dataclasses import replace
from typing import TYPE_CHECKING

import numpy as np
import pytest

from jitchat.bench.asking import Setup
from jitchat.bench.proportions import wilson
from jitchat.bench.questions import Question, read_labelled
from jitchat.bench.recall import Method, Remembering, by_methods, measure
from jitchat.bench.scores import Measured, Outcome, by_category, figures_of
from jitchat.index.embedder import NoEmbedder
from jitchat.window.budget import Budget
from jitchat.window.tokens import EstimateCounter
from tests.bench.labelled import asked, conversation
from tests.transfer.files import written

if TYPE_CHECKING:
    from collections.abc import Sequence
    from pathlib import Path

    from jitchat.index.embedder import Embedder

LOCKER = asked("What is the code of my locker in the gym?", 0)
RECENT = asked("What happened on morning 83?", 83, category="recent")


def measured(
    folder: Path, *questions: dict[str, object], embedder: Embedder, budget: Budget | None = None
) -> Measured:
    talks = read_labelled(written(folder, "f.json", [conversation(*questions)]))
    asking = by_methods(Setup(embedder, EstimateCounter(), budget or Budget(size=1_500)))
    return measure(talks, embedder, asking, lambda _: None)


def test_without_an_embedder_bm25_is_the_only_baseline(tmp_path: Path):
    found = measured(tmp_path, LOCKER, embedder=NoEmbedder()).outcomes
    assert list(found) == [Method.JIT, Method.BM25]


def test_each_method_finds_the_fact_and_holds_it(tmp_path: Path, builtin: Embedder):
    found = measured(tmp_path, LOCKER, embedder=builtin).outcomes
    assert list(found) == list(Method)
    for method, (one,) in found.items():
        assert 1 in one.ranked[:2], method
        assert 1 in one.held, method


def test_a_baseline_spends_no_more_than_jit_and_keeps_its_recent_block(
    tmp_path: Path, builtin: Embedder
):
    found = measured(tmp_path, LOCKER, RECENT, embedder=builtin).outcomes
    recent = min(position for position in found[Method.JIT][0].held if position > 40)
    for method in (Method.BM25, Method.COSINE, Method.RRF):
        for mine, jit in zip(found[method], found[Method.JIT], strict=True):
            assert mine.tokens <= jit.tokens < mine.full_tokens
            assert mine.tokens > jit.tokens - 60 or method is Method.BM25  # which ranks few
            assert mine.held >= set(range(recent, 85))


def test_evidence_in_the_recent_block_is_in_each_window(tmp_path: Path, builtin: Embedder):
    found = measured(tmp_path, RECENT, embedder=builtin).outcomes
    assert all(84 in each[0].held for each in found.values())


def test_a_question_that_does_not_fit_is_counted_and_asked_of_none(tmp_path: Path):
    long = asked("locker " * 4_000, 0)
    small = Budget(limit=3_000, reserve=500)
    recall = measured(tmp_path, long, LOCKER, embedder=NoEmbedder(), budget=small)
    assert recall.unfit == {Method.JIT: 1}
    assert {len(found) for found in recall.outcomes.values()} == {1}


def question(category: str, *evidence: int) -> Question:
    return Question("?", category, frozenset(evidence), None)


def test_shares_have_wilsons_interval_and_categories_their_own():
    ranked = tuple(range(1, 21))
    first = Outcome(question("a", 1), ranked, frozenset({1}), 100, 1_000)
    seventh = Outcome(question("a", 7, 2), ranked, frozenset({7}), 300, 1_000)
    thirteenth = Outcome(question("b", 13), ranked, frozenset(), 200, 1_000)
    groups = by_category([first, seventh, thirteenth])
    assert list(groups) == ["all", "a", "b"]
    figures = figures_of(groups["all"])
    right = {"any_at_1": 1, "any_at_6": 2, "any_at_12": 2, "all_at_6": 1}
    for name, count in (right | {"window_any": 2, "window_all": 1}).items():
        assert figures[name] == pytest.approx(count / 3)
    assert figures["intervals"]["any_at_6"] == wilson(2, 3)
    assert (figures["n"], figures["window_tokens"]) == (3, 200)
    assert figures["window_share"] == pytest.approx(0.2)
    assert figures_of(groups["b"])["any_at_12"] == 0


def test_a_category_that_is_called_all_does_not_stand_for_all():
    found = Outcome(question("all", 1), (1,), frozenset({1}), 1, 1)
    other = replace(found, question=question("a", 2))
    assert len(by_category([found, other])["all"]) == 2


class Counting:
    """An embedder that notes what it is asked for."""

    id, dimension = "counting", 1

    def __init__(self) -> None:
        self.texts: list[str] = []

    def embed(self, texts: Sequence[str]) -> np.ndarray:
        self.texts += texts
        return np.array([[len(text)] for text in texts], dtype=np.float32)


def test_a_vector_is_made_once():
    counting = Counting()
    known = Remembering(counting)
    assert known.embed(["a", "bb", "a"]).tolist() == [[1], [2], [1]]
    assert known.embed(["bb", "ccc"]).tolist() == [[2], [3]]
    assert counting.texts == ["a", "bb", "ccc"]
