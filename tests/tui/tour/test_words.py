"""What the tour says follows from what was sent and answered, whatever that is."""

from __future__ import annotations

from dataclasses import replace
from typing import TYPE_CHECKING

import pytest

from jitchat.lab.stats import Tally, count_results
from jitchat.tui.tour.app import Progress
from jitchat.tui.tour.script import (
    DEPLOY_WINDOW,
    Asked,
    describe_comparison,
    describe_conversation,
    describe_rot,
    reading_seconds,
    steps,
)
from jitchat.tui.views.what_if import compare
from jitchat.values import Mode
from jitchat.window.budget import Budget
from jitchat.window.steering import NO_MORE, Once
from jitchat.window.window import Requested
from tests.support import demo_session, turn

if TYPE_CHECKING:
    from jitchat.store.store import ColdStore

RIGHT, WRONG = "On Tuesday, at 2:00 UTC.", "On Thursday, at 04:00 UTC."
ASKING = {step.mode: step for step in steps() if not step.opens and not step.may_ask}


@pytest.mark.parametrize(
    ("reply", "has_it"),
    [
        ("“Decision: the deploy window is Tuesday 02:00 UTC.” (#9)", True),
        ("You settled on **Tuesday** at 2 a.m. UTC.", True),
        ("TUESDAY, 02:00", True),
        (WRONG, False),
        ("On Tuesday, in the small hours.", False),
        ("No answer in this window. It has no earlier turn in full.", False),
        ("", False),
    ],
)
def test_a_reply_has_the_answer_with_the_day_and_the_hour(reply: str, has_it: bool) -> None:
    assert DEPLOY_WINDOW.is_in(reply) is has_it


@pytest.mark.parametrize(
    ("mode", "reply", "outcome"),
    [
        (Mode.FULL, RIGHT, "The answer is in #9, 52 turns back. The reply has it."),
        (Mode.FULL, WRONG, "52 turns back. The reply misses it anyway."),
        (Mode.RECENCY, WRONG, "said before the recent block. So the answer is lost."),
        (Mode.RECENCY, RIGHT, "The reply has it anyway: a guess?"),
        (Mode.JIT, RIGHT, "best lexical match on “deploy, window”. The reply has it."),
        (Mode.JIT, WRONG, "The reply misses it anyway."),
        (Mode.JIT, None, "There was no reply."),
    ],
)
def test_the_outcome_is_by_the_window_and_by_the_reply(
    store: ColdStore, mode: Mode, reply: str | None, outcome: str
) -> None:
    session = demo_session(store)
    window = session.preview(DEPLOY_WINDOW.question, mode)
    came = turn(62, reply) if reply is not None else None
    asked = Asked(turn(61, DEPLOY_WINDOW.question), window, came)

    said = ASKING[mode].says(asked, DEPLOY_WINDOW)

    assert said.endswith(outcome)
    assert f"{window.used:,} tokens" in said


def test_in_a_window_that_lacks_the_turn_full_says_so_too(store: ColdStore) -> None:
    session = demo_session(store)
    window = session.preview("what now?", Mode.RECENCY)
    asked = Asked(turn(61, "what now?"), window, turn(62, WRONG))

    said = ASKING[Mode.FULL].says(asked, DEPLOY_WINDOW)

    assert "#9 is not in the window: " in said
    assert said.endswith("So the answer is lost.")


def test_of_a_model_that_may_ask_what_it_asked_is_told_or_that_it_did_not(
    store: ColdStore,
) -> None:
    window = demo_session(store).preview(DEPLOY_WINDOW.question, Mode.RECENCY)
    request = Requested("“deploy window”", ((9, 1.0),), tokens=41)
    said = turn(61, DEPLOY_WINDOW.question)
    asking = Asked(said, replace(window, requests=(request,)), turn(64, RIGHT))

    (step,) = [step for step in steps() if not step.opens and step.may_ask]
    told = step.says(asking, DEPLOY_WINDOW)
    assert "It asked for “deploy window” → #9, ~41 tokens. The reply has it" in told
    silent = step.says(Asked(said, window, turn(62, WRONG)), DEPLOY_WINDOW)
    assert silent.endswith("It made no request. So the answer is lost.")


def test_at_first_the_turn_is_quoted_from_the_conversation(store: ColdStore) -> None:
    session = demo_session(store)
    quoted = "#9: “Decision: the deploy window is Tuesday 02:00 UTC.”"

    assert quoted in describe_conversation(session, DEPLOY_WINDOW)
    assert describe_conversation(session, DEPLOY_WINDOW).startswith("a conversation of 60 turns, ")


def test_of_a_comparison_each_mode_is_told_and_one_that_does_not_fit(store: ColdStore) -> None:
    session = demo_session(store)
    once = Once(budget=Budget(limit=4_096, reserve=1_024))

    whole = compare(session, DEPLOY_WINDOW.question, NO_MORE)
    tight = compare(session, DEPLOY_WINDOW.question, once)

    told = describe_comparison(whole, DEPLOY_WINDOW)
    assert told.endswith(
        " (same as another: observe and document). #9 is at full text in full and jit."
    )
    assert "Tokens: full does not fit, recency " in describe_comparison(tight, DEPLOY_WINDOW)
    assert describe_comparison(tight, DEPLOY_WINDOW).endswith("#9 is at full text in jit.")
    assert "Tokens" not in describe_comparison(None, DEPLOY_WINDOW)


@pytest.mark.parametrize(
    ("by_mode", "is_running", "told"),
    [
        ({}, True, "of longer and longer conversations."),
        ({Mode.FULL: Tally(unfit=3)}, False, "of longer and longer conversations."),
        (
            {Mode.FULL: Tally(1, 2), Mode.JIT: Tally(3)},
            True,
            "Right so far: full 33 % of 3 (6–79), jit 100 % of 3 (44–100).",
        ),
        ({Mode.JIT: Tally(1, 0, 5, 6)}, False, "conversations. Right: jit 100 % of 1 (21–100)."),
    ],
)
def test_of_a_run_the_right_answers_are_told_by_mode(
    by_mode: dict[Mode, Tally], is_running: bool, told: str
) -> None:
    assert told in describe_rot(replace(count_results(()), by_mode=by_mode), is_running=is_running)


def test_a_text_stays_as_long_as_reading_it_takes_times_the_pace() -> None:
    assert reading_seconds("x" * 150) == pytest.approx(11.5)
    assert reading_seconds("x" * 150, 2) == pytest.approx(23.0)
    assert Progress(2, "lost.").text == "2 of 7 · recency — lost."
