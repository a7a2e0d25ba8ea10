"""Estimates of what a run sends."""

from __future__ import annotations

from dataclasses import replace

import pytest

from jitchat.lab.costs import (
    ANSWER_TOKENS,
    QUICK,
    Answerer,
    Speed,
    estimate_cells,
    estimate_run,
    fitted,
    seconds_of,
    sentence,
    speed_of,
    window_tokens,
)
from jitchat.lab.experiment import Experiment, preset
from jitchat.lab.facts import Kind
from jitchat.values import USUAL_MODES, Mode, Usage
from tests.lab.some_results import results as some_results

ANSWERER = Answerer(
    provider="openai",
    model="gpt-5-mini",
    limit=16_384,
    reserve=2_048,
    size=2_300,
    input_price=0.25,
    output_price=2.0,
    is_here=False,
    around=100,
)
ASKED = Experiment((1_000, 8_000, 64_000), (0.0, 1.0), (Kind.DIRECT, Kind.EXACT), repeats=3)


def test_each_mode_is_estimated_by_what_it_sends():
    at = {
        (mode, n): window_tokens(mode, n, ANSWERER) for mode in Mode for n in (300, 8_000, 64_000)
    }
    assert [at[Mode.FULL, n] for n in (300, 8_000, 64_000)] == [400, 8_100, None]
    assert [at[Mode.RECENCY, n] for n in (300, 8_000, 64_000)] == [400, 2_300, 2_300]
    assert [at[Mode.JIT, n] for n in (300, 8_000, 64_000)] == [400, 2_300, 2_300]
    assert [at[Mode.OBSERVE, n] for n in (300, 8_000, 64_000)] == [400, 2_300, 2_300]
    assert [at[Mode.DOCUMENT, n] for n in (300, 8_000, 64_000)] == [400, 2_300, 2_300]


def test_no_window_is_larger_than_the_room_and_full_fits_to_the_last_token():
    narrow = replace(ANSWERER, limit=900, reserve=300)
    assert window_tokens(Mode.FULL, 500, narrow) == 600
    assert window_tokens(Mode.FULL, 501, narrow) is None
    assert window_tokens(Mode.JIT, 9_000, narrow) == 600


def test_requests_tokens_and_money_add_up():
    made = estimate_run(ASKED, ANSWERER)
    cells = 12
    assert (made.requests, made.unfit) == (8 * cells, cells)
    assert made.requests + made.unfit == ASKED.size
    sent = cells * (1_100 + 8_100 + 2 * (1_100 + 2_300 + 2_300))
    assert (made.input_tokens, made.output_tokens) == (sent, 96 * ANSWER_TOKENS)
    assert made.cost == pytest.approx((sent * 0.25 + 96 * ANSWER_TOKENS * 2.0) / 1e6)


@pytest.mark.parametrize(
    ("changes", "cost", "told"),
    [
        ({"input_price": None}, None, "cost unknown"),
        ({"output_price": None}, None, "cost unknown"),
        ({"input_price": 0.0, "output_price": 0.0}, 0, "free"),
        ({"input_price": 0.0, "output_price": 0.0, "picker": "p"}, None, "cost unknown"),
        ({"is_here": True, "input_price": None}, 0, "free"),
        ({}, pytest.approx(0.0741, abs=0.001), "~$0.0741"),
    ],
)
def test_an_unknown_price_is_never_nothing(changes, cost, told):
    made = estimate_run(ASKED, replace(ANSWERER, **changes))
    assert made.cost == cost
    assert f"(64 per answer), {told}. 12 cells do not fit, and will not be sent." in sentence(made)


@pytest.mark.parametrize("is_here", [True, False])
def test_a_picker_is_told_of_wherever_it_is(is_here):
    asks = replace(ANSWERER, picker="small\x1b[2J", is_here=is_here)
    told = sentence(estimate_run(ASKED, asks))
    assert told.endswith(
        "will not be sent. In addition, up to 36 requests to the picker small\x1b[2J."
    )
    unasked = sentence(estimate_run(replace(ASKED, modes=(Mode.FULL, Mode.RECENCY)), asks))
    assert "picker" not in unasked


