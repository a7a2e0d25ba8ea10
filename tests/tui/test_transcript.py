"""Only turns in view are drawn, every turn can be reached, and what is read does not move."""

from __future__ import annotations

from itertools import pairwise
from pathlib import Path
from typing import TYPE_CHECKING

import pytest
from textual import events
from textual.app import App, ComposeResult
from textual.geometry import Offset, Region

from jitchat.text.figures import Figure
from jitchat.tui.chat import screen as chat
from jitchat.tui.drawing import palette
from jitchat.tui.widgets.found_marks import pattern_of
from jitchat.tui.widgets.transcript import KEPT, Transcript
from jitchat.tui.widgets.turn_block import TurnBlock
from jitchat.values import Role, Turn
from jitchat.window.carriers import Carrier
from jitchat.window.steering import Steering
from jitchat.window.window import Kind
from tests.support import talk
from tests.tui.drawn import block_at, blocks, header, offset_of, on_screen, part, positions
from tests.tui.support import until

if TYPE_CHECKING:
    from textual.pilot import Pilot

TURNS = talk(*(f"point {number}" for number in range(1, 1_001)))
LONG = "\n\n".join(f"Paragraph {number} with some words in it." for number in range(30))
TALL = talk(*(f"{LONG}\n\nEnd of {number}." for number in range(1, 61)))


class TranscriptApp(App[None]):
    CSS_PATH = Path(chat.__file__).with_suffix(".tcss")

    def get_css_variables(self) -> dict[str, str]:
        variables = super().get_css_variables()
        variables.update(palette(self.current_theme, variables))
        return variables

    def compose(self) -> ComposeResult:
        yield Transcript()


async def shown(pilot: Pilot[None], *where: object) -> Transcript:
    """Show turns, and wait for what is loaded around them."""
    transcript = pilot.app.query_one(Transcript)
    await transcript.show(*where)  # type: ignore[arg-type]
    await pilot.pause()
    return transcript


def in_view(transcript: Transcript) -> list[int]:
    first, last = transcript.numbers_in_view
    return [turn.position for turn in transcript._turns[first : last + 1]]


def part_of(kind: Kind) -> Carrier:
    return Carrier(kind, Figure(0))


async def paged(pilot: Pilot[None], transcript: Transcript, pages: int, goal: int) -> int:
    """Scroll when possible; return how many lines the text moved, 0 if the target is in view."""

    def line() -> int:
        """Return the line at the top of the screen; each of `TURNS` has three lines."""
        block, inside = transcript._place
        assert isinstance(block, TurnBlock)
        return 3 * block.turn.position + inside

    def has_room() -> bool:
        first, *_, end = transcript._tops
        last = end - transcript.container_size.height
        return transcript.scroll_y != (last if pages > 0 else first)

    await until(pilot, lambda: goal in in_view(transcript) or has_room(), "more turns")
    if goal in in_view(transcript):
        return 0
    before = line()
    transcript.action_page(pages)
    assert line() != before
    return line() - before


async def test_the_end_is_shown_marked_with_its_window_and_the_ends_are_one_key_away() -> None:
    app = TranscriptApp()
    async with app.run_test(size=(80, 24)) as pilot:
        transcript = await shown(pilot, TURNS)
        assert positions(app.screen)[-1] == 1_000
        assert len(positions(app.screen)) < 60
        kinds = {
            1_000: Kind.RECENT,
            999: Kind.RETRIEVED,
            998: Kind.OBSERVATIONS,
            997: Kind.DOCUMENT,
        }
        parts = {turn: part_of(kind) for turn, kind in kinds.items()}
        transcript.mark(lambda turn: parts.get(turn.position))
        await pilot.pause()
        assert transcript.render_line(offset_of(transcript, "#1000").y).text[1] == "┃"
        assert "retrieved" in header(app.screen, 999)
        assert "observed" in header(app.screen, 998)
        assert "in the document" in header(app.screen, 997)
        transcript.mark(lambda _: None)
        assert transcript.render_line(offset_of(transcript, "#1000").y).text[1] == " "
        transcript.focus()
        await pilot.press("home")
        await pilot.pause()
        assert positions(app.screen)[0] == 1
        await pilot.press("end")
        await pilot.pause()
        assert positions(app.screen)[-1] == 1_000


