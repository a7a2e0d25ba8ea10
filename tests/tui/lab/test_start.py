"""The first screen of the lab: who is asked what, whether that is confirmed, and kept runs."""

from __future__ import annotations

from dataclasses import replace
from typing import TYPE_CHECKING

import pytest

from jitchat.errors import KeyRefused, SettingsError
from jitchat.lab.experiment import RunWanted, preset
from jitchat.lab.facts import Kind
from jitchat.lab.stats import count_results, total
from jitchat.transfer.demo import store_demo
from jitchat.tui.app import JitchatApp
from jitchat.tui.lab.setup import PlannedRun, PresetList
from jitchat.tui.lab.start import ConfirmScreen, RunRows, RunsList, confirm_send
from jitchat.tui.widgets.prompt import Prompt
from jitchat.values import USUAL_MODES
from tests.tui.lab.driving import LabApp, decided, listed, opened, over, shown, text
from tests.tui.lab.support import (
    MODEL,
    ScriptedLabService,
    failed,
    keep_all,
    lab_service_in,
    quick,
    result_of,
)
from tests.tui.support import TestBackend, demo_app, ready, type_text, until

if TYPE_CHECKING:
    from pathlib import Path


@pytest.fixture
def service(backend: TestBackend, tmp_path: Path) -> ScriptedLabService:
    backend.service = made = lab_service_in(tmp_path)
    return made


async def test_a_preset_is_chosen_and_the_reader_is_asked_without_a_question(
    backend: TestBackend, service: ScriptedLabService
) -> None:
    async with LabApp(backend).run_test(size=(160, 48)) as pilot:
        start = await opened(pilot)
        assert service.asked == 1
        assert "None yet." in text(pilot)
        assert "reader · limit 32,768 · reserve 2,048" in text(pilot)
        assert "not a language model" in text(pilot)
        await pilot.press("3")
        assert "5,544: each 3 times in full, recency, jit · M changes the modes" in text(pilot)
        await pilot.press("p", "1")
        assert start._setup.parallel == 1
        await pilot.press("enter")
        run = await shown(pilot)
        await over(pilot, run)
        await pilot.press("escape")
        await until(pilot, lambda: pilot.app.screen is start, "the first screen")
        await listed(pilot, start)
        kept = start.query_one(RunsList)
        assert kept.chosen is not None
        assert kept.chosen.experiment == quick()
        assert service.labs[0].closed == [True]
        shares = count_results(map(result_of, quick().cells())).by_mode
        told = [total(shares[mode]) for mode in USUAL_MODES]
        assert " ".join(["420", *told]) in text(pilot)


async def test_any_other_model_is_asked_only_once_its_budget_is_confirmed(
    backend: TestBackend, service: ScriptedLabService
) -> None:
    service.told, service.pause_after = MODEL, 30
    async with LabApp(backend).run_test(size=(104, 32)) as pilot:
        start = await opened(pilot)
        assert "not a language model" not in text(pilot)
        assert "108 cells" in text(pilot)
        await pilot.press("p", "p", "enter")
        await until(pilot, lambda: isinstance(pilot.app.screen, ConfirmScreen), "the question")
        assert "qwen3-8b of ollama" in text(pilot)
        assert "108 requests, ~" in text(pilot)
        assert "out (64 per answer), ~$0." in text(pilot)
        await pilot.press("escape")
        await until(pilot, lambda: pilot.app.screen is start, "the first screen")
        assert service.labs == []
        await pilot.press("enter")
        await until(pilot, lambda: isinstance(pilot.app.screen, ConfirmScreen), "the question")
        await pilot.press("enter")
        run = await shown(pilot)
        await decided(pilot, run, 30)
        assert [lab.parallel for lab in service.labs] == [4]
        assert "reader" not in text(pilot)


async def test_an_unfinished_run_is_gone_on_with_where_it_stopped(
    backend: TestBackend, service: ScriptedLabService
) -> None:
    service.put(quick(), days=2)
    service.put(quick(), days=1)
    file = service.runs.open("last")
    keep_all(file, map(failed, list(quick().cells())[-60:]))
    file.close()
    service.put(quick(), share=0.5)
    async with LabApp(backend).run_test(size=(104, 32)) as pilot:
        start = await opened(pilot)
        runs = start.query_one(RunsList)
        await pilot.press("down", "down", "down")
        for key in ("r", "down"):  # one that was stopped, then one of which cells failed
            await pilot.press(*([key, "r"] if key == "down" else [key]))
            run = await shown(pilot)
            await over(pilot, run)
            assert "420 of 420 cells" in text(pilot)
            await pilot.press("escape")
            await until(pilot, lambda: pilot.app.screen is start, "the first screen")
            await listed(pilot, start)
            assert runs.chosen is not None
            shares = count_results(map(result_of, quick().cells())).by_mode
            assert runs._shares[runs.chosen.id] == shares
        await pilot.press("r")
        await pilot.pause()
        assert pilot.app.screen is start
        assert "Every cell of this run has an answer." in notices(pilot)


