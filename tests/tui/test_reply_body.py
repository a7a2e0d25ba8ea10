"""A streaming reply is drawn often enough to be read, without delaying keys."""

from __future__ import annotations

import asyncio
import time
from itertools import pairwise

import pytest
from textual.app import App, ComposeResult
from textual.containers import VerticalScroll
from textual.widgets import Markdown
from textual.widgets.markdown import MarkdownBlock

from jitchat.tui.widgets import reply
from jitchat.tui.widgets.markdown_part import MarkdownPart
from jitchat.tui.widgets.reply import LONGEST_REST, ReplyBody
from tests.tui.support import until


class ReplyApp(App[None]):
    """An app with one reply."""

    CSS = """
    ReplyBody, MarkdownPart { height: auto; }
    MarkdownPart.-next { margin: 1 0 0 0; }
    MarkdownBlock { margin: 0 0 1 0; }
    """

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
        await body.draw_after_key()
        assert body.source == "It is"


async def test_the_next_key_does_not_wait_for_drawing(monkeypatch: pytest.MonkeyPatch):
    monkeypatch.setattr(reply, "DRAW_EVERY", 60.0)
    async with ReplyApp().run_test() as pilot:
        body = pilot.app.query_one(ReplyBody)
        body.add("It is", typing=True)
        await body.draw_after_key()
        await until(pilot, lambda: body._drawn_at, "the first drawing")
        body.add(" now.", typing=True)
        await body.draw_after_key()
        assert body.source == "It is"


async def test_a_large_delta_is_drawn_line_by_line_and_completely(
    monkeypatch: pytest.MonkeyPatch,
):
    monkeypatch.setattr(reply, "MOST_AT_ONCE", 300)
    text = parts_of(12)
    async with ReplyApp().run_test() as pilot:
        body = pilot.app.query_one(ReplyBody)
        body.add(text, typing=True)
        await body._draw()
        assert 0 < len(body.source) <= 300 < len(text)
        assert body.source.endswith("\n")
        await until(pilot, lambda: body.source == text, "the rest")
        body.add(text, typing=True)
        await body._draw()
        await body.finish(text + text)
        assert body.source == text + text


async def test_the_stored_text_replaces_the_drawn_text():
    async with ReplyApp().run_test() as pilot:
        body = pilot.app.query_one(ReplyBody)
        body.add("It is\x1b[31m", typing=False)
        await body.finish("It is now.")
        await pilot.pause(0.2)
        assert body.source == "It is now."


async def test_a_key_during_drawing_does_not_corrupt_the_text():
    async with ReplyApp().run_test() as pilot:
        body = pilot.app.query_one(ReplyBody)
        body.add("One is here.\n\nTwo is he", typing=True)
        drawing = asyncio.create_task(body._draw())
        await asyncio.sleep(0)
        body.add("re.\n\nThree is here.\n\nFour is he", typing=True)
        await body.draw_after_key()
        await drawing
        await body._draw()
        body.add("re.\n\nFive.", typing=True)
        await body._draw()
        await pilot.pause()
        shown = [str(block.render()) for block in body.query(MarkdownBlock)]
        assert shown == ["One is here.", "Two is here.", "Three is here.", "Four is here.", "Five."]


async def test_a_slow_draw_does_not_delay_the_next_one_for_long():
    async with ReplyApp().run_test() as pilot:
        body = pilot.app.query_one(ReplyBody)
        body._drawn_at, body._worked = time.monotonic(), time.thread_time() - 60.0
        assert LONGEST_REST - 0.5 < body._rest <= LONGEST_REST


def parts_of(count: int) -> str:
    one = "## Part {}\n\nOf *it*, line\n\n- one\n- two\n\n"
    return "".join(one.format(number) for number in range(count))


LONG = parts_of(24)


async def grown(body: ReplyBody, text: str, step: int = 397) -> None:
    for start in range(0, len(text), step):
        body.add(text[start : start + step], typing=True)
        await body._draw()


def shown(body: ReplyBody) -> list[str]:
    return [str(block.render()) for block in body.query(MarkdownBlock)]


async def test_an_incrementally_drawn_reply_equals_one_drawn_at_once():
    """Also if a link definition at the end is used in an earlier part."""
    text = parts_of(8) + "See [it].\n\n[it]: https://example.org\n"
    async with ReplyApp().run_test(size=(60, 30)) as pilot:
        body = pilot.app.query_one(ReplyBody)
        await grown(body, text, 97)
        grew_alone = shown(body)
        await body.finish(text)
        assert body.source == text
        grew = shown(body)
        await body.finish("")
        await body.finish(text)
        await pilot.pause()
        assert grew == shown(body)
        assert grew[:-1] == grew_alone[:-1]


