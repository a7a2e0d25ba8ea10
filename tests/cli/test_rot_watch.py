"""Progress of a run: a bar in a terminal, and notices when it slows down."""

from __future__ import annotations

import io
from dataclasses import replace
from itertools import starmap

from rich.console import Console

from jitchat.cli.rot_run import Watcher, drawn
from jitchat.lab.events import CellEnded, ConversationBegun, ConversationReady, RunEnded, Slowed
from jitchat.lab.experiment import Cell, Result, Verdict
from jitchat.lab.facts import Kind
from jitchat.values import Mode


def ended(verdict: Verdict, note: str = "") -> CellEnded:
    cell = Cell(4_000, 0.5, Kind.DIRECT, 1, Mode.JIT)
    return CellEnded(Result(cell, verdict, "", "Which?", "seven", "", "talk", 1, note=note))


def test_the_current_cell_and_failures_are_shown():
    lines: list[str] = []
    watcher = Watcher(3, 1, lines.append)
    seen = []
    for event in (
        ConversationBegun(1, 2, 4_000),
        ConversationReady(1, 100, 0.5),
        ended(Verdict.RIGHT),
        ended(Verdict.FAILED, "No server there."),
        ended(Verdict.FAILED, "No server there, again."),
        RunEnded("10 requests in a row failed."),
    ):
        watcher.take(event)
        seen.append(watcher.doing)

    assert seen[:2] == ["storing 4k", "asking at 4k"]
    assert seen[-1] == "asking at 4k, 2 failed · 4k at 50 %, direct, jit: failed"
    assert (watcher.decided, watcher.failed) == (6, 2)
    assert watcher.first_failure == "No server there."
    assert watcher.why_over == "10 requests in a row failed."
    assert lines == []


def test_without_a_terminal_there_is_a_line_per_conversation_and_per_cell():
    lines: list[str] = []
    watcher = Watcher(3, 1, lines.append, 12)
    wrong = ended(Verdict.WRONG).result
    theirs = replace(wrong, rule="says another's value 31", seconds=1.23)
    for event in (
        ConversationBegun(1, 2, 4_000),
        ConversationReady(1, 100, 0.5),
        ended(Verdict.FAILED, "No server there."),
        CellEnded(replace(theirs, cell=replace(theirs.cell, near=6))),
    ):
        watcher.take(event)

    assert lines == [
        "Conversation 1 of 2: storing 4k…",
        "Conversation 1: 100 turns in 0.5 s; asking at 4k…",
        "     4/12  4k at 50 %, direct, jit: failed",
        "     5/12  4k at 50 %, direct, near 6, jit: wrong, says another's value 31; 1.2 s",
    ]


def test_the_cost_of_the_answers_so_far_is_shown():
    watcher = Watcher(0, 1, lambda _: None)
    watcher.take(ConversationReady(1, 100, 0.5))
    paid = ended(Verdict.RIGHT).result
    watcher.pay(replace(paid, seconds=1.0, cost=0.25))
    watcher.take(CellEnded(replace(paid, seconds=1.0, cost=0.5)))
    assert ", $0.75 · " in watcher.doing
    watcher.take(CellEnded(replace(paid, verdict=Verdict.UNFIT)))
    watcher.take(CellEnded(replace(paid, seconds=1.0)))
    assert ", $0.75 + 1 unknown · " in watcher.doing


def test_each_reduction_of_concurrent_requests_is_reported_once():
    lines: list[str] = []
    watcher = Watcher(0, 4, lines.append)
    slowed = ((20.0, "429\nslow down", 3), (40.0, "429", 3), (0.0, "no", 2), (9.0, "no", 2))
    for event in starmap(Slowed, slowed):
        watcher.take(event)

    assert lines == [
        "The endpoint is limiting requests (429 slow down): waiting 20 s, 3 requests at once from"
        " now on.",
        "The endpoint is limiting requests (no): 2 requests at once from now on.",
    ]


def test_a_single_request_at_a_time_is_not_reduced_further():
    lines: list[str] = []
    watcher = Watcher(0, 1, lines.append)
    watcher.take(Slowed(0.0, "429", 1))
    watcher.take(Slowed(20.0, "429", 1))

    assert lines == ["The endpoint is limiting requests (429)."]


def test_the_bar_counts_cells_and_its_lines_are_plain_text():
    out = io.StringIO()
    console = Console(file=out, force_terminal=True, width=100, color_system=None)
    with drawn(2, 6, 1, console) as watcher:
        watcher.take(ConversationBegun(1, 1, 1_500))
        watcher.take(ended(Verdict.RIGHT))
        watcher.take(Slowed(0.0, "[red]less", 1))

    told = out.getvalue()
    assert watcher.decided == 3
    assert "3/6" in told
    assert "storing 1.5k" in told
    assert "is limiting requests ([red]less)." in told
