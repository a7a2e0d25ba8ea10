"""Two levels: a plain sentence at the first start, the inspector once it was opened."""

from __future__ import annotations

from typing import TYPE_CHECKING

import pytest

from jitchat.settings import Settings
from jitchat.settings.sections import ScreenSettings
from jitchat.store.models import ChosenModel
from jitchat.store.pins import ScreenState
from jitchat.tui.widgets.inspector import Inspector
from jitchat.tui.widgets.transcript import Transcript
from tests.tui.support import TestBackend, demo_app, idle, ready, type_text, until

if TYPE_CHECKING:
    from textual.pilot import Pilot

    from jitchat.tui.chat.screen import ChatScreen

SIZE = (140, 40)
SENTENCE = "composed anew: "


@pytest.fixture
def newcomer(backend: TestBackend) -> TestBackend:
    """With nothing set or stored of the inspector."""
    backend.settings = Settings()
    return backend


def told(screen: ChatScreen) -> str:
    return str(screen.query_one("#cost").render())


async def click(pilot: Pilot[None], screen: ChatScreen, words: str) -> None:
    await pilot.click("#cost", offset=(told(screen).index(words) + 1, 0))
    await pilot.pause()


async def test_the_first_start_has_a_plain_sentence_whose_words_lead_to_turns_and_inspector(
    newcomer: TestBackend,
) -> None:
    async with demo_app(newcomer).run_test(size=SIZE) as pilot:
        screen = await ready(pilot)
        assert not screen.query_one(Inspector).display
        assert told(screen).startswith(SENTENCE)
        assert told(screen).endswith(" less than everything · cost unknown · F2 shows why")
        await type_text(pilot, "what did we settle on for the deploy window?")
        await until(pilot, lambda: "#9" in told(screen), "the turns")
        for width in (120, 80, 60, 40, 25):
            await pilot.resize_terminal(width, 30)
            await until(pilot, lambda wide=width: screen.size.width == wide, "the new width")
            await pilot.pause()
            assert len(told(screen)) <= screen.query_one("#cost").size.width, "it is not cut"
            assert " turns left out" in told(screen)
        await pilot.resize_terminal(*SIZE)
        await until(pilot, lambda: "#9" in told(screen), "the turns")

        await click(pilot, screen, "#9")
        transcript = screen.query_one(Transcript)
        await until(pilot, lambda: transcript.first_in_view == 9, "the turn")
        assert not screen.query_one(Inspector).display

        await pilot.press("enter")
        await idle(pilot)
        assert told(screen).startswith(SENTENCE)
        await click(pilot, screen, "turns left")
        assert screen.query_one(Inspector).display
        assert " · answer 10 ✓" in told(screen)
        await pilot.press("f2")
        assert "F2" not in told(screen), "how to open it was learnt"


@pytest.mark.parametrize(
    ("left", "wanted", "size", "is_open"),
    [
        ("open", None, SIZE, True),
        ("shut", None, SIZE, False),
        ("open", False, SIZE, False),
        ("shut", True, SIZE, True),
        ("open", None, (80, 24), False),
    ],
)
async def test_the_inspector_is_as_it_was_left_unless_it_is_set_or_has_no_room(
    newcomer: TestBackend, left: str, wanted: bool | None, size: tuple[int, int], is_open: bool
) -> None:
    newcomer.settings = Settings(screen=ScreenSettings(inspector=wanted))
    app, state = demo_app(newcomer), ScreenState(newcomer.store.database)
    state.put("inspector", left)
    async with app.run_test(size=size) as pilot:
        screen = await ready(pilot)
        assert screen.query_one(Inspector).display == is_open
        assert state.get("inspector") == left, "it was not the user"
        await pilot.press("f2")
        changed = "shut" if is_open else "open"
        await until(pilot, lambda: state.get("inspector") == changed, "the state on disk")


async def test_who_picked_a_model_once_is_not_told_how(models: TestBackend) -> None:
    app = demo_app(models)
    ChosenModel(models.store.database).put("reader", "reader")
    async with app.run_test(size=SIZE) as pilot:
        screen = await ready(pilot)
        assert not screen.query_one("#offer").display
