"""What the lab reports, as the screen keeps it: figures are those of the tallies."""

from __future__ import annotations

from jitchat.lab.events import (
    CellBegun,
    CellEnded,
    CellRetried,
    ConversationBegun,
    ConversationReady,
    RunEnded,
    Slowed,
)
from jitchat.lab.experiment import Cell, Verdict
from jitchat.lab.stats import count_results
from jitchat.tui.lab.shown_run import ShownRun, kinds_told
from jitchat.values import Mode
from tests.tui.lab.support import failed, quick, result_of, run_of

CELLS = list(quick().cells())
RESULTS = [result_of(cell) for cell in CELLS]


def place_of(cell: Cell):
    return cell.mode, cell.length, cell.depth


def test_results_one_by_one_come_to_what_they_come_to_together() -> None:
    shown = ShownRun(run_of(quick()), RESULTS[:100])
    for result in RESULTS[100:]:
        shown.take([CellBegun(result.cell), CellEnded(result)])
    assert shown.tallies == count_results(RESULTS)
    assert shown.is_whole
    assert not shown.heat.asked


def test_a_cell_that_is_asked_is_marked_until_it_is_decided_or_nothing_is_asked() -> None:
    shown = ShownRun(run_of(quick()), ())
    shown.take([CellBegun(CELLS[0]), CellBegun(CELLS[40])])
    assert shown.heat.asked == {place_of(CELLS[0]), place_of(CELLS[40])}
    shown.take([CellEnded(RESULTS[0])])
    assert shown.heat.asked == {place_of(CELLS[40])}
    shown.stop()
    assert not shown.heat.asked


def test_the_kinds_that_are_counted_go_round_and_results_that_come_are_counted_so() -> None:
    shown = ShownRun(run_of(quick()), RESULTS[:200])
    seen = []
    for _ in quick().kinds:
        shown.next_kinds()
        seen.append(shown.kinds)
        assert shown.tallies == count_results(RESULTS[:200], shown.kinds)
    shown.take(map(CellEnded, RESULTS[200:]))
    assert shown.tallies == count_results(RESULTS, shown.kinds)
    assert seen == [(kind,) for kind in quick().kinds]
    shown.next_kinds()
    assert shown.tallies == count_results(RESULTS)
    assert kinds_told(shown.kinds, quick().kinds) == "all kinds"
    assert kinds_told(seen[0], quick().kinds) == "direct"
    assert kinds_told(seen[0], seen[0]) == "direct"


def test_failed_cells_are_asked_again_and_counted_once() -> None:
    cell = CELLS[0]
    shown = ShownRun(run_of(quick()), [*RESULTS[1:], failed(cell)])
    assert shown.to_ask == [cell]
    assert not shown.is_whole
    shown.take([CellEnded(RESULTS[0])])
    assert shown.tallies == count_results(RESULTS)
    assert shown.progress(3, is_running=True).seconds_left == 0


def test_what_the_lab_waits_for_is_told_as_long_as_it_does() -> None:
    shown = ShownRun(run_of(quick()), ())
    shown.take([ConversationBegun(2, 4, 16_000)])
    assert shown.notice == "making conversation 2 of 4, 16k tokens…"
    shown.take([ConversationReady(2, 300, 0.4), CellBegun(CELLS[0])])
    assert shown.notice == ""
    shown.take([Slowed(8.0, "the endpoint wants fewer requests", 2)])
    assert shown.notice == "the endpoint wants fewer requests: waiting 8 s"
    shown.take([CellEnded(RESULTS[0])])
    assert shown.notice
    shown.take([CellBegun(CELLS[1])])
    assert (shown.notice, shown.parallel) == ("", 2)
    shown.take([CellRetried(CELLS[1], "it broke off\x1b[2J\nhere")])
    assert shown.notice == "asked once more in full at 1k: it broke off␛[2J here"
    shown.take([CellEnded(RESULTS[5])])
    assert shown.notice
    shown.take([CellEnded(RESULTS[1])])
    assert shown.notice == ""


def test_a_run_that_was_given_up_says_why() -> None:
    shown = ShownRun(run_of(quick()), ())
    shown.take([CellBegun(CELLS[0]), RunEnded("The key is refused. Paste another.")])
    assert shown.why == "The key is refused. Paste another."
    assert not shown.heat.asked
    shown.stop()
    assert shown.why == "The key is refused. Paste another."


def test_what_does_not_fit_is_known_as_any_other_result() -> None:
    shown = ShownRun(run_of(quick()), RESULTS)
    unfit = [each for each in RESULTS if each.verdict is Verdict.UNFIT]
    assert unfit
    assert {each.cell.mode for each in unfit} == {Mode.FULL}
    assert shown.tallies.by_mode[Mode.FULL].unfit == len(unfit)
