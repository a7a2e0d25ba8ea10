"""What `bench observe` measures: a conversation is replayed, then asked."""

from __future__ import annotations

from typing import TYPE_CHECKING

import pytest

from jitchat.bench.observation import Replaying, scores_of
from jitchat.bench.questions import read_labelled
from jitchat.window.budget import Budget
from jitchat.window.tokens import EstimateCounter
from tests.bench.labelled import asked, conversation
from tests.transfer.files import written

if TYPE_CHECKING:
    from pathlib import Path


QUESTIONS = (
    asked("What is the code of my locker in the gym?", 0, category="information_extraction"),
    asked("When did we move the launch to?", 2, category="information_extraction"),
    asked("How many?", 0, 2, category="multi_session_reasoning"),
)


@pytest.fixture
def chats(tmp_path: Path) -> Path:
    return written(tmp_path, "chats.json", [conversation(*QUESTIONS)])


def test_what_a_far_turn_says_is_held_where_recency_lost_it(chats: Path):
    talks = read_labelled(chats)
    made = [Replaying(EstimateCounter(), Budget(5_000, 500)).run(talk) for talk in talks]
    scores = scores_of(made)
    assert (scores.asked, scores.held, scores.recency) == (2, 2, 0)
    assert scores.observed_asked == 2
    assert 0 < scores.p95 <= scores.largest < 0.35
    assert scores.largest_history <= 0.30
    assert (scores.fallbacks, scores.overflows) == (0, 0)
    assert scores.passes > 1
    assert scores.compression > 1


def test_windows_that_do_not_fit_are_counted(chats: Path):
    talks = read_labelled(chats)
    made = [Replaying(EstimateCounter(), Budget(260, 100)).run(talk) for talk in talks]
    assert scores_of(made).fallbacks + scores_of(made).overflows > 0