async def test_a_run_that_is_looked_at_is_gone_on_with_from_its_own_screen(
    backend: TestBackend, service: ScriptedLabService
) -> None:
    service.put(quick(), share=0.5)
    async with LabApp(backend).run_test(size=(104, 32)) as pilot:
        await opened(pilot)
        await pilot.press("tab", "enter")
        looked_at = await shown(pilot)
        assert "R resumes" in text(pilot)
        assert "Resume" in text(pilot)
        await pilot.press("r")
        await until(pilot, lambda: pilot.app.screen is not looked_at, "the list")
        run = await shown(pilot)
        await over(pilot, run)
        assert run is not looked_at
        assert "420 of 420 cells" in text(pilot)
        assert "Resume" not in text(pilot), "there is nothing left to ask"


def notices(pilot) -> str:
    return " ".join(notice.message for notice in pilot.app._notifications)


async def test_going_on_elsewhere_is_confirmed_and_refused_as_a_sentence(
    backend: TestBackend, service: ScriptedLabService
) -> None:
    service.put(preset("quick"), MODEL, share=0.5)
    service.told, service.refusal = MODEL, KeyRefused("The key is refused.", "Paste another.")
    async with LabApp(backend).run_test(size=(104, 32)) as pilot:
        start = await opened(pilot)
        await pilot.press("tab", "r")
        await until(pilot, lambda: isinstance(pilot.app.screen, ConfirmScreen), "the question")
        assert "54 of 108 cells without an answer yet." in text(pilot)
        await pilot.press("enter")
        await until(pilot, lambda: "The key is refused." in notices(pilot), "why not")
        assert pilot.app.screen is start
        assert not start._waiting.display
        assert service.labs == []


async def test_a_run_is_opened_and_forgotten(
    backend: TestBackend, service: ScriptedLabService
) -> None:
    service.put(quick(), days=2)
    service.put(quick(), share=0.5)
    async with LabApp(backend).run_test(size=(104, 32)) as pilot:
        start = await opened(pilot)
        await pilot.press("tab")
        assert isinstance(pilot.app.focused, RunRows)
        await pilot.press("down")
        for key, left in (("escape", 2), ("enter", 1)):
            await listed(pilot, start)
            await pilot.press("delete")
            await until(pilot, lambda: isinstance(pilot.app.screen, ConfirmScreen), "the question")
            assert "reader, 1k to 48k, Sun 22 Nov 15:40" in text(pilot)
            await pilot.press(key)
            await until(pilot, lambda: pilot.app.screen is start, "the first screen")
            await until(pilot, lambda: len(service.runs.all()) == left, "what is left")  # noqa: B023
        await listed(pilot, start)
        await pilot.press("enter")
        run = await shown(pilot)
        assert not run.is_asking
        assert "210 of 420 cells" in text(pilot)


async def test_the_users_own_conversation_is_named_before_it_is_sent(
    backend: TestBackend, service: ScriptedLabService
) -> None:
    own = replace(quick(), lengths=(500,), conversation="c9", preset="own")
    service.told = MODEL
    named = confirm_send(PlannedRun(own, MODEL, title="My move\nto Ghent"), MODEL)
    assert "Your own conversation is sent" in named.paragraphs[1]
    assert named.paragraphs[1].endswith(": My move to Ghent")
    assert confirm_send(PlannedRun(own, MODEL), MODEL).paragraphs[1].endswith(": c9")
    assert confirm_send(PlannedRun(own, MODEL), MODEL, 3).paragraphs[1].endswith(": c9")
    assert not any(
        "own" in each for each in confirm_send(PlannedRun(quick(), MODEL), MODEL).paragraphs
    )
    kept = store_demo(backend.store)
    app = JitchatApp(backend, kept, RunWanted(replace(own, conversation=kept.id)))
    async with app.run_test(size=(104, 32)) as pilot:
        await opened(pilot)
        assert service.labs == [], "the app opens at the lab, and nothing is begun"
        assert f"a copy of your conversation {kept.title}" in text(pilot)
        await pilot.press("enter")
        await until(pilot, lambda: isinstance(pilot.app.screen, ConfirmScreen), "the question")
        assert kept.title in text(pilot)


