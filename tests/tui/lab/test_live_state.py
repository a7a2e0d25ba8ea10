"""The state of the live demo: dials, what comes next, the score."""

from __future__ import annotations

from dataclasses import replace

import pytest

from jitchat.events import AnswerProgress
from jitchat.lab.experiment import Cell, Verdict
from jitchat.lab.facts import Kind
from jitchat.lab.live import DEPTHS, LENGTHS, MODES, NEAR, Setup
from jitchat.tui.lab.live_state import (
    LiveState,
    Phase,
    column,
    log_lines,
    mode_state,
    score_lines,
    verdict_line,
)
from jitchat.values import Mode, Usage
from tests.tui.lab.support import result_of


def answered(state: LiveState, *, right: frozenset[Mode] = frozenset()) -> LiveState:
    setup = state.setup
    for mode in MODES:
        cell = Cell(setup.length, setup.depth, Kind.DIRECT, setup.round, mode, setup.near)
        verdict = Verdict.RIGHT if mode in right else Verdict.WRONG
        state = state.took(replace(result_of(cell), verdict=verdict, rule="says so"))
    return state


def test_a_dial_stays_at_its_ends() -> None:
    state = LiveState()
    assert state.dialled(near=9, depth=9).near == NEAR[-1]
    assert state.dialled(near=9, depth=9).depth == DEPTHS[-1]
    assert (state.dialled(near=-9, depth=-9).near, state.dialled(depth=-9).depth) == (0, 0.0)


def test_the_next_question_is_longer_then_another_and_with_a_new_dial_the_same_length() -> None:
    state = LiveState()
    assert state.next == replace(state.setup, length=LENGTHS[1])
    last = state.begun(replace(state.setup, length=LENGTHS[-1]))
    assert last.next == replace(state.setup, round=2)
    assert last.dialled(near=1).next == replace(last.setup, near=NEAR[2])


def test_the_score_is_of_the_dials_as_they_are_and_comes_back_with_them() -> None:
    state = answered(LiveState(), right=frozenset({Mode.JIT}))
    assert state.phase is Phase.ANSWERED
    assert state.score.by_mode[Mode.JIT].right == 1
    assert state.score.by_mode[Mode.FULL].right == 0
    turned = state.dialled(depth=1)
    assert not turned.score.by_mode
    assert turned.dialled(depth=-1).score.by_mode == state.score.by_mode


def test_rounds_count_as_other_facts_and_lengths_as_the_same() -> None:
    state = LiveState()
    longer = answered(answered(state).begun(Setup(length=LENGTHS[1])))
    others = answered(answered(state).begun(Setup(round=2)))
    assert longer.score.by_mode[Mode.JIT].answered == others.score.by_mode[Mode.JIT].answered == 2
    one, two = longer.score.by_mode[Mode.JIT].interval, others.score.by_mode[Mode.JIT].interval
    assert one is not None
    assert two is not None
    assert one[1] > two[1]


@pytest.mark.parametrize(
    ("answer", "told"),
    [
        (None, "waiting"),
        (AnswerProgress(Mode.FULL), "planning…"),
        (AnswerProgress(Mode.FULL, left_at=2.0), "reading… 3 s"),
        (AnswerProgress(Mode.FULL, left_at=2.0, first_at=2.5), "answering… first 0.5 s"),
    ],
)
def test_a_mode_says_how_far_it_is(answer: AnswerProgress | None, told: str) -> None:
    state = LiveState()
    state = state if answer is None else state.heard(answer)
    assert mode_state(state, Mode.FULL, 5.0) == told


def test_nothing_is_waited_for_once_asking_failed() -> None:
    state = LiveState().failed("It broke\noff.")
    assert state.error == "It broke off."
    assert {mode_state(state, mode, 5.0) for mode in Mode} == {"not answered"}


def test_a_verdict_gives_its_rule_and_one_that_does_not_fit_why() -> None:
    state = answered(LiveState())
    assert str(verdict_line(state, Mode.FULL)) == "✗ wrong: says so · fact in the window"
    lacking = replace(state.decided[Mode.FULL], held=0)
    told = str(verdict_line(LiveState().took(lacking), Mode.FULL))
    assert told.endswith(" · fact not in the window")
    cell = Cell(500, 0.5, Kind.DIRECT, 1, Mode.FULL, 2)
    unfit = replace(
        result_of(cell), verdict=Verdict.UNFIT, held=None, note="600 tokens are too many"
    )
    told = verdict_line(LiveState().took(unfit), Mode.FULL)
    assert str(told) == "– does not fit: 600 tokens are too many"


def test_what_the_model_says_is_no_markup_and_has_no_control_characters() -> None:
    cell = Cell(500, 0.5, Kind.DIRECT, 1, Mode.FULL, 2)
    state = LiveState().took(replace(result_of(cell), answer="[red]\x1b[2J 42", usage=Usage(9, 3)))
    for drawn in (column(state, Mode.FULL, 60, 0.0, is_flat=False), log_lines(state, 160)):
        assert "[red]" in str(drawn)
        assert "\x1b" not in str(drawn)


def test_the_table_has_a_count_for_each_length_and_an_interval_for_all() -> None:
    rows = str(score_lines(answered(LiveState(), right=frozenset(Mode)))).splitlines()
    assert rows[1].split() == "full 1 of 1 · · · 100 % of 1 (21–100)".split()  # noqa: SIM905


@pytest.mark.parametrize("width", [130, 136, 160])
def test_the_log_has_every_mode_where_there_is_room_for_some_of_the_question(width: int) -> None:
    drawn = log_lines(answered(LiveState(), right=frozenset(Mode)), width)
    assert drawn.cell_length <= width
    assert "jit ✓" in str(drawn)
