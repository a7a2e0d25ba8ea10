"""A turn retrieved in passages, on screen."""

from __future__ import annotations

from typing import TYPE_CHECKING

from textual.widgets import Static

from jitchat.tui.app import JitchatApp
from jitchat.tui.dialogs.exact import PART, ExactScreen, MarkedText
from jitchat.tui.widgets.inspector import Inspector
from jitchat.tui.widgets.window_rows import rows_of
from tests.long_answers import QUESTION, long_talk
from tests.support import conversation_of
from tests.tui.support import TestBackend, demo_app, ready, type_text, until

if TYPE_CHECKING:
    from textual.pilot import Pilot

    from tests.tui.conftest import Picture


def marked(area: MarkedText) -> str:
    """Return the styled text of each line."""
    lines = (area.get_line(number) for number in range(area.document.line_count))
    return "".join(line.plain[span.start : span.end] for line in lines for span in line.spans)


async def exact(pilot: Pilot[None]) -> MarkedText:
    await until(pilot, lambda: isinstance(pilot.app.screen, ExactScreen), "the text")
    await pilot.pause()
    return pilot.app.screen.query_one(MarkedText)


async def test_enter_shows_the_whole_turn_with_its_passages_marked(
    picture: Picture, backend: TestBackend
) -> None:
    app = JitchatApp(backend, conversation_of(backend.store, long_talk()))
    async with app.run_test(size=(120, 36)) as pilot:
        screen = await ready(pilot)
        await type_text(pilot, QUESTION)
        screen.query_one(Inspector).point_at(4)
        await picture(pilot, "excerpt-in-the-inspector")
        window = screen.previews.window
        assert window is not None
        row = next(row for row in rows_of(window) if row.turn == 4)
        assert row.reason.startswith("excerpt, ")
        await pilot.press("enter")
        area = await exact(pilot)
        assert area.text == long_talk()[3].content
        assert marked(area).startswith("## GatewayThe gateway settings")
        assert "| gateway | 96 |" in marked(area)
        assert "harbour" not in marked(area)
        note = str(pilot.app.screen.query_one("#exact-note", Static).content)
        assert "on “gateway, choose, port, workers”" in note
        await picture(pilot, "excerpt-in-its-turn")


async def test_a_passage_far_down_is_scrolled_to_and_control_characters_do_not_shift_marks(
    backend: TestBackend,
) -> None:
    head = "\u200b\x1b x\r\n" * (PART // 5)
    text = f"{head}the key is here\nand here{head}"
    start = len(head)
    async with demo_app(backend).run_test(size=(100, 30)) as pilot:
        await ready(pilot)
        marks = ((start, start + 15), (start + 16, start + 24))
        pilot.app.push_screen(ExactScreen("long", text, "", marks))
        area = await exact(pilot)
        assert marked(area) == "the key is hereand here"
        assert area.scroll_y > 0