async def test_in_a_tiny_terminal_nothing_is_begun(
    backend: TestBackend, service: ScriptedLabService
) -> None:
    service.put(quick(), share=0.5)
    async with LabApp(backend).run_test(size=(50, 15)) as pilot:
        start = await opened(pilot)
        for key in ("enter", "r"):
            start._runs._list.focus() if key == "r" else start._setup._list.focus()
            await pilot.press(key)
            await pilot.pause()
            assert notices(pilot).count("needs 60 × 18 cells; there are 50 × 15.") == 1
            pilot.app.clear_notifications()
        assert pilot.app.screen is start
        assert service.labs == []


async def test_keys_go_from_presets_to_runs_and_a_click_chooses_or_opens(
    backend: TestBackend, service: ScriptedLabService
) -> None:
    service.put(quick())
    async with LabApp(backend).run_test(size=(104, 32)) as pilot:
        start = await opened(pilot)
        await pilot.press("up", "down", "down")
        assert start.query_one(PresetList).highlighted == 2
        await pilot.press("down")
        assert isinstance(pilot.app.focused, RunRows)
        await pilot.press("up")
        assert isinstance(pilot.app.focused, PresetList)
        await pilot.click(PresetList, offset=(5, 1))
        assert start.query_one(PresetList).highlighted == 1
        assert pilot.app.screen is start
        await pilot.click(RunRows, offset=(5, 0))
        await shown(pilot)


async def test_without_an_answerer_nothing_is_begun_and_the_reason_is_told(
    backend: TestBackend, service: ScriptedLabService
) -> None:
    service.told = SettingsError("No key is set.", "Paste one.")
    async with LabApp(backend).run_test(size=(80, 24)) as pilot:
        start = await opened(pilot)
        assert "No key is set. Paste one." in notices(pilot)
        await pilot.press("enter")
        assert pilot.app.screen is start
        assert service.labs == []


async def test_the_lab_is_opened_from_the_chat_and_leaves_it_as_it_was(
    backend: TestBackend, service: ScriptedLabService
) -> None:
    service.pause_after = 5
    async with demo_app(backend).run_test(size=(104, 32)) as pilot:
        screen = await ready(pilot)
        await type_text(pilot, "a draft")
        await pilot.press("ctrl+t")
        start = await opened(pilot)
        commands = {each.title for each in pilot.app.get_system_commands(start)}
        assert {"Run", "Runs", "Close"} <= commands
        await pilot.press("enter")
        run = await shown(pilot)
        await decided(pilot, run, 5)
        commands = {each.title for each in pilot.app.get_system_commands(run)}
        assert {"Stop", "Kinds", "Export", "Next map", "Cells"} <= commands
        await pilot.press("f1")
        assert "the same square of the next map" in str(
            pilot.app.screen.query_one("Static").render()
        )
        await pilot.press("escape", "escape", "escape", "escape")
        await until(pilot, lambda: pilot.app.screen is screen, "the chat")
        assert screen.steering.next_message.text == "a draft"
        screen.query_one(Prompt).clear()
        await type_text(pilot, "/rot")
        await pilot.press("enter")
        await opened(pilot)


async def test_the_command_line_names_what_is_chosen_at_first(
    backend: TestBackend, service: ScriptedLabService
) -> None:
    own = replace(quick(), lengths=(500, 2_000), kinds=(Kind.EXACT,), preset="own", seed=7)
    async with LabApp(backend, RunWanted(own, 3, "judge/model")).run_test(size=(104, 32)) as pilot:
        start = await opened(pilot)
        assert "4 own 30 cells 2 lengths, 500 to 2k · 5 depths · 1 kind · seed 7" in text(pilot)
        assert "judge/model: up to 30 requests more, not included in the cost" in text(pilot)
        await pilot.press("enter")
        await until(pilot, lambda: isinstance(pilot.app.screen, ConfirmScreen), "the question")
        await pilot.press("enter")
        run = await shown(pilot)
        await over(pilot, run)
        assert run.state.run.experiment == own
        assert (service.labs[0].parallel, service.labs[0].judge) == (3, "judge/model")
        await pilot.press("escape", "1")
        assert start._setup.plan.experiment == quick()


async def test_a_preset_that_is_named_is_begun_where_that_costs_nothing(
    backend: TestBackend, service: ScriptedLabService
) -> None:
    app = demo_app(backend)
    async with app.run_test(size=(104, 32)) as pilot:
        chat = await ready(pilot)
        await chat.action_do("rot", "quick")
        run = await shown(pilot)
        await over(pilot, run)
        assert run.state.run.experiment == quick()
        assert not run.progress.is_running
        await pilot.press("escape", "escape")
        await until(pilot, lambda: app.screen is chat, "the chat")
        service.told = MODEL
        await chat.action_do("rot", "quick")
        await opened(pilot)
        assert len(service.labs) == 1
