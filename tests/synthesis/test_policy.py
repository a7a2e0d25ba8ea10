"""When turns are observed: a pure function of what there is and of the thresholds."""

from __future__ import annotations

from hypothesis import given
from hypothesis import strategies as st

from jitchat.statements import Observation, Observations, Source
from jitchat.synthesis.policy import (
    LARGEST_BATCH,
    Observe,
    Reflect,
    Standing,
    Thresholds,
    all_due,
    due,
    pieces,
)
from jitchat.values import Role, ToolCall, ToolUse, Turn
from tests.synthesis.support import history_of, said, small_talk

SHARES = Thresholds()


def standing(turns: list[Turn], through: int = 0, observed: int = 0) -> Standing:
    lines = (Observation("A line.", Source(1, max(1, through))),) if through else ()
    return Standing(history_of(turns), Observations(lines, through), observed)


def positions(found: object) -> list[int]:
    assert isinstance(found, Observe)
    return [turn.position for batch in found.batches for turn in batch]


def test_nothing_is_due_while_there_is_room_for_another_exchange():
    assert due(standing(small_talk(10)), SHARES, 8_000) is None


def test_the_oldest_turns_are_due_when_the_next_exchange_would_not_fit():
    found = positions(due(standing(small_talk(60)), SHARES, 4_000))
    assert found == list(range(1, len(found) + 1))
    assert len(found) < 59


def test_the_previous_exchange_is_never_due():
    turns = [*small_talk(2), said(3, "word " * 4_000), said(4, "word " * 4_000)]
    tight = standing(turns, through=2)
    assert due(tight, SHARES, 4_000) is None


def test_observations_beyond_their_share_are_reflected_on_first():
    limit = 4_000
    found = due(standing(small_talk(60), 10, SHARES.observations(limit) + 1), SHARES, limit)
    assert isinstance(found, Reflect)
    assert list(found.rooms) == sorted(found.rooms, reverse=True)
    assert found.rooms[0] < found.most == SHARES.observations(limit)


def test_what_cannot_be_made_smaller_keeps_no_turn_from_being_observed():
    much = standing(small_talk(60), 10, 700)
    assert isinstance(due(much, SHARES, 4_000), Reflect)
    assert positions(due(much, SHARES, 4_000, may_reflect=False))[0] == 11


def test_a_call_and_its_results_are_due_together_or_not_at_all():
    call = ToolCall("a", "look", "{}")
    turns = small_talk(40)
    turns[4] = Turn(5, Role.ASSISTANT, "I look.", turns[4].created_at, use=ToolUse((call,)))
    turns[5] = Turn(6, Role.TOOL, "A lamp. " * 40, turns[5].created_at, use=ToolUse(answers=call))
    for limit in range(1_000, 4_000, 100):
        found = due(standing(turns), SHARES, limit)
        taken = set(positions(found)) if found is not None else set()
        assert (5 in taken) is (6 in taken)


def test_everything_that_can_be_is_observed_when_the_user_asks():
    assert positions(all_due(standing(small_talk(9)), SHARES, 100_000)) == list(range(1, 9))
    assert all_due(standing(small_talk(2)), SHARES, 100_000) is None


def test_batches_are_small():
    turns = [said(number, "word " * 3_000) for number in range(1, 30)]
    found = all_due(standing(turns), SHARES, 1_000_000)
    assert isinstance(found, Observe)
    assert len(found.batches) > 5
    sizes = [sum(standing(turns).costs(batch)) for batch in found.batches]
    assert max(sizes) <= LARGEST_BATCH


@given(st.integers(0, 60), st.integers(0, 60), st.integers(200, 100_000), st.integers(0, 9_000))
def test_what_is_due_goes_on_from_what_is_observed_without_a_gap(count, through, limit, observed):
    turns = small_talk(count)
    known = standing(turns, min(through, count), observed)
    found = due(known, SHARES, limit)
    if isinstance(found, Observe):
        first = min(through, count) + 1
        assert positions(found) == list(range(first, first + len(positions(found))))
        assert 0 < found.density < 1


@given(st.text(max_size=300), st.integers(1, 50))
def test_the_pieces_of_a_message_are_the_message(text, most):
    made = pieces(text, most)
    assert "".join(made) == (text if text.strip() else "")
    assert all(len(piece) <= most for piece in made)
