"""A server's form: input requested during a call, and how it is parsed."""

from __future__ import annotations

import asyncio
from typing import TYPE_CHECKING
from unittest.mock import Mock

import pytest
from textual.widgets import Input

from jitchat.tools.mcp.elicitation import Field, Request, Response
from jitchat.tui.chat import tools
from jitchat.tui.dialogs.form import FormScreen, read_value
from jitchat.tui.widgets import prompt
from tests.tui.support import demo_app, ready, until

if TYPE_CHECKING:
    from tests.tui.conftest import Picture
    from tests.tui.support import TestBackend

NAME = Field("name", "Name", "string", "of the boat", required=True)
CREW = Field("crew", "Crew", "integer")
HOSTILE = Request("har\x1b[2Jbour", "[red]Fill this in[/red]\x1b[31m", (NAME, CREW))


@pytest.mark.parametrize(
    ("field", "given", "read"),
    [
        (NAME, " Aurora ", ("Aurora", "")),
        (NAME, "", (None, "Name is required.")),
        (CREW, "", (None, "")),
        (CREW, "7", (7, "")),
        (CREW, "many", (None, "Crew is not a valid integer.")),
        (Field("ok", "Ok", "boolean"), "no", (False, "")),
        (Field("ok", "Ok", "boolean", required=True), "", (None, "Ok is required.")),
        (Field("tags", "Tags", "array"), "a, b", (["a", "b"], "")),
    ],
)
def test_values_are_converted_to_the_type_of_their_field(field, given, read):
    assert read_value(field, given) == read


@pytest.mark.parametrize(
    ("keys", "response"),
    [
        (["ctrl+s"], Response("accept", (("name", "Aurora"), ("crew", 7)))),
        (["ctrl+d"], Response("decline")),
        (["escape"], Response("cancel")),
    ],
)
async def test_the_form_is_answered_declined_or_cancelled(
    backend: TestBackend, keys, response
) -> None:
    async with demo_app(backend).run_test(size=(80, 24)) as pilot:
        screen = await ready(pilot)
        asked = asyncio.ensure_future(screen.tools.elicit(HOSTILE))
        await until(pilot, lambda: isinstance(pilot.app.screen, FormScreen), "the form")
        await pilot.pause()
        form = pilot.app.screen
        shown = str(form.query_one("#form-message").render())
        assert "[red]Fill this in" in shown
        assert "\x1b" not in shown
        if keys == ["ctrl+s"]:
            await pilot.press("ctrl+s")
            assert "required" in str(form.query_one("#form-note").render())
            name, crew = form.query(Input)
            name.value, crew.value = "Aurora", "7"
        await pilot.press(*keys)
        assert await asyncio.wait_for(asked, 5) == response


async def test_every_kind_of_field_can_be_filled_in_from_the_keyboard(
    backend: TestBackend, picture: Picture
) -> None:
    fields = (
        NAME,
        CREW,
        Field("tide", "Tide", "string", choices=("high", "low"), required=True),
        Field("berthed", "Berthed", "boolean"),
        Field("flags", "Flags", "array", "any of them", ("blue", "white")),
    )
    asks = Request("harbour", "Which boat comes in?", fields)
    async with demo_app(backend).run_test(size=(80, 24)) as pilot:
        screen = await ready(pilot)
        asked = asyncio.ensure_future(screen.tools.elicit(asks))
        await until(pilot, lambda: isinstance(pilot.app.screen, FormScreen), "the form")
        await pilot.pause()
        await pilot.press(*"Aurora", "tab", "7", "tab")
        await picture(pilot, "fields", "small", "wide")
        await pilot.press("enter", "down", "enter", "tab", "enter", "down", "enter", "tab")
        await pilot.press(*"blue, white", "enter")
        answered = await asyncio.wait_for(asked, 5)
    values = (("name", "Aurora"), ("crew", 7), ("tide", "high"), ("berthed", True))
    assert answered == Response("accept", (*values, ("flags", ["blue", "white"])))


async def test_a_form_is_not_opened_while_the_user_is_typing(
    backend: TestBackend, monkeypatch: pytest.MonkeyPatch
) -> None:
    monkeypatch.setattr(tools, "TYPING_SECONDS", 0.01)
    async with demo_app(backend).run_test(size=(80, 24)) as pilot:
        screen = await ready(pilot)
        looks = Mock(wraps=prompt.Prompt.typing.fget)
        monkeypatch.setattr(prompt.Prompt, "typing", property(looks))
        monkeypatch.setattr(prompt, "TYPING_SECONDS", float("inf"))
        await pilot.press(*"half a")
        asked = asyncio.ensure_future(screen.tools.elicit(HOSTILE))
        before = looks.call_count
        await until(pilot, lambda: looks.call_count > before + 2, "three looks")
        assert pilot.app.screen is screen
        screen.surfaces.prompt.take_draft()
        await until(pilot, lambda: isinstance(pilot.app.screen, FormScreen), "the form")
        await pilot.press("escape")
        assert await asyncio.wait_for(asked, 5) == Response("cancel")


async def test_a_withdrawn_request_closes_its_form(backend: TestBackend) -> None:
    async with demo_app(backend).run_test(size=(80, 24)) as pilot:
        screen = await ready(pilot)
        asked = asyncio.ensure_future(screen.tools.elicit(HOSTILE))
        await until(pilot, lambda: isinstance(pilot.app.screen, FormScreen), "the form")
        asked.cancel()
        await until(pilot, lambda: pilot.app.screen is screen, "the chat")
