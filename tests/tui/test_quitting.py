"""The app ends without a word, whatever it is doing."""

from __future__ import annotations

import ast
import asyncio
from pathlib import Path
from typing import TYPE_CHECKING
from zlib import crc32

import pytest
from textual.css.query import NoMatches

from jitchat import tui
from jitchat.tui.actions import ACTIONS, Action
from jitchat.tui.widgets.hint_line import HintLine
from tests.support import ScriptedProvider
from tests.tui.support import demo_app, ready, type_text
from tests.tui.test_one_batch import LEFT_OUT

if TYPE_CHECKING:
    from tests.tui.support import TestBackend

PAUSES = (0.0, 0.005, 0.03)
ALLOWED = {"row_list.py"}
"""Where `is_mounted` means that something was mounted before, not that it is still there."""


@pytest.mark.parametrize("action", [each for each in ACTIONS if each.id not in LEFT_OUT])
async def test_quitting_right_after_any_action(backend: TestBackend, action: Action) -> None:
    """After one of the pauses, by turns."""
    backend.provider = ScriptedProvider(["Under", asyncio.Event()])
    app = demo_app(backend)
    async with app.run_test() as pilot:
        screen = await ready(pilot)
        await type_text(pilot, "which port?")
        screen.call_later(screen.run_action, action.run)
        await asyncio.sleep(PAUSES[crc32(action.id.encode()) % len(PAUSES)])
        app.exit()
    assert not app.return_code


async def test_what_fails_on_screen_is_still_a_bug(backend: TestBackend) -> None:
    with pytest.raises(NoMatches):  # noqa: PT012  raised when the app has ended
        async with demo_app(backend).run_test() as pilot:
            screen = await ready(pilot)
            screen.call_later(lambda: screen.query_one("#no-such-widget", HintLine))
            await asyncio.sleep(0.1)


def test_no_widget_asks_whether_it_was_mounted_to_know_whether_it_is_there() -> None:
    """`is_mounted` stays true after a widget was removed; `is_drawn` does not."""
    for file in Path(tui.__file__).parent.rglob("*.py"):
        names = {
            node.attr
            for node in ast.walk(ast.parse(file.read_text("utf-8")))
            if isinstance(node, ast.Attribute)
        }
        assert "is_mounted" not in names or file.name in ALLOWED, file
