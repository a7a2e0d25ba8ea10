"""What the picker took, in words: the tokens that were spent beside those that were saved."""

from __future__ import annotations

from dataclasses import replace
from typing import TYPE_CHECKING

import pytest

from jitchat.values import Mode, Picking
from jitchat.why import why_by_ledger
from jitchat.window.budget import Budget
from jitchat.window.cost import picking_pays, picking_sentences, spent
from jitchat.window.history import History
from jitchat.window.parts import Sources
from jitchat.window.plan import plan
from jitchat.window.tokens import message_tokens
from tests.support import talk, turn
from tests.window.cases import shortlist
from tests.window.counters import Characters

if TYPE_CHECKING:
    from jitchat.window.window import ContextWindow

COUNTER = Characters()
ASKED = Picking("small-1", "", 412, 18, ms=431.0)


def window_with(picking: Picking | None, turns: int = 60) -> ContextWindow:
    spoken = talk(*(f"turn {number:02} " + "words " * 20 for number in range(1, turns + 1)))
    history = History().extended(spoken, lambda text: message_tokens(COUNTER, text))
    found = replace(shortlist(20, 9, hits=1), picking=picking)
    if picking is not None and not picking.fallback:
        found = replace(found, beyond=())
    sources = Sources(history, turn(turns + 1, "what was it?"), "model", retrieval=found)
    return plan(Mode.JIT, sources, Budget(limit=20_000, reserve=500, size=700), COUNTER)


def test_without_a_small_model_nothing_is_said():
    assert picking_sentences(window_with(None)) == []
    assert spent(window_with(None)) == 0


def test_what_it_took_stands_beside_what_the_window_saves():
    window = replace(window_with(ASKED), exact=True)
    saved = window.full_tokens - window.used

    assert saved > 430
    assert picking_sentences(window) == [
        "picked by small-1: 412 + 18 tokens, 0.4 s, cost unknown",
        f"430 spent on picking, {saved:,} saved against full: {saved - 430:,} net",
    ]


def test_a_sub_call_that_eats_what_it_saves_is_told_as_that():
    window = replace(window_with(replace(ASKED, input_tokens=90_000)), exact=True)

    assert picking_sentences(window)[1].endswith("saved against full: it does not pay")
    assert picking_sentences(window)[1].startswith("90,018 spent on picking, ")


@pytest.mark.parametrize(
    ("picking", "told"),
    [
        (
            Picking("small-1", "no answer in 2 s", 412, 0, ms=2_000.4),
            "picker small-1: no answer in 2 s; heuristic used"
            " (412 + 0 tokens, 2.0 s, cost unknown)",
        ),
        (
            Picking("small-1", "it refused", ms=31.4),
            "picker small-1: it refused; heuristic used (no tokens, 31 ms)",
        ),
        (
            Picking("small-1", "not asked before the message is sent"),
            "picker small-1: not asked before the message is sent; heuristic used",
        ),
        (
            replace(ASKED, cost=0.00124),
            "picked by small-1: 412 + 18 tokens, 0.4 s, $0.0012",
        ),
        (
            replace(ASKED, exact=False, model="small\n\x1b[2J1"),
            "picked by small \x1b[2J1: ~412 + ~18 tokens, 0.4 s, cost unknown",
        ),
    ],
)  # fmt: skip
def test_a_fallback_and_an_estimate_are_told_as_such(picking, told):
    sentences = picking_sentences(window_with(picking))

    assert sentences[0] == told
    assert len(sentences) == (2 if spent(window_with(picking)) else 1)


def test_a_candidate_that_the_model_passed_over_says_so():
    reasons = {row.turn: row.reason for row in window_with(ASKED).ledger}
    assert reasons[9] == "not picked by small-1"
    fallen = window_with(replace(ASKED, fallback="no answer in 2 s"))
    assert "picked" not in {row.turn: row.reason for row in fallen.ledger}[9]


@pytest.mark.parametrize(
    ("more", "told"),
    [
        (600, "to save 600 (of {by_scores:,} by scores): it pays"),
        (430, "to save 430 (of {by_scores:,} by scores): it pays"),
        (120, "to save 120 (of {by_scores:,} by scores): it does not pay in tokens"),
        (-50, "to send 50 more (than {by_scores:,} by scores): it does not pay in tokens"),
    ],
)
def test_what_it_took_stands_beside_what_its_picks_save_of_the_window_by_scores(more, told):
    window = replace(window_with(ASKED), exact=True)
    by_scores = window.counted + more
    window = replace(window, picking=replace(ASKED, by_scores=by_scores))

    sentence = f"picking took 430 tokens {told.format(by_scores=by_scores)}"
    assert picking_pays(window) == [sentence]
    assert picking_sentences(window)[-1] == sentence
    row = window.ledger[0]
    explained = why_by_ledger(window, row.turn)
    assert explained is not None
    assert explained.sentences[-1] == f"P{sentence[1:]}."


def test_a_turn_that_the_picker_was_not_shown_is_below_the_floor_and_not_passed_over():
    spoken = talk(*(f"turn {number:02} " + "words " * 20 for number in range(1, 61)))
    history = History().extended(spoken, lambda text: message_tokens(COUNTER, text))
    found = replace(shortlist(20, 9, 15, 30, hits=1), floor=2.8, beyond=(), picking=ASKED)
    sources = Sources(history, turn(61, "what was it?"), "model", retrieval=found)
    window = plan(Mode.JIT, sources, Budget(limit=20_000, reserve=500, size=700), COUNTER)

    reasons = {row.turn: row.reason for row in window.ledger}

    assert [row.score for row in found.candidates] == [1.9, 1.8, 1.7, 1.6]
    assert reasons[15].startswith("not picked by small-1")
    assert reasons[30].startswith("1.20 below the floor 2.80")
