"""A growing reply is drawn often enough to be read, and never in the way of a key."""

from __future__ import annotations

import asyncio

import pytest
from textual.app import App, ComposeResult

from jitchat.tui.widgets import reply_body
from jitchat.tui.widgets.reply_body import LONGEST_REST, ReplyBody
from tests.tui.support import until


class ReplyApp(App[None]):
    """One reply."""

    def compose(self) -> ComposeResult:
        yield ReplyBody("")


async def test_pieces_that_come_together_are_drawn_together():
    async with ReplyApp().run_test() as pilot:
        body = pilot.app.query_one(ReplyBody)
        for piece in ("It ", "is ", "**now**."):
            body.add(piece, typing=False)
        assert body.source == ""
        await until(pilot, lambda: body.source == "It is **now**.", "the drawing")


async def test_beside_typing_it_is_drawn_behind_a_key(monkeypatch: pytest.MonkeyPatch):
    monkeypatch.setattr(reply_body, "DRAW_BESIDE_TYPING", 60.0)
    async with ReplyApp().run_test() as pilot:
        body = pilot.app.query_one(ReplyBody)
        body.add("It is", typing=True)
        await body.draw_behind_key()
        assert body.source == "It is"


async def test_the_next_key_finds_it_drawn_and_waits_for_nothing(monkeypatch: pytest.MonkeyPatch):
    monkeypatch.setattr(reply_body, "DRAW_EVERY", 60.0)
    async with ReplyApp().run_test() as pilot:
        body = pilot.app.query_one(ReplyBody)
        body.add("It is", typing=True)
        await body.draw_behind_key()
        await until(pilot, lambda: body._drawn_at, "the first drawing")
        body.add(" now.", typing=True)
        await body.draw_behind_key()
        assert body.source == "It is"


async def test_what_was_stored_replaces_what_was_drawn():
    async with ReplyApp().run_test() as pilot:
        body = pilot.app.query_one(ReplyBody)
        body.add("It is\x1b[31m", typing=False)
        await body.finish("It is now.")
        await pilot.pause(0.2)
        assert body.source == "It is now."


async def test_a_key_in_the_middle_of_a_drawing_does_not_mangle_the_text():
    async with ReplyApp().run_test() as pilot:
        body = pilot.app.query_one(ReplyBody)
        body.add("One is here.\n\nTwo is he", typing=True)
        drawing = asyncio.create_task(body._draw())
        await asyncio.sleep(0)
        body.add("re.\n\nThree is here.\n\nFour is he", typing=True)
        await body.draw_behind_key()
        await drawing
        await body._draw()
        body.add("re.\n\nFive.", typing=True)
        await body._draw()
        await pilot.pause()
        shown = [str(block.render()) for block in body.children]
        assert shown == ["One is here.", "Two is here.", "Three is here.", "Four is here.", "Five."]


async def test_a_slow_drawing_does_not_put_the_next_one_off_for_long():
    async with ReplyApp().run_test() as pilot:
        body = pilot.app.query_one(ReplyBody)
        body._took = 60.0
        assert body._rest == LONGEST_REST
