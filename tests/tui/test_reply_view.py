"""A streaming reply is drawn often enough to be read, without delaying keys."""

from __future__ import annotations

import time
from typing import TYPE_CHECKING, Any

import pytest
from textual import events
from textual.app import App, ComposeResult
from textual.geometry import Offset
from textual.scrollbar import ScrollBar
from textual.selection import Selection

from jitchat.tui.drawing import palette
from jitchat.tui.widgets import reply
from jitchat.tui.widgets.reply import LONGEST_REST, ReplyView
from tests.tui.drawn import offset_of, on_screen
from tests.tui.render.looks import rows
from tests.tui.support import until

if TYPE_CHECKING:
    from textual.pilot import Pilot


class ReplyApp(App[None]):
    """An app with one reply."""

    def get_css_variables(self) -> dict[str, str]:
        variables = super().get_css_variables()
        variables.update(palette(self.current_theme, variables))
        return variables

    def compose(self) -> ComposeResult:
        yield ReplyView()


def view_of(pilot: Pilot[None]) -> ReplyView:
    return pilot.app.query_one(ReplyView)


def said(view: ReplyView) -> str:
    return "\n".join(on_screen(view)).strip()


async def test_deltas_that_arrive_together_are_drawn_together():
    async with ReplyApp().run_test() as pilot:
        view = view_of(pilot)
        for piece in ("It ", "is ", "**now**."):
            view.add(piece)
        assert said(view) == ""
        await until(pilot, lambda: said(view) == "It is now.", "the drawing")


async def test_during_typing_the_reply_is_drawn_right_after_a_key(monkeypatch: pytest.MonkeyPatch):
    monkeypatch.setattr(reply, "DRAW_BESIDE_TYPING", 60.0)
    async with ReplyApp().run_test() as pilot:
        view = view_of(pilot)
        view._block.add("It is")
        view._pace.draw_soon(typing=True)
        view._pace.draw_after_key()
        assert said(view) == "It is"


async def test_the_next_key_does_not_wait_for_drawing(monkeypatch: pytest.MonkeyPatch):
    monkeypatch.setattr(reply, "DRAW_EVERY", 60.0)
    async with ReplyApp().run_test() as pilot:
        view = view_of(pilot)
        view.add("It is")
        view._pace.draw_after_key()
        view.add(" now.")
        view._pace.draw_after_key()
        assert said(view) == "It is"


async def test_the_stored_text_replaces_the_drawn_text():
    async with ReplyApp().run_test() as pilot:
        view = view_of(pilot)
        view.add("It is\x1b[31m")
        view.finish("It is now.")
        await pilot.pause(0.2)
        assert said(view) == view.source == "It is now."


async def test_a_slow_draw_does_not_delay_the_next_one_for_long():
    async with ReplyApp().run_test() as pilot:
        pace = view_of(pilot)._pace
        pace._drawn_at, pace._worked = time.monotonic(), time.thread_time() - 60.0
        assert LONGEST_REST - 0.5 < pace._rest <= LONGEST_REST


async def drawn(pilot: Pilot[None], text: str) -> ReplyView:
    """Show a reply that is complete, from its beginning."""
    view = view_of(pilot)
    view.finish(text)
    await pilot.pause()
    view.scroll_home()
    await pilot.pause()
    return view


async def test_a_reply_is_as_high_as_its_lines_at_any_width():
    async with ReplyApp().run_test(size=(60, 20)) as pilot:
        view = await drawn(pilot, "## Part\n\nOf *it*, some words that fill a line of forty cells.")
        assert view.virtual_size.height == 3
        await pilot.resize_terminal(30, 20)
        await until(pilot, lambda: view.virtual_size.height == 4, "the new width")
        assert on_screen(view)[2:4] == ["Of it, some words that fill a", "line of forty cells."]


async def test_only_the_visible_lines_of_a_long_reply_are_drawn(monkeypatch: pytest.MonkeyPatch):
    async with ReplyApp().run_test(size=(60, 20)) as pilot:
        asked: list[int] = []
        row = ReplyView._row
        monkeypatch.setattr(
            ReplyView, "_row", lambda view, block, y: asked.append(y) or row(view, block, y)
        )
        view = await drawn(pilot, "A line.\n\n" * 1_000)
        assert view.virtual_size.height == 1_999
        assert len(set(asked)) < 60