async def test_far_back_every_key_moves_one_turn_and_scrolling_to_an_end_loads_more_in_order() -> (
    None
):
    app = TranscriptApp()
    async with app.run_test(size=(80, 24)) as pilot:
        transcript = await shown(pilot, TURNS)
        await transcript.show(TURNS, 500)
        assert on_screen(transcript)[0].startswith("#500")

        transcript.focus()
        await pilot.pause()
        transcript.point_at(501)
        for _ in range(4):  # faster than frames
            app.simulate_key("up")
        await until(pilot, lambda: transcript.chosen == TURNS[496], "four steps")

        for _ in range(2):
            transcript.scroll_end(animate=False)
            await pilot.pause()
            transcript.scroll_home(animate=False)
            await pilot.pause()
        found = positions(app.screen)
        assert found == list(range(found[0], found[-1] + 1))
        assert found[0] < 488
        assert len(found) <= 2 * KEPT + 24


async def test_paging_far_back_from_the_end_and_forward_again_skips_nothing() -> None:
    app = TranscriptApp()
    async with app.run_test(size=(80, 24)) as pilot:
        transcript = await shown(pilot, TURNS)
        while lines := await paged(pilot, transcript, -1, 900):
            assert -24 <= lines < 0
        assert positions(app.screen)[-1] < 1_000
        while lines := await paged(pilot, transcript, 1, 1_000):
            assert 0 < lines <= 24
        found = positions(app.screen)
        assert found == list(range(found[0], 1_001))
        assert len(found) <= 2 * KEPT + 24


async def test_turns_of_any_height_pass_line_by_line_whatever_was_estimated() -> None:
    app = TranscriptApp()
    async with app.run_test(size=(80, 24)) as pilot:
        transcript = await shown(pilot, TALL)
        transcript.focus()
        await pilot.pause()
        for key, step, count in (("pageup", -1, 12), ("pagedown", 1, 11)):
            for _ in range(count):
                before = on_screen(transcript)
                await pilot.press(key)
                after = on_screen(transcript)
                assert before != after
                passed = (after, before) if step < 0 else (before, after)
                lines = [row for rows in passed for row in rows if row.startswith("Paragraph")]
                numbers = [int(line.split()[1]) for line in lines]
                for one, other in pairwise(numbers):
                    assert other in (one, one + 1) or (one, other) == (29, 0)


async def test_the_wheel_moves_by_lines_and_a_page_is_drawn_at_once() -> None:
    app = TranscriptApp()
    async with app.run_test(size=(80, 24)) as pilot:
        app.animation_level = "full"
        transcript = await shown(pilot, TALL)
        before = on_screen(transcript)
        await pilot._post_mouse_events([events.MouseScrollUp], transcript)
        lines = next(n for n in range(1, 10) if on_screen(transcript)[n:] == before[:-n])
        assert lines == round(app.scroll_sensitivity_y)
        transcript.action_page(-1)
        assert transcript.scroll_y == transcript.scroll_target_y
        assert not app.animator.is_being_animated(transcript, "scroll_y")


async def test_a_growing_and_a_tall_terminal_are_filled() -> None:
    app = TranscriptApp()
    async with app.run_test(size=(80, 24)) as pilot:
        transcript = await shown(pilot, TURNS)
        tall = transcript._tops[-1] - transcript._tops[0] + 10
        await pilot.resize_terminal(80, tall)
        fill = tall // 3  # the lines of a turn
        await until(pilot, lambda: len(in_view(transcript)) >= fill, "turns enough")
        for at in (None, 8):
            await transcript.show(TURNS[:1])
            assert transcript.max_scroll_y == 0
            await transcript.show(TURNS, at)
            await until(pilot, lambda: len(in_view(transcript)) >= fill, f"turns enough, at {at}")


