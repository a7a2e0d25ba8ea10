"""The ledger view's rows: order, filter, rules, and figures that add up."""

from __future__ import annotations

import re
from dataclasses import replace
from typing import TYPE_CHECKING

import pytest
from hypothesis import given
from hypothesis import strategies as st

from jitchat.errors import WindowOverflow
from jitchat.tui.figures import identity_sentence
from jitchat.tui.views.ledger_rows import (
    PARTS,
    Listing,
    Marks,
    Order,
    Part,
    Row,
    change_line,
    columns_of,
    legend,
    never_line,
    row_beside_ledger,
    row_of,
    ruled,
)
from jitchat.tui.widgets.turn_table import Line, draw, header
from jitchat.values import Mode, Reranking
from jitchat.why import why
from jitchat.window.budget import Budget
from jitchat.window.steering import Once, Steering
from jitchat.window.tokens import EstimateCounter
from jitchat.window.window import RERANKER, ContextWindow, Verdict
from tests.examples import examples
from tests.support import demo_session
from tests.window.cases import Case, cases

if TYPE_CHECKING:
    from jitchat.session import Session
    from jitchat.store.store import ColdStore

QUESTION = "what did we settle on for the deploy window?"


def small_session(store: ColdStore) -> Session:
    session = demo_session(store)
    session.take_budget(Budget(size=1_500))
    return session


@pytest.fixture
def window(store: ColdStore) -> ContextWindow:
    return small_session(store).preview(QUESTION, Mode.JIT)


def turns(window: ContextWindow, listing: Listing, **lines: str) -> list[int]:
    rows = [row_of(row, window.mark) for row in window.ledger]
    known = {int(key[1:]): line for key, line in lines.items()}
    return [row.turn for row in listing.of(rows, known)]


def test_rows_are_sorted_by_each_column(window: ContextWindow) -> None:
    ledger = window.ledger
    assert turns(window, Listing()) == [row.turn for row in ledger]
    by_tokens = {row.turn: row.tokens for row in ledger}
    costs = [by_tokens[turn] for turn in turns(window, Listing(Order.TOKENS))]
    assert costs == sorted(costs, reverse=True)
    assert turns(window, Listing(Order.TURN)) == sorted(row.turn for row in ledger)
    verdicts = {row.turn: row.verdict for row in ledger}
    sorted_verdicts = [verdicts[turn] for turn in turns(window, Listing(Order.VERDICT))]
    assert list(dict.fromkeys(sorted_verdicts)) == [
        Verdict.RETRIEVED, Verdict.INDEX, Verdict.LEFT_OUT,
    ]  # fmt: skip


def test_rows_are_filtered_by_part_and_by_index_line_reason_and_id(window: ContextWindow) -> None:
    kinds = window.kind_of_turns()
    inside, outside = turns(window, Listing(part=Part.IN)), turns(window, Listing(part=Part.OUT))
    assert set(inside) == {row.turn for row in window.ledger if row.turn in kinds}
    assert sorted(inside + outside) == turns(window, Listing(Order.TURN))
    assert turns(window, Listing(text=" Latest DECISION ")) == [33, 34, 47]
    assert turns(window, Listing(text="hazel"), t24="Hazel is out.", t9="No.") == [24]
    assert turns(window, Listing(text="#2")) == [24, 25, 23, 22, 26, 2, 28, 29, 27]
    assert turns(window, Listing(text="24")) == [24]
    assert turns(window, Listing(text="nothing like it")) == []


def test_the_cut_the_floor_and_the_end_stand_between_the_ranks(window: ContextWindow) -> None:
    rows = Listing().of([row_of(row, window.mark) for row in window.ledger], {})
    told = [item if isinstance(item, Line) else item.turn for item in ruled(rows, window)]
    rules = [(place, item) for place, item in enumerate(told) if isinstance(item, Line)]
    assert [rule.text.removeprefix("── ").strip().split(":")[0] for _, rule in rules] == [
        "cut", "floor 0.34", "end of the shortlist",
    ]  # fmt: skip
    above = [row for row in window.ledger if row.rank and row.score >= (window.floor or 0)]
    assert told[: rules[0][0]] == [row.turn for row in above]
    assert told[rules[2][0] + 1 :] == [row.turn for row in window.ledger if row.rank is None]


