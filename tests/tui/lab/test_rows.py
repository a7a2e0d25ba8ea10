"""Lines and sentences of the lab: what they say, that they keep to their room, and foreign text."""

from __future__ import annotations

from dataclasses import replace

import pytest

from jitchat.lab.change import signed
from jitchat.lab.experiment import Cell, Verdict, preset
from jitchat.lab.facts import Kind
from jitchat.lab.stats import Tally, count_results, span
from jitchat.tui.lab.cells import cell_line, cells_of, detail, pin_effect, square_line, whole
from jitchat.tui.lab.curve import spent_rows
from jitchat.tui.lab.run_state import Progress
from jitchat.tui.lab.setup import PlannedRun, plan_text, preset_line
from jitchat.tui.lab.start import run_line, runs_header
from jitchat.values import Mode
from tests.tui.lab.support import MODEL, READER, failed, quick, result_of, run_of

CELL = Cell(4_000, 0.5, Kind.UPDATED, 2, Mode.JIT)
RIGHT = replace(result_of(CELL), verdict=Verdict.RIGHT, held=1)
HOSTILE = "\x1b]0;gone\x07 [b]bold[/b]\r\n" + "x" * 2_000


def line(result, width: int = 60, **kwargs) -> str:
    given = {"repeats": 1, "is_pending": False} | kwargs
    return cell_line(CELL, result, width, **given).plain


def test_a_cell_tells_its_mark_its_kind_and_why() -> None:
    assert line(RIGHT).split() == ["✓", "updated", *RIGHT.rule.split()]
    assert line(None).split() == ["·", "updated", "not", "yet"]
    assert line(None, is_pending=True).split() == ["…", "updated", "asking"]
    assert line(failed(CELL)).split() == ["!", "updated", "it", "broke", "off"]
    unfit = result_of(Cell(48_000, 0.5, Kind.UPDATED, 1, Mode.FULL))
    assert line(unfit).startswith("n/f")
    assert "updated 2" in line(RIGHT, repeats=3)


def test_a_note_on_an_answer_stands_beside_the_rule_that_decided() -> None:
    noted = replace(RIGHT, note="the answer was cut at its longest")
    assert noted.rule in line(noted)
    for told in (detail(noted, 60).plain, detail(noted, 60, is_brief=True).plain):
        assert "note       the answer was cut at its longest" in told
    assert whole(noted).splitlines()[-2] == "note: the answer was cut at its longest"
    assert "\nnote" not in detail(RIGHT, 60).plain
    broken = detail(failed(CELL), 60).plain
    assert "! failed: it broke off" in broken
    assert broken.count("broke off") == 1
    assert "failed: it broke off" in whole(failed(CELL))


def test_a_square_lists_its_kinds_each_as_often_as_it_is_asked() -> None:
    asked = replace(quick(), repeats=2)
    cells = cells_of(asked, (Mode.JIT, 4_000, 0.5))
    assert [(cell.kind, cell.repeat) for cell in cells[:3]] == [
        (Kind.DIRECT, 1),
        (Kind.DIRECT, 2),
        (Kind.PARAPHRASED, 1),
    ]
    assert len(cells) == 14
    assert set(cells) <= set(asked.cells())
    dialled = replace(asked, near=(0, 12))
    near = cells_of(dialled, (Mode.JIT, 4_000, 0.5))
    assert len(near) == 28
    assert set(near) <= set(dialled.cells())
    told = cell_line(near[2], None, 60, repeats=2, is_pending=False).plain
    assert told == "·   direct 1, near 12      not yet"


def test_a_square_is_told_by_its_tally() -> None:
    place = (Mode.FULL, 16_000, 0.25)
    told = square_line(place, Tally(right=4, wrong=1, unfit=1, failed=1))
    assert told == "full · 16,000 tokens · 25 % deep · 4 of 5 right · 1 does not fit · 1 failed"
    assert square_line(place, Tally()).endswith("nothing yet")


@pytest.mark.parametrize(
    ("change", "told"),
    [
        ({"held": None}, "no window was sent"),
        ({"needed": ()}, "no turn is needed: the fact was never stated"),
        ({"held": 1}, "the window had 1 of 1 needed turn (#9)"),
        (
            {"held": 1, "verdict": Verdict.WRONG},
            "the window had 1 of 1 needed turn (#9): the evidence was misread",
        ),
        (
            {"held": 3, "needed": (1, 4, 9, 12), "verdict": Verdict.WRONG},
            "the window had 3 of 4 needed turns (#1, #4, #9, #12): the answer was not available",
        ),
    ],
)
def test_a_turn_that_was_missed_is_told_from_one_that_was_misread(change, told: str) -> None:
    assert pin_effect(replace(RIGHT, **change)) == told


def test_the_detail_has_question_answers_rule_and_window_and_keeps_to_its_room() -> None:
    told = detail(RIGHT, 40).plain
    for part in (RIGHT.question, RIGHT.expected, RIGHT.answer, RIGHT.rule):
        assert part in " ".join(told.split())
    assert max(map(len, told.splitlines())) <= 40
    brief = detail(RIGHT, 40, is_brief=True).plain
    assert len(brief.splitlines()) < len(told.splitlines())
    assert "had 1 of 1" in brief


