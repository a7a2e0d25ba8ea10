"""The tables at the end of a run."""

from __future__ import annotations

from dataclasses import replace

import pytest
from rich.console import Console

from jitchat.lab import stats
from jitchat.lab.facts import Kind
from jitchat.lab.report import ABSENT_CAVEAT, KIND_CAVEATS, READER_CAVEAT, tables
from jitchat.lab.stats import Spent, Tally, count_results
from tests.lab.some_results import READER_RUN, RUN, results


def printed(made, width=80):
    console = Console(width=width, color_system=None, force_terminal=False)
    with console.capture() as taken:
        console.print(*made)
    return taken.get()


def rows_of(text):
    return [on_one_line(line) for line in text.splitlines()]


def on_one_line(text):
    return " ".join(text.split())


def test_shares_stand_by_length_and_kind_with_interval_and_count():
    text = printed(tables(RUN, count_results(results())))
    rows = rows_of(text)
    assert "16k 55 % of 20 (34–74) 40 % of 20 (22–61) 90 % of 20 (70–97)" in rows
    assert "48k does not fit 40 % of 20 (22–61) 90 % of 20 (70–97)" in rows
    assert "updated 80 % of 15 (52–94) 40 % of 20 (12–76) 100 % of 18 (56–100)" in rows
    assert next(row for row in rows if row.startswith("all ")).count("(") == 3
    assert "100 % 100 % of 12 (51–100) 100 % of 16 (51–100) 100 % of 16 (51–100)" in rows
    assert ABSENT_CAVEAT in on_one_line(text)
    assert KIND_CAVEATS[Kind.INSTRUCTION] not in on_one_line(text)
    assert "48k does not fit 48,100 48,100" in rows
    assert "jit 80 10,100 0.2 s 1.6 s 50 % $0.0080" in rows
    assert max(map(len, text.splitlines())) <= 80


def test_what_failed_is_told_and_the_readers_caveat_where_it_is_the_reader():
    text = on_one_line(printed(tables(READER_RUN, count_results(results()))))
    assert "240 cells: 218 answered, 20 do not fit, 2 failed." in text
    assert READER_CAVEAT in text
    assert READER_CAVEAT not in on_one_line(printed(tables(RUN, count_results(results()))))


def test_a_run_without_results_has_dashes():
    text = printed(tables(RUN, count_results([])))
    assert "16k – – –" in rows_of(text)
    assert "0 of 240 cells: 0 answered." in text
    assert "Differences between modes" not in text
    assert "Evidence in the window" not in text


def test_modes_of_a_run_are_told_against_each_other_on_the_same_facts():
    text = printed(tables(RUN, count_results(results())))
    rows = rows_of(text)
    assert "Differences between modes" in text
    assert "jit − full 16k 20 90 − 55 +35 (+7 to +57)" in rows
    assert "jit − recency all 78 95 − 56 +38 (+18 to +56)" in rows
    assert not any(row.startswith("jit − full 48k") for row in rows), "full has no answer there"
    left_out = "Cells left out, with no answer in one mode: jit − full 22, jit − recency 2, full"
    assert left_out in on_one_line(text)


def test_what_the_window_held_stands_against_what_was_right():
    rows = rows_of(printed(tables(RUN, count_results(results()))))
    assert "full 51 · 85 % 9 · 15 % 0 · 0 % 0 · 0 %" in rows
    assert "recency 44 · 55 % 0 · 0 % 0 · 0 % 36 · 45 %" in rows


def test_what_a_model_is_called_cannot_steer_a_terminal_or_mark_up_a_table():
    text = printed(tables(replace(RUN, model="[red]\x1b[31mx\u202e"), count_results([])))
    assert "[red]␛[31mx�" in text
    assert "\x1b" not in text


@pytest.mark.parametrize(
    ("share", "told"),
    [(None, "–"), (0, "0 %"), (0.001, "1 %"), (0.5, "50 %"), (0.999, "99 %"), (1, "100 %")],
)
def test_all_and_none_are_said_of_all_and_none_only(share, told):
    assert stats.percent(share) == told


@pytest.mark.parametrize(
    ("seconds", "told"),
    [(None, "–"), (0, "0 ms"), (0.0004, "<1 ms"), (0.012, "12 ms"), (0.31, "0.3 s")],
)
def test_times_are_told_in_what_they_are_felt_in(seconds, told):
    assert stats.duration(seconds) == told


@pytest.mark.parametrize(
    ("spent", "told"),
    [
        (Spent(), "–"),
        (Spent(sent=3, cost=0.0), "free"),
        (Spent(sent=3, cost=0.12), "$0.12"),
        (Spent(sent=3, cost=0.12, unpriced=1), "$0.12 + 1 unknown"),
        (Spent(sent=3, unpriced=3), "cost unknown"),
    ],
)
def test_a_cost_that_is_not_known_is_never_nothing(spent, told):
    assert stats.cost(spent) == told


@pytest.mark.parametrize(
    ("tally", "told"),
    [
        (Tally(right=1, wrong=1, failed=5, unfit=5), "50 % of 2 (9–91)"),
        (Tally(failed=1, unfit=1), "does not fit"),
        (Tally(failed=1), "failed"),
        (Tally(), "–"),
        (None, "–"),
    ],
)
def test_a_share_is_told_or_why_there_is_none(tally, told):
    assert stats.share_of(tally) == told
