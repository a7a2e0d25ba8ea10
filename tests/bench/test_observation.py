"""What `bench observe` measures: a conversation is replayed, then asked."""

from __future__ import annotations

from typing import TYPE_CHECKING

import pytest

from jitchat.bench.observation import Replaying, Replays
from jitchat.bench.questions import read_labelled
from jitchat.bench.report import observe_fields
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


def replayed(chats: Path, budget: Budget) -> Replays:
    replaying = Replaying(EstimateCounter(), budget)
    for talk in read_labelled(chats):
        replaying.run(talk)
    return replaying.results


def test_what_a_far_turn_says_is_held_where_recency_lost_it(chats: Path):
    found = observe_fields(replayed(chats, Budget(5_000, 500, 1_500)), 5_000)
    assert (found["asked"], found["held"], found["recency"]) == (2, 2, 0)
    assert found["observed_asked"] == 2
    assert 0 < found["p95"] <= found["largest"] <= 0.30, "the window's size"
    assert found["overflows"] == 0
    assert found["passes"] > 1
    assert found["compression"] > 1


def test_windows_that_do_not_fit_are_counted(chats: Path):
    results = replayed(chats, Budget(120, 20))
    assert results.overflows > 0
