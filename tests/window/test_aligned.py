"""Windows side by side: each turn in one row, and nothing of a window is lost on the way."""

from __future__ import annotations

from hypothesis import given
from hypothesis import strategies as st

from jitchat.values import Mode, Role
from jitchat.window.budget import Budget
from jitchat.window.compare import Share, align
from jitchat.window.tokens import EstimateCounter
from jitchat.window.window import ContextWindow, Kind, Segment
from tests.examples import examples
from tests.window.cases import Case, cases

FULL, RECENCY, JIT = Mode.FULL, Mode.RECENCY, Mode.JIT


def window(mode: Mode, *parts: tuple[Kind, int | None, int]) -> ContextWindow:
    """A window of such segments: kind, turn, tokens."""
    segments = tuple(Segment(kind, Role.USER, "", size, turn, "") for kind, turn, size in parts)
    return ContextWindow(mode, "m", "c", True, Budget(), segments, (), None, 0, 0)


def recent(*turns: int) -> list[tuple[Kind, int | None, int]]:
    return [(Kind.RECENT, turn, 10) for turn in turns]


SYSTEM, DRAFT = (Kind.SYSTEM, None, 5), (Kind.DRAFT, 9, 7)
WINDOWS = (
    window(FULL, SYSTEM, *recent(*range(1, 9)), DRAFT),
    window(RECENCY, SYSTEM, *recent(7, 8), DRAFT),
    window(JIT, SYSTEM, *recent(7, 8), (Kind.INDEX, 2, 3), (Kind.RETRIEVED, 4, 12), DRAFT),
)


def test_turns_that_differ_come_first_and_those_of_the_same_windows_are_together() -> None:
    rows = [(row.turns, row.modes) for row in align(WINDOWS)]
    assert rows == [
        *[((turn,), (FULL, JIT)) for turn in (2, 4)],
        *[((turn,), (FULL,)) for turn in (1, 3, 5, 6)],
        *[((turn,), (FULL, RECENCY, JIT)) for turn in (None, 7, 8, 9)],
    ]
    assert align(WINDOWS)[1].shares == {
        FULL: Share(Kind.RECENT, 10),
        JIT: Share(Kind.RETRIEVED, 12),
    }


def test_what_all_windows_hold_that_there_are_comes_last() -> None:
    rows = [row.turns[0] for row in align(WINDOWS[1:])]
    assert rows == [2, 4, None, 7, 8, 9]


def test_full_text_wins_over_the_index_line_of_the_same_turn() -> None:
    both = window(JIT, (Kind.INDEX, 2, 3), (Kind.RETRIEVED, 2, 12))
    (row,) = align([both])
    assert row.shares == {JIT: Share(Kind.RETRIEVED, 15)}


def test_many_turns_that_are_alike_share_a_row_but_the_last_ones() -> None:
    many = window(FULL, *recent(*range(1, 40)), (Kind.PINNED, 20, 4))
    rows = align([many], singly=12)
    assert rows[0].turns == tuple(range(1, 28))
    assert rows[0].shares == {FULL: Share(Kind.RECENT, 274)}
    assert [row.turns for row in rows[1:]] == [(turn,) for turn in range(28, 40)]


@examples(16)
@given(cases(), st.integers(1, 20))
def test_each_turn_is_in_one_row_and_the_rows_add_up_to_each_window(
    case: Case, singly: int
) -> None:
    planned = [case.window(mode, EstimateCounter()) for mode in Mode]
    windows = [each for each in planned if isinstance(each, ContextWindow)]
    rows = align(windows, singly)
    turns = [turn for row in rows for turn in row.turns]
    assert len(turns) == len(set(turns))
    for each in windows:
        shares = [row.shares[each.mode] for row in rows if each.mode in row.shares]
        used = sum(share.tokens for share in shares)
        assert used == each.used
        assert used + each.free + each.budget.reserve == each.budget.limit
        held = {turn for row in rows if each.mode in row.shares for turn in row.turns}
        assert held == {segment.turn for segment in each.segments}
