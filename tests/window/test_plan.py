"""What each mode sends, and what gives way when the budget is short."""

from __future__ import annotations

import re
from dataclasses import replace

import pytest

from jitchat.errors import WindowOverflow
from jitchat.values import Mode, RecallOrder, Turn
from jitchat.window.budget import Budget
from jitchat.window.history import History
from jitchat.window.parts import Sources
from jitchat.window.plan import plan, planner_of
from jitchat.window.render import READING
from jitchat.window.tokens import message_tokens
from jitchat.window.window import ContextWindow, Kind
from tests.support import talk, turn
from tests.window.cases import shortlist, turns_of
from tests.window.counters import Characters, Lines

COUNTER = Characters()
DRAFT = turn(61, "what was it?")
ROOMY = Budget(limit=8_000, reserve=500, size=700)
"""Of a size that holds about a third of sixty turns."""


def sixty(words: int = 20) -> list[Turn]:
    return talk(*(f"turn {number:02} " + "words " * words for number in range(1, 61)))


def sources(turns: list[Turn] | None = None, **more: object) -> Sources:
    history = History().extended(sixty() if turns is None else turns, _price)
    return replace(Sources(history, DRAFT, "model", "Be brief."), **more)


def _price(text: str) -> int:
    return message_tokens(COUNTER, text)


def sent(mode: Mode, wanted: Sources, budget: Budget = ROOMY) -> ContextWindow:
    return plan(mode, wanted, budget, COUNTER)


def at_budget(tokens: int) -> Budget:
    """Let the model take no more."""
    return replace(ROOMY, limit=tokens + ROOMY.reserve, size=tokens)


# full


def test_full_sends_every_turn_in_its_own_words():
    window = sent(Mode.FULL, sources())
    assert [m.content for m in window.messages()[1:-1]] == [t.content for t in sixty()]
    assert [m.role for m in window.messages()[1:-1]] == [t.role for t in sixty()]
    assert [m.turn for m in window.messages()] == [None, *range(1, 62)]


def test_full_that_fits_to_the_token_is_sent():
    needed = sent(Mode.FULL, sources()).used
    assert sent(Mode.FULL, sources(), at_budget(needed)).free == 0


def test_full_that_does_not_fit_is_refused_with_the_overshoot_and_the_choices():
    needed = sent(Mode.FULL, sources()).used
    with pytest.raises(WindowOverflow) as refusal:
        sent(Mode.FULL, sources(), at_budget(needed - 7))
    assert refusal.value.overshoot == 7
    assert f"{needed:,} tokens, ~7 more than the budget of {needed - 7:,}" in refusal.value.what
    for choice in ("jit or recency", "lower the reserve by 7", "larger context"):
        assert choice in refusal.value.remedy


def test_a_limit_that_nobody_told_is_called_assumed_where_a_window_does_not_fit():
    budget = replace(at_budget(800), limit_source="assumed: the server did not say")
    with pytest.raises(WindowOverflow) as refusal:
        sent(Mode.FULL, sources(), budget)
    told = f"(limit {budget.limit:,}, assumed: the server did not say, − reserve"
    assert told in refusal.value.what


def test_a_reserve_that_is_too_small_to_help_is_not_offered():
    with pytest.raises(WindowOverflow) as refusal:
        sent(Mode.FULL, sources(), at_budget(800))
    assert "lower the reserve" not in refusal.value.remedy


# recency


def test_recency_sends_the_system_the_recent_block_and_the_draft_only():
    wanted = sources(retrieval=shortlist(3, 4, decisions=[5]), pinned=(7,))
    window = sent(Mode.RECENCY, wanted)
    assert {segment.kind for segment in window.segments} == {Kind.SYSTEM, Kind.RECENT, Kind.DRAFT}
    assert turns_of(window, Kind.RECENT) == [*range(45, 61)]


def test_an_own_message_that_is_too_long_is_refused_in_words_that_fit():
    for mode in (Mode.RECENCY, Mode.JIT):
        with pytest.raises(WindowOverflow) as refusal:
            sent(mode, sources(draft=turn(61, "long " * 400)), at_budget(300))
        assert "Your message with the instructions needs" in refusal.value.what
        assert "shorten the message" in refusal.value.remedy
        assert "pins" not in str(refusal.value)
        assert "jit or recency" not in refusal.value.remedy


# jit


def test_jit_sends_everything_while_it_fits_the_size():
    talked = sixty()[:18]
    window = sent(Mode.JIT, sources(talked, retrieval=shortlist(1, 2)))
    assert turns_of(window, Kind.RECENT) == [*range(1, 19)]
    assert {s.kind for s in window.segments} == {Kind.SYSTEM, Kind.RECENT, Kind.DRAFT}
    assert window.segments[1].reason == "whole conversation sent: it fits"
    assert window.used == window.full_tokens
    assert sent(Mode.JIT, sources(talked), ROOMY.of_size(window.used)).used == window.used
    assert sent(Mode.JIT, sources(talked), ROOMY.of_size(window.used - 1)).used < window.used


