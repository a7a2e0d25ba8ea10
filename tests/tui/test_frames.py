"""What is written of a frame, shown by a terminal, is the frame."""

from __future__ import annotations

import asyncio
import random
from typing import TYPE_CHECKING

import pytest
from rich.console import Console
from rich.segment import Segment
from rich.style import Style
from textual._compositor import ChopsUpdate, LayoutUpdate
from textual.geometry import Region
from textual.strip import Strip

from jitchat.tui import frames
from jitchat.tui.frames import ASK, Frames
from tests.glass import Glass

if TYPE_CHECKING:
    from collections.abc import Sequence

    from jitchat.tui.frames import Update

CONSOLE = Console(force_terminal=True, color_system="truecolor")
ROWS, COLUMNS, CUT = 12, 60, 41
STYLES = [Style(), Style(bold=True), Style(color="#aa0000", bgcolor="#101010"), None]
WORDS = ["", "one", "two words", "x" * 30, "┃ bar", "日本語", "e\u0301t\u00e9", "👍🏽 ok", "🇩🇪"]
Screen = list[list[Strip]]


def frames_of(repainted: list[Sequence[Region]] | None = None) -> Frames:
    noted = repainted if repainted is not None else []
    return Frames(lambda *regions: noted.append(regions), lambda: False)


def strip(chance: random.Random, width: int) -> Strip:
    """A line of several styles, or of none."""
    segments = [
        Segment(f"{chance.choice(WORDS)} ", chance.choice(STYLES))
        for _ in range(chance.choice([0, 1, 1, 3]))
    ]
    return Strip(segments).adjust_cell_length(width, chance.choice(STYLES))


def drawn_anew(chance: random.Random) -> Screen:
    return [[strip(chance, CUT), strip(chance, COLUMNS - CUT)] for _ in range(ROWS)]


def changed(chance: random.Random, screen: Screen) -> tuple[Screen, list[tuple[int, int, int]]]:
    """A screen after it, and what of it is new: lines that scroll, a line, one of two panes."""
    after = [list(line) for line in screen]
    kind = chance.choice(["scroll", "scroll", "line", "pane", "all"])
    if kind == "scroll":
        step, top = chance.choice([-5, -1, 1, 1, 2, 7]), chance.choice([0, 2])
        for y in range(top, ROWS - 1):
            is_known = top <= y + step < ROWS - 1
            after[y][0] = screen[y + step][0] if is_known else strip(chance, CUT)
        return after, [(y, 0, CUT) for y in range(top, ROWS - 1)]
    if kind == "line":
        y = chance.randrange(ROWS)
        after[y][0] = strip(chance, CUT)
        return after, [(y, 0, CUT)]
    if kind == "pane":
        for line in after:
            line[1] = strip(chance, COLUMNS - CUT)
        return after, [(y, CUT, COLUMNS) for y in range(ROWS)]
    return drawn_anew(chance), [(y, 0, COLUMNS) for y in range(ROWS)]


def update_of(screen: Screen, spans: list[tuple[int, int, int]]) -> ChopsUpdate:
    lines = {y for y, _, _ in spans}
    chops = [
        {0: line[0] if y in lines else None, CUT: line[1] if y in lines else None}
        for y, line in enumerate(screen)
    ]
    return ChopsUpdate(chops, spans, [[CUT, COLUMNS]] * ROWS)


def whole(screen: Screen) -> LayoutUpdate:
    return LayoutUpdate([list(line) for line in screen], Region(0, 0, COLUMNS, ROWS))


async def written(frames: Frames, update: Update) -> str:
    frame = frames.next(update)
    assert frame is not None
    text = frame.render_segments(CONSOLE)
    frames.answers += text.count(ASK)
    frames.answer()
    return text


@pytest.mark.parametrize("seed", range(30))
async def test_a_terminal_shows_the_last_frame_whatever_was_shown_before(
    monkeypatch: pytest.MonkeyPatch, seed: int
):
    monkeypatch.setattr("jitchat.tui.frames._MANY", 0)
    monkeypatch.setattr("jitchat.tui.frames._LONG", 0)
    chance = random.Random(seed)
    frames = frames_of()
    screen = drawn_anew(chance)
    shown = Glass(ROWS, COLUMNS)
    shown.write(await written(frames, whole(screen)))
    for _ in range(30):
        screen, spans = changed(chance, screen)
        shown.write(await written(frames, update_of(screen, spans)))
        expected = Glass(ROWS, COLUMNS)
        expected.write(await written(frames_of(), whole(screen)))
        assert shown.cells == expected.cells


