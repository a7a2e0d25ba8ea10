"""In a long conversation, few rows are scored in full, and the shortlist stays the same."""

from __future__ import annotations

import random
from dataclasses import replace
from datetime import UTC, date, datetime, timedelta

import numpy as np
import pytest

from jitchat.index import search as module
from jitchat.index.narrowing import select
from jitchat.index.retrieve import make_query
from jitchat.index.scoring import WEIGHTS
from jitchat.index.search import HotIndex
from tests.index.support import FakeEmbedder
from tests.index.test_search import row
from tests.support import talk

SIZE = 3_000
NAMES = [f"{one}{two}" for one in "bdfklmnprt" for two in ("arno", "elva", "idor", "oma", "ulin")]
TODAY = date(2026, 5, 6)
DRAFTS = (
    "When did the karno leave the toma?",
    "barno delva fidor koma",
    "What did you say about the lulin on 14 March 2026?",
    "What did we decide on the marno?",
    "nelva",
)


@pytest.fixture(params=[True, False], ids=["packed", "not packed"], scope="module")
def index(request) -> HotIndex:
    """A conversation with few words, over some days, with pauses; some turns have no vector."""
    draw, moment, turns = random.Random(5), datetime(2026, 3, 13, tzinfo=UTC), []
    said = (" ".join(draw.choices(NAMES, k=draw.randint(1, 12))) for _ in range(SIZE))
    for turn in talk(*said):
        moment += timedelta(minutes=draw.choice((1, 1, 1, 1, 1, 1, 300)))
        asks = draw.random() < 0.2
        text = f"{turn.content}{'?' if asks else '.'}"
        turns.append(replace(turn, content=text, created_at=moment))
    rows = [row(turn) for turn in turns]
    known = {each.position: each.entry for each in rows}
    made = HotIndex(FakeEmbedder(), entries_of=lambda places: [known[place] for place in places])
    vectors = made._embedder.embed([turn.content for turn in turns])
    made.add(
        [
            replace(each, vector=None if place % 11 == 0 else vector.tobytes())
            for place, (each, vector) in enumerate(zip(rows, vectors, strict=True))
        ]
    )
    if request.param:
        made.pack(SIZE - 100)
    return made


@pytest.mark.parametrize("before", [SIZE + 1, SIZE // 2])
@pytest.mark.parametrize("draft", DRAFTS)
def test_of_few_rows_scored_in_full_the_best_are_the_best_of_all(index, draft, before, monkeypatch):
    monkeypatch.setattr(module, "KEPT", 400)
    query = make_query(draft, "", index.speakers, TODAY)
    whole = index.search(query, before, 12)
    index.narrowed_from = 0
    scored = []
    monkeypatch.setattr(
        module, "in_context", lambda *given: scored.append(given) or IN_CONTEXT(*given)
    )
    assert index.search(query, before, 12) == whole
    assert 12 <= len(scored[0][1]) < SIZE


IN_CONTEXT = module.in_context


def test_a_turn_that_was_narrowed_down_to_has_the_rank_and_the_parts_that_it_has_alone(index):
    index.narrowed_from = 0
    query = make_query(DRAFTS[0], "", index.speakers)
    for found in index.search(query, SIZE + 1, 8):
        assert index.placed(query, SIZE + 1, found.turn).candidate == found


def test_a_turn_that_was_left_out_ranks_behind_the_shortlist(index, monkeypatch):
    monkeypatch.setattr(module, "KEPT", 60)
    index.narrowed_from = 0
    query = make_query(DRAFTS[3], "", index.speakers)
    listed = {row.turn for row in index.search(query, SIZE + 1)}
    best = [index.placed(query, SIZE + 1, turn).candidate for turn in range(1, SIZE, 60)]
    assert all(row.rank > len(listed) for row in best if row.turn not in listed)


def test_rows_that_are_selected_bring_those_around_them():
    rough = np.zeros(1_000, dtype=np.float32)
    rough[[0, 400, 401, 999]] = 1
    chosen = select(rough, 80, 2)
    assert {0, 400, 401, 999} <= set(chosen.rows[chosen.is_whole].tolist())
    near = {place + step for place in (0, 400, 401, 999) for step in range(-2, 3)}
    assert near & set(range(1_000)) <= set(chosen.rows.tolist())
    assert len(chosen.rows) < 50


def test_rows_that_are_not_side_by_side_are_in_stretches_of_their_own():
    rough = np.zeros(1_000, dtype=np.float32)
    rough[[10, 600]] = 1
    chosen = select(rough, 80, 1)
    stretch_of = (np.arange(1_000) > 10).astype(np.int64)
    numbers = dict(zip(chosen.rows.tolist(), chosen.stretches(stretch_of).tolist(), strict=True))
    assert numbers[9] == numbers[10] != numbers[11]
    assert numbers[599] == numbers[600] == numbers[601] != numbers[11]


def test_where_most_rows_are_alike_none_are_left_out():
    same = np.ones(1_000, dtype=np.float32)
    assert select(same, 8, 2) is None


def test_every_step_of_a_score_is_within_the_radius():
    assert module.radius_of(WEIGHTS.heard, WEIGHTS.lent) == 2
