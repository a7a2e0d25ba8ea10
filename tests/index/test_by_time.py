"""Drafts that ask by time alone are answered by day, speaker and order of turns."""

from __future__ import annotations

from datetime import UTC, datetime, timedelta
from typing import TYPE_CHECKING

import pytest

from jitchat.bench.asking import OpenConversation, indexed
from jitchat.index.embedder import NoEmbedder
from jitchat.transfer.turns import FileConversation
from jitchat.values import Mode, Role, Turn
from jitchat.why import Explained, Standing, why
from jitchat.window.budget import Budget
from jitchat.window.tokens import EstimateCounter
from jitchat.window.window import Kind

if TYPE_CHECKING:
    from collections.abc import Iterator

    from jitchat.memory import Memory

NOW = datetime(2026, 3, 4, 12, 0, tzinfo=UTC)
"""A Wednesday."""
DAYS, PER_DAY = 20, 8
FIRST = datetime(2026, 2, 12, tzinfo=UTC)
MENTION = "The concert in the old harbour is on 2026-01-24, says the poster."
MENTIONED = 33


def position(day: int, month: int, place: int) -> int:
    """The position of a day's turn at an index, from 0."""
    return (datetime(2026, month, day, tzinfo=UTC) - FIRST).days * PER_DAY + place + 1


@pytest.fixture(scope="module")
def memory() -> Iterator[Memory]:
    """For each day, four turns at nine and four at half past seven in the evening."""
    turns = []
    for at in range(DAYS * PER_DAY):
        day, place = divmod(at, PER_DAY)
        hour = 9 if 2 * place < PER_DAY else 19
        role = Role.ASSISTANT if at % 2 else Role.USER
        ending = "." if role is Role.ASSISTANT else "?"
        text = f"Crate {at} of the harbour goes to pier {at % 7}, and somebody has to sign{ending}"
        said = MENTION if at + 1 == MENTIONED else text
        turns.append(
            Turn(at + 1, role, said, FIRST + timedelta(days=day, hours=hour, minutes=at % 8))
        )
    with indexed(FileConversation("time", "time", tuple(turns)), NoEmbedder(), NOW) as memory:
        yield memory


def recalled(memory: Memory, draft: str) -> list[int]:
    """The hits, best first."""
    return [hit.turn for hit in memory.retrieve(draft, DAYS * PER_DAY + 1).hits]


def test_a_day_is_a_filter(memory: Memory):
    found = recalled(memory, "what did we talk about last Tuesday?")
    assert set(found) == {position(3, 3, place) for place in range(PER_DAY)}


def test_what_i_said_is_the_users(memory: Memory):
    found = recalled(memory, "what did I say last Tuesday?")
    assert set(found) == {position(3, 3, place) for place in range(0, PER_DAY, 2)}
    answered = recalled(memory, "what did you answer last Tuesday?")
    assert set(answered) == {position(3, 3, place) for place in range(1, PER_DAY, 2)}


def test_the_time_of_day_is_a_filter_where_anything_was_said_then(memory: Memory):
    evening = recalled(memory, "what did we talk about yesterday evening?")
    assert set(evening) == {position(3, 3, place) for place in range(4, PER_DAY)}
    afternoon = recalled(memory, "what did we talk about yesterday afternoon?")
    assert len(afternoon) == PER_DAY


@pytest.mark.parametrize(
    ("draft", "turn"),
    [
        ("the first thing I asked", 1),
        ("my second message", 3),
        ("your first answer", 2),
        ("what was my last question?", DAYS * PER_DAY - 1),
        ("what did I ask three messages ago?", DAYS * PER_DAY - 5),
        ("the first message of yesterday", position(3, 3, 0)),
    ],
)
def test_places_in_the_order_of_turns_are_found(memory: Memory, draft: str, turn: int):
    assert recalled(memory, draft) == [turn]


def test_the_answer_to_a_question_comes_with_it(memory: Memory):
    assert recalled(memory, "what was your reply to my first question?") == [2, 1]


def test_what_happened_on_a_day_is_what_speaks_of_it_too(memory: Memory):
    assert recalled(memory, "what happened on 24 January 2026?") == [MENTIONED]


def test_of_a_day_on_which_nothing_was_said_nothing_is_made_up(memory: Memory):
    found = memory.retrieve("what did I say on 2026-01-10?", DAYS * PER_DAY + 1)
    assert (found.candidates, found.hits) == ((), ())
    assert found.needless == "a question about a time when nothing was said"


def test_the_ledger_says_that_the_day_was_asked_for(memory: Memory):
    draft = "what did I say last Thursday?"
    chat = OpenConversation(memory, EstimateCounter(), Budget(size=1_000))
    window, _ = chat.window(Mode.JIT, draft, chat.retrieve(draft)[0])
    wanted = position(26, 2, 0)
    assert wanted in {each.turn for each in window.segments if each.kind is Kind.RETRIEVED}
    (row,) = (row for row in window.ledger if row.turn == wanted)
    assert row.reason == "from the day asked about"
    assert window.never_candidates is not None
    assert window.never_candidates.reason.startswith("from a different time")
    other = why(memory, Explained(window, draft), position(20, 2, 0))
    assert other.standing is Standing.NEVER


def test_a_turn_after_the_message_is_not_found(memory: Memory):
    found = memory.retrieve("what was my last question?", 4)
    assert [hit.turn for hit in found.hits] == [3]


def test_a_turn_that_the_user_keeps_out_is_no_hit(memory: Memory):
    found = memory.retrieve("the first thing I asked", DAYS * PER_DAY + 1, without={1})
    assert found.hits == ()