async def test_the_scrollbar_stands_for_the_whole_conversation() -> None:
    app = TranscriptApp()
    async with app.run_test(size=(80, 24)) as pilot:
        transcript = await shown(pilot, TURNS)
        lines = 3 * len(TURNS)
        assert transcript.virtual_size.height == lines
        assert transcript.scroll_y == lines - 24
        for place, turn in ((0.5, 501), (0.25, 251), (0.0, 1)):
            transcript.scroll_to(y=place * lines)
            await until(pilot, lambda turn=turn: turn in in_view(transcript), f"turn {turn}")
            await pilot.pause()
            assert on_screen(transcript)[0].startswith(f"#{turn} ")
            assert transcript.scroll_y == place * lines
            assert transcript.virtual_size.height == lines
        transcript.scroll_to(y=lines)
        await until(pilot, lambda: 1_000 in in_view(transcript), "the end")
        assert transcript.scroll_y == lines - 24
        assert transcript.follows


async def test_of_many_places_of_the_scrollbar_only_the_last_is_loaded() -> None:
    app = TranscriptApp()
    async with app.run_test(size=(80, 24)) as pilot:
        transcript = await shown(pilot, TURNS)
        loaded = transcript._shown
        for y in range(2_000, 200, -100):
            transcript.scroll_to(y=y)
        await until(pilot, lambda: 101 in in_view(transcript), "turn 101")
        assert transcript._shown == loaded + 1


async def test_what_is_in_view_stays_when_the_turns_that_are_loaded_change() -> None:
    app = TranscriptApp()
    async with app.run_test(size=(80, 24)) as pilot:
        mixed = talk(*(LONG if number % 7 == 0 else f"point {number}" for number in range(1_000)))
        transcript = await shown(pilot, mixed, 500)
        await transcript.know(mixed)
        before = on_screen(transcript)
        for _ in range(3):
            transcript._is_loading = True
            await transcript._load_around(transcript._shown)
            assert on_screen(transcript) == before


async def test_only_what_is_near_the_view_is_drawn_and_kept() -> None:
    app = TranscriptApp()
    async with app.run_test(size=(80, 24)) as pilot:
        transcript = await shown(pilot, TALL)
        drawn = [block for block in transcript.turn_blocks if block.lines]
        assert len(drawn) <= 2
        for _ in range(200):
            transcript.action_page(-1)
            await pilot.pause()
        assert positions(app.screen)[0] == 1
        assert len([block for block in transcript.turn_blocks if block.lines]) <= 16 + 24 + 1


async def test_the_place_is_kept_when_the_width_changes_and_when_turns_above_change() -> None:
    app = TranscriptApp()
    async with app.run_test(size=(80, 24)) as pilot:
        transcript = await shown(pilot, TALL, 30)
        transcript.scroll_lines(21)
        top = on_screen(transcript)[0]
        assert top.startswith("Paragraph")
        for width in (30, 50, 80):
            await pilot.resize_terminal(width, 24)
            await pilot.pause()
        near = [row for row in on_screen(transcript)[:3] if row]
        assert near[0] == top
        before = on_screen(transcript)
        transcript.blocks[0].height += 30
        block_at(app.screen, 29).warn("It is not stored.")
        transcript.settle()
        assert on_screen(transcript) == before
        assert (
            transcript.scroll_y
            == transcript._tops[transcript.blocks.index(block_at(app.screen, 30))]
            + transcript._place[1]
        )


