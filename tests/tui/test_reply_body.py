"""A streaming reply is drawn often enough to be read, without delaying keys."""

from __future__ import annotations

import re
import time
from typing import TYPE_CHECKING

import pytest
from textual.app import App, ComposeResult
from textual.containers import VerticalScroll
from textual.geometry import Offset
from textual.selection import Selection

from jitchat.tui.palette import palette
from jitchat.tui.widgets import reply
from jitchat.tui.widgets.reply import LONGEST_REST, ReplyBody
from tests.tui.render.looks import rows
from tests.tui.support import until

if TYPE_CHECKING:
    from textual.pilot import Pilot


class ReplyApp(App[None]):
    """An app with one reply."""

    CSS = "ReplyBody { height: auto; }"

    def get_css_variables(self) -> dict[str, str]:
        variables = super().get_css_variables()
        variables.update(palette(self.current_theme, variables))
        return variables

    def compose(self) -> ComposeResult:
        with VerticalScroll():
            yield ReplyBody("")


async def test_deltas_that_arrive_together_are_drawn_together():
    async with ReplyApp().run_test() as pilot:
        body = pilot.app.query_one(ReplyBody)
        for piece in ("It ", "is ", "**now**."):
            body.add(piece, typing=False)
        assert body.source == ""
        await until(pilot, lambda: body.source == "It is **now**.", "the drawing")


async def test_during_typing_the_reply_is_drawn_right_after_a_key(monkeypatch: pytest.MonkeyPatch):
    monkeypatch.setattr(reply, "DRAW_BESIDE_TYPING", 60.0)
    async with ReplyApp().run_test() as pilot:
        body = pilot.app.query_one(ReplyBody)
        body.add("It is", typing=True)
        body.draw_after_key()
        assert body.source == "It is"


async def test_the_next_key_does_not_wait_for_drawing(monkeypatch: pytest.MonkeyPatch):
    monkeypatch.setattr(reply, "DRAW_EVERY", 60.0)
    async with ReplyApp().run_test() as pilot:
        body = pilot.app.query_one(ReplyBody)
        body.add("It is", typing=True)
        body.draw_after_key()
        await until(pilot, lambda: body._drawn_at, "the first drawing")
        body.add(" now.", typing=True)
        body.draw_after_key()
        assert body.source == "It is"


async def test_the_stored_text_replaces_the_drawn_text():
    async with ReplyApp().run_test() as pilot:
        body = pilot.app.query_one(ReplyBody)
        body.add("It is\x1b[31m", typing=False)
        body.finish("It is now.")
        await pilot.pause(0.2)
        assert body.source == "It is now."


async def test_a_slow_draw_does_not_delay_the_next_one_for_long():
    async with ReplyApp().run_test() as pilot:
        body = pilot.app.query_one(ReplyBody)
        body._drawn_at, body._worked = time.monotonic(), time.thread_time() - 60.0
        assert LONGEST_REST - 0.5 < body._rest <= LONGEST_REST


async def drawn(pilot: Pilot[None], text: str) -> ReplyBody:
    """Show a reply that is complete."""
    body = pilot.app.query_one(ReplyBody)
    body.finish(text)
    await pilot.pause()
    return body


async def test_a_reply_is_as_high_as_its_lines_at_any_width():
    async with ReplyApp().run_test(size=(60, 20)) as pilot:
        body = await drawn(pilot, "## Part\n\nOf *it*, some words that fill a line of forty cells.")
        assert body.size.height == len(body.lines) == 3
        await pilot.resize_terminal(30, 20)
        await until(pilot, lambda: body.size.height == 4, "the new width")
        assert rows(body.lines)[2:] == ["Of it, some words that fill a", "line of forty cells."]


async def test_only_the_visible_lines_of_a_long_reply_are_drawn(monkeypatch: pytest.MonkeyPatch):
    async with ReplyApp().run_test(size=(60, 20)) as pilot:
        asked: list[int] = []
        render_line = ReplyBody.render_line
        monkeypatch.setattr(
            ReplyBody, "render_line", lambda body, y: asked.append(y) or render_line(body, y)
        )
        body = await drawn(pilot, "A line.\n\n" * 1_000)
        assert body.size.height == 1_999
        assert len(set(asked)) < 60


