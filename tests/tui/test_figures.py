"""What the figures on screen say of how sure they are."""

from __future__ import annotations

from dataclasses import replace
from typing import TYPE_CHECKING

import pytest
from hypothesis import given
from hypothesis import strategies as st

from jitchat.errors import WindowOverflow
from jitchat.tui.figures import (
    budget_sentence,
    cut,
    exact_sentence,
    send_sentences,
    size_sentences,
    stable_sentence,
    tokens,
    usage_sentence,
)
from jitchat.values import Mode, Usage
from jitchat.window.calibration import NO_CALIBRATION, Calibration
from tests.examples import examples
from tests.window.reports import KNOWN, calibrations, long_talk

if TYPE_CHECKING:
    from jitchat.window.window import ContextWindow


@pytest.fixture
def estimated() -> ContextWindow:
    return long_talk(Mode.JIT, NO_CALIBRATION)


@pytest.fixture
def learnt() -> ContextWindow:
    return long_talk(Mode.JIT, KNOWN)


@pytest.mark.parametrize(
    ("exact", "band", "told"),
    [(True, 0, "1,187"), (False, 0, "~1,187"), (False, 40, "1,187 ± 40"), (True, 4, "1,187 ± 4")],
)
def test_a_count_says_how_sure_it_is(exact: bool, band: int, told: str):
    assert tokens(1_187, exact=exact, band=band) == told


def test_an_estimate_that_nothing_was_learnt_of_is_marked(estimated: ContextWindow):
    used, full = f"~{estimated.used:,}", f"~{estimated.full_tokens:,}"

    assert size_sentences(estimated)[0] == f"{used} of size 1,200 · full would be {full}"
    assert send_sentences(estimated)[0].startswith(f"in {used} · reserve 500 · free ~")


def test_a_calibrated_window_shows_its_band(learnt: ContextWindow):
    used = f"{learnt.used:,} ± {learnt.band:,}"

    full = f"full would be ~{learnt.full_tokens:,}"
    assert size_sentences(learnt)[0] == f"{used} of size 1,200 · {full}"
    assert send_sentences(learnt)[0].startswith(f"in {used} · reserve 500 · free ~")


def test_the_models_own_tokenizer_is_not_marked(estimated: ContextWindow):
    window = replace(estimated, exact=True)

    assert "~" not in size_sentences(window)[0] + send_sentences(window)[0]


@pytest.mark.parametrize("cost", ["~$0.0041", "cost unknown", ""])
def test_what_sending_takes_is_told_in_forms_that_get_shorter(estimated: ContextWindow, cost: str):
    longest, *shorter = told = send_sentences(estimated, cost)
    share = round(100 * estimated.stable_tokens / estimated.used)

    head = f"in ~{estimated.used:,} · reserve 500 · free ~{estimated.free:,} · stable prefix"
    assert longest.startswith(f"{head} {share} % · {cost}{' · ' if cost else ''}saves ")
    assert [len(each) for each in told] == sorted({len(each) for each in told}, reverse=True)
    assert all(each.startswith(f"in ~{estimated.used:,} · ") for each in shorter)
    assert all(cost in each and f"free ~{estimated.free:,}" in each for each in shorter)


def test_with_a_price_the_sentence_has_room_in_a_small_terminal(learnt: ContextWindow):
    window = replace(learnt, budget=replace(learnt.budget, limit=32_768, reserve=2_048))
    fits = next(each for each in send_sentences(window, "~$0.0041") if len(each) <= 63)
    assert "reserve" not in fits
    assert fits.endswith("% · ~$0.0041")


@examples(30)
@given(st.integers(800, 40_000), st.sampled_from(Mode), calibrations())
def test_what_is_told_adds_up_to_the_limit(limit: int, mode: Mode, learnt: Calibration):
    try:
        window = long_talk(mode, learnt, limit=limit)
    except WindowOverflow:
        return
    used, reserve, free = (
        int(part.split(" ±")[0].split(" ")[-1].lstrip("~").replace(",", ""))
        for part in send_sentences(window)[0].split(" · ")[:3]
    )
    assert used + reserve + free == limit


