"""What reports teach about a server's way of counting, whatever else is among them."""

from __future__ import annotations

import time
from itertools import pairwise

import pytest
from hypothesis import given
from hypothesis import strategies as st

from jitchat.values import Other, Sample
from jitchat.window.calibration import LEAST_SAMPLES, NO_CALIBRATION, Calibration
from tests.examples import examples
from tests.window.reports import ANY_SAMPLES, Server, calibrations

SIZES = (1, 50, 300, 1_200, 5_000, 40_000)
quick = examples(20)


@pytest.mark.parametrize("size", range(LEAST_SAMPLES))
def test_before_three_samples_nothing_is_corrected(size: int):
    learnt = Calibration.of(Server(noise=0).samples(size))

    assert learnt == NO_CALIBRATION
    for tokens in SIZES:
        assert (learnt.correct(tokens), learnt.band(tokens)) == (tokens, 0)
        assert learnt.within(tokens) == tokens


def test_three_samples_correct_by_their_ratio():
    learnt = Calibration.of([Sample(1_000, 1_130), Sample(2_000, 2_260), Sample(500, 565)])

    assert learnt.samples == 3
    assert learnt.correct(4_000) == 4_520
    assert learnt.band(4_000) == 1, "to a whole token"


def test_a_counter_that_is_always_right_has_no_band():
    learnt = Calibration.of([Sample(count, count) for count in (120, 800, 3_000, 3_100)])

    assert (learnt.correct(5_000), learnt.band(5_000), learnt.within(5_000)) == (5_000, 0, 5_000)


def test_what_a_template_adds_to_each_request_is_told_from_the_tokenizers_ratio():
    counts = (60, 150, 400, 900, 2_000, 5_000, 9_000, 14_000)
    learnt = Calibration.of(Server(noise=0).samples(8, counts=counts))

    assert learnt.slope == pytest.approx(1.13, abs=0.002)
    assert learnt.offset == pytest.approx(11, abs=1)


def test_requests_of_one_size_teach_a_ratio_and_no_offset():
    server = Server()
    learnt = Calibration.of(server.samples(20, counts=[server.count(1_000, 1_400)] * 20))

    assert learnt.offset == 0
    assert learnt.correct(1_400) == pytest.approx(server.expected(1_400), rel=0.02)


def test_instructions_that_the_server_adds_by_itself_are_no_ratio():
    """Three requests are enough: of ten times the size, nobody is to expect ten times as much."""
    learnt = Calibration.of([Sample(60, 2_060), Sample(250, 2_250), Sample(900, 2_905)])

    assert learnt.correct(10_000) == pytest.approx(12_000, rel=0.01)


