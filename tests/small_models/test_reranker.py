"""The reranker: what its scores make of the shortlist, and what it does where it has none."""

from __future__ import annotations

import asyncio
import threading
from dataclasses import replace
from math import inf, nan
from typing import TYPE_CHECKING

import pytest
from hypothesis import given
from hypothesis import strategies as st

from jitchat.errors import RerankerUnavailable
from jitchat.small_models.reranker import Reranker, merge_scores
from jitchat.values import Reranking, Retrieval
from jitchat.window.budget import Budget
from jitchat.window.history import History
from jitchat.window.parts import Sources
from jitchat.window.tokens import EstimateCounter
from jitchat.window.window import RERANKER
from tests.examples import examples
from tests.support import talk, turn
from tests.window.cases import shortlist

if TYPE_CHECKING:
    from collections.abc import Callable, Sequence

REPORT = Reranking("cross-1", "", 3, 12.0)
BUDGET = Budget(limit=8_000, reserve=500, size=350)


class Scripted:
    """Scores by what a text begins with, or does what it is told to."""

    def __init__(self, score: Callable[[str], float]) -> None:
        self.score = score
        self.read: list[tuple[str, tuple[str, ...]]] = []

    def scores(self, query: str, texts: Sequence[str]) -> Sequence[float]:
        self.read.append((query, tuple(texts)))
        return [self.score(text) for text in texts]


def sources(*turns: int, hits: int = 2, said: int = 60, draft: str = "what was it?") -> Sources:
    spoken = talk(*(f"turn {number:02} " + "words " * 40 for number in range(1, said + 1)))
    history = History().extended(spoken, len)
    found = shortlist(*turns, hits=hits)
    return Sources(history, turn(said + 1, draft), "model", retrieval=found)


def reranker(score: Callable[[str], float], seconds: float = 5.0) -> tuple[Reranker, Scripted]:
    made = Scripted(score)
    return Reranker("cross-1", lambda: made, seconds), made


async def reranked(made: Reranker, of: Sources) -> Retrieval:
    return await made.rerank(of, BUDGET, EstimateCounter())


async def test_it_reads_the_message_with_each_turn_and_ranks_them_anew():
    made, model = reranker(lambda text: 9.0 if text.startswith("turn 15") else -1.0)
    of = sources(20, 9, 15, 30, hits=3)

    found = await reranked(made, of)

    assert {query for query, _ in model.read} == {"what was it?"}
    assert sorted(text[:7] for _, texts in model.read for text in texts) == [
        "turn 09", "turn 15", "turn 20", "turn 30",
    ]  # fmt: skip
    assert [(row.turn, row.rank, row.rank_before) for row in found.candidates] == [
        (15, 1, 3), (20, 2, 1), (9, 3, 2), (30, 4, 4),
    ]  # fmt: skip
    assert found.hits[0].turn == 15
    assert found.hits[0].reason == "picked, rank 3 → 1"
    assert found.reranking is not None
    assert (found.reranking.model, found.reranking.fallback) == ("cross-1", "")
    assert found.reranking.turns == 4
    assert found.reranking.ms > 0
    assert (found.floor, found.decisions) == (of.retrieval.floor, of.retrieval.decisions)


def test_the_parts_still_add_up_to_the_score():
    before = shortlist(20, 9, 15)
    after = merge_scores(before, {20: -4.0, 9: 0.5, 15: 8.0}, REPORT)
    for row in after.candidates:
        known = next(each for each in before.candidates if each.turn == row.turn)
        added = dict(row.parts)[RERANKER]
        assert row.score == pytest.approx(known.score + added)
        assert row.parts[:-1] == known.parts


def test_what_it_raises_over_the_floor_is_picked_and_what_falls_below_is_not():
    before = replace(shortlist(20, 9, 15, hits=2), floor=1.75)
    assert [row.score for row in before.candidates] == [1.9, 1.8, 1.7]
    after = merge_scores(before, {20: -9.0, 9: -9.0, 15: 18.0}, REPORT)
    assert [(hit.turn, hit.reason) for hit in after.hits] == [
        (20, "picked"),
        (15, "raised by the reranker, rank 3 → 2"),
    ]


def test_a_turn_that_is_kept_out_is_not_picked_however_it_scores():
    before = replace(shortlist(20, 9, 15, hits=3), floor=0.5)
    before = replace(before, hits=tuple(hit for hit in before.hits if hit.turn != 9))
    after = merge_scores(before, {20: 0.0, 9: 9.0, 15: 0.0}, REPORT)
    assert after.candidates[0].turn == 9
    assert [hit.turn for hit in after.hits] == [20, 15]


