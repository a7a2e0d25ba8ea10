"""Every action has an id, a key that terminals can send, and a place in the palette and help."""

from __future__ import annotations

import re
from dataclasses import replace
from inspect import signature
from operator import attrgetter
from typing import TYPE_CHECKING

import pytest
from textual.widgets import TextArea

from jitchat.tui.actions import ACTIONS, Needs, Takes, in_palette, screen_bindings
from jitchat.tui.app import JitchatApp
from jitchat.tui.dialogs.help import HelpScreen
from jitchat.tui.key_names import KeyNames
from jitchat.tui.widgets.hint_line import EDITING, IDLE, fitting, named
from jitchat.tui.widgets.prompt import Prompt
from tests.tui.support import TestBackend, demo_app, notices, ready

if TYPE_CHECKING:
    from textual.pilot import Pilot

BY_OTHER_MEANS = {
    "pane": "Tab",
    "allow_once": "/allow once",
    "allow_conversation": "/allow conversation",
    "allow_always": "/allow always",
    "decline_tool": "/allow decline",
}
NOT_KEYS_OF_THEIR_OWN = {"ctrl+m", "ctrl+i", "ctrl+h", "ctrl+left_square_bracket", "ctrl+["}


def test_every_binding_has_an_id() -> None:
    found = [binding.id for binding in screen_bindings()]
    assert None not in found
    assert len(set(found)) == len(found)


def test_every_action_leads_to_a_method_that_takes_what_it_is_given(backend: TestBackend) -> None:
    app = demo_app(backend)
    screen = app.get_default_screen()
    owners = {"": (screen, "action_"), "app": (app, "action_")}
    for action in ACTIONS:
        owner, _, name = action.method.rpartition(".")
        place, ahead = owners.get(owner) or (attrgetter(owner)(screen), "")
        takes = signature(getattr(place, f"{ahead}{name}"))
        about = ("session",) if Needs.SESSION in action.needs else ()
        typed = ("typed",) if action.takes is not Takes.NOTHING else ()
        for pane in action.pane or (None,):
            takes.bind(*about, *action.given, *(pane.given if pane is not None else ()))
        takes.bind(*about, *action.given, *typed)


def test_no_key_is_another_key_in_most_terminals() -> None:
    keys = {key for action in ACTIONS for key in action.keys.split(",")}
    assert not keys & NOT_KEYS_OF_THEIR_OWN


def test_no_key_of_an_action_is_one_that_edits_the_prompt() -> None:
    edits = {key for binding in Prompt.BINDINGS for key in binding.key.split(",")}
    assert edits.isdisjoint(key for action in ACTIONS for key in action.keys.split(",") if key)


def test_nothing_needs_alt_or_a_function_key() -> None:
    """On a Mac Alt writes letters, and a terminal may keep F1 and F10 for itself."""
    needs = re.compile(r"alt\+|f\d+$")
    for action in ACTIONS:
        plain = [key for key in action.keys.split(",") if key and not needs.match(key)]
        letters = [pane.key for pane in action.pane]
        is_mode = action.id.startswith("mode_")  # by /mode, Shift+Tab and a click
        assert (
            plain
            or action.name
            or action.letter
            or letters
            or is_mode
            or (action.id in BY_OTHER_MEANS)
        ), action.id


async def test_ctrl_z_suspends_the_app(
    backend: TestBackend, monkeypatch: pytest.MonkeyPatch
) -> None:
    suspended: list[str] = []
    monkeypatch.setattr(JitchatApp, "action_suspend_process", lambda _: suspended.append("z"))
    async with demo_app(backend).run_test() as pilot:
        prompt = (await ready(pilot)).surfaces.prompt
        await pilot.press("a", "ctrl+z")
        assert (prompt.text, suspended) == ("a", ["z"])
        for opens, closes in (("ctrl+o", "escape"), ("ctrl+s", "escape"), ("f4", "q"), ("f1", "q")):
            before = len(suspended)
            await pilot.press(opens, "ctrl+z", closes)
            assert len(suspended) == before + 1, opens
        await pilot.press("ctrl+o", "x", "b", "ctrl+z")
        field = pilot.app.screen.query_one(TextArea)
        assert not field.text.endswith("b"), "there it is undo"


async def test_every_action_is_in_the_palette_and_in_the_help_and_can_be_given_another_key(
    backend: TestBackend,
) -> None:
    backend.settings = replace(
        backend.settings, keys={"inspector": "f12", "help": "ctrl+b", "models": "alt+l", "wire": ""}
    )
    async with demo_app(backend).run_test(size=(180, 60), notifications=True) as pilot:
        screen = await ready(pilot)
        await pilot.press("f2")
        assert screen.query_one("#inspector").display
        await pilot.press("f12")
        assert not screen.query_one("#inspector").display
        await pilot.press("f3")
        assert pilot.app.screen is screen, "it has no key"
        footer = str(screen.query_one("#keys").render())
        assert all(each in footer for each in ("Alt+L model", "F12 inspect", "^B help")), footer

        titles = {command.title for command in pilot.app.get_system_commands(screen)}
        wanted = {action.title for action in in_palette()}
        assert wanted <= titles
        assert {"Quit", "Theme"} <= titles
        page = await help_page(pilot)
        assert all(action.title in page for action in ACTIONS if action.keys)
        assert "Ctrl+O W" in page, "the menu still leads to what has no key"
        await pilot.press("escape")

        await pilot.resize_terminal(80, 24)
        screen.notify("before", severity="error", markup=False)
        page = await help_page(pilot)
        assert f"→ observe →\n{'':<23}document" in page, "it stays in its column"
        screen.notify("[b]meanwhile", severity="error", markup=False)
        await pilot.pause()
        assert not any(toast.display for toast in pilot.app.screen.query("Toast"))
        assert notices(pilot) == ["before"], "notices wait until the help is closed"
        await pilot.press("escape")
        await pilot.pause()
        assert pilot.app.screen is screen
        told = [str(toast.render()) for toast in screen.query("Toast")]
        assert told == ["before", "[b]meanwhile"]


async def help_page(pilot: Pilot[None]) -> str:
    await pilot.press("ctrl+b")
    await pilot.pause()
    assert isinstance(pilot.app.screen, HelpScreen)
    return str(pilot.app.screen.query_one("Static").render())


def test_keys_give_way_to_the_sentence_and_the_ends_stay() -> None:
    send, mode, menu, model, _, help_ = idle = named(IDLE, KeyNames())
    assert fitting(idle, 51) == idle
    assert fitting(idle, 50) == (send, mode, menu, model, help_)
    assert fitting(idle, 31) == (send, mode, menu, help_)
    assert fitting(idle, 30) == (send, menu, help_), "the menu leads to the rest"
    assert fitting(idle, 0) == (send, help_)
    assert fitting(named(EDITING, KeyNames()), 0) == (
        ("⏎", "send as a fork", "screen.submit"),
        ("Esc", "cancel", "screen.cancel"),
    )
