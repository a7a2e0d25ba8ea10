"""The inspector's rows."""

from __future__ import annotations

from dataclasses import replace
from typing import TYPE_CHECKING

from textual.app import App
from textual.widgets import OptionList, Static, TextArea

from jitchat.tui.figures import BESIDE
from jitchat.tui.widgets.inspector import Inspector
from jitchat.tui.widgets.window_rows import SINGLY, line_of, rows_of, titles_before_reason
from jitchat.values import Mode, Usage
from jitchat.window.budget import Budget
from jitchat.window.window import ContextWindow, Kind, Verdict
from tests.support import conversation_of, demo_session, session_on, talk
from tests.tui.support import TestBackend, demo_app, ready, type_text, until

if TYPE_CHECKING:
    from textual.pilot import Pilot

    from jitchat.store.store import ColdStore
    from jitchat.tui.chat.screen import ChatScreen

QUESTION = "what did we settle on for the deploy window?"


def test_every_segment_and_everything_left_out_has_a_row(store: ColdStore) -> None:
    window = demo_session(store).preview(QUESTION, Mode.JIT)
    rows = rows_of(window)
    assert [segment for row in rows for segment in row.segments] == list(window.segments)
    left = [row.ledger for row in rows if row.kind == Verdict.LEFT_OUT]
    assert left == [row for row in window.ledger if row.verdict is Verdict.LEFT_OUT]


def test_a_long_recent_block_shares_a_row_and_the_sum_is_unchanged(store: ColdStore) -> None:
    turns = talk(*(f"point {number}" for number in range(3_000)))
    window = session_on(store, conversation_of(store, turns)).preview("and?", Mode.FULL)
    rows = rows_of(window)
    assert len(rows) < SINGLY + 60
    assert [segment for row in rows for segment in row.segments] == list(window.segments)
    assert sum(row.tokens for row in rows) == window.used


def test_rows_of_a_window_of_draft_and_system_only(store: ColdStore) -> None:
    window: ContextWindow = session_on(store, store.create("Empty")).preview("hello", Mode.JIT)
    assert [row.kind for row in rows_of(window)] == [Kind.SYSTEM, Kind.DRAFT]


def test_every_reason_is_aligned_with_its_heading(store: ColdStore) -> None:
    window = demo_session(store).preview(QUESTION, Mode.JIT)
    start = len(titles_before_reason(None))
    for row in rows_of(window):
        assert line_of(row, 1.0).plain.index(row.reason) == start, row.kind


def test_an_index_row_says_why_the_turn_is_not_there_at_full_text(store: ColdStore) -> None:
    session = demo_session(store)
    session.take_budget(Budget(size=4_000))
    window = session.preview(QUESTION, Mode.JIT)
    listed = [row for row in rows_of(window) if row.kind == Kind.INDEX and row.ledger]
    assert listed
    for row in listed:
        assert row.ledger is not None
        assert line_of(row, 1.0).plain.endswith(row.ledger.reason)


def boundary(screen: ChatScreen) -> int:
    """Return the index of the line that ends the stable prefix."""
    rows = screen.query_one("#segments", OptionList)
    (place,) = [n for n in range(rows.option_count) if rows.get_option_at_index(n).disabled]
    return place


def a_line_parts_the_stable_prefix_from_what_is_new(screen: ChatScreen) -> None:
    rows, place = screen.query_one("#segments", OptionList), boundary(screen)
    told = str(rows.get_option_at_index(place).prompt)
    assert screen.previews.window is not None
    assert place == len(screen.previews.window.stable)
    assert told.startswith(
        f"── stable prefix ~{screen.previews.window.stable_tokens:,} tokens ── below"
    )
    assert told.endswith("──")
    assert len(told) <= rows.scrollable_content_region.width - 2


