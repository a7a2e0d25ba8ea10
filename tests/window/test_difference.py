"""Who came into a window, and who lost their place."""

from __future__ import annotations

from dataclasses import replace

from hypothesis import assume, given

from jitchat.values import Mode, Role
from jitchat.window.compare import Change, difference
from jitchat.window.tokens import EstimateCounter
from jitchat.window.window import ContextWindow, Kind, Segment
from tests.examples import examples
from tests.window.cases import Case, cases

COUNTER = EstimateCounter()
quick = examples(16)


def window_of(case: Case, mode: Mode = Mode.JIT) -> ContextWindow:
    window = case.window(mode, COUNTER)
    assume(isinstance(window, ContextWindow))
    assert isinstance(window, ContextWindow)
    return window


def of_segments(window: ContextWindow, *segments: tuple[int | None, Kind, int]) -> ContextWindow:
    made = (
        Segment(kind, Role.USER, f"text of {turn}", tokens, turn, "why")
        for turn, kind, tokens in segments
    )
    return replace(window, segments=tuple(made))


@quick
@given(case=cases())
def test_every_turn_of_both_windows_is_told_of_as_what_it_is(case: Case):
    before = window_of(case)
    after = window_of(replace(case, pinned=(), excluded=frozenset(case.pinned)))
    told = difference(before, after)
    old, new = before.kind_of_turns(), after.kind_of_turns()
    assert {each.turn for each in told.entered} == new.keys() - old.keys()
    assert {each.turn for each in told.left} == old.keys() - new.keys()
    both = old.keys() & new.keys()
    assert {each.turn for each in told.moved} == {turn for turn in both if old[turn] != new[turn]}
    assert {each.turn for each in told.changed} <= both - {each.turn for each in told.moved}
    for each in (*told.entered, *told.left, *told.moved, *told.changed):
        assert (each.kind_before, each.kind_after) == (old.get(each.turn), new.get(each.turn))


@quick
@given(case=cases())
def test_tokens_add_up_to_the_windows_and_the_other_way_round_what_entered_has_left(case: Case):
    before, after = window_of(case), window_of(case, Mode.RECENCY)
    assert not difference(before, window_of(case)), "from itself"
    told, back = difference(before, after), difference(after, before)
    changes = (*told.entered, *told.left, *told.moved, *told.changed)
    grown = sum(each.tokens_after - each.tokens_before for each in changes)
    grown += sum(each.tokens_after - each.tokens_before for each in told.parts)
    assert grown == after.used - before.used
    assert [each.turn for each in told.entered] == [each.turn for each in back.left]
    assert [each.turn for each in told.lost] == [each.turn for each in back.gained]
    assert [each.turn for each in told.changed] == [each.turn for each in back.changed]


@examples(1)
@given(case=cases())
def test_a_turn_that_is_a_line_only_has_lost_its_place(case: Case):
    window = window_of(replace(case, turns=(), pinned=(), wanted=frozenset()))
    before = of_segments(
        window, (None, Kind.SYSTEM, 9), (1, Kind.RETRIEVED, 50), (2, Kind.INDEX, 5),
        (3, Kind.RECENT, 20),
    )  # fmt: skip
    after = of_segments(
        window, (None, Kind.SYSTEM, 9), (1, Kind.INDEX, 6), (3, Kind.RECENT, 21),
        (4, Kind.PINNED, 70),
    )  # fmt: skip
    told = difference(before, after)
    assert told.lost == (Change(1, Kind.RETRIEVED, Kind.INDEX, 50, 6),)
    assert told.gained == told.entered == (Change(4, None, Kind.PINNED, 0, 70),)
    assert told.left == (Change(2, Kind.INDEX, None, 5, 0),)
    assert told.changed == (Change(3, Kind.RECENT, Kind.RECENT, 20, 21),)
    assert not told.parts
    bare = difference(before, replace(before, segments=before.segments[1:]))
    assert bare.parts == (Change(0, Kind.SYSTEM, None, 9, 0),)