def test_equal_scores_change_nothing():
    before = shortlist(20, 9, 15, hits=3)
    after = merge_scores(before, dict.fromkeys((20, 9, 15), 3.5), REPORT)
    assert [(row.turn, row.score) for row in after.candidates] == [
        (row.turn, row.score) for row in before.candidates
    ]
    assert after.hits == before.hits


@examples(30)
@given(st.lists(st.floats(-1e6, 1e6), min_size=3, max_size=3))
def test_each_candidate_is_there_once_in_order_of_its_score(scores: list[float]):
    after = merge_scores(
        shortlist(20, 9, 15, hits=3), dict(zip((20, 9, 15), scores, strict=True)), REPORT
    )
    assert sorted(row.turn for row in after.candidates) == [9, 15, 20]
    assert [row.rank for row in after.candidates] == [1, 2, 3]
    assert [row.score for row in after.candidates] == sorted(
        (row.score for row in after.candidates), reverse=True
    )


async def test_of_long_texts_the_beginning_and_the_end_are_read():
    made, model = reranker(len)
    of = sources(20, 9, draft="begin " + "x " * 5_000 + "the end?")
    of = replace(of, history=History().extended(talk(*["y" * 9_000] * 60), len))

    await reranked(made, of)

    ((query, texts),) = model.read
    assert query.startswith("begin ")
    assert query.endswith("the end?")
    assert max(map(len, (query, *texts))) < 1_010


def fails(_: str) -> float:
    raise RuntimeError("[ONNXRuntimeError] : 6 : RUNTIME_EXCEPTION")


@pytest.mark.parametrize(
    ("score", "told"),
    [
        (fails, "its model fails (RuntimeError)"),
        (lambda _: nan, "its model gives no scores"),
        (lambda _: inf, "its model gives no scores"),
    ],
)
async def test_a_failure_leaves_the_ranking_as_it_is(score, told):
    made, _ = reranker(score)
    of = sources(20, 9, 15)

    found = await reranked(made, of)

    assert found.reranking is not None
    assert found.reranking.fallback == told
    assert replace(found, reranking=None) == of.retrieval


async def test_a_model_that_is_not_here_is_told_each_time_and_looked_for_once():
    looked = []

    def load() -> Scripted:
        looked.append(1)
        raise RerankerUnavailable("its model is not on this machine")

    made = Reranker("cross-1", load, 5.0)
    for _ in range(2):
        found = await reranked(made, sources(20, 9, 15, hits=1))
        assert found.reranking is not None
        assert found.reranking.fallback == "its model is not on this machine"
    assert len(looked) == 1


@pytest.mark.parametrize("quick", [0, 8])
async def test_one_that_takes_too_long_is_not_waited_for_and_stops(quick: int):
    gate, done = threading.Event(), threading.Event()

    def slow(text: str) -> float:
        if int(text[5:7]) > quick:
            gate.wait(10)
            done.set()
        return float(text[5:7])

    made, model = reranker(slow, seconds=0.2)
    of = sources(*range(1, 31))

    found = await reranked(made, of)

    assert found.reranking is not None
    gate.set()
    await asyncio.to_thread(done.wait, 10)
    assert len(model.read) == quick // 4 + 1, "the batch under way is the last one"
    if quick:
        assert (found.reranking.fallback, found.reranking.turns) == ("", quick)
        moved = [row.turn for row in found.candidates if row.parts]
        assert sorted(moved) == [1, 2, 3, 4, 5, 6, 7, 8], "the best were read"
    else:
        assert found.reranking.fallback == "no ranking in 0.2 s"
        assert found.hits == of.retrieval.hits


@pytest.mark.parametrize(
    ("of", "told"),
    [
        (sources(), "nothing to reorder"),
        (sources(9), "nothing to reorder"),
        (sources(20, 9, hits=0), "nothing to reorder"),
        (sources(3, 2, said=4), "in the window anyway"),
    ],
    ids=["none", "one", "below the floor", "a short talk"],
)
async def test_where_there_is_no_choice_nothing_is_read(of, told):
    made, model = reranker(len)
    found = await reranked(made, of)
    assert found.reranking is not None
    assert told in found.reranking.fallback
    assert found.reranking.ms == 0
    assert model.read == []


def test_while_the_message_is_typed_its_model_is_loaded_and_not_run():
    loaded = threading.Event()

    def load() -> Scripted:
        loaded.set()
        return Scripted(len)

    made = Reranker("cross-1", load, 5.0)
    found = made.not_run(shortlist(20, 9, hits=1))
    assert loaded.wait(10)
    assert found.reranking == Reranking("cross-1", "not run before the message is sent")
    assert found.hits == shortlist(20, 9, hits=1).hits
