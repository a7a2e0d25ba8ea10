from datetime import UTC, datetime

import pytest
from hypothesis import given
from hypothesis import strategies as st

from jitchat.statements import FactKind, Source
from jitchat.synthesis.extraction import MOST, facts_in, kind_of
from jitchat.values import Role, Shortened, ToolUse, Turn
from tests.benchmarks.facts import of_written

NOON = datetime(2026, 3, 2, 12, 0, tzinfo=UTC)


def said(text: str, role: Role = Role.USER) -> Turn:
    return Turn(7, role, text, NOON)


@pytest.mark.parametrize("which", ["turns", "unseen"])
def test_few_and_good_facts_are_proposed_of_written_messages(which):
    found = of_written(which)
    assert found.precision >= 0.92
    assert found.recall >= 0.92


def test_a_fact_is_a_sentence_as_it_was_said_with_its_turn_and_day():
    text = "Thanks!  Always answer\nin French. Which port was it?"
    (fact,) = facts_in(said(text), "chat-3")
    assert fact.text == "Always answer in French."
    assert (fact.kind, fact.source) == (FactKind.STANDING, Source(7, 7, "chat-3"))
    assert fact.stated_on == NOON.date()


@pytest.mark.parametrize(
    "turn",
    [
        said("Always answer in French.", Role.ASSISTANT),
        said("Always answer in French.", Role.TOOL),
        Turn(
            7, Role.USER, "Always answer in French.", NOON, use=ToolUse(form=Shortened("shortened"))
        ),
        said("Always answer in French. " + "word " * 500),
        said("```\nAlways answer in French.\n```"),
    ],
)
def test_nothing_is_taken_from_what_the_user_did_not_plainly_say(turn):
    assert facts_in(turn, "chat-3") == []


def test_of_one_message_the_standing_instructions_come_first_and_three_in_all():
    text = (
        "We decided to host it in Oslo. Always cite the page. Never use emojis anywhere."
        " From now on use metric units. We agreed on port 9641."
    )
    found = facts_in(said(text), "c")
    assert [fact.kind for fact in found] == [FactKind.STANDING] * MOST


@given(st.text(max_size=300))
def test_what_is_found_stands_in_the_message(text):
    plain = " ".join(text.split())
    assert all(" ".join(fact.text.split()) in plain for fact in facts_in(said(text), "c"))


@pytest.mark.parametrize(
    "sentence",
    ["Let's go with that one.", "She decided to stay.", "Should we always use tabs?", ""],
)
def test_what_points_asks_or_tells_of_others_states_nothing(sentence):
    assert kind_of(sentence) is None
