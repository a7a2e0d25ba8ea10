"""A question goes the way that the app's own would: import, index, retrieve, plan."""

from __future__ import annotations

from typing import TYPE_CHECKING

from jitchat.bench.asking import OpenConversation, indexed
from jitchat.bench.questions import read_labelled
from jitchat.bench.scores import Outcome, scores_of
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
        conversation = OpenConversation(memory, EstimateCounter(), Budget())
        return {mode: conversation.ask(talk.questions[0], mode) for mode in Mode}


def test_jit_finds_the_turn_and_holds_it_at_full_text(tmp_path: Path):
    found = outcomes(tmp_path)[Mode.JIT]
    assert found.ranked[0] == 2
    assert 2 in found.held
    assert found.share < 0.5


def test_full_holds_everything_and_recency_only_the_end(tmp_path: Path):
    found = outcomes(tmp_path)
    assert found[Mode.FULL].held == frozenset(range(1, 65))
    assert found[Mode.FULL].share == 1.0
    assert 2 not in found[Mode.RECENCY].held
    assert found[Mode.RECENCY].ranked == ()
    assert scores_of([found[Mode.RECENCY]]).window_any == 0.0