def line_of(row: Row, window: ContextWindow, width: int, marks: Marks | None = None) -> str:
    columns = columns_of([row], window, marks or Marks())(width)
    return str(draw(columns, row))


def test_a_part_has_its_bar_under_its_name(window: ContextWindow) -> None:
    assert str(legend()) == f"parts of the score: {' '.join(PARTS)}"
    for number, name in enumerate(PARTS):
        parts = tuple((each, 1.0 if each == name else 0.0) for each in reversed(PARTS))
        row = row_of(replace(window.ledger[0], parts=parts, reason=""), window.mark)
        head, line = header(columns_of([row], window, Marks())(76)), line_of(row, window, 76)
        place = head.index(" le ") + 1 + 3 * number
        assert head[place : place + 2] == name[:2]
        assert line[place : place + 2] == "██"
        assert line.count("█") == 2
    reranked = replace(window, reranking=Reranking("cross-1", "", 9, 4.0))
    parts = (*((name, 0.0) for name in PARTS), (RERANKER, 1.0))
    row = row_of(
        replace(window.ledger[0], parts=parts, reason="", rank=1, rank_before=7), window.mark
    )
    assert str(legend(reranked)).endswith("later reranker")
    assert RERANKER not in str(legend(replace(reranked, reranking=None)))
    assert (
        line_of(row, reranked, 76)[
            header(columns_of([row], reranked, Marks())(76)).index(" re ") + 1
        ]
        == "█"
    )
    assert "rank 1 (7 before the reranker)" in row.note
    less = row_of(replace(window.ledger[0], parts=(("cue", -0.2),)), window.mark)
    assert "−−" in line_of(less, window, 76)


@pytest.mark.parametrize("width", [60, 100])
def test_a_row_says_what_was_decided_and_why_where_there_is_room(
    window: ContextWindow, width: int
) -> None:
    reason = "because [b]of[/b] \x1b[2J " + "words " * 40
    row = row_of(replace(window.ledger[0], reason=reason), window.mark)
    marks = Marks(Steering(frozenset({row.turn})), Once(dropped=frozenset({row.turn})))
    line = line_of(row, window, width, marks)
    assert line.startswith("−P ")
    assert "\x1b" not in line
    assert ("because [b]of" in line) == (width == 100)


def test_a_turn_that_was_no_candidate_gets_a_row_when_it_is_asked_for(store: ColdStore) -> None:
    session = small_session(store)
    explained = session.explained(QUESTION, Mode.JIT)

    def asked(turn: int) -> Row | None:
        return row_beside_ledger(why(session.memory, explained, turn))

    row = asked(20)
    assert row is not None
    assert (row.turn, row.rank, row.tokens, row.verdict, row.part) == (
        20, 28, None, "never", Part.OUT,
    )  # fmt: skip
    recent = asked(60)
    assert recent is not None
    assert recent.part is Part.IN
    assert [asked(turn) for turn in (9, 61, 99)] == [None] * 3


def test_what_came_in_and_what_lost_its_place_is_told(store: ColdStore) -> None:
    session = small_session(store)
    before = session.preview(QUESTION, Mode.JIT)
    after = session.preview(QUESTION, Mode.JIT, Once(dropped=frozenset({9})))
    told = change_line(before, after)
    assert "displaced: #9 (" in told
    assert told.endswith(f"used ~{before.used:,} → ~{after.used:,}")
    assert change_line(before, before) == "No turn was added or displaced."


@given(case=cases(), mode=st.sampled_from(list(Mode)))
@examples(16)
def test_the_printed_sums_are_the_limit_and_every_turn_is_told_of(case: Case, mode: Mode) -> None:
    window = case.window(mode, EstimateCounter())
    if isinstance(window, WindowOverflow):
        return
    sums = re.sub(r" ± [\d,]+", "", identity_sentence(window))
    used, free, reserve, limit = (int(each.replace(",", "")) for each in _NUMBERS.findall(sums))
    assert used + free + reserve == limit
    rows = Listing().of([row_of(row, window.mark) for row in window.ledger], {})
    assert [each for each in ruled(rows, window) if not isinstance(each, Line)] == rows
    assert {row.turn: row.tokens for row in rows} == {row.turn: row.tokens for row in window.ledger}
    never = window.never_candidates
    assert never_line(window).startswith(f"{never.turns:,} turn" if never else "")
    assert bool(never_line(window)) == (never is not None)


_NUMBERS = re.compile(r"\d[\d,]*")