@pytest.mark.parametrize(
    ("usage", "told"),
    [
        (None, "stable prefix ~{stable} tokens"),
        (Usage(None, 3), "stable prefix ~{stable} tokens"),
        (Usage(1_000, 3), "stable prefix ~{stable} tokens, none reported as cached"),
        (Usage(1_000, 3, 128), "stable prefix cached 128 ✓ of ~{stable}"),
        (Usage(1_000, 3, 990), "stable prefix ~{stable}, cached 990 ✓ of 1,000 sent"),
    ],
)
def test_the_stable_prefix_tells_what_the_provider_had_of_it(
    learnt: ContextWindow, usage: Usage | None, told: str
):
    assert 128 < learnt.stable_tokens < 900
    assert stable_sentence(learnt, usage) == told.format(stable=f"{learnt.stable_tokens:,}")


def test_an_exact_count_stands_beside_the_own_one(learnt: ContextWindow):
    own = f"{learnt.used:,} ± {learnt.band}"
    assert exact_sentence(learnt, 3_398) == f"exactly 3,398 ✓ (own count {own})"


@pytest.mark.parametrize(
    ("mode", "sources", "told"),
    [
        (Mode.JIT, {}, "size 1,200 · limit 20,000"),
        (
            Mode.RECENCY,
            {"size_source": "usual for the model", "limit_source": "loaded in the\nserver"},
            "size 1,200 (usual for the model) · limit 20,000 (loaded in the server)",
        ),
        (Mode.FULL, {"limit_source": "set by you"}, "limit 20,000 (set by you)"),
    ],
)
def test_the_size_and_the_limit_come_with_their_sources(
    estimated: ContextWindow, mode: Mode, sources: dict[str, str], told: str
):
    assert budget_sentence(replace(estimated.budget, **sources), mode) == told


@pytest.mark.parametrize(
    ("usage", "cost", "told"),
    [
        (
            Usage(3_398, 210, 2_900, 0, 120),
            0.0041,
            "sent 3,398 ✓ (2,900 cached, 498 new) · answer 210 ✓ (120 reasoning) · $0.0041",
        ),
        (Usage(3_398, 210), None, "sent 3,398 ✓ · answer 210 ✓ · cost unknown"),
        (
            Usage(3_398, 210, cost=0.0041),
            0.0041,
            "sent 3,398 ✓ · answer 210 ✓ · $0.0041 ✓",
        ),
        (Usage(3_398, 210), 0.0, "sent 3,398 ✓ · answer 210 ✓"),
        (Usage(3_398, None), 1e-9, "sent 3,398 ✓ · <$0.0001"),
        (Usage(10, 1, 4_000), 0.0, "sent 10 ✓ (4,000 cached, 0 new) · answer 1 ✓"),
        (Usage(None, 210), 0.0, "{used}, the provider reports no input · answer 210 ✓"),
        (Usage(None, None), 0.0, "{used}, the provider reports no usage"),
        (None, None, "{used}, the provider reports no usage · cost unknown"),
    ],
)
def test_a_reply_tells_what_the_provider_reported_and_no_more(
    learnt: ContextWindow, usage: Usage | None, cost: float | None, told: str
):
    assert usage_sentence(usage, cost, learnt) == told.format(used=learnt.used_figure)


@pytest.mark.parametrize(
    ("usage", "told"),
    [
        (None, "{used}, it ended before usage was reported"),
        (Usage(3_398, 2), "sent 3,398 ✓ · answer 2 ✓"),
    ],
)
def test_a_reply_that_was_broken_off_is_no_fault_of_the_providers(
    learnt: ContextWindow, usage: Usage | None, told: str
):
    sentence = usage_sentence(usage, 0.0, learnt, is_broken_off=True)

    assert sentence == told.format(used=learnt.used_figure)


def test_without_a_window_what_is_not_reported_has_no_figure():
    assert usage_sentence(None) == "the provider reports no usage"


def test_a_count_next_to_another_one_says_what_it_is(learnt: ContextWindow):
    used = f"{learnt.used:,} ± {learnt.band:,}"
    assert size_sentences(learnt, Usage(learnt.used, 10))[-1] == used
    assert size_sentences(learnt, Usage(None, 10))[-1] == used
    assert size_sentences(learnt, Usage(learnt.used - 9, 10))[-1] == f"counted {used}"


@pytest.mark.parametrize(
    ("room", "shown"),
    [(99, "in 98,110 of ~$0.0041 left"), (9, "in …"), (10, "in 98,110…"), (20, "in 98,110 of …")],
)
def test_a_number_is_shown_whole_or_not_at_all(room: int, shown: str):
    assert cut("in 98,110 of ~$0.0041 left", room) == shown