async def test_a_selection_is_copied_without_the_breaks_of_long_lines_and_with_addresses():
    text = (
        'Some **words** that fill [a line](https://example.org "T") and more.\n\n'
        "| a | b |\n|--|--|\n| 1 | 2 |"
    )
    async with ReplyApp().run_test(size=(30, 20)) as pilot:
        body = await drawn(pilot, text)
        everything, _ = body.get_selection(Selection(None, None))
        assert everything == (
            'Some words that fill a line (https://example.org "T") and more.\n\na | b\n1 | 2'
        )
        some, _ = body.get_selection(Selection(Offset(5, 0), Offset(4, 1)))
        assert some == 'words that fill a line (https://example.org "T") and'[: len(some)]


async def test_what_the_mouse_selects_is_highlighted_and_copied():
    async with ReplyApp().run_test(size=(40, 10)) as pilot:
        body = await drawn(pilot, "Select **these words**, please.")
        plain = {segment.style for segment in body.render_line(0)}
        await pilot.mouse_down(body, offset=(7, 0))
        await pilot.hover(body, offset=(17, 0))
        await pilot.mouse_up(body, offset=(17, 0))
        assert pilot.app.screen.get_selected_text() == "these words"
        assert {segment.style for segment in body.render_line(0)} - plain


async def test_what_is_found_is_highlighted_also_across_a_break_and_located():
    async with ReplyApp().run_test(size=(20, 10)) as pilot:
        body = await drawn(pilot, "One needle here, and a\n**nee**dle, needle there.")
        body.look_for(re.compile(r"a\s+needle", re.IGNORECASE), 0)
        assert body.line_of_match() == 1
        body.look_for(re.compile("needle"), 0)
        assert body.line_of_match() == 0
        body.look_for(re.compile("there"), 7)
        assert body.line_of_match() == 3
        body.look_for(None, None)
        assert body.line_of_match() is None


async def test_the_link_under_the_mouse_says_where_it_leads():
    async with ReplyApp().run_test(size=(40, 10)) as pilot:
        body = await drawn(pilot, 'See [this](https://example.org/x "of it") now.')
        told: list[str] = []
        post = body.post_message
        body.post_message = lambda message: told.append(message) or post(message)  # type: ignore
        for x in (5, 6, 20):
            await pilot.hover(body, offset=(x, 0))
        leads_to = [each.leads_to for each in told if isinstance(each, ReplyBody.Pointed)]
        assert leads_to == ['https://example.org/x "of it"', ""]


async def test_of_a_megabyte_at_once_the_beginning_is_drawn_and_the_rest_counted():
    text = ("- an item that is one line of a list\n" * 30_000)[:1_000_000]
    async with ReplyApp().run_test() as pilot:
        body = pilot.app.query_one(ReplyBody)
        body.add(text, typing=False)
        body.finish(text)
        await pilot.pause()
        left = len(text) - reply.LONGEST
        assert rows(body.lines)[-1] == f"… {left:,} more characters; Enter shows them"
        assert 0 < len(body.lines) < 1_200


async def test_an_endless_line_is_drawn_in_full():
    async with ReplyApp().run_test() as pilot:
        body = pilot.app.query_one(ReplyBody)
        for _ in range(100):
            body.add("x" * 100, typing=False)
            body._draw()
        body.finish("x" * 10_000)
        await pilot.pause()
        assert "".join(rows(body.lines)) == "x" * 10_000


def test_a_very_long_text_is_cut_when_opened_and_one_of_many_pages_is_not():
    pages = "A line of words.\n" * 2_000
    assert reply.beginning(pages) == pages
    assert len(reply.beginning(pages * 2)) == reply.HEAD
    assert reply.beginning("short\n" + "x" * 9_000) == "short\n" + "x" * reply.LONGEST_LINE