def test_only_the_message_itself_may_exceed_the_size():
    for words in (10, 100, 500, 1_000):
        draft = turn(61, "long " * words)
        window = sent(Mode.JIT, sources(draft=draft, retrieval=shortlist(9, 20, 30)))
        own = sent(Mode.JIT, sources([], draft=draft)).used
        assert window.used <= max(ROOMY.size, own + len(READING))


def asking(*positions: int) -> list[Turn]:
    """Sixty turns of which these end in a question."""
    return [
        replace(each, content=f"{each.content}?") if each.position in positions else each
        for each in sixty()
    ]


def test_jit_adds_what_was_found_with_its_question_or_its_answer_in_order():
    window = sent(Mode.JIT, sources(asking(8, 20), retrieval=shortlist(20, 9, 15, hits=2)))
    assert turns_of(window, Kind.RETRIEVED) == [15, 8, 9, 20, 21]
    reasons = {s.turn: s.reason for s in window.segments if s.kind is Kind.RETRIEVED}
    assert reasons[9] == "picked"
    assert reasons[15] == "rank 3"
    assert reasons[8] == "neighbour of #9"
    assert reasons[21] == "neighbour of #20"


def test_what_is_in_the_recent_block_is_not_recalled_again():
    window = sent(Mode.JIT, sources(retrieval=shortlist(60, 9, decisions=[59])))
    assert 60 not in turns_of(window, Kind.RETRIEVED)
    assert turns_of(window, Kind.INDEX) == []


def test_late_decisions_come_as_index_lines():
    wanted = sources(retrieval=shortlist(9, hits=1, decisions=[30, 40]))
    window = sent(Mode.JIT, wanted, ROOMY.of_size(1_600))
    assert turns_of(window, Kind.INDEX) == [30, 40]
    lines = [s.text for s in window.segments if s.kind is Kind.INDEX]
    assert "#30 assistant (decision): decided in 30\n" in lines[0]


def test_the_rest_of_the_shortlist_follows_the_hits_as_far_as_the_size_goes():
    turns = talk(*(f"turn {number} " + "words " * 60 for number in range(1, 121)))
    budget = Budget(limit=80_000, size=3_000, order=RecallOrder.BEST_LAST)
    window = sent(Mode.JIT, sources(turns, retrieval=shortlist(*range(1, 61), hits=1)), budget)
    loaded = turns_of(window, Kind.RETRIEVED)
    assert 5 < len(loaded) < 60
    assert loaded == [*range(len(loaded), 0, -1)], "the best last"
    nothing = sources(turns, retrieval=shortlist(*range(1, 61), hits=0))
    assert turns_of(sent(Mode.JIT, nothing, budget), Kind.RETRIEVED) == []


def test_a_hit_that_is_too_dear_leaves_its_place_to_the_next():
    turns = sixty()
    turns[8] = turn(9, f"```\n{'0123456789' * 350}\n```")
    window = sent(Mode.JIT, sources(turns, retrieval=shortlist(9, 30)), at_budget(700))
    assert 30 in turns_of(window, Kind.RETRIEVED)
    assert 9 not in turns_of(window, Kind.RETRIEVED)


def test_a_turn_that_was_found_twice_is_sent_once():
    found = shortlist(9, 30, 15, hits=2)
    nine, thirty = found.hits
    entries = tuple(row.entry for row in found.candidates)
    doubled = replace(found, hits=(nine,) * 9 + (thirty,), decisions=entries * 2)
    window = sent(Mode.JIT, sources(retrieval=doubled))
    assert turns_of(window, Kind.RETRIEVED) == [15, 30, 9]
    assert turns_of(window, Kind.INDEX) == []


def test_neighbours_are_the_turns_that_a_window_may_show_not_the_numbers():
    turns = [each for each in asking(7, 9) if each.position not in (8, 10)]
    window = sent(Mode.JIT, sources(turns, retrieval=shortlist(9)))
    assert turns_of(window, Kind.RETRIEVED) == [7, 9, 11]


# pins


def test_pinned_turns_stand_between_system_and_recent_in_one_message():
    window = sent(Mode.JIT, sources(pinned=(9, 4, 9)))
    assert turns_of(window, Kind.PINNED) == [4, 9]
    message = window.messages()[1]
    assert message.turn is None
    assert message.content.startswith("<pinned>\n<turn #4 assistant>\nturn 04")
    assert message.content.endswith("</turn>\n</pinned>\n")


def test_a_pinned_turn_in_the_recent_block_is_not_quoted_as_well():
    window = sent(Mode.JIT, sources(pinned=(4, 60)))
    assert turns_of(window, Kind.PINNED) == [4]
    assert 60 in turns_of(window, Kind.RECENT)


def test_a_pinned_turn_that_is_squeezed_out_of_the_recent_block_is_quoted():
    wanted = sources(pinned=(59,))
    assert turns_of(sent(Mode.JIT, wanted), Kind.PINNED) == []
    turns = [*sixty()[:59], turn(60, "long " * 300)]
    tight = sent(Mode.JIT, sources(turns, pinned=(59,)), at_budget(220))
    assert turns_of(tight, Kind.PINNED) == [59]
    assert 59 not in turns_of(tight, Kind.RECENT)