async def test_only_the_visible_area_of_a_long_reply_is_laid_out_and_its_height_stays():
    async with ReplyApp().run_test(size=(60, 20)) as pilot:
        body, scroll = pilot.app.query_one(ReplyBody), pilot.app.query_one(VerticalScroll)
        await grown(body, LONG, 120)
        await pilot.pause()
        height = body.size.height
        body.fold_away()
        await pilot.pause()
        parts = body.query(MarkdownPart)
        assert len(parts) > 6
        assert sum(part.markdown.display for part in parts) < 6
        assert body.size.height == height
        scroll.scroll_end(animate=False)
        await pilot.pause()
        body.fold_away()
        await pilot.pause()
        assert not parts.first().markdown.display
        assert parts.last().markdown.display
        await pilot.resize_terminal(40, 20)
        await until(pilot, lambda: body.size.width < 50, "the new width")
        assert body.size.height >= height


async def test_a_quotation_keeps_its_paragraphs_apart_and_code_is_not_guessed_at():
    async with ReplyApp().run_test() as pilot:
        body = pilot.app.query_one(ReplyBody)
        await body.finish("> One.\n>\n> Two.\n\n```\nimport this\n```\n")
        await pilot.pause()
        quoted = list(body.query("MarkdownBlockQuote MarkdownParagraph"))
        assert quoted[1].region.y - quoted[0].region.y == 2
        assert not body.query_one("#code-content").render().spans  # type: ignore[attr-defined]


async def test_emphasis_looks_as_textual_draws_it():
    text = "*a* **b** ~~c~~ `d`"
    async with ReplyApp().run_test() as pilot:
        body = pilot.app.query_one(ReplyBody)
        await body.mount(plain := Markdown(text))
        await body.finish(text)
        for theme in ("textual-dark", "textual-light"):
            pilot.app.theme = theme
            await pilot.pause()
            ours, theirs = (
                [(each.text, each.style) for each in part.query_one(MarkdownBlock).render_line(0)]
                for part in (body.query_one(MarkdownPart), plain)
            )
            assert [each for each in ours if each[0].strip()] == [
                each for each in theirs if each[0].strip()
            ]


async def test_a_text_drawn_at_once_can_grow_in_the_middle_of_a_list():
    async with ReplyApp().run_test() as pilot:
        body = pilot.app.query_one(ReplyBody)
        await body.finish("- one\n- tw")
        await grown(body, "o\n- three\n\nEnd.")
        await pilot.pause()
        assert shown(body)[1:] == ["one", "two", "three", "End."]


async def test_the_parts_of_a_reply_have_a_blank_line_between_them_like_paragraphs():
    async with ReplyApp().run_test(size=(60, 60)) as pilot:
        body = pilot.app.query_one(ReplyBody)
        await grown(body, "".join(f"Line {number}.\n\n" for number in range(12)), 10)
        await pilot.pause()
        lines = [block.region.y for block in body.query(MarkdownBlock)]
        assert len(body.query(MarkdownPart)) == 2
        assert {after - line for line, after in pairwise(lines)} == {2}


@pytest.mark.parametrize("unit", ["x", "- an item that is one line of a list\n"])
async def test_of_a_megabyte_at_once_the_beginning_is_drawn_and_the_rest_counted(unit):
    text = (unit * 1_000_000)[:1_000_000]
    async with ReplyApp().run_test() as pilot:
        body = pilot.app.query_one(ReplyBody)
        body.add(text, typing=False)
        await body.finish(text)
        assert text.startswith(body.source)
        left = len(text) - len(body.source)
        assert 0 < len(body.source) <= reply.HEAD
        more = str(body.query_one(".turn-note").render())
        assert more == f"… {left:,} more characters; Enter shows them"


async def test_an_endless_line_is_drawn_only_up_to_a_limit():
    async with ReplyApp().run_test() as pilot:
        body = pilot.app.query_one(ReplyBody)
        for _ in range(100):
            body.add("x" * 100, typing=False)
            await body._draw()
        await body.finish("x" * 10_000)
        assert len(body.source) == reply.LONGEST_LINE
        assert "6,000 more characters" in str(body.query_one(".turn-note").render())


def test_a_very_long_text_is_cut_when_opened_and_one_of_many_pages_is_not():
    pages = "A line of words.\n" * 2_000
    assert reply.beginning(pages) == pages
    assert len(reply.beginning(pages * 2)) == reply.HEAD
    assert reply.beginning("short\n" + "x" * 9_000) == "short\n" + "x" * reply.LONGEST_LINE
