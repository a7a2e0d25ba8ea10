"""Scores as they are stored: what is printed of them is as without rounding."""

from __future__ import annotations

from hypothesis import example, given
from hypothesis import strategies as st

from jitchat.text.figures import shown_part, shown_score
from tests.examples import examples


def test_a_part_has_three_digits_and_prints_as_before():
    @examples(300)
    @given(st.floats(-2, 2))
    @example(0.49507)
    @example(-0.0001)
    def prints_as_before(part):
        kept = shown_part(part)
        assert f"{kept:.2f}".replace("-0.00", "0.00") == f"{part:.2f}".replace("-0.00", "0.00")
        assert abs(kept - part) < 0.0016
        assert len(repr(abs(kept)).partition(".")[2]) <= 3
        assert repr(kept) != "-0.0"

    prints_as_before()


def test_a_score_has_two_digits_unless_they_would_take_it_over_the_floor():
    @examples(300)
    @given(st.floats(0, 1), st.sampled_from([0.0, 0.25, 0.3]))
    @example(0.2499, 0.25)
    def stays_on_its_side(score, floor):
        kept = shown_score(score, floor)
        assert (kept < floor) == (score < floor)
        assert kept == score or kept == round(score, 2)

    stays_on_its_side()