async def test_a_selection_is_copied_without_the_breaks_of_long_lines_and_with_addresses():
    text = (
        'Some **words** that fill [a line](https://example.org "T") and more.\n\n'
        "| a | b |\n|--|--|\n| 1 | 2 |"
    )
    async with ReplyApp().run_test(size=(30, 20)) as pilot:
        view = await drawn(pilot, text)
        everything, _ = view.get_selection(Selection(None, None))
        assert everything == (
            'Some words that fill a line (https://example.org "T") and more.\n\na | b\n1 | 2'
        )
        some, _ = view.get_selection(Selection(Offset(5, 0), Offset(4, 1)))
        assert some == 'words that fill a line (https://example.org "T") and'[: len(some)]


async def test_what_the_mouse_selects_is_highlighted_and_copied():
    async with ReplyApp().run_test(size=(40, 10)) as pilot:
        view = await drawn(pilot, "Select **these words**, please.")
        at = offset_of(view, "these")
        plain = {segment.style for segment in view.render_line(at.y)}
        await pilot.mouse_down(view, offset=at)
        await pilot.hover(view, offset=at + Offset(10, 0))
        await pilot.mouse_up(view, offset=at + Offset(10, 0))
        assert pilot.app.screen.get_selected_text() == "these words"
        assert {segment.style for segment in view.render_line(at.y)} - plain


async def test_the_link_under_the_mouse_says_where_it_leads():
    async with ReplyApp().run_test(size=(40, 10)) as pilot:
        view = await drawn(pilot, 'See [this](https://example.org/x "of it") now.')
        told: list[str] = []
        post = view.post_message
        view.post_message = lambda message: told.append(message) or post(message)  # type: ignore
        at = offset_of(view, "this")
        for x in (1, 2, 16):
            await pilot.hover(view, offset=at + Offset(x, 0))
        leads_to = [each.leads_to for each in told if isinstance(each, ReplyView.Pointed)]
        assert leads_to == ['https://example.org/x "of it"', ""]


async def test_of_a_megabyte_at_once_the_beginning_is_drawn_and_the_rest_counted():
    text = ("- an item that is one line of a list\n" * 30_000)[:1_000_000]
    async with ReplyApp().run_test() as pilot:
        view = view_of(pilot)
        view.add(text)
        view.finish(text)
        await pilot.pause()
        left = len(text) - reply.LONGEST
        assert on_screen(view)[-1] == f"… {left:,} more characters; Enter shows them"
        assert 0 < view.virtual_size.height < 1_200


async def test_an_endless_line_is_drawn_in_full():
    async with ReplyApp().run_test() as pilot:
        view = view_of(pilot)
        for _ in range(100):
            view.add("x" * 100)
            view._draw()
        view.finish("x" * 10_000)
        await pilot.pause()
        assert "".join(rows(view._block.lines)) == "x" * 10_000


async def test_the_end_is_followed_until_it_is_scrolled_away_and_again_at_the_end():
    async with ReplyApp().run_test(size=(40, 10)) as pilot:
        view = await drawn(pilot, "A line.\n\n" * 30)
        view.scroll_to_end()
        view.finish("A line.\n\n" * 31 + "The end.")
        assert said(view).endswith("The end.")
        await pilot._post_mouse_events([events.MouseScrollUp], view)
        before = on_screen(view)
        view.finish("A line.\n\n" * 40)
        assert on_screen(view) == before


def test_a_very_long_text_is_cut_when_opened_and_one_of_many_pages_is_not():
    pages = "A line of words.\n" * 2_000
    assert reply.beginning(pages) == pages
    assert len(reply.beginning(pages * 2)) == reply.HEAD
    assert reply.beginning("short\n" + "x" * 9_000) == "short\n" + "x" * reply.LONGEST_LINE


async def test_lines_that_move_the_scrollbar_by_less_than_it_can_show_do_not_draw_it(
    monkeypatch: pytest.MonkeyPatch,
):
    drawn: list[ScrollBar] = []
    async with ReplyApp().run_test() as pilot:
        view = view_of(pilot)
        view.finish("a line\n\n" * 2_000)
        await pilot.pause()
        refresh = ScrollBar.refresh

        def counted(bar: ScrollBar, *regions: Any, **options: Any) -> ScrollBar:
            drawn.append(bar)
            return refresh(bar, *regions, **options)

        monkeypatch.setattr(ScrollBar, "refresh", counted)
        for size in range(2_001, 2_006):
            view.finish("a line\n\n" * size)
        assert drawn == []
        view.finish("a line\n\n" * 40)
        assert drawn
