"""A question takes the same path as in the app: import, index, retrieve, plan."""

from __future__ import annotations

from dataclasses import replace
from datetime import UTC, datetime
from typing import TYPE_CHECKING

import pytest

from jitchat.bench.asking import OpenConversation, indexed
from jitchat.bench.questions import read_labelled
from jitchat.bench.scores import Outcome, figures_of
from jitchat.index.embedder import NoEmbedder
from jitchat.values import Mode
from jitchat.window.budget import Budget
from jitchat.window.tokens import EstimateCounter
from tests.bench.support import labelled_sample, question
from tests.transfer.files import written

if TYPE_CHECKING:
    from pathlib import Path


def outcomes(folder: Path) -> dict[Mode, Outcome]:
    sample = labelled_sample(question("What is on the photo of the red kite?", ["D1:2"]))
    (talk,) = read_labelled(written(folder, "f.json", [sample]))
    with indexed(talk.found, NoEmbedder()) as memory:
        conversation = OpenConversation(memory, EstimateCounter(), Budget(size=1_500))
        return {mode: conversation.ask(talk.questions[0], mode) for mode in Mode}


def test_jit_finds_the_turn_and_holds_it_at_full_text(tmp_path: Path):
    found = outcomes(tmp_path)[Mode.JIT]
    assert found.ranked[0] == 2
    assert 2 in found.held
    assert found.tokens < 0.5 * found.full_tokens


def test_full_holds_everything_and_recency_only_the_end(tmp_path: Path):
    found = outcomes(tmp_path)
    assert found[Mode.FULL].held == frozenset(range(1, 65))
    assert found[Mode.FULL].tokens == found[Mode.FULL].full_tokens
    assert 2 not in found[Mode.RECENCY].held
    assert found[Mode.RECENCY].ranked == ()
    assert figures_of([found[Mode.RECENCY]])["window_any"] == 0.0


def test_a_turn_is_held_too_where_statements_have_what_the_answer_needs(tmp_path: Path):
    asked = question("How high is the harbour fee?", ["D3:10"]) | {"answer": "41 euros"}
    sample = labelled_sample(asked)
    said = "We agreed that the harbour fee is 41 euros a night from May on."
    sample["conversation"]["session_3"][9]["text"] = said
    (talk,) = read_labelled(written(tmp_path, "f.json", [sample]))
    with indexed(talk.found, NoEmbedder()) as memory:
        conversation = OpenConversation(memory, EstimateCounter(), Budget(size=1_500))
        conversation.distil((Mode.OBSERVE, Mode.DOCUMENT))
        found = {mode: conversation.ask(talk.questions[0], mode) for mode in Mode}
    (evidence,) = talk.questions[0].evidence
    for mode in (Mode.OBSERVE, Mode.DOCUMENT):
        assert evidence in found[mode].held
        assert found[mode].tokens < found[mode].full_tokens
    assert evidence not in found[Mode.RECENCY].held


DAY = datetime(2024, 2, 1, tzinfo=UTC)


@pytest.mark.parametrize("asked_at", [DAY, None])
def test_a_question_is_asked_when_the_file_says_or_else_at_the_end(
    tmp_path: Path, asked_at: datetime | None
):
    (talk,) = read_labelled(written(tmp_path, "f.json", [labelled_sample(question("?", "D1:2"))]))
    last = talk.found.turns[-1].created_at
    with indexed(talk.found, NoEmbedder(), asked_at) as memory:
        assert memory.store.now() == (asked_at or last)


def test_where_no_turn_has_a_date_it_is_now(tmp_path: Path):
    (talk,) = read_labelled(written(tmp_path, "f.json", [labelled_sample(question("?", "D1:2"))]))
    undated = tuple(replace(turn, created_at=None) for turn in talk.found.turns)
    with indexed(replace(talk.found, turns=undated), NoEmbedder()) as memory:
        assert memory.store.now() > DAY