@pytest.mark.parametrize("odd", [0, 2])
def test_after_ten_samples_a_fifth_of_them_wrong_nine_reports_of_ten_are_in_the_band(odd: int):
    inside = total = 0
    errors: list[float] = []
    for seed in range(200):
        server = Server(seed=seed)
        learnt = Calibration.of(server.samples(10, odd=odd))
        for _ in range(5):
            report = server.report(server.count(learnt.least))
            told = learnt.correct(report.counted)
            inside += abs(told - report.reported) <= learnt.band(report.counted)
            errors.append(abs(told / server.expected(report.counted) - 1))
            total += 1

    assert inside / total >= 0.9
    assert sorted(errors)[len(errors) * 9 // 10] < 0.02
    assert sorted(errors)[len(errors) // 2] < 0.006


@pytest.mark.parametrize("size", [16, 64])
def test_the_band_holds_nineteen_of_twenty_and_is_no_wider_than_the_noise_asks(size: int):
    inside = widths = 0.0
    for seed in range(60):
        server = Server(seed=seed)
        learnt = Calibration.of(server.samples(size, odd=size // 5))
        report = server.report(server.count(learnt.least))
        inside += abs(learnt.correct(report.counted) - report.reported) <= learnt.band(
            report.counted
        )
        widths += learnt.band(10_000) / 11_311

    assert inside / 60 >= 0.9
    assert 0.015 < widths / 60 < 0.035, "two standard deviations of one hundredth"


@pytest.mark.parametrize("slope", [0.9, 1.3, 1.7])
@pytest.mark.parametrize("odd", [0, 1])
def test_a_change_of_tokenizer_is_followed_within_eight_sends(slope: float, odd: int):
    for seed in range(15):
        before, after = Server(seed=seed), Server(slope=slope, seed=seed)
        learnt = Calibration.of(before.samples(40, odd=4) + after.samples(8, odd=odd))

        assert learnt.samples <= 8
        assert learnt.correct(5_000) == pytest.approx(after.expected(5_000), rel=0.05)


def test_templates_that_vary_by_some_tokens_widen_the_band_of_large_requests_little():
    server = Server(slope=1.0, offset=12, noise=0, seed=2)
    sizes = [server.count(60) for _ in range(30)]
    samples = [Sample(size, size + 12 + server.chance.randint(-9, 9)) for size in sizes]

    learnt = Calibration.of(samples)

    assert 4 <= learnt.band(100) <= 20
    assert learnt.band(20_000) < 800
    assert learnt.correct(20_000) == pytest.approx(20_012, abs=100)


def test_a_few_odd_reports_at_the_end_are_no_change():
    server = Server(seed=3)
    steady = server.samples(20)
    odd = [Sample(each.counted, each.reported // 2) for each in server.samples(4)]

    learnt = Calibration.of(steady + odd)

    assert learnt.samples >= 18
    assert learnt.correct(5_000) == pytest.approx(server.expected(5_000), rel=0.01)


def test_a_new_conversation_of_another_size_is_no_change():
    server = Server(noise=0.005, seed=5)
    long = [server.report(15_000 + 100 * number) for number in range(20)]
    short = [server.report(60 + 20 * number) for number in range(10)]

    learnt = Calibration.of(long + short)

    assert learnt.samples > 25
    assert learnt.correct(15_000) == pytest.approx(server.expected(15_000), rel=0.01)


@pytest.mark.parametrize(
    "samples",
    [
        [],
        [Sample(0, 0)] * 9,
        [Sample(0, 500)] * 9,
        [Sample(1_000, 0)] * 9,
        [Sample(1_000, 1)] * 9,
        [Sample(1, 2**63 - 1)] * 9,
        [Sample(2**63 - 1, 1)] * 9,
    ],
)
def test_what_cannot_be_a_report_teaches_nothing(samples: list[Sample]):
    assert Calibration.of(samples) == NO_CALIBRATION


def test_one_wild_report_among_three_keeps_nothing_from_being_sent():
    learnt = Calibration.of([Sample(1_000, 1_100), Sample(1_000, 7_000), Sample(1_000, 1_130)])

    assert learnt.within(30_000) > 20_000


RECORDED = (
    *((1_833, 1_790), (1_646, 1_521), (1_668, 1_592), (14_272, 15_679), (1_718, 1_697)),
    *((512, 573), (11_066, 8_606), (1_734, 1_615), (9_527, 10_145)),
)
"""Reports of ordinary requests to one server, in order."""


@pytest.mark.parametrize("size", range(LEAST_SAMPLES, len(RECORDED) + 1))
def test_recorded_reports_are_in_the_band_or_the_count_stays(size: int):
    learnt = Calibration.of(Sample(*pair) for pair in RECORDED[:size])

    for counted, reported in RECORDED:
        band = learnt.band(counted)
        assert abs(learnt.correct(counted) - reported) <= band or not band or size < 8
    assert learnt.offset >= 0
    assert learnt.correct(192) == 192, "less than was ever reported"
    assert learnt.band(10_000) <= 0.26 * learnt.correct(10_000)


def test_reports_that_disagree_correct_nothing():
    samples = [Sample(1_000, reported) for reported in (600, 1_000, 1_900, 2_600)]

    assert Calibration.of(samples) == NO_CALIBRATION


SERVERS = (
    Server(),
    Server(slope=0.8, offset=0, noise=0.02),
    Server(slope=1.0, offset=2_000, noise=0.005),
    Server(slope=1.6, offset=40, noise=0.05),
    Server(slope=1.05, offset=4, noise=0.08),
)


@pytest.mark.parametrize("server", SERVERS)
@pytest.mark.parametrize("low", [60, 600, 4_000])
def test_the_band_holds_nine_of_the_next_ten_reports(server: Server, low: int):
    """Whatever the server adds, and however small or large the requests so far were."""
    inside = total = 0
    for seed in range(60):
        server.chance.seed(seed)
        counts = [server.count(low) for _ in range(5 + seed % 20)]
        learnt = Calibration.of(server.report(count) for count in counts)
        for _ in range(10):
            report = server.report(server.count(60))
            band = learnt.band(report.counted)
            total += band > 0
            inside += band > 0 and abs(learnt.correct(report.counted) - report.reported) <= band
        assert learnt.offset >= 0
        assert all(learnt.correct(count) == min(count, learnt.correct(low)) for count in (1, 50))

    assert total > 100
    assert inside / total >= 0.9


def of_kinds(server: Server, factors: dict[Other, float], *, size: int) -> list[Sample]:
    """Reports of a server that writes what is not text in ways of its own."""
    samples = []
    for _ in range(size):
        others = {other: server.count(100, 2_000) for other in factors}
        text = server.report(server.count())
        more = sum(factors[other] * count for other, count in others.items())
        counted = text.counted + sum(others.values())
        samples.append(Sample(counted, round(text.reported + more), others))
    return samples


def test_each_kind_has_a_factor_of_its_own():
    server = Server()
    texts = server.samples(8)
    definitions = of_kinds(server, {Other.DEFINITIONS: 0.6}, size=12)
    both = of_kinds(server, {Other.DEFINITIONS: 0.6, Other.CALLS: 2.0}, size=12)

    learnt = Calibration.of([*both, *texts, *definitions])

    assert learnt.correct(10_000) == Calibration.of(texts).correct(10_000)
    assert learnt.factors[Other.DEFINITIONS].slope == pytest.approx(0.6, abs=0.1)
    assert learnt.factors[Other.CALLS].slope == pytest.approx(2.0, abs=0.2)
    inside = total = 0
    for sample in of_kinds(server, {Other.DEFINITIONS: 0.6, Other.CALLS: 2.0}, size=200):
        told = learnt.correct(sample.counted, sample.others)
        band = learnt.band(sample.counted, sample.others)
        total += band > 0
        inside += band > 0 and abs(told - sample.reported) <= band
    assert inside >= 0.9 * total > 90


def test_a_kind_with_fewer_than_three_samples_is_not_corrected_and_has_no_band():
    server = Server(noise=0)
    calls = {Other.CALLS: 500}
    learnt = Calibration.of([*server.samples(8), *of_kinds(server, {Other.CALLS: 3.0}, size=2)])

    assert learnt.factors == {}
    assert learnt.correct(5_500, calls) == learnt.correct(5_000) + 500
    assert (learnt.band(5_500, calls), learnt.band(5_500) > 0) == (0, True)


def test_a_kind_that_is_small_beside_the_noise_of_the_text_is_not_corrected():
    server = Server(noise=0.05)
    few = [
        Sample(each.counted + 20, each.reported + 20, {Other.DEFINITIONS: 20})
        for each in (server.report(server.count(5_000)) for _ in range(12))
    ]

    assert Calibration.of([*server.samples(8), *few]).factors == {}


def test_requests_with_calls_do_not_move_the_text():
    """One long call that is not sent as it is counted spoils no conversation of text."""
    server = Server(slope=1.0, offset=0, noise=0)
    texts = server.samples(6)
    calls = [Sample(9_000, 1_100, {Other.CALLS: 8_000})] * 6

    assert Calibration.of([*texts, *calls]).correct(7_672) == 7_672


@quick
@given(samples=ANY_SAMPLES)
def test_no_samples_make_it_explode(samples: list[Sample]):
    learnt = Calibration.of(samples)

    for tokens in SIZES:
        assert 0 < learnt.correct(tokens) <= 8 * tokens + 4_096
        assert 0 <= learnt.band(tokens) <= (learnt.correct(tokens) + 200) // 4 + 1


@quick
@given(learnt=calibrations(), tokens=st.integers(0, 300_000))
def test_the_inverse_is_the_most_that_fits(learnt: Calibration, tokens: int):
    within = learnt.within(tokens)

    assert not within or learnt.correct(within) + learnt.band(within) <= tokens
    assert learnt.correct(within + 1) + learnt.band(within + 1) > tokens


@quick
@given(learnt=calibrations())
def test_what_counts_more_stays_more(learnt: Calibration):
    for less, more in pairwise(sorted((*SIZES, 0, 2, 51, 5_001))):
        assert learnt.correct(less) <= learnt.correct(more)
        assert learnt.band(less) <= learnt.band(more)


def test_learning_anew_takes_no_time_that_anybody_sees():
    samples = Server().samples(64, odd=8)
    started = time.process_time()
    for _ in range(5):
        Calibration.of(samples)

    assert (time.process_time() - started) / 5 < 0.25
