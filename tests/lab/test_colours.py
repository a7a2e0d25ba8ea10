"""The scale is readable on any background, in greyscale, and below numbers."""

from __future__ import annotations

from itertools import pairwise

import pytest
from hypothesis import given
from hypothesis import strategies as st

from jitchat.lab.colours import MODE_HUES, SCALE, colour_of, contrast, ink_on
from tests.examples import examples


@examples(25)
@given(st.floats(-1, 2))
def test_a_number_reads_on_every_colour(share):
    ground = colour_of(share)
    assert contrast(ground, ink_on(ground)) >= 4.5


def test_the_scale_ends_where_shares_do_and_darkens_all_the_way():
    assert (colour_of(0), colour_of(0.5), colour_of(1)) == (SCALE[0], SCALE[2], SCALE[-1])
    lights = [contrast(colour_of(step / 50), "#000000") for step in range(51)]
    assert all(later < earlier for earlier, later in pairwise(lights))


@pytest.mark.parametrize("ground", ["#ffffff", "#121212"])
def test_curves_stand_out_from_a_light_and_a_dark_ground(ground):
    assert min(contrast(colour, ground) for colour in MODE_HUES) >= 3
    assert len(set(MODE_HUES)) == len(MODE_HUES) >= 6  # for modes that are still to come


def test_black_and_white_are_as_far_apart_as_can_be():
    assert contrast("#ffffff", "#000000") == contrast("#000000", "#ffffff") == pytest.approx(21)