def the_bars_of_the_scores_give_way_to_the_words_it_was_found_by(
    screen: ChatScreen, has_bars: bool
) -> None:
    rows = screen.query_one("#segments", OptionList)
    (best,) = [str(each.prompt) for each in rows.options if "best lexical" in str(each.prompt)]
    assert best.endswith("“port, use”")
    assert len(best) <= rows.size.width - BESIDE
    assert ("█" in best) is has_bars
    header = str(screen.query_one("#segments-header", Static).content)
    assert header.index("why") == best.index("best lexical")


async def a_reason_without_room_stands_whole_below_while_the_cursor_is_on_it(
    pilot: Pilot[None], screen: ChatScreen
) -> None:
    assert screen.previews.window is not None
    left = [row for row in screen.previews.window.ledger if row.verdict is Verdict.LEFT_OUT]
    whole = screen.query_one("#row-reason", Static)
    assert not whole.display
    screen.query_one(Inspector).point_at("left out")
    await until(pilot, lambda: whole.display, "the reason")
    assert str(whole.content) == left[0].reason
    screen.query_one(Inspector).point_at("system")
    await until(pilot, lambda: not whole.display, "a reason that fits")
    screen.query_one(Inspector).point_at("left out")
    screen.query_one("#prompt").focus()
    await until(pilot, lambda: not whole.display, "the end")


async def test_a_window_shown_before_the_layout_has_no_empty_reason_line(
    store: ColdStore,
) -> None:
    app, inspector = App[None](), Inspector()
    async with app.run_test(size=(80, 24)) as pilot:
        inspector.display = False
        await app.mount(inspector)
        window = demo_session(store).preview(QUESTION, Mode.JIT)
        inspector.show(window, sent=True)
        await pilot.pause()
        assert inspector.query_one(OptionList).highlighted is not None
        assert not inspector.query_one("#row-reason").display


async def the_last_row_tells_of_the_turns_that_were_never_candidates(
    pilot: Pilot[None], screen: ChatScreen
) -> None:
    screen.query_one(Inspector).point_at("left out")
    await pilot.press("end")
    await pilot.pause()
    assert screen.previews.window is not None
    never = screen.previews.window.never_candidates
    assert never is not None
    rows = screen.query_one("#segments", OptionList)
    assert rows.highlighted == rows.option_count - 1
    row = str(rows.get_option_at_index(rows.option_count - 1).prompt)
    assert row.split(maxsplit=3) == ["left", "out", f"~{never.tokens:,}", never.sentence]
    await pilot.press("enter")
    await until(pilot, lambda: pilot.app.screen is not screen, "the text")
    assert pilot.app.screen.query_one("#exact", TextArea).text == never.sentence


async def enter_tells_all_that_the_ledger_says_of_a_turn_that_was_left_out(
    pilot: Pilot[None], screen: ChatScreen
) -> None:
    assert screen.previews.window is not None
    row = next(row for row in screen.previews.window.ledger if row.verdict is Verdict.LEFT_OUT)
    screen.query_one(Inspector).point_at(row.turn)
    await pilot.press("enter")
    await until(pilot, lambda: bool(pilot.app.screen.query("#exact-note")), "the note")
    told = str(pilot.app.screen.query_one("#exact-note", Static).content)
    assert row.reason in told
    assert f"rank {row.rank} · ~{row.tokens:,} tokens" in told
    assert all(
        f"{name} {abs(value):.2f}" in told for name, value in row.parts if abs(value) > 0.005
    )


