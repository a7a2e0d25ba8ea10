"""The live demo: one question in each mode, as it is answered, graded and counted."""

from __future__ import annotations

import asyncio
from dataclasses import replace
from itertools import count
from types import SimpleNamespace
from typing import TYPE_CHECKING, cast

import pytest

from jitchat import weights
from jitchat.errors import SettingsError, Unreachable, UsageError
from jitchat.lab import lab
from jitchat.lab.live import LENGTHS, MODES
from jitchat.tui.dialogs.fetch import FetchScreen
from jitchat.tui.lab import live
from jitchat.tui.lab.live_state import Phase
from jitchat.tui.lab.start import ConfirmScreen
from jitchat.values import Mode
from tests.tui.lab.driving import text
from tests.tui.lab.live_support import LiveService, asked, live_app, shown
from tests.tui.lab.support import MODEL
from tests.tui.support import TestBackend, until

if TYPE_CHECKING:
    from pathlib import Path

    from tests.tui.conftest import Picture

WIDE, SMALL = (160, 48), (80, 24)
PARKING = "Which parking bay in the basement garage is mine?"


@pytest.fixture(autouse=True)
def steady(monkeypatch: pytest.MonkeyPatch) -> None:
    """Each event of an answer comes a quarter of a second after the one before."""
    moments = count(step=0.25)
    monkeypatch.setattr(lab, "time", SimpleNamespace(monotonic=lambda: next(moments)))
    monkeypatch.setattr(live, "monotonic", lambda: 5.0)


def service_of(backend: TestBackend) -> LiveService:
    return cast("LiveService", backend.service)


async def test_a_model_that_may_cost_something_is_asked_only_after_a_yes(
    backend: TestBackend, tmp_path: Path
) -> None:
    app = live_app(backend, tmp_path)
    service_of(backend).who = MODEL
    async with app.run_test(size=WIDE) as pilot:
        await until(pilot, lambda: isinstance(pilot.app.screen, ConfirmScreen), "the question")
        question = pilot.app.screen
        assert isinstance(question, ConfirmScreen)
        assert any(each.startswith("A round: 12 requests, ") for each in question.paragraphs)
        await pilot.press("escape")
        screen = await shown(pilot)
        await until(pilot, lambda: screen.state.phase is Phase.FAILED, "the refusal")
        assert not service_of(backend).begun

        await pilot.press("space")
        await until(pilot, lambda: isinstance(pilot.app.screen, ConfirmScreen), "the question")
        await pilot.press("enter")
        await asked(pilot, await shown(pilot))
        await until(pilot, lambda: bool(screen.state.decided), "an answer")
        assert len(service_of(backend).begun) == 1


async def test_each_mode_is_asked_in_turn_and_graded_by_the_rule_of_the_lab(
    backend: TestBackend, tmp_path: Path
) -> None:
    app = live_app(backend, tmp_path)
    service_of(backend).provider.script = ("It is 42",)
    async with app.run_test(size=WIDE) as pilot:
        screen = await shown(pilot)
        await asked(pilot, screen)
        assert tuple(screen.state.decided) == MODES
        assert {each.rule for each in screen.state.decided.values()} == {"says 42"}
        assert len(service_of(backend).provider.requests) == len(MODES)
        assert f"Asked {PARKING}" in text(pilot)
        assert "100 % of 1 (21–100)" in text(pilot)


async def test_space_asks_the_same_in_longer_and_longer_talk_and_then_another_fact(
    backend: TestBackend, tmp_path: Path
) -> None:
    async with live_app(backend, tmp_path).run_test(size=WIDE) as pilot:
        screen = await shown(pilot)
        questions = []
        for _ in (*LENGTHS, "again"):
            await asked(pilot, screen)
            assert screen.state.fact is not None
            questions.append((screen.state.setup.length, screen.state.fact.question))
            await pilot.press("space")
        assert [length for length, _ in questions] == [*LENGTHS, LENGTHS[0]]
        assert {question for _, question in questions[:-1]} == {PARKING}
        assert questions[-1][1] != PARKING


async def test_a_dial_asks_at_the_same_length_once_more_and_is_counted_apart(
    backend: TestBackend, tmp_path: Path
) -> None:
    async with live_app(backend, tmp_path).run_test(size=WIDE) as pilot:
        screen = await shown(pilot)
        await asked(pilot, screen)
        await pilot.press("minus", "right")
        assert "0 near-duplicates (+ −) fact at 75 % (← →) (next question)" in text(pilot)
        assert not screen.state.score.by_mode
        await pilot.press("enter")
        await asked(pilot, screen)
        (first, second) = service_of(backend).begun
        assert second == replace(first, near=(0,), depths=(0.75,))
        assert screen.state.score.by_mode[Mode.FULL].answered == 1
        assert len(screen.state.results) == 2 * len(MODES)