async def test_a_line_that_only_moves_is_not_drawn_again() -> None:
    app = TranscriptApp()
    async with app.run_test(size=(80, 24)) as pilot:
        transcript = await shown(pilot, TALL, 30)
        before = [transcript.render_line(y) for y in range(24)]
        transcript.scroll_lines(5)
        after = [transcript.render_line(y) for y in range(24)]
        assert all(one is other for one, other in zip(before[5:], after, strict=False))
        app.screen.set_focus(None)
        await pilot.pause()
        assert transcript.render_line(0) is not after[0], "the pane has no focus any more"


async def test_a_short_conversation_stands_above_the_prompt_and_is_redrawn_where_it_changed(
    monkeypatch: pytest.MonkeyPatch,
) -> None:
    app = TranscriptApp()
    async with app.run_test(size=(80, 24)) as pilot:
        transcript = await shown(pilot, talk("What is set?", "One.\n\n`two`"))
        assert [row for row in on_screen(transcript) if row][-1] == "two"
        assert on_screen(transcript)[-2:] == ["two", ""]
        transcript.focus()
        await pilot.pause()
        refreshed: list[object] = []
        refresh = transcript.refresh

        def noted(*regions: Region, **options: bool) -> Transcript:
            refreshed.extend(regions)
            return refresh(*regions, **options)

        monkeypatch.setattr(transcript, "refresh", noted)
        blocks(app.screen)[1].mark(part_of(Kind.RECENT))
        transcript.settle()
        assert len(refreshed) == 4, "the rows of the reply, and no others"


async def test_the_cursor_and_the_gutter_are_drawn_with_the_turn_they_mark() -> None:
    app = TranscriptApp()
    async with app.run_test(size=(80, 24)) as pilot:
        transcript = await shown(pilot, talk("What is set?", "One.\n\n`two`"))
        transcript.focus()
        transcript.point_at(2)
        await pilot.pause()
        under_cursor = grounds(transcript, "One.")
        transcript.point_at(1)
        transcript.mark(lambda turn: part_of(Kind.RECENT) if turn.position == 2 else None)
        assert transcript.render_line(offset_of(transcript, "One.").y).text[1] == "┃"
        assert grounds(transcript, "One.").isdisjoint(under_cursor)
        transcript.point_at(2)
        assert grounds(transcript, "One.") == under_cursor
        transcript.hold(Steering(excluded=frozenset({2})))
        assert transcript.render_line(offset_of(transcript, "One.").y).text[1] == "|"
        app.screen.set_focus(None)
        await pilot.pause()
        assert grounds(transcript, "One.").isdisjoint(under_cursor)


def grounds(transcript: Transcript, text: str) -> set[object]:
    """Return the background colours of the row of a text."""
    strip = transcript.render_line(offset_of(transcript, text).y)
    return {each.style.bgcolor for each in strip if each.style and each.text.strip(" ▌┃|")}


async def test_a_turn_larger_than_the_screen_is_entered_at_its_near_end_and_enter_opens() -> None:
    app = TranscriptApp()
    opened: list[Turn] = []
    async with app.run_test(size=(80, 24)) as pilot:
        transcript = await shown(pilot, TALL, 30)
        post = transcript.post_message

        def noted(message: object) -> bool:
            if isinstance(message, Transcript.Opened):
                opened.append(message.turn)
            return post(message)  # type: ignore[arg-type]

        transcript.post_message = noted  # type: ignore[method-assign]
        transcript.focus()
        await pilot.pause()
        transcript.point_at(30)
        await pilot.press("down")
        assert on_screen(transcript)[0].startswith("#31")
        assert transcript.chosen == TALL[30]
        await pilot.press("up")
        assert on_screen(transcript)[-1] == "End of 30."
        await pilot.press("enter")
        assert opened == [TALL[29]]


