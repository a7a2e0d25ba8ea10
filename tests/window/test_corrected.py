"""What holds for every window that is corrected, whatever the reports taught."""

from __future__ import annotations

import re
from dataclasses import replace
from math import ceil

import pytest
from hypothesis import example, given
from hypothesis import strategies as st

from jitchat.errors import WindowOverflow
from jitchat.values import Mode, Sample
from jitchat.window.calibration import NO_CALIBRATION, Calibration, Report
from jitchat.window.render import apportion
from jitchat.window.tokens import EstimateCounter, TokenCounter, request_tokens
from jitchat.window.window import ContextWindow, Kind, LedgerRow, Verdict
from tests.examples import examples
from tests.window.cases import Case, cases
from tests.window.counters import Characters, Lines, Words
from tests.window.reports import KNOWN, calibrations, long_talk

COUNTERS = (EstimateCounter(), Characters(), Words(), Lines())
quick = examples(16)
FULL_TEXT = (Kind.PINNED, Kind.RECENT, Kind.RETRIEVED)


def check(case: Case, learnt: Calibration) -> None:
    for counter in COUNTERS:
        windows = {mode: case.window(mode, counter, learnt=learnt) for mode in Mode}
        for mode, window in windows.items():
            if isinstance(window, ContextWindow):
                check_sum(window, learnt)
                check_rates(window)
                assert window.counted == request_tokens(counter, window.messages())
            else:
                check_refusal(window, case, mode, counter, learnt)
        full, jit = windows[Mode.FULL], windows[Mode.JIT]
        if isinstance(full, ContextWindow):
            assert isinstance(jit, ContextWindow)
            assert jit.used <= full.used or case.files
            assert full.used == full.full_tokens


def check_sum(window: ContextWindow, learnt: Calibration) -> None:
    budget = window.budget
    segments = sum(segment.tokens for segment in window.segments)
    assert segments + window.free + budget.reserve == budget.limit
    assert window.used + window.band <= budget.limit - budget.reserve
    assert window.used == learnt.correct(window.counted)
    assert window.band == learnt.band(window.counted)
    assert all(segment.tokens >= 0 for segment in window.segments)


def check_rates(window: ContextWindow) -> None:
    """What is told of a turn that is sent is what its segment costs."""
    sent = {s.turn: s.tokens for s in window.segments if s.kind in FULL_TEXT}
    for row in window.ledger:
        if row.verdict not in (Verdict.LEFT_OUT, Verdict.INDEX):
            assert row.tokens == sent[row.turn]


def check_refusal(
    refused: WindowOverflow, case: Case, mode: Mode, counter: TokenCounter, learnt: Calibration
) -> None:
    """Given what is missing, it fits, and not a token of the rest is left over."""
    assert refused.overshoot > 0
    if mode is Mode.FULL:
        told = re.search(r"needs ~?([\d,]+)(?: ± ([\d,]+))? tokens", refused.what)
        assert told is not None
        needed, band = (int(each.replace(",", "")) for each in told.groups("0"))
        over = needed - case.budget.budget
        assert refused.overshoot == (over if over > 0 else over + band)
        bigger = replace(case.budget, limit=needed + band + case.budget.reserve)
        window = replace(case, budget=bigger).window(Mode.FULL, counter, learnt=learnt)
        assert isinstance(window, ContextWindow)
        assert window.free == window.band


@quick
@given(case=cases(), learnt=calibrations())
def test_every_corrected_window_keeps_the_promises(case: Case, learnt: Calibration) -> None:
    check(case, learnt)


@quick
@given(total=st.integers(0, 50_000), weights=st.lists(st.integers(0, 9_000), max_size=40))
@example(total=5, weights=[0, 0])
def test_shares_add_up_and_none_is_a_token_off(total: int, weights: list[int]) -> None:
    shares = apportion(total, weights)

    whole = sum(weights)
    assert sum(shares) == (total if weights else 0)
    if whole:
        for share, weight in zip(shares, weights, strict=True):
            assert abs(share - total * weight / whole) < 1


@pytest.mark.parametrize("mode", list(Mode))
def test_with_room_enough_a_correction_moves_nothing_in_the_window(mode: Mode):
    plain, corrected = long_talk(mode, NO_CALIBRATION), long_talk(mode, KNOWN)

    assert corrected.digest == plain.digest
    assert corrected.messages() == plain.messages()
    assert corrected.counted == plain.counted == plain.used
    assert corrected.used == KNOWN.correct(plain.used) > plain.used
    assert corrected.full_tokens == KNOWN.correct(plain.full_tokens)
    assert (plain.band, corrected.band) == (0, KNOWN.band(plain.used))


def test_what_is_left_out_is_priced_at_the_rate_of_what_is_sent():
    plain, corrected = long_talk(Mode.JIT, NO_CALIBRATION), long_talk(Mode.JIT, KNOWN)
    rate = corrected.used / plain.used

    def left_out(window: ContextWindow) -> list[LedgerRow]:
        return [row for row in window.ledger if row.verdict is Verdict.LEFT_OUT]

    pairs = list(zip(left_out(plain), left_out(corrected), strict=True))
    assert pairs
    assert all(told.tokens == ceil(own.tokens * rate) for own, told in pairs)
    assert plain.never_candidates is not None
    assert corrected.never_candidates is not None
    assert corrected.never_candidates.turns == plain.never_candidates.turns
    assert corrected.never_candidates.tokens == ceil(plain.never_candidates.tokens * rate)


def test_a_server_that_counts_more_gets_a_smaller_window():
    twice = Calibration.of([Sample(count, 2 * count) for count in (100, 900, 2_000)])
    plain = long_talk(Mode.RECENCY, NO_CALIBRATION, limit=750)
    corrected = long_talk(Mode.RECENCY, twice, limit=750)

    assert corrected.counted < plain.counted
    assert corrected.used + corrected.band <= 250


@pytest.mark.parametrize("reported", [1.5, 1.0, 0.5])
def test_a_window_that_contains_a_reported_one_is_not_smaller(reported: float):
    before = long_talk(Mode.FULL, KNOWN)
    tokens = round(reported * before.used)
    learnt = replace(KNOWN, reports=(Report.of(before.pieces, tokens),))

    same = long_talk(Mode.FULL, learnt)
    other = long_talk(Mode.FULL, learnt, size=40)

    assert same.used == same.full_tokens == max(tokens, before.used)
    assert sum(segment.tokens for segment in same.segments) == same.used
    assert other.used == KNOWN.correct(other.counted), "it has fewer turns"


def test_a_refusal_tells_corrected_numbers_with_their_band():
    with pytest.raises(WindowOverflow) as refused:
        long_talk(Mode.FULL, KNOWN, limit=1_500)

    own = long_talk(Mode.FULL, NO_CALIBRATION).used
    needed, band = KNOWN.correct(own), KNOWN.band(own)
    over = needed - 1_000
    assert refused.value.overshoot == over
    assert f"needs {needed:,} ± {band:,} tokens, ~{over:,} more than" in str(refused.value)
