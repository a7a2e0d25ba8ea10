"""Which turn mattered: for the reader at once, for a model when it is agreed to."""

from __future__ import annotations

import asyncio
from dataclasses import replace

import pytest

from jitchat.errors import Unreachable
from jitchat.providers.reader import ReaderProvider
from jitchat.small_models.leave_one_out import Measure, Trial, TrialResult
from jitchat.tui.views.leave_one_out import (
    CUT,
    NO_WINDOW,
    LeaveOneOutView,
    Trials,
    bar,
)
from jitchat.tui.views.missing_turn import MissingTurnView
from jitchat.tui.views.view import STREAMING, Exchange
from jitchat.tui.widgets.transcript import Transcript
from jitchat.tui.widgets.turn_table import draw, header
from tests.support import ScriptedProvider, talk
from tests.tui.support import TestBackend, demo_app, idle, ready, type_text, until
from tests.tui.views.test_missing_turn import QUESTION, lines, opened, sent, settled, shown


async def test_the_reader_is_asked_at_once_and_tells_which_turn_it_answered_from(
    backend: TestBackend,
) -> None:
    backend.provider = ReaderProvider(lambda messages, _, text: (10, 10))
    async with demo_app(backend).run_test(size=(100, 30)) as pilot:
        await ready(pilot)
        await opened(pilot, "alt+m", LeaveOneOutView)
        assert shown(pilot, "view-nothing") == NO_WINDOW
        await pilot.press("escape")
        screen = await sent(pilot, QUESTION)
        assert screen.session is not None
        before = len(screen.session.memory.turns)
        await opened(pilot, "alt+m", LeaveOneOutView)
        await settled(pilot)
        found = lines(pilot)
        assert found[0].startswith("#9      ████████████ 1.00  Decision: the deploy window")
        assert all("0.00" in each for each in found[1:])
        state = shown(pilot, "mattered-state")
        assert state.endswith("asked · compared by their sentences")
        assert "Missing now: " in shown(pilot, "mattered-note")
        view = pilot.app.screen
        assert isinstance(view, LeaveOneOutView)
        await pilot.press("y")
        assert "Without #9: " in pilot.app.clipboard
        await pilot.press("home", "enter")
        await settled(pilot)
        chosen = screen.query_one(Transcript).chosen
        assert chosen is not None
        assert chosen.position == 9
        assert len(screen.session.memory.turns) == before


async def test_a_model_is_asked_when_the_user_agrees_and_chance_is_told_apart(
    backend: TestBackend,
) -> None:
    provider = ScriptedProvider()
    backend.provider = provider
    async with demo_app(backend).run_test(size=(80, 24)) as pilot:
        screen = await sent(pilot, QUESTION)
        asked = len(provider.requests)
        await opened(pilot, "alt+m", LeaveOneOutView)
        told = shown(pilot, "mattered-state")
        assert "at an unknown price" in told
        assert told.endswith("Enter asks, Esc cancels.")
        await pilot.press(*"my", "n")
        await until(pilot, lambda: pilot.app.screen is screen, "the chat")
        assert len(provider.requests) == asked
        await opened(pilot, "alt+m", LeaveOneOutView)
        await pilot.app.screen.run_action("copy")
        await settled(pilot)
        assert len(provider.requests) == asked, "copying agrees to nothing"
        await pilot.press("enter")
        await settled(pilot)
        count = len(provider.requests) - asked
        assert shown(pilot, "mattered-state") == (
            f"{count} of {count} asked · compared by shared words"
            " · the same window again differs by 0.00"
        )
        assert lines(pilot)[0].endswith("0.00  same window again")
        await pilot.press("y")
        assert "Without #" in pilot.app.clipboard
        await pilot.press("escape")

        provider.script = (asyncio.Event(),)
        await pilot.press("alt+m")
        await until(pilot, lambda: isinstance(pilot.app.screen, LeaveOneOutView), "the view")
        view = pilot.app.screen
        assert isinstance(view, LeaveOneOutView)
        await until(pilot, lambda: "Enter asks" in shown(pilot, "mattered-state"), "the question")
        await pilot.press("enter")
        await until(pilot, lambda: len(provider.requests) == asked + count + 1, "a request")
        await pilot.press("escape")
        await settled(pilot)
        assert pilot.app.screen is view
        assert len(provider.requests) == asked + count + 1
        await pilot.press("escape")
        await pilot.pause()
        assert pilot.app.screen is screen


async def test_a_reply_that_is_on_its_way_or_was_broken_off_is_not_compared_with(
    backend: TestBackend,
) -> None:
    provider = ScriptedProvider(("Half of", asyncio.Event()))
    backend.provider = provider
    async with demo_app(backend).run_test(size=(100, 30)) as pilot:
        screen = await ready(pilot)
        await type_text(pilot, QUESTION)
        await pilot.press("enter")
        await until(pilot, lambda: screen.busy and screen.previews.sent is not None, "the request")
        for key, kind in (("alt+m", LeaveOneOutView), ("alt+w", MissingTurnView)):
            await pilot.press(key)
            await until(pilot, lambda kind=kind: isinstance(pilot.app.screen, kind), "the view")
            await until(
                pilot, lambda: shown(pilot, "view-nothing") == STREAMING, "that it is being written"
            )
            await pilot.press("escape")
            await until(pilot, lambda: pilot.app.screen is screen, "the chat")
        await pilot.press("escape")
        await until(pilot, lambda: not screen.busy, "the end")
        await idle(pilot)
        asked = len(provider.requests)
        await opened(pilot, "alt+m", LeaveOneOutView)
        assert shown(pilot, "view-nothing") == CUT.format(status="cancelled")
        await pilot.press("y")
        await settled(pilot)
        assert len(provider.requests) == asked


SAID, REPLY = talk("one?", "- one.\n- two.")


@pytest.fixture
def trials() -> Trials:
    tried = (Trial(None, 90), Trial(3, 80), Trial(4, 70), Trial(5, 60))
    measure = Measure("by words", lambda one, other: 0.0)
    texts = {3: "three", 4: "f\x1b[2Jour"}
    return Trials(Exchange(SAID, REPLY), tried, texts, measure, exact=False)


def test_rows_are_sorted_by_change_and_failures_are_told_each(trials: Trials) -> None:
    none, three, four, five = trials.trials
    error = Unreachable("Gone.", "Wait.")
    tried = (
        TrialResult(none, "- one.", 0.1),
        TrialResult(three, "- one.", 0.08),
        TrialResult(four, "no", 1.0),
        TrialResult(five, error=error),
    )
    full = replace(trials, results={each.trial.turn: each for each in tried})
    assert [trial.turn for trial in full.rows] == [None, 4, 3, 5]
    assert full.chance == 0.1
    columns = full.columns
    lines = [header(columns), *(draw(columns, row).plain for row in full.rows)]
    assert lines[0] == "without answer changes     turn"
    assert lines[2].startswith("#4      ████████████ 1.00  f␛[2Jour")
    assert "Gone. Wait." in lines[4]
    assert full.answer(five) == "Without #5: Gone. Wait."
    assert replace(full, exact=True).answer(three).endswith("Missing now: two.")
    assert trials.answer(three) == "Without #3: not asked yet."
    assert [bar(0), bar(0.001)[:2], bar(0.5), bar(1)] == [
        "·" * 12, "▌·", "█" * 6 + "·" * 6, "█" * 12,
    ]  # fmt: skip
    assert "for about $0.0200" in replace(trials, cost=0.02).question("m")
    assert "without each of 3 retrieved turns" in trials.question("m")