async def test_a_reply_streams_into_its_own_turn() -> None:
    app = TranscriptApp()
    async with app.run_test(size=(80, 24)) as pilot:
        transcript = await shown(pilot, TURNS[:1])
        for piece in ("It ", "is **now**", "\x1b[31m."):
            await transcript.stream(piece, 2)
        await transcript.put(talk("point 1", "It is **now**.")[1])
        await pilot.pause()
        assert positions(app.screen) == [1, 2]
        assert blocks(app.screen)[-1].text == "It is **now**."


async def test_nothing_moves_when_a_reply_ends_and_what_is_read_above_stays() -> None:
    app = TranscriptApp()
    async with app.run_test(size=(80, 24)) as pilot:
        transcript = await shown(pilot, TALL[:3])
        await transcript.stream("| a | b |\n|---|---|\n| 1 | 2 |\n\n- one\n- two `code`", 4)
        await until(pilot, lambda: "code" in "".join(on_screen(transcript)), "the reply")
        streamed = on_screen(transcript)[2:]
        text = "| a | b |\n|---|---|\n| 1 | 2 |\n\n- one\n- two `code`"
        await transcript.put(Turn(4, Role.ASSISTANT, text))
        ended = [row for row in on_screen(transcript)[2:] if not row.startswith("#4")]
        assert ended == [row for row in streamed if not row.startswith("#4")]

        await transcript.stream("More", 6)
        transcript.action_page(-1)
        before = on_screen(transcript)
        for number in range(30):
            await transcript.stream(f"\n\nand {number}", 6)
        transcript._draw_growing()
        assert on_screen(transcript) == before
        transcript.scroll_to_end()
        assert "and 29" in on_screen(transcript)
        await transcript.stream("\n\nthe end", 6)
        transcript._draw_growing()
        assert "the end" in on_screen(transcript)


async def drag(pilot: Pilot[None], transcript: Transcript, start: Offset, end: Offset) -> str:
    await pilot.mouse_down(transcript, offset=start)
    await pilot.hover(transcript, offset=end)
    await pilot.mouse_up(transcript, offset=end)
    return pilot.app.screen.get_selected_text() or ""


async def test_a_drag_across_turns_copies_the_source_and_one_from_the_margin_its_row() -> None:
    words = "Some words that go on and on until the line is full and is broken by the screen."
    table = "| port | use |\n|---|---|\n| 8443 | proxy |"
    app = TranscriptApp()
    async with app.run_test(size=(60, 24)) as pilot:
        transcript = await shown(pilot, talk(words, f"**So:**\n\n{table}", "  indented\n\n\nyes"))
        await pilot.pause()
        start, end = offset_of(transcript, "words"), offset_of(transcript, "proxy")
        copied = await drag(pilot, transcript, start, end + Offset(4, 0))
        assert copied == f"{words[5:]}\n#2 assistant\nSo:\n\nport | use\n8443 | proxy"
        first, last = offset_of(transcript, "So:"), offset_of(transcript, "proxy")
        for margin in (0, 1, 2):
            copied = await drag(pilot, transcript, Offset(margin, first.y), last + Offset(4, 0))
            assert copied == "So:\n\nport | use\n8443 | proxy"
        start = offset_of(transcript, "indented")
        copied = await drag(pilot, transcript, Offset(0, start.y), start + Offset(7, 3))
        assert copied == "  indented\n\n\nyes"


async def test_a_selection_stays_where_it_is_while_a_reply_streams_and_turns_are_loaded() -> None:
    app = TranscriptApp()
    async with app.run_test(size=(60, 24)) as pilot:
        transcript = await shown(pilot, TURNS)
        start = offset_of(transcript, "point 999")
        copied = await drag(pilot, transcript, start, start + Offset(8, 0))
        assert copied == "point 999"
        await transcript.stream("It is now,\n\nand then.", 1_001)
        transcript._draw_growing()
        for _ in range(3):
            transcript.action_page(-1)
            await pilot.pause()
        assert app.screen.get_selected_text() == "point 999"
        transcript.scroll_to_end()
        row = transcript._rows[offset_of(transcript, "point 999").y]
        assert row.line[0].style.background is not None