def test_what_a_model_or_a_server_wrote_steers_no_terminal() -> None:
    hostile = replace(
        RIGHT, question=HOSTILE, answer=HOSTILE, expected=HOSTILE, rule=HOSTILE, note=HOSTILE
    )
    run = replace(run_of(quick()), model=HOSTILE)
    hostile_plan = PlannedRun(quick(), replace(MODEL, model=HOSTILE), judge=HOSTILE)
    told = [
        detail(hostile, 60).plain.replace("\n", ""),
        line(hostile),
        run_line(run, 3, None, 100).plain,
        plan_text(hostile_plan, 80).plain.replace("\n", ""),
    ]
    for each in told:
        assert each.isprintable()
        assert "[b]" in each
    assert len(line(hostile)) <= 60
    assert whole(hostile)


def test_the_spent_table_leaves_out_what_matters_least() -> None:
    tallies = count_results(result_of(cell) for cell in quick().cells())
    modes = tuple(Mode)
    for width in range(24, 100):
        rows = spent_rows(tallies, modes, width)
        assert len({len(each) for each in rows}) == 1
        assert len(rows[0]) <= width
        assert rows[0].split()[:1] == ["right"]
        assert "tokens" in rows[0]
    assert "free" in rows[1]
    assert rows[0].split()[:5] == ["right", "95", "%", "of", "sent"]
    assert rows[1].split()[:6] == ["f", "full", "91", "%", "83–96", "105"]
    narrow = spent_rows(tallies, modes, 48)[0].split()
    assert narrow == ["right", "tokens", "first", "time", "cost"]
    assert "–" in spent_rows(count_results(()), (Mode.JIT,), 100)[1]


def test_long_times_and_costs_of_which_some_are_unknown_stand_whole_in_the_spent_table() -> None:
    cells = list(quick().cells())
    made = [replace(result_of(cell), seconds=1_234.5, cost=0.25) for cell in cells]
    made[0] = replace(made[0], cost=None)
    header, *rows = spent_rows(count_results(made), tuple(Mode), 54)
    assert header.split() == ["right", "tokens", "time", "cost"]
    assert "1,234.5 s" in rows[0]
    assert rows[0].endswith("$26.00 + 1 unknown")
    assert len({len(each) for each in (header, *rows)}) == 1


@pytest.mark.parametrize("width", [60, 89, 90, 119, 120, 150])
def test_runs_are_listed_in_columns(width: int) -> None:
    shares = {Mode.FULL: Tally(right=9, wrong=1), Mode.JIT: Tally(right=1)}
    lines = [
        runs_header(width),
        run_line(run_of(quick()), 210, shares, width).plain,
        run_line(run_of(preset("deep"), MODEL), 5_544, None, width).plain,
    ]
    assert len({len(each) for each in lines}) == 1
    assert len(lines[0]) <= width
    assert "210/420" in lines[1]
    assert ("90 % of 10" if width >= 120 else "90 %  ") in lines[1]
    assert "5,544" in lines[2]
    assert lines[2].count("…") >= 3


def test_a_preset_tells_what_it_asks_and_what_that_sends() -> None:
    assert preset_line(1, quick()).plain.split("  ")[-1].strip() == (
        "4 lengths, 1k to 48k · 5 depths · 7 kinds"
    )
    told = plan_text(PlannedRun(quick(), READER), 200).plain
    assert "reader · limit 32,768 · reserve 2,048 · /model in the chat changes it" in told
    assert "420: each once in full, recency, jit" in told
    assert "35 cells do not fit" in told
    assert "at once" not in told
    brief = plan_text(PlannedRun(quick(), MODEL, 4), 60, is_brief=True).plain
    assert "lengths" not in brief
    assert "at once   4 requests" in brief
    dialled = replace(quick(), near=(0, 6))
    near = plan_text(PlannedRun(dialled, MODEL), 200).plain
    assert "near      0, 6 near-duplicates of each fact" in near
    assert "near 0, 6" in preset_line(1, dialled).plain
    assert "finding the model" in plan_text(PlannedRun(quick(), None), 80).plain


@pytest.mark.parametrize(
    ("plan", "is_free"),
    [
        (PlannedRun(quick(), READER), True),
        (PlannedRun(quick(), replace(READER, is_here=False)), False),
        (PlannedRun(quick(), replace(MODEL, is_here=True)), True),
        (PlannedRun(quick(), MODEL), False),
        (PlannedRun(quick(), READER, judge="judge/model"), False),
        (PlannedRun(quick(), None), False),
    ],
)
def test_only_what_is_known_to_stay_here_is_sent_unasked(plan: PlannedRun, is_free: bool) -> None:
    assert plan.is_free is is_free


def test_progress_tells_time_once_something_is_known_of_it() -> None:
    def told(done: int, seconds: float, left: float | None = None, *, is_running=True) -> str:
        return Progress(done, 420, seconds, is_running, left).sentence

    assert told(9, 102, 9.0).startswith("9 of 420 cells · 2 min · ab")
    assert told(0, 0.2) == "0 of 420 cells · 0 s"
    assert told(210, 12, 12) == "210 of 420 cells · 12 s · about 12 s left"
    assert told(420, 21.4, is_running=False) == "420 of 420 cells · done in 21 s"
    assert told(420, 2.44, is_running=False) == "420 of 420 cells · done in 2.4 s"
    assert told(420, 0, is_running=False) == "420 of 420 cells"
    assert "stopped and saved: R resumes" in told(9, 3, is_running=False)
    assert [span(each) for each in (8.4, 180, 4_320)] == ["8 s", "3 min", "1 h 12 min"]
    assert ["".join(Progress(n, 4, 0, True).bar(6)) for n in (0, 1, 4)] == [
        "━━━━━━",
        "━╸━━━━",
        "━━━━━━",
    ]


def test_no_difference_is_written_without_a_sign() -> None:
    assert [signed(each) for each in (0.0, 0.001, -0.03, 0.12)] == ["0", "0", "−3", "+12"]