def test_pins_that_do_not_fit_are_sent_in_part_or_told_of():
    turns = sixty()
    turns[2] = turn(3, "".join(f"Point {number} of the long plan. " for number in range(100)))
    window = sent(Mode.JIT, sources(turns, pinned=(3, 9)), at_budget(500))
    assert turns_of(window, Kind.PINNED) == [9]
    (part,) = (each for each in window.segments if each.turn == 3)
    assert part.excerpt is not None
    assert part.reason.startswith("excerpt, ~")
    assert "pinned by you; in full, it would need" in part.reason
    least = sent(Mode.JIT, sources(turns, pinned=(3, 9)), at_budget(110))
    rows = {row.turn: row.reason for row in least.ledger}
    assert rows[3].startswith("pinned by you, but it would need ~")


def test_pins_never_make_jit_refuse_what_full_would_send():
    turns = sixty()[:8]
    wanted = sources(turns, pinned=tuple(range(1, 9)))
    whole = sent(Mode.FULL, wanted).used
    assert sent(Mode.JIT, wanted, at_budget(whole)).used <= whole


# a short budget


def test_when_the_size_shrinks_lines_go_first_then_turns_then_pins_and_the_exchange_last():
    wanted = sources(retrieval=shortlist(20, 11, 30, hits=2, decisions=[40]), pinned=(5,))
    lost: list[str] = []
    for tokens in range(1_500, 0, -3):
        try:
            window = sent(Mode.JIT, wanted, at_budget(tokens))
        except WindowOverflow:
            break
        kinds = (Kind.INDEX, Kind.RETRIEVED, Kind.PINNED, Kind.RECENT)
        lost += [kind.value for kind in kinds if not turns_of(window, kind) and kind not in lost]
    assert lost == ["index", "retrieved", "pinned", "recent"]


def test_turns_of_one_price_are_given_up_from_the_worst_hit_on():
    ranking = [11, 21, 31, 41]
    wanted = sources(asking(30, 41), retrieval=shortlist(*ranking))
    for tokens in range(1_000, 250, -5):
        loaded = turns_of(sent(Mode.JIT, wanted, at_budget(tokens)), Kind.RETRIEVED)
        hits = [turn for turn in ranking if turn in loaded]
        assert hits == ranking[: len(hits)]
        assert {30, 42}.isdisjoint(loaded), "only the best bring theirs"


def test_the_last_exchange_never_gives_way_to_what_is_recalled():
    wanted = sources(retrieval=shortlist(10, 20, 30, 40))
    for tokens in range(1_000, 200, -9):
        window = sent(Mode.JIT, wanted, at_budget(tokens))
        assert turns_of(window, Kind.RECENT)[-2:] == [59, 60]


def test_pieces_that_cost_more_together_than_alone_are_given_up_until_they_fit():
    history = History().extended(sixty(1), lambda text: message_tokens(Lines(), text))
    wanted = Sources(
        history, DRAFT, "model", "Be brief.", shortlist(20, 9, 30, hits=2, decisions=[40])
    )
    for tokens in range(60, 1_200, 20):
        window = plan(Mode.JIT, wanted, at_budget(tokens), Lines())
        assert window.free >= 0


def test_the_reserve_is_never_spent():
    for tokens in range(1_000, 100, -9):
        window = sent(Mode.JIT, sources(retrieval=shortlist(10, 20)), at_budget(tokens))
        assert window.budget.reserve == 500
        assert window.used + window.free == tokens


# the whole


def test_figures_that_are_shown_come_from_the_segments():
    window = sent(Mode.JIT, sources(retrieval=shortlist(20, 9)))
    head = [s for s in window.segments if s.kind in (Kind.SYSTEM, Kind.RECENT)]
    assert window.stable_tokens == sum(s.tokens for s in head)
    assert window.saving == 1 - window.used / window.full_tokens
    assert window.full_tokens == sent(Mode.FULL, sources()).used
    assert window.kind_of_turns()[20] is Kind.RETRIEVED
    assert window.kind_of_turns()[61] is Kind.DRAFT


def test_a_digest_is_of_what_is_sent_and_of_nothing_else():
    one, other = (sent(Mode.JIT, sources(model=name)) for name in ("a", "b"))
    assert one.digest == other.digest
    assert re.fullmatch(r"[0-9a-f]{64}", one.digest)
    assert sent(Mode.JIT, sources(system="Be long.")).digest != one.digest


def test_the_first_message_of_a_conversation_is_system_and_draft():
    for mode in Mode:
        window = sent(mode, sources([], draft=turn(1, "hello")))
        assert [m.content for m in window.messages()] == ["Be brief.", "hello"]
        assert window.saving == 0


@pytest.mark.parametrize("mode", list(Mode))
def test_each_mode_says_what_it_sends_and_has_a_planner(mode):
    assert mode.description.startswith("Send ")
    assert callable(planner_of(mode))
