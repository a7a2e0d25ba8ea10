"""The menu of views: a letter for each view, with its direct key."""

from __future__ import annotations

from typing import TYPE_CHECKING

import pytest
from textual import events
from textual.widgets import OptionList, TextArea

from jitchat.tui.actions import ACTIONS, ANSWERS, BY_ID, MENU
from jitchat.tui.dialogs.help import HelpScreen
from jitchat.tui.views.view import View
from tests.tui.support import demo_app, ready, until

if TYPE_CHECKING:
    from tests.tui.conftest import Picture
    from tests.tui.support import TestBackend

SIZE = (80, 24)


def test_every_view_has_a_unique_letter():
    views = [action for action in ACTIONS if action.view and action.title]
    assert all(action.letter for action in views)
    assert len(MENU) + len(ANSWERS) == sum(bool(action.letter) for action in ACTIONS)
    assert not {BY_ID[each].letter for each in ANSWERS} & set(MENU)


@pytest.mark.parametrize("letter", ["l", "L"])
async def test_a_letter_opens_its_view_in_either_case(backend: TestBackend, letter: str):
    async with demo_app(backend).run_test(size=SIZE) as pilot:
        await ready(pilot)
        await pilot.press("ctrl+o", letter)
        await until(pilot, lambda: isinstance(pilot.app.screen, View), "a view")
        assert type(pilot.app.screen).__name__ == "LedgerView"


async def test_enter_opens_the_view_under_the_cursor(backend: TestBackend):
    async with demo_app(backend).run_test(size=SIZE) as pilot:
        await ready(pilot)
        await pilot.press("ctrl+o")
        menu = pilot.app.screen.query_one(OptionList)
        menu.highlighted = [*MENU].index("?")
        await pilot.press("enter")
        await until(pilot, lambda: isinstance(pilot.app.screen, HelpScreen), "the help")


async def test_closing_a_dialog_twice_in_a_burst_keeps_the_chat_open(backend: TestBackend):
    async with demo_app(backend).run_test(size=SIZE) as pilot:
        screen = await ready(pilot)
        for opens, twice in (
            ("ctrl+o", "u"),
            ("ctrl+o", "escape"),
            ("ctrl+o", "enter"),
            ("ctrl+r", "enter"),
            ("ctrl+s", "escape"),
            ("f1", "q"),
            ("f4", "q"),
        ):
            await pilot.press(opens)
            await until(pilot, lambda: pilot.app.screen is not screen, opens)
            for _ in range(3):
                key = events.Key(twice, twice if len(twice) == 1 else None)
                pilot.app.post_message(key)
            await until(pilot, lambda: pilot.app.screen is screen, f"{twice} in {opens}")
            await pilot.pause()
            assert pilot.app.screen is screen


@pytest.mark.parametrize("key", ["escape", "ctrl+o"])
async def test_the_menu_closes_and_the_typed_text_is_kept(backend: TestBackend, key: str):
    async with demo_app(backend).run_test(size=SIZE) as pilot:
        screen = await ready(pilot)
        await pilot.press(*"half a th", "ctrl+o", key)
        assert pilot.app.screen is screen
        assert screen.query_one(TextArea).text == "half a th"


async def test_the_menu_looks_as_in_the_picture(backend: TestBackend, picture: Picture):
    async with demo_app(backend).run_test(size=SIZE) as pilot:
        await ready(pilot)
        await pilot.press("ctrl+o")
        assert pilot.app.screen.has_class("-menu")
        await picture(pilot, "menu", "small")


async def test_a_list_without_space_still_accepts_keys(backend: TestBackend):
    async with demo_app(backend).run_test(size=SIZE) as pilot:
        screen = await ready(pilot)
        await pilot.press("ctrl+o", "down")
        pilot.app.screen.query_one(OptionList).styles.height = 0
        await pilot.resize_terminal(60, 20)  # what was known of its lines is forgotten
        await pilot.press("pageup", "pagedown", "escape")
        assert pilot.app.screen is screen