def test_what_is_left_is_estimated_as_the_whole_is():
    cells = list(ASKED.cells())
    assert estimate_cells(cells, ANSWERER) == estimate_run(ASKED, ANSWERER)
    left = estimate_cells([each for each in cells if each.mode is Mode.FULL][-13:], ANSWERER)
    assert (left.requests, left.unfit) == (1, 12)
    assert left.input_tokens == 8_100


def test_a_run_that_fits_is_told_without_a_word_on_fitting():
    made = estimate_run(Experiment((1_000,), (0.5,), (Kind.DIRECT,), (Mode.FULL,)), ANSWERER)
    assert sentence(made) == "1 request, ~1,100 tokens in, ~64 out (64 per answer), ~$0.0004."


LOCAL = replace(ANSWERER, provider="llamacpp", limit=8_192, is_here=True)
SMALL = Speed(reads=230, writes=65, answer=20)


def test_lengths_that_do_not_fit_are_left_out_of_a_preset_and_not_of_an_own_grid():
    assert fitted(preset("quick"), LOCAL).lengths == (1_000, 2_000, 4_000)
    assert fitted(preset("quick"), replace(LOCAL, limit=3_000)).lengths == (1_000, 2_000)
    assert fitted(preset("standard"), ANSWERER).lengths == (1_000, 2_000, 4_000, 8_000)
    assert fitted(ASKED, LOCAL) == ASKED
    reader = preset("quick", "reader")
    assert fitted(reader, replace(LOCAL, provider="reader")) == reader


@pytest.mark.parametrize("reads", [1, 60, 230, 600, 2_000, 50_000])
def test_quick_ends_in_time_and_keeps_all_modes_and_two_lengths(reads):
    answerer = replace(LOCAL, speed=Speed(reads, reads / 4, 20))
    asked = fitted(preset("quick"), answerer)
    assert asked.modes == USUAL_MODES
    assert asked.preset == "quick"
    assert len(asked.lengths) >= 2
    seconds = estimate_run(asked, answerer).seconds
    assert seconds is not None
    assert seconds <= QUICK or asked.size == 18
    whole = fitted(preset("quick"), LOCAL)
    assert asked == whole if reads == 50_000 else asked.near in ((2,), whole.near)
    assert fitted(preset("standard"), answerer).size == fitted(preset("standard"), LOCAL).size


def test_a_faster_model_is_asked_no_less():
    sizes = [
        fitted(preset("quick"), replace(LOCAL, speed=Speed(reads, reads / 4, 20))).size
        for reads in (50, 100, 200, 400, 800, 1_600, 3_200)
    ]
    assert sizes == sorted(sizes)
    assert sizes[0] < sizes[-1]


def test_a_window_of_full_is_read_once_a_conversation():
    one = Experiment((8_000,), (0.0,), (Kind.DIRECT,), (Mode.FULL,))
    many = replace(one, depths=tuple(at / 10 for at in range(11)))
    first, all_of_them = (
        seconds_of(each.cells(), ANSWERER, replace(SMALL, writes=1e9)) for each in (one, many)
    )
    assert first == pytest.approx(8_100 / 230)
    assert all_of_them == pytest.approx((8_100 + 10 * 64) / 230)


def test_a_speed_is_measured_by_what_was_read_and_written():
    result = some_results()[0]
    timed = replace(result, usage=Usage(1_000, 30, 400), to_first=2.0, seconds=3.0)
    unknown = replace(result, usage=None)
    assert speed_of([timed, timed, unknown]) == Speed(300.0, 30.0, 30.0)
    assert speed_of([unknown]) is None
    assert speed_of([]) is None


def test_the_time_is_told_where_the_speed_is_known():
    told = sentence(estimate_run(preset("quick"), replace(LOCAL, speed=SMALL)))
    assert " at 230 tokens per second." in told
    assert "tokens per second" not in sentence(estimate_run(preset("quick"), LOCAL))