async def test_the_window_is_read_in_sight_and_escape_ends_it_at_once(
    backend: TestBackend, tmp_path: Path, picture: Picture
) -> None:
    app, answers, never = live_app(backend, tmp_path), asyncio.Event(), asyncio.Event()
    service_of(backend).provider.script = (answers, "The bay is", never)
    async with app.run_test(size=WIDE) as pilot:
        screen = await shown(pilot)
        jit = lambda: screen.state.answers.get(Mode.JIT)  # noqa: E731
        await until(pilot, lambda: jit() and jit().left_at is not None, "the request")
        await picture(pilot, "live-waiting", "wide", "small")
        answers.set()
        await until(pilot, lambda: jit() and jit().text, "the first words")
        assert "waiting" in text(pilot)
        await picture(pilot, "live-streaming", "wide", "small")
        await pilot.press("escape")
        await until(pilot, lambda: not app.is_running or app._exit, "the end")
    assert app.return_code == 0


async def test_verdicts_and_dials_look_as_drawn(
    backend: TestBackend, tmp_path: Path, picture: Picture
) -> None:
    app = live_app(backend, tmp_path)
    service_of(backend).provider.script = ("The bay that belongs to Yusuf is 84.",)
    async with app.run_test(size=WIDE) as pilot:
        screen = await shown(pilot)
        await asked(pilot, screen)
        await pilot.press("space")
        service_of(backend).provider.script = ("42",)
        await asked(pilot, screen)
        await picture(pilot, "live-verdicts", "wide", "small")
        await pilot.press("plus")
        await picture(pilot, "live-dialled", "wide", "small")


async def test_a_recording_plays_every_length_once_and_ends(
    backend: TestBackend, tmp_path: Path, monkeypatch: pytest.MonkeyPatch
) -> None:
    monkeypatch.setattr(live, "DWELL", 0.01)
    app = live_app(backend, tmp_path, pace=1.0)
    async with app.run_test(size=SMALL) as pilot:
        await until(pilot, lambda: app._exit, "the end")
        (score,) = map(str, app._exit_renderables)
    assert "0 % of 4" in score
    assert [each.lengths for each in service_of(backend).begun] == [(each,) for each in LENGTHS]
    assert app.return_code == 0


async def test_paused_it_stays_until_it_is_told_to_go_on(
    backend: TestBackend, tmp_path: Path, monkeypatch: pytest.MonkeyPatch
) -> None:
    monkeypatch.setattr(live, "DWELL", 0.01)
    async with live_app(backend, tmp_path).run_test(size=WIDE) as pilot:
        screen = await shown(pilot)
        await asked(pilot, screen)
        assert not screen.plays
        await pilot.press("p")
        await until(pilot, lambda: len(service_of(backend).begun) > 1, "the second question")
        await pilot.press("p")
        await asked(pilot, screen)
        assert not screen.plays


async def test_what_fails_is_said_and_the_key_asks_again(
    backend: TestBackend, tmp_path: Path
) -> None:
    app = live_app(backend, tmp_path)
    provider = service_of(backend).provider
    provider.script = (Unreachable("It cannot be reached.", "Start it."),)
    async with app.run_test(size=WIDE) as pilot:
        screen = await shown(pilot)
        await asked(pilot, screen)
        assert screen.state.phase is Phase.FAILED
        assert "It cannot be reached. Start it." in text(pilot)
        provider.script = ("42",)
        await pilot.press("space")
        await asked(pilot, screen)
        assert screen.state.phase is Phase.ANSWERED


async def test_near_duplicates_that_do_not_fit_are_said(
    backend: TestBackend, tmp_path: Path
) -> None:
    app = live_app(backend, tmp_path)
    service_of(backend).refusal = UsageError("12 do not fit into 500 tokens.", "Choose fewer.")
    async with app.run_test(size=WIDE) as pilot:
        await asked(pilot, await shown(pilot))
        assert "12 do not fit into 500 tokens. Choose fewer." in text(pilot)


async def test_a_model_that_is_not_here_is_offered(backend: TestBackend, tmp_path: Path) -> None:
    app = live_app(backend, tmp_path)
    backend.live_refusal = SettingsError("SmolLM2 is not on this machine.", "Fetch it.")
    backend.lacking = weights.known()["smollm2"]
    async with app.run_test(size=WIDE) as pilot:
        await until(pilot, lambda: isinstance(app.screen, FetchScreen), "the offer")
        backend.live_refusal = None
        app.screen.dismiss(True)
        await asked(pilot, await shown(pilot))
        assert len(service_of(backend).begun) == 1


async def test_where_nobody_can_be_asked_it_says_what_to_do(
    backend: TestBackend, tmp_path: Path
) -> None:
    app = live_app(backend, tmp_path)
    backend.live_refusal = SettingsError("The engine is not installed.", "Install it.")
    async with app.run_test(size=WIDE) as pilot:
        await asked(pilot, await shown(pilot))
        assert "The engine is not installed. Install it. Use another model with" in text(pilot)
