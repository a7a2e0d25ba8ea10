"""The curve: a letter at each measurement, lines and intervals that read without colour."""

from __future__ import annotations

import pytest

from jitchat.lab.experiment import Experiment, preset
from jitchat.lab.stats import DEPTH, Tally, count_results
from jitchat.tui.lab.curve import FOOT, LEAST, LETTERS, MARGIN, curve_rows
from jitchat.values import Mode
from tests.tui.lab.support import quick, result_of

QUICK = quick()


def drawn(tallies, width: int = 60, height: int = 12, asked: Experiment = QUICK) -> list[str]:
    rows = curve_rows(asked, tallies, width, height)
    return ["".join(text for text, _ in row) for row in rows]


def test_every_share_has_its_letter_in_its_row_and_near_its_length() -> None:
    tallies = {
        (Mode.FULL, 1_000): Tally(right=10),
        (Mode.FULL, 4_000): Tally(right=5, wrong=5),
        (Mode.JIT, 48_000): Tally(wrong=3),
    }
    rows = drawn(tallies, height=FOOT + 9)
    assert "f" in rows[0]
    assert "f" in rows[4]
    assert "j" in rows[8]
    axis = rows[-2]
    assert axis.split() == ["1k", "4k", "16k", "48k"]
    assert abs(rows[0].index("f") - axis.index("1k")) <= 2
    assert abs(rows[8].index("j") - axis.index("48k")) <= 2
    assert rows[0].startswith("100 % ┤")
    assert rows[8].startswith("  0 % ┤")


def test_each_mode_has_its_own_dashes_and_the_interval_its_own_cell() -> None:
    shares = {
        (mode, length): Tally(right=right, wrong=10 - right)
        for mode, right in ((Mode.FULL, 9), (Mode.RECENCY, 5), (Mode.JIT, 1))
        for length in QUICK.lengths
    }
    rows = curve_rows(QUICK, shares, 60, 20)
    dots: dict[str, set[str]] = {}
    for row in rows:
        for text, name in row:
            dots.setdefault(name, set()).update(each for each in text if "⠀" <= each <= "⣿")
    lit = {name: sorted(found) for name, found in dots.items() if found}
    assert set(lit) == {"full", "recency", "jit"}
    assert len({tuple(found) for found in lit.values()}) == 3
    caps = [sum(text.count(cap) for row in rows for text, _ in row) for cap in "╷╵"]
    assert all(caps)


def test_a_length_that_fits_no_window_is_named_below_it() -> None:
    tallies = count_results(result_of(cell) for cell in quick().cells()).by_length
    rows = drawn(tallies)
    assert rows[-1].split() == ["n/f", "f"]
    assert abs(rows[-1].rindex("f") - rows[-2].index("48k")) <= 1


def test_without_an_answer_there_is_the_empty_frame() -> None:
    rows = drawn({})
    assert not any(letter in "".join(rows[:-FOOT]) for letter in "frj")
    assert rows[-2].split() == ["1k", "4k", "16k", "48k"]


@pytest.mark.parametrize("asked", [QUICK, preset("deep", "reader")], ids=["quick", "deep"])
@pytest.mark.parametrize("size", [(44, LEAST), (70, 9), (120, 30)])
def test_it_keeps_to_its_room(asked: Experiment, size: tuple[int, int]) -> None:
    tallies = {
        (mode, length): Tally(right=number % 7, wrong=number % 5)
        for number, (mode, length) in enumerate(
            (mode, length) for mode in asked.modes for length in asked.lengths
        )
    }
    rows = drawn(tallies, *size, asked)
    assert len(rows) == size[1]
    assert {len(row) for row in rows} == {size[0]}
    assert rows[-FOOT][MARGIN - 1] == "└"


def test_every_mode_has_a_letter_of_its_own() -> None:
    assert len(set(LETTERS.values())) == len(Mode)


def test_the_same_shares_are_drawn_by_depth() -> None:
    tallies = count_results(result_of(cell) for cell in QUICK.cells())
    by_depth = tallies.along[DEPTH.name]
    assert sum(by_depth.values(), Tally()).cells == QUICK.size
    rows = ["".join(text for text, _ in row) for row in curve_rows(QUICK, by_depth, 60, 12, DEPTH)]
    assert rows[-2].split() == ["0", "%", "25", "%", "50", "%", "75", "%", "100", "%"]
    assert not rows[-1].split(), "in every depth some lengths fit"
    assert rows[0].count("f") >= 2
