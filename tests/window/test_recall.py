"""What goes into the tail, and what is given up first."""

from __future__ import annotations

from dataclasses import replace

from jitchat.values import RecallOrder, Retrieval, Role
from jitchat.window.history import History
from jitchat.window.recall import Allowance, Recall, Recalling
from tests.support import turn
from tests.window.cases import ODD_TEXTS, shortlist
from tests.window.counters import Characters

PRICE = Characters().count
ROOMY = Allowance(room=100_000, retrieved=100_000)


def found_with_questions(**allowed: object) -> Recall:
    """Hits 20, 9, 30 and 15: turn 20 answers 19, and turn 9 is a question."""
    said = {8: "x?", 9: "y?", 19: "x?", 21: "z", 29: "x?"}
    turns = [turn(number, said.get(number, f"x{number}")) for number in range(1, 41)]
    history = History().extended(turns, PRICE)
    taken, allowance = frozenset({8, 31}), replace(ROOMY, **allowed)
    return Recalling(history, shortlist(20, 9, 30, 15, hits=4), taken, allowance, PRICE).recall()


def test_value_is_the_order_of_the_hits_with_the_questions_and_answers_of_the_best_two():
    assert [piece.turn for piece in found_with_questions().turns] == [20, 9, 19, 10, 30, 15]


def test_the_best_is_read_last_and_each_question_right_ahead_of_its_answer():
    read = found_with_questions().in_order(RecallOrder.BEST_LAST)
    assert [piece.turn for piece in read] == [15, 30, 9, 10, 19, 20]


def test_what_was_asked_for_is_read_behind_what_was_found_in_order_of_position():
    recalled = found_with_questions(requested={30: "asked for", 2: "asked for"})
    read = [piece.turn for piece in recalled.in_order(RecallOrder.BEST_LAST)]
    assert read == [15, 9, 10, 19, 20, 2, 30]


def test_recalled_turns_are_read_by_date_where_that_is_chosen():
    read = found_with_questions().in_order(RecallOrder.DATE)
    assert [piece.turn for piece in read] == [9, 10, 15, 19, 20, 30]


def loaded(retrieval: Retrieval, **texts: str) -> Recall:
    """What is loaded of forty turns at ease; turn 9 says the text of `t9`, and so on."""
    turns = [turn(number, texts.get(f"t{number}", f"text {number}")) for number in range(1, 41)]
    return Recalling(
        History().extended(turns, PRICE), retrieval, frozenset(), ROOMY, PRICE
    ).recall()


def test_of_turns_with_the_same_text_the_newest_stands_beside_the_best():
    same = dict.fromkeys(("t9", "t20", "t30"), "Port  8443.\n")
    found = loaded(shortlist(20, 9, 30), **same)
    assert [piece.turn for piece in found.turns] == [20, 30]
    assert found.refused == {9: "same text as #30"}


def test_what_ranks_below_the_floor_is_not_sent_if_its_text_is_sent():
    same = dict.fromkeys(("t9", "t20", "t30"), "Port  8443.\n")
    found = loaded(shortlist(9, 20, 7, 30, hits=1), **same)
    assert [piece.turn for piece in found.turns] == [9, 7]
    assert found.refused == dict.fromkeys((20, 30), "same text as #9")


def test_a_turn_that_was_asked_for_is_never_left_out_as_a_repetition():
    turns = [turn(number, "Port 8443.") for number in range(1, 41)]
    tight = Allowance(room=5, retrieved=5, requested={9: "asked for"})
    found = Recalling(
        History().extended(turns, PRICE), shortlist(20, 9), frozenset(), tight, PRICE
    ).recall()
    assert found.refused[9].startswith("asked for, but it would need ")


def test_turns_that_differ_in_one_character_are_both_there():
    for one, other in (
        ("port 8443", "port 8444"),
        ("Tulip", "tulip"),
        ("$50", "€50"),
        ("C++", "C"),
    ):
        found = loaded(shortlist(20, 9), t9=one, t20=other)
        assert {piece.turn for piece in found.turns} == {9, 20}


def test_an_index_line_is_written_where_it_costs_half_of_its_turn_at_the_most():
    texts = {number: "x" if number < 21 else "x" * 500 for number in range(1, 41)}
    history = History().extended([turn(number, text) for number, text in texts.items()], PRICE)
    retrieval = shortlist(30, 5, 25, hits=1, decisions=[7])
    found = Recall().with_lines(history, retrieval, frozenset({30}), 1_000, PRICE)
    assert [piece.turn for piece in found.lines] == [7, 25]
    assert found.needless == {5}


def test_a_hit_costs_once_however_often_it_was_found():
    history = History().extended(
        [turn(number, f"{number:02}" * 40) for number in range(1, 41)], PRICE
    )
    twice = shortlist(9, 20)
    doubled = type(twice)(twice.candidates, (twice.hits[0],) * 5 + twice.hits[1:])
    cost = PRICE(f"<turn #20 assistant>\n{'20' * 40}\n</turn>\n")
    tight = Allowance(room=1_000, retrieved=2 * cost)
    found = Recalling(history, doubled, frozenset(), tight, PRICE).recall()
    assert [piece.turn for piece in found.turns] == [9, 20]


def test_each_recalled_text_stays_between_its_own_tags():
    texts = dict(enumerate((text for text in ODD_TEXTS if text.strip()), start=1))
    history = History().extended(
        [turn(number, text, Role.USER) for number, text in texts.items()], PRICE
    )
    for number, text in texts.items():
        found = Recalling(history, shortlist(number), frozenset(), ROOMY, PRICE).recall()
        written = next(piece.text for piece in found.turns if piece.turn == number)
        tag = written[1 : written.index(" ")]
        assert written == f"<{tag} #{number} user>\n{text}\n</{tag}>\n"
        assert f"</{tag}>" not in text
        assert f"<{tag} " not in text