async def test_two_clicks_select_a_part_and_three_all_turns() -> None:
    app = TranscriptApp()
    async with app.run_test(size=(60, 24)) as pilot:
        transcript = await shown(pilot, TURNS[:3])
        at = offset_of(transcript, "point 2")
        await pilot.click(transcript, offset=at, times=2)
        assert app.screen.get_selected_text() == "point 2"
        await pilot.click(transcript, offset=at, times=3)
        everything = app.screen.get_selected_text() or ""
        assert everything.startswith("#1 user\npoint 1\n#2")
        assert everything.endswith("point 3")


async def test_reasoning_is_unfolded_by_a_click_where_it_is_and_not_by_a_drag() -> None:
    app = TranscriptApp()
    async with app.run_test(size=(60, 12)) as pilot:
        transcript = await shown(pilot, TURNS[:5])
        await transcript.think("Hm.\n" * 30, 6)
        await transcript.stream("Green.", 6)
        await transcript.put(Turn(6, Role.ASSISTANT, "Green."))
        await pilot.pause()
        line = "▸ reasoning · 120 characters"
        at = offset_of(transcript, line)
        await pilot.hover(transcript, offset=at)
        hovered = transcript.render_line(at.y)
        await drag(pilot, transcript, at, at + Offset(6, 0))
        assert line in on_screen(transcript)
        await pilot.click(transcript, offset=at)
        assert on_screen(transcript)[at.y] == "▾ reasoning · 120 characters"
        assert part(blocks(app.screen)[-1], "reasoning").count("Hm.") == 30
        await pilot.click(transcript, offset=at)
        await pilot.hover(transcript, offset=Offset(at.x, 0))
        assert offset_of(transcript, line) == at
        assert list(transcript.render_line(at.y)) != list(hovered)


async def test_a_match_is_marked_in_verbatim_text_too_and_gone_to_across_a_break() -> None:
    app = TranscriptApp()
    words = "It goes on and on in this line until the long needle there."
    async with app.run_test(size=(60, 12)) as pilot:
        turns = talk(words, f"{LONG}\n\nOne **needle** here.", *["more"] * 30)
        transcript = await shown(pilot, turns)
        transcript.mark_found(pattern_of("long needle"), (1, 0))
        await transcript.go_to(1)
        marks = [
            piece.text for row in transcript._rows for piece in row.line if piece.style.reverse
        ]
        assert "".join(marks).replace(" ", "") == "longneedle"
        transcript.mark_found(pattern_of("needle"), (2, 0))
        await transcript.go_to(2)
        y = offset_of(transcript, "One needle here.").y
        assert 0 < y < 11
        await transcript.go_to(32)
        await transcript.put(Turn(33, Role.USER, "and now?"))
        await transcript.go_to(33)
        last = on_screen(transcript)
        await transcript.stream("It grows.\n\n" * 9, 34)
        assert transcript.follows, "a new reply is followed"
        await transcript.go_to(33)
        before = on_screen(transcript)[: on_screen(transcript).index("and now?")]
        transcript._draw_growing()
        assert on_screen(transcript)[: len(before)] == before != last
        transcript.mark_found(None)
        assert not any(piece.style.reverse for row in transcript._rows for piece in row.line)


async def test_long_code_is_wrapped_or_cut_off() -> None:
    app = TranscriptApp()
    async with app.run_test(size=(40, 24)) as pilot:
        code = f"```\n{'x' * 60}\n```"
        transcript = await shown(pilot, talk("Code?", code))
        assert sum(row.count("x") for row in on_screen(transcript)) == 60
        transcript.wrap_code()
        cut = [row for row in on_screen(transcript) if "x" in row]
        assert len(cut) == 1
        assert cut[0].endswith("…")
        transcript.wrap_code()
        assert sum(row.count("x") for row in on_screen(transcript)) == 60
