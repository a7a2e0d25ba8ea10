"""Asking again without each turn: what is asked, compared and told."""

from __future__ import annotations

from typing import TYPE_CHECKING

import pytest

from jitchat.errors import Unreachable
from jitchat.index.embedder import Embedder, NoEmbedder
from jitchat.providers.catalogue.table import Prices
from jitchat.providers.provider import Options
from jitchat.small_models.leave_one_out import (
    Trial,
    cost_of_trials,
    leave_one_out,
    lost_lines,
    measure_of,
    trials_of,
)
from jitchat.values import Mode
from jitchat.window.window import Kind
from tests.support import ScriptedProvider, demo_session

if TYPE_CHECKING:
    from jitchat.store.store import ColdStore

QUESTION = "what did we settle on for the deploy window?"


async def test_each_turn_is_left_out_once_and_the_unchanged_window_tells_chance_apart(
    store: ColdStore,
) -> None:
    session = demo_session(store)
    window = session.preview(QUESTION, Mode.JIT)
    turns = [each.turn for each in window.segments if each.kind is Kind.RETRIEVED]
    trials = trials_of(window, control=True)
    assert trials[0] == Trial(None, window.used)
    assert {trial.turn for trial in trials[1:]} <= set(turns)
    assert len(trials) == min(6, 1 + len(turns))
    assert trials_of(session.preview("", Mode.FULL), control=True) == ()

    provider = ScriptedProvider(("It is ", "Tuesday."))
    measure = measure_of(NoEmbedder(), exact=False)
    reply = ("It is Tuesday.", measure)
    found = [each async for each in leave_one_out(provider, Options(), window, trials, reply)]
    assert provider.requests[0] == window.messages()
    assert len(provider.requests) == len(trials)
    assert all(
        "<turn #9 " not in provider.requests[at][-1].content
        for at, trial in enumerate(trials)
        if trial.turn == 9
    )
    assert [(each.answer, each.change, each.error) for each in found] == [
        ("It is Tuesday.", 0.0, None)
    ] * len(trials)

    broken = ScriptedProvider(("It", Unreachable("Gone.", "Wait.")))
    failed = [each async for each in leave_one_out(broken, Options(), window, trials, reply)]
    assert [str(each.error) for each in failed] == ["Gone. Wait."] * len(trials)


def test_what_it_costs_is_known_or_said_to_be_unknown() -> None:
    trials = (Trial(None, 1_000_000), Trial(9, 500_000))
    prices = Prices(2.0, 10.0)
    assert cost_of_trials(trials, prices, 100_000) == pytest.approx(3.0 + 2.0)
    assert cost_of_trials(trials, prices, None) is None
    assert cost_of_trials(trials, None, 100) is None
    assert cost_of_trials(trials, Prices(0.0, 0.0), None) == 0.0


def test_answers_are_compared_by_lines_words_or_meaning_and_it_is_said_by_which(
    builtin: Embedder,
) -> None:
    one, other = "- “It is Tuesday.” (#9)\n- “At noon.” (#8)", "“It is Tuesday.” (#9)"
    lines = measure_of(NoEmbedder(), exact=True)
    assert (lines.name, lines.change(one, one), lines.change(one, other)) == (
        "by their sentences", 0.0, 0.5,
    )  # fmt: skip
    assert lost_lines(one, other) == ("“At noon.” (#8)",)
    by_words = measure_of(NoEmbedder(), exact=False)
    assert by_words.name == "by shared words"
    assert by_words.change("Tuesday noon", "tuesday NOON") == 0.0
    assert by_words.change("", "") == 0.0
    assert by_words.change("one", "two") == 1.0
    meaning = measure_of(builtin, exact=False)
    assert meaning.name == "by meaning (builtin-256)"
    near = meaning.change("The deploy is on Tuesday.", "The deployment happens on Tuesday.")
    far = meaning.change("The deploy is on Tuesday.", "Bake the cake for an hour.")
    assert 0.0 < near < far <= 1.0
