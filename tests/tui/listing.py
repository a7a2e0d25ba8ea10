"""Looking at the list of models, and waiting for it."""

from __future__ import annotations

from typing import TYPE_CHECKING

from textual.widgets import Input

from jitchat.tui.dialogs.models import ModelList, ModelsScreen
from jitchat.tui.widgets.top_line import TopLine
from tests.tui.support import chat, notices, ready, until

if TYPE_CHECKING:
    from textual.pilot import Pilot


def rows(pilot: Pilot[None]) -> list[tuple[str, str]]:
    return [row.id for each in pilot.app.screen.query(ModelList) for row in each._rows]


def chosen(pilot: Pilot[None]) -> tuple[str, str]:
    row = pilot.app.screen.query_one(ModelList).chosen
    assert row is not None
    return row.id


def drawn(pilot: Pilot[None]) -> str:
    listed = pilot.app.screen.query_one(ModelList)
    return "\n".join(str(option.prompt) for option in listed.options)


def status(pilot: Pilot[None]) -> str:
    return str(chat(pilot).query_one(TopLine).query_one("#status").render())


def told(pilot: Pilot[None]) -> list[str]:
    return notices(pilot)


async def opened(pilot: Pilot[None]) -> ModelsScreen:
    """The list, once it shows what is known."""
    await ready(pilot)
    await pilot.press("ctrl+l")
    await until(pilot, lambda: isinstance(pilot.app.screen, ModelsScreen), "the list")
    await until(pilot, lambda: rows(pilot), "its rows")
    await pilot.pause()
    assert isinstance(pilot.app.screen, ModelsScreen)
    return pilot.app.screen


async def enter_text(pilot: Pilot[None], text: str) -> None:
    """Into the line of the dialog on top."""
    pilot.app.screen.query_one(Input).value = text
    await pilot.pause()


async def answers(pilot: Pilot[None], name: str) -> None:
    """Until this model does."""
    await until(
        pilot,
        lambda: (s := chat(pilot).session) is not None and s.provider.model == name,
        f"{name} answering",
    )
    await pilot.pause()
