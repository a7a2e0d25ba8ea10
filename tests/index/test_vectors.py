"""Stored vectors: validation and comparison."""

from __future__ import annotations

import numpy as np
import pytest

from jitchat.index.vectors import Vectors

EAST, NORTH, WEST = ([1.0, 0.0], [0.0, 1.0], [-1.0, 0.0])


def blob(*numbers: float) -> bytes:
    return np.array(numbers, dtype="<f4").tobytes()


def table(*blobs: bytes | None) -> Vectors:
    made = Vectors(2)
    made.extend(blobs)
    return made


def scores(made: Vectors, *numbers: float) -> list[float]:
    return made.standardised(np.array(numbers, dtype=np.float32)).tolist()


def test_cosines_are_standard_deviations_above_their_mean():
    """The mean is (0, 1/3); cosines are to what sets each apart from it.

    (1 + 1/9) / sqrt(10)/3, -2/9 / (2/3), -8/9 / (sqrt(10)/3).
    """
    cosines = np.array([10 / 9, -2 / 9, -8 / 9]) / np.array([10**0.5 / 3, 2 / 3, 10**0.5 / 3])
    wanted = np.maximum(0, (cosines - cosines.mean()) / cosines.std())
    found = scores(table(blob(*EAST), blob(*NORTH), blob(*WEST)), *EAST)
    assert found == pytest.approx(wanted.tolist(), abs=1e-5)


def test_what_all_rows_have_in_common_says_nothing():
    """All point up; the query does too, and a little to the east."""
    up = [np.array([x, 0.995]) for x in (0.1, 0.0, -0.1)]
    rows = [blob(*(row / np.linalg.norm(row))) for row in up]
    found = scores(table(*rows), *(np.array([0.05, 1.0]) / np.linalg.norm([0.05, 1.0])))
    assert found[0] > 1.2
    assert found[1:] == pytest.approx([0, 0], abs=0.1)


def test_turns_without_a_vector_score_nothing_and_do_not_move_the_mean():
    whole = scores(table(blob(*EAST), blob(*NORTH), blob(*WEST)), *EAST)
    gaps = scores(table(None, blob(*EAST), b"", blob(*NORTH), blob(*WEST), None), *EAST)
    assert gaps == [0, whole[0], 0, whole[1], whole[2], 0]


@pytest.mark.parametrize(
    "bad",
    [
        b"abc",
        blob(1.0),
        blob(1.0, 0.0, 0.0),
        blob(float("nan"), 1.0),
        blob(float("inf"), 0.0),
        blob(3e38, 3e38),
        blob(0.0, 0.0),
        blob(5.0, 5.0),
    ],
    ids=["bytes", "shorter", "longer", "nan", "infinite", "huge", "zero", "no unit"],
)
def test_a_blob_that_is_no_unit_vector_counts_as_no_vector(bad):
    good = (blob(*EAST), blob(*NORTH), blob(*WEST))
    assert scores(table(bad, *good), *EAST) == [0, *scores(table(*good), *EAST)]


@pytest.mark.parametrize("blobs", [[], [None], [blob(*EAST)], [blob(*EAST)] * 5])
def test_without_a_difference_nothing_stands_out(blobs):
    assert scores(table(*blobs), *EAST) == [0.0] * len(blobs)


def test_a_query_without_a_direction_finds_nothing():
    assert scores(table(blob(*EAST), blob(*NORTH)), 0.0, 0.0) == [0, 0]


def test_without_dimensions_there_is_nothing_to_compare():
    made = Vectors(0)
    made.extend([None, b"", b"x"])
    assert made.standardised(np.zeros(0, dtype=np.float32)).tolist() == [0, 0, 0]


def test_it_grows_as_it_is_filled():
    made = Vectors(2)
    for _ in range(50):
        made.extend([blob(*EAST), blob(*NORTH), None])
    found = made.standardised(np.array(EAST, dtype=np.float32))
    assert (found > 0).sum() == 50
    assert found.shape == (150,)
