"""Nothing is recalled for a draft that needs nothing, and the window says so."""

from __future__ import annotations

from typing import TYPE_CHECKING

import pytest

from jitchat.bench.asking import OpenConversation, indexed
from jitchat.index.embedder import NoEmbedder
from jitchat.transfer.turns import FileConversation
from jitchat.values import Mode, Role, Turn
from jitchat.why import Explained, why
from jitchat.window.budget import Budget
from jitchat.window.cost import choosing_sentences
from jitchat.window.record import header_fields, ledger_fields, segment_fields, window_from
from jitchat.window.tokens import EstimateCounter
from jitchat.window.window import Kind

if TYPE_CHECKING:
    from collections.abc import Iterator

    from jitchat.memory import Memory
    from jitchat.window.window import ContextWindow

SAID = {
    5: "We decided that the wifi password is tulip77, thanks for asking.",
    9: "To deploy, run make ship on the bastion host.",
    13: "Send the email about the broken projector to Hamburg.",
    21: "Ferrante will come on Friday, the plumber that is.",
    17: "Write a function for the lists of the garden, please.",
}


@pytest.fixture(scope="module")
def memory() -> Iterator[Memory]:
    turns = tuple(
        Turn(
            position,
            Role.USER if position % 2 else Role.ASSISTANT,
            SAID.get(position, f"Bed {position} of the garden needs water and some more compost."),
        )
        for position in range(1, 121)
    )
    with indexed(FileConversation("abstain", "abstain", turns), NoEmbedder()) as memory:
        yield memory


def window(memory: Memory, draft: str) -> ContextWindow:
    chat = OpenConversation(memory, EstimateCounter(), Budget(size=1_000))
    return chat.window(Mode.JIT, draft, chat.retrieve(draft)[0])[0]


def recalled(memory: Memory, draft: str) -> set[int | None]:
    kinds = (Kind.RETRIEVED, Kind.INDEX)
    found = {each.turn for each in window(memory, draft).segments if each.kind in kinds}
    return found - {None}  # the line that names the turns not shown


@pytest.mark.parametrize(
    "draft",
    [
        *("thanks!", "ok go on", "good morning!", "lol", "yes please", "write a haiku"),
        *("explain quicksort", "write a function that reverses a list", "how do I boil an egg?"),
        *("write a poem about the plumber", "translate 'good' into Italian"),
    ],
)
def test_nothing_is_recalled_for_a_draft_that_needs_nothing(memory: Memory, draft: str):
    assert recalled(memory, draft) == set()


@pytest.mark.parametrize(
    ("draft", "turn"),
    [
        ("what is the wifi password?", 5),
        ("how do I deploy?", 9),
        ("how to deploy?", 9),
        ("explain the deploy", 9),
        ("when does Ferrante arrive?", 21),
        ("when is Ferrante expected?", 21),
        ("explain the prjector", 13),
        ("describe Hamburg", 13),
        ("draft a reply to Ferrante", 21),
        ("rewrite the email", 13),
        ("find a shop for the plumber", 21),
        ("write the email to Hamburg we talked about", 13),
        ("write an email to Hamburg about the broken projector", 13),
    ],
)
def test_what_was_said_is_found_by_whatever_asks_for_it(memory: Memory, draft: str, turn: int):
    assert turn in recalled(memory, draft)


def test_the_window_says_why_nothing_was_searched(memory: Memory):
    planned = window(memory, "good morning!")
    reason = "nothing is recalled for a greeting"
    assert choosing_sentences(planned) == [reason]
    assert planned.never_candidates is not None
    assert planned.never_candidates.reason == reason
    said = why(memory, Explained(planned, "good morning!"), 5).sentences
    assert said[0] == f"#5 was never a candidate: {reason}."


def test_a_stored_window_still_says_why(memory: Memory):
    planned = window(memory, "explain quicksort")
    assert planned.needless == "a self-contained question, because no turn matches it well"
    stored = window_from(
        header_fields(planned),
        [segment_fields(each) for each in planned.segments],
        [ledger_fields(row) for row in planned.ledger],
    )
    assert stored == planned


def test_a_window_of_a_question_has_no_such_reason(memory: Memory):
    planned = window(memory, "what is the wifi password?")
    assert planned.needless == ""
    assert "needless" not in header_fields(planned)
