"""What is told of a pin or an exclusion."""

from __future__ import annotations

from dataclasses import replace

import pytest

from jitchat.errors import WindowOverflow
from jitchat.tui.chat.steering import pin_effect
from jitchat.values import Mode, Role
from jitchat.window.steering import Hold, HoldChange
from jitchat.window.window import ContextWindow, Kind, LedgerRow, Segment, Verdict
from tests.support import demo_session

PINNED, TAKEN_BACK = HoldChange(12, None, Hold.PINNED), HoldChange(12, Hold.PINNED, None)
EXCLUDED = HoldChange(12, None, Hold.EXCLUDED)
Turns = dict[int, tuple[Kind, int]]


@pytest.fixture
def window(store) -> ContextWindow:
    return replace(demo_session(store).preview("", Mode.JIT), exact=True)


def holding(window: ContextWindow, turns: Turns) -> ContextWindow:
    made = (Segment(kind, Role.USER, "x", cost, turn, "") for turn, (kind, cost) in turns.items())
    return replace(window, segments=tuple(made), ledger=())


def found(*turns: int) -> Turns:
    return dict.fromkeys(turns, (Kind.RETRIEVED, 59))


@pytest.mark.parametrize(
    ("held", "before", "after", "told"),
    [
        (
            PINNED,
            found(31, 40),
            {12: (Kind.PINNED, 90)},
            "#12 is pinned: #31 and #40 lost their place (118 tokens).",
        ),
        (
            PINNED,
            found(31),
            {12: (Kind.PINNED, 90), 31: (Kind.INDEX, 9)},
            "#12 is pinned: #31 lost its place (50 tokens).",
        ),
        (PINNED, found(31), {12: (Kind.PINNED, 90), **found(31)}, "#12 is pinned."),
        (
            PINNED,
            {12: (Kind.RECENT, 9)},
            {12: (Kind.RECENT, 9)},
            "#12 is pinned; it is already in the window.",
        ),
        (EXCLUDED, found(12), found(24), "#12 is excluded: #24 entered (59 tokens)."),
        (EXCLUDED, found(12), {}, "#12 is excluded."),
        (
            TAKEN_BACK,
            {12: (Kind.PINNED, 90)},
            found(1, 2, 3, 4, 5),
            "#12 is no longer pinned: #1, #2, #3 and 2 more entered (295 tokens).",
        ),
        (HoldChange(12, Hold.EXCLUDED, None), {}, found(12), "#12 is no longer excluded."),
    ],
)
def test_who_lost_and_who_gained_a_place_is_named(window, held, before, after, told):
    windows = holding(window, before), holding(window, after)
    assert pin_effect(held, Mode.JIT, *windows) == told


def test_who_lost_a_place_is_told_why_as_the_ledger_has_it(window):
    why = ((31, "no room left"), (40, "no room left"), (41, "neighbour of #12"), (7, "no hit"))
    ledger = tuple(LedgerRow(turn, None, 0, (), 59, Verdict.LEFT_OUT, told) for turn, told in why)
    before = holding(window, found(12, 31, 40, 41))
    after = replace(holding(window, {}), ledger=ledger)
    assert pin_effect(EXCLUDED, Mode.JIT, before, after) == (
        "#12 is excluded: #31, #40 and #41 lost their place"
        " (177 tokens; no room left; neighbour of #12)."
    )


def test_a_pin_says_that_it_does_nothing_in_another_mode(window):
    told = pin_effect(PINNED, Mode.FULL, window, window)
    assert told == "#12 is pinned. Mode full ignores pins, so its window does not change."


def test_what_cannot_be_told_yet_or_does_not_fit_is_not_made_up(window):
    assert pin_effect(EXCLUDED, Mode.JIT, None, None) == (
        "#12 is excluded from the next message on."
    )
    told = pin_effect(PINNED, Mode.JIT, window, WindowOverflow("Too much.", "Unpin.", 9))
    assert told.startswith("#12 is pinned. The next window does not fit")
    fits_again = pin_effect(TAKEN_BACK, Mode.JIT, WindowOverflow("a", "b", 9), window)
    assert fits_again == "#12 is no longer pinned."
