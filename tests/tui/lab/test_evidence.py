"""The evidence of a run and the differences of its modes, in lines that keep to their room."""

from __future__ import annotations

import pytest

from jitchat.lab.change import mode_differences
from jitchat.lab.evidence import SIGNS, Outcome, evidence_by_mode
from jitchat.lab.stats import count_results
from jitchat.tui.lab.curve import difference_line, evidence_rows
from jitchat.values import Mode
from tests.tui.lab.support import quick, result_of

TALLIES = count_results(result_of(cell) for cell in quick().cells())
OUTCOMES = evidence_by_mode(TALLIES)


def drawn(width: int, height: int) -> list[str]:
    return ["".join(text for text, _ in row) for row in evidence_rows(OUTCOMES, width, height)]


@pytest.mark.parametrize("width", [46, 66, 76, 156])
def test_each_mode_has_its_four_counts_and_its_bar_fills_the_room(width: int) -> None:
    rows = drawn(width, 8)
    assert len(rows) == 8
    assert rows[1].split() == ["✓", "right", "✗", "wrong", "?", "right", "○", "wrong"]
    full = OUTCOMES[Mode.FULL]
    counts = [f"{full.counts[each]}" for each in Outcome]
    assert rows[2].split() == ["f", "full", *counts] or full.text(Outcome.UNUSED) in rows[2]
    assert ("%" in rows[2]) == (width > 46)
    assert {len(row) for row in rows[3::2]} == {width}
    assert [sign for sign in rows[3].split() if sign in SIGNS.values()] == ["✓", "✗"]
    assert all(len(row) <= width for row in rows)


def test_without_room_for_the_bars_the_counts_stand_alone() -> None:
    assert len(drawn(76, 7)) == 5


@pytest.mark.parametrize("width", [44, 60, 76, 120])
def test_a_difference_is_told_as_far_as_there_is_room(width: int) -> None:
    lines = [difference_line(each, width) for each in mode_differences(TALLIES)]
    assert all(len(line) <= width for line in lines)
    assert lines[0].startswith("jit − full:     +6 (")
    if width == 120:
        assert lines[0].endswith(") points, of 105 cells, 35 left out")
        assert lines[1].endswith(") points, of 140 cells")