async def test_the_rows_of_a_draft_in_every_width(backend: TestBackend) -> None:
    async with demo_app(backend).run_test(size=(196, 48)) as pilot:
        screen = await ready(pilot)
        await type_text(pilot, "which port does the API use?")
        a_line_parts_the_stable_prefix_from_what_is_new(screen)
        the_bars_of_the_scores_give_way_to_the_words_it_was_found_by(screen, has_bars=True)
        for size in ((160, 48), (80, 24)):
            await resized(pilot, size)
            screen.query_one("#prompt").focus()
            await pilot.pause()
            a_line_parts_the_stable_prefix_from_what_is_new(screen)
            if size != (80, 24):
                the_bars_of_the_scores_give_way_to_the_words_it_was_found_by(screen, has_bars=False)
            await a_reason_without_room_stands_whole_below_while_the_cursor_is_on_it(pilot, screen)
            await the_last_row_tells_of_the_turns_that_were_never_candidates(pilot, screen)
            await pilot.press("escape")
            await until(pilot, lambda: pilot.app.screen is screen, "the chat")
        await enter_tells_all_that_the_ledger_says_of_a_turn_that_was_left_out(pilot, screen)


async def resized(pilot: Pilot[None], size: tuple[int, int]) -> None:
    rows = pilot.app.screen.query_one("#segments")
    width = rows.size.width
    await pilot.resize_terminal(*size)
    await until(pilot, lambda: rows.size.width != width, "the new width")
    await pilot.pause()


async def what_was_cached_and_who_was_no_candidate_stand_there(screen: ChatScreen) -> None:
    inspector, rows = screen.query_one(Inspector), screen.query_one("#segments", OptionList)
    place, window = boundary(screen), screen.previews.window
    assert window is not None

    def told(place: int = place) -> str:
        return str(rows.get_option_at_index(place).prompt)

    assert "never candidates" in told(rows.option_count - 1)

    inspector.report(Usage(1_203, 3, 200))
    assert told().startswith(f"── stable prefix cached 200 ✓ of ~{window.stable_tokens:,} ──")
    inspector.show(window, sent=False)
    assert "cached" not in told()
    inspector.show(window, sent=True, usage=Usage(1_203, 3))
    assert "none reported as cached" in told()


async def the_cursor_keeps_off_the_boundary(pilot: Pilot[None], screen: ChatScreen) -> None:
    """Neither keys nor a changed window put the cursor on the boundary."""
    inspector, rows = screen.query_one(Inspector), screen.query_one("#segments", OptionList)
    place = boundary(screen)
    inspector.point_at("index")
    assert rows.highlighted == place + 1
    await pilot.press("up")
    assert rows.highlighted == place - 1
    await pilot.press("down", "enter")
    await until(pilot, lambda: pilot.app.screen is not screen, "the text")
    assert screen.previews.window is not None
    first = next(each for each in screen.previews.window.segments if each.kind is Kind.INDEX)
    assert pilot.app.screen.query_one("#exact", TextArea).text == first.text
    await pilot.press("escape")
    inspector.point_at("system")
    window = screen.previews.window
    fewer = replace(window, segments=(window.segments[0], *window.segments[8:]))
    await pilot.press("down")
    inspector.show(fewer, sent=False)
    assert (boundary(screen), rows.highlighted) == (1, 2)


async def test_cursor_boundary_and_cached_tokens_stay_correct_when_the_window_changes(
    backend: TestBackend,
) -> None:
    async with demo_app(backend).run_test(size=(140, 40)) as pilot:
        screen = await ready(pilot)
        await type_text(pilot, QUESTION)
        await what_was_cached_and_who_was_no_candidate_stand_there(screen)
        await the_cursor_keeps_off_the_boundary(pilot, screen)
        inspector, rows = screen.query_one(Inspector), screen.query_one("#segments", OptionList)
        inspector.clear()
        inspector.report(Usage(1_203, 3, 400))
        assert rows.option_count == 0
        planned = screen.previews.planned
        await pilot.press("shift+tab")
        await until(pilot, lambda: screen.previews.planned > planned, "the window of full")
        await pilot.pause()
        assert screen.previews.window is not None
        left_out = [row for row in screen.previews.window.ledger if row.verdict.value == "left out"]
        never = screen.previews.window.never_candidates
        shown = len(screen.previews.window.segments) + len(left_out) + (never is not None)
        assert rows.option_count == shown + 1
