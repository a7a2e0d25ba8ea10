"""What the lab reports, as the screen keeps it: figures are those of the tallies."""

from __future__ import annotations

from dataclasses import replace

import pytest

from jitchat.lab.events import (
    CapRaised,
    CellBegun,
    CellEnded,
    CellRetried,
    ConversationBegun,
    ConversationReady,
    LabEvent,
    RunEnded,
    Slowed,
)
from jitchat.lab.experiment import Cell, Verdict
from jitchat.lab.stats import count_results
from jitchat.tui.lab.run_state import RunState
from jitchat.values import Mode
from tests.tui.lab.support import failed, quick, result_of, run_of

CELLS = list(quick().cells())
RESULTS = [result_of(cell) for cell in CELLS]


def take(state: RunState, *reported: LabEvent) -> None:
    for event in reported:
        state.take(event)


def place_of(cell: Cell):
    return cell.mode, cell.length, cell.depth


def test_results_one_by_one_come_to_what_they_come_to_together() -> None:
    state = RunState(run_of(quick()), RESULTS[:100])
    for result in RESULTS[100:]:
        take(state, CellBegun(result.cell), CellEnded(result))
    assert state.tallies == count_results(RESULTS)
    assert not state.to_ask
    assert not state.pending_places


def test_a_cell_that_is_asked_is_marked_until_it_is_decided_or_nothing_is_asked() -> None:
    state = RunState(run_of(quick()), ())
    take(state, CellBegun(CELLS[0]), CellBegun(CELLS[40]))
    assert state.pending_places == {place_of(CELLS[0]), place_of(CELLS[40])}
    take(state, CellEnded(RESULTS[0]))
    assert state.pending_places == {place_of(CELLS[40])}
    state.stop()
    assert not state.pending_places


def test_the_kinds_that_are_counted_go_round_and_results_that_come_are_counted_so() -> None:
    state = RunState(run_of(quick()), RESULTS[:200])
    seen = []
    for _ in quick().kinds:
        state.next_kinds()
        seen.append(state.kinds)
        assert state.tallies == count_results(RESULTS[:200], state.kinds)
    take(state, *map(CellEnded, RESULTS[200:]))
    assert state.tallies == count_results(RESULTS, state.kinds)
    assert seen == [(kind,) for kind in quick().kinds]
    state.next_kinds()
    assert state.tallies == count_results(RESULTS)
    assert state.kinds_line == "all kinds"
    state.next_kinds()
    assert state.kinds_line == "direct"
    assert RunState(run_of(replace(quick(), kinds=seen[0])), ()).kinds_line == "direct"


def test_failed_cells_are_asked_again_and_counted_once() -> None:
    cell = CELLS[0]
    state = RunState(run_of(quick()), [*RESULTS[1:], failed(cell)])
    assert state.to_ask == [cell]
    take(state, CellEnded(RESULTS[0]))
    assert state.tallies == count_results(RESULTS)
    assert state.progress(3, is_running=True).seconds_left == 0


def test_the_rest_is_estimated_once_something_was_decided_here() -> None:
    state = RunState(run_of(quick()), RESULTS[:100])
    assert state.progress(12, is_running=True).seconds_left is None
    for result in RESULTS[100:]:
        take(state, CellEnded(result))
        if len(state.results) == 300:
            assert (state.progress(12, is_running=True).seconds_left or 0) > 0
            assert state.progress(0.2, is_running=True).seconds_left is None
            assert state.progress(12, is_running=False).seconds_left is None
    assert state.progress(12, is_running=True).seconds_left == pytest.approx(0)


def test_what_the_lab_waits_for_is_told_as_long_as_it_does() -> None:
    state = RunState(run_of(quick()), ())
    take(state, ConversationBegun(2, 4, 16_000))
    assert state.notice == "making conversation 2 of 4, 16k tokens…"
    take(state, ConversationReady(2, 300, 0.4), CellBegun(CELLS[0]))
    assert state.notice == ""
    take(state, Slowed(8.0, "the endpoint wants fewer requests", 2))
    assert state.notice == "the endpoint wants fewer requests: waiting 8 s"
    take(state, CellEnded(RESULTS[0]))
    assert state.notice
    take(state, CellBegun(CELLS[1]))
    assert (state.notice, state.parallel) == ("", 2)
    take(state, CellRetried(CELLS[1], "it broke off\x1b[2J\nhere"))
    assert state.notice == "retried in full at 1k: it broke off\x1b[2J here"
    take(state, CellEnded(RESULTS[5]))
    assert state.notice
    take(state, CellEnded(RESULTS[1]))
    assert state.notice == ""


def test_a_run_that_was_given_up_says_why() -> None:
    state = RunState(run_of(quick()), ())
    take(state, CellBegun(CELLS[0]), RunEnded("The key is refused. Paste another."))
    assert state.why == "The key is refused. Paste another."
    assert not state.pending_places
    state.stop()
    assert state.why == "The key is refused. Paste another."


def test_what_does_not_fit_is_known_as_any_other_result() -> None:
    state = RunState(run_of(quick()), RESULTS)
    unfit = [each for each in RESULTS if each.verdict is Verdict.UNFIT]
    assert unfit
    assert {each.cell.mode for each in unfit} == {Mode.FULL}
    assert state.tallies.by_mode[Mode.FULL].unfit == len(unfit)


def test_a_run_that_ends_has_no_notice_and_no_pending_cell() -> None:
    state = RunState(run_of(quick()), ())
    take(state, CapRaised(1_024))
    assert state.notice == "the model reasons: answers may now take 1,024 tokens"
    take(state, CellBegun(CELLS[0]), RunEnded())
    assert not state.pending
    assert state.notice == ""