async def test_what_is_on_the_screen_is_not_written_again():
    chance = random.Random(1)
    frames = frames_of()
    screen = [[Strip([Segment(f"line {y} ".ljust(CUT))]), strip(chance, 19)] for y in range(ROWS)]
    first = await written(frames, whole(screen))
    same = update_of(screen, [(y, 0, COLUMNS) for y in range(ROWS)])
    assert await written(frames, same) == ""
    assert await written(frames, whole(screen)) == first, "a whole screen heals what is damaged"
    screen[3][0] = Strip([Segment("line three".ljust(CUT))])
    changes = await written(frames, update_of(screen, [(3, 0, CUT)]))
    assert changes == f"\x1b[4;6Hthree{ASK}"


async def test_lines_that_move_are_moved_by_the_terminal(monkeypatch: pytest.MonkeyPatch):
    monkeypatch.setattr("jitchat.tui.frames._MANY", 0)
    monkeypatch.setattr("jitchat.tui.frames._LONG", 0)
    frames = frames_of()
    side = Strip([Segment(" " * (COLUMNS - CUT))])
    lines = [Strip([Segment(str(y).ljust(CUT, "abcdefghijkl"[y]))]) for y in range(ROWS)]
    await written(frames, whole([[line, side] for line in lines]))
    lines = [*lines[1:], Strip([Segment("the next".ljust(CUT))])]
    update = update_of([[line, side] for line in lines], [(y, 0, CUT) for y in range(ROWS)])
    last = "the next".ljust(CUT)
    assert await written(frames, update) == (
        f"\x1b[1;12r\x1b[1;1H\x1b[1M\x1b[r\x1b[12;1H{last}{' ' * (COLUMNS - CUT)}{ASK}"
    )


async def test_a_strip_that_is_known_is_not_split_again(monkeypatch: pytest.MonkeyPatch):
    split: list[Strip] = []
    splits = frames._split

    def counted(each: Strip, console: Console) -> Sequence[tuple[str, str]]:
        split.append(each)
        return splits(each, console)

    monkeypatch.setattr(frames, "_split", counted)
    chance = random.Random(1)
    screen = drawn_anew(chance)
    ours = frames_of()
    await written(ours, whole(screen))
    split.clear()
    last = [strip(chance, CUT), strip(chance, COLUMNS - CUT)]
    scrolled = [*screen[1:], last]
    await written(ours, update_of(scrolled, [(y, 0, COLUMNS) for y in range(ROWS)]))
    assert split == last


async def test_what_changes_before_the_answer_is_one_repaint_after_it():
    repainted: list[Sequence[Region]] = []
    frames = frames_of(repainted)
    chance = random.Random(2)
    screen = drawn_anew(chance)
    await written(frames, whole(screen))
    first = frames.next(update_of(drawn_anew(chance), [(y, 0, COLUMNS) for y in range(ROWS)]))
    assert first is not None
    assert first.render_segments(CONSOLE).endswith(ASK)
    assert frames.next(update_of(screen, [(3, 0, CUT)])) is None
    assert frames.next(update_of(screen, [(4, CUT, COLUMNS)])) is None
    assert repainted == []
    frames.answers += 1
    frames.answer()
    assert repainted == [(Region(0, 3, CUT, 1), Region(CUT, 4, COLUMNS - CUT, 1))]
    assert frames.next(whole(screen)) is not None


async def test_a_whole_screen_that_had_to_wait_is_repainted_whole():
    repainted: list[Sequence[Region]] = []
    frames = frames_of(repainted)
    screen = drawn_anew(random.Random(3))
    first = frames.next(whole(screen))
    assert first is not None
    first.render_segments(CONSOLE)
    assert frames.next(update_of(screen, [(3, 0, CUT)])) is None
    assert frames.next(whole(screen)) is None
    frames.proceed()
    assert repainted == [()]


async def test_a_terminal_that_gives_no_answers_is_soon_not_asked_any_more(
    monkeypatch: pytest.MonkeyPatch,
):
    monkeypatch.setattr("jitchat.tui.frames._PATIENCE", 0.0)
    frames = frames_of()
    frames.begin()
    chance = random.Random(4)
    asked = []
    for _ in range(3):
        while (frame := frames.next(whole(drawn_anew(chance)))) is None:
            await asyncio.sleep(0)
        asked.append(frame.render_segments(CONSOLE).endswith(ASK))
    assert asked == [True, False, False]
    frames.answers += 1
    frames.answer()
    while (frame := frames.next(whole(drawn_anew(chance)))) is None:
        await asyncio.sleep(0)
    assert frame.render_segments(CONSOLE).endswith(ASK), "it was only slow"
