"""Follow-ups and corrections are placed into other talk, and held by what their windows say."""

from __future__ import annotations

from dataclasses import replace
from typing import TYPE_CHECKING

import pytest

from jitchat.bench.asking import OpenConversation, Setup, indexed
from jitchat.bench.follow_ups import (
    Case,
    by_kind,
    conversation_of,
    corrections,
    figures_of,
    follow_ups,
    is_held,
    measure,
)
from jitchat.index.embedder import NoEmbedder
from jitchat.values import Mode
from jitchat.window.budget import Budget
from jitchat.window.tokens import EstimateCounter

if TYPE_CHECKING:
    from jitchat.window.window import ContextWindow

OLD, NEW = "The port is 8080.", "The port is 9090 now."
CASE = Case("en", "correction", ((OLD, ""), (NEW, "")), "Which port?", NEW, OLD)
SETUP = Setup(NoEmbedder(), EstimateCounter(), Budget())


def full_window(case: Case) -> ContextWindow:
    with indexed(conversation_of(case, 0), NoEmbedder()) as memory:
        chat = OpenConversation(memory, SETUP.counter, SETUP.budget)
        retrieval, _ = chat.retrieve(case.draft)
        return chat.window(Mode.FULL, case.draft, retrieval)[0]


@pytest.mark.parametrize(("least", "cases"), [(150, follow_ups()), (150, corrections())])
def test_every_case_has_what_it_needs_in_what_it_is_about(least: int, cases: list[Case]):
    assert len(cases) > least
    for case in cases:
        said = "\n".join(text for exchange in case.exchanges for text in exchange)
        assert " ".join(case.needs.split()) in " ".join(said.split()), case.draft


@pytest.mark.parametrize(
    ("case", "held"),
    [
        (CASE, True),
        (replace(CASE, exchanges=CASE.exchanges[::-1]), False),  # the older is nearer to the draft
        (replace(CASE, exchanges=CASE.exchanges[1:]), True),
        (replace(CASE, exchanges=CASE.exchanges[:1]), False),
        (replace(CASE, keeps_both=True), True),
        (replace(CASE, keeps_both=True, exchanges=CASE.exchanges[1:]), False),
    ],
)
def test_a_statement_is_held_unless_what_it_replaces_is_said_after_it(case: Case, held: bool):
    assert is_held(case, full_window(case)) == held


def test_the_share_that_is_held_is_told_by_distance_with_what_was_missed():
    lost = replace(CASE, draft="Where?", needs="Nobody has said this.")
    results = measure([CASE, lost], SETUP, (0, 3))
    figures = figures_of(by_kind(results)["correction"])
    assert {at: (each["n"], each["held"]) for at, each in figures["held"].items()} == {
        0: (2, 1),
        3: (2, 1),
    }
    assert figures["held"][0]["missed"] == ["Where?"]
    assert figures["of_full"] == pytest.approx(1)
