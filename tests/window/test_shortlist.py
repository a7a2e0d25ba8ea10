"""The shortlist as the ledger has it: order, floor, cut and end."""

from __future__ import annotations

from dataclasses import replace

from jitchat.values import Mode, Picking
from tests.window.cases import shortlist
from tests.window.test_ledger import window_for


def test_the_order_is_by_rank_and_the_cut_is_the_last_that_was_picked():
    retrieval = replace(shortlist(20, 60, 9, 15, hits=3, decisions=[40]), floor=1.65)
    window, rows = window_for(Mode.JIT, retrieval=retrieval)
    found = replace(window, ledger=window.ledger[::-1]).shortlist
    assert [row.turn for row in found.rows] == [20, 60, 9, 15]
    assert (found.cut, found.end) == (rows[9], rows[15])
    assert found.floor == window.floor
    assert found.above_floor == sum(row.score >= window.floor for row in found.rows)


def test_a_turn_that_came_below_the_floor_is_no_cut():
    window, rows = window_for(Mode.JIT, retrieval=shortlist(20, 9, 15, hits=3))
    between = (rows[9].score + rows[15].score) / 2
    assert replace(window, floor=between).shortlist.cut == rows[9]


def test_no_floor_is_told_of_where_a_model_picked_and_none_where_nothing_was_found():
    window, _ = window_for(Mode.JIT, retrieval=shortlist(20, 9, 15, hits=1))
    picked = replace(window, picking=Picking("small"))
    assert picked.shortlist.floor is None
    assert replace(window, picking=Picking("small", "no answer")).shortlist.floor is not None
    empty = window_for(Mode.JIT)[0].shortlist
    assert (empty.rows, empty.floor, empty.cut, empty.end) == ((), None, None, None)
