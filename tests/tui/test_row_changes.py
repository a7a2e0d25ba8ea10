"""Rows added or removed by the last plan are marked for a moment."""

from __future__ import annotations

from dataclasses import replace
from typing import TYPE_CHECKING

from hypothesis import given
from hypothesis import strategies as st
from textual.widgets import OptionList

from jitchat.errors import WindowOverflow
from jitchat.tui.widgets import inspector as inspector_module
from jitchat.tui.widgets.inspector import Inspector
from jitchat.tui.widgets.prompt import Prompt
from jitchat.tui.widgets.window_rows import (
    ENTERED,
    LEFT,
    MARK_AT,
    MOST,
    line_of,
    rows_of,
    with_changes,
    without_marks,
)
from jitchat.values import Mode
from jitchat.window.calibration import NO_CALIBRATION
from jitchat.window.compare import difference
from tests.examples import examples
from tests.support import demo_session
from tests.tui.support import TestBackend, demo_app, ready, type_text
from tests.window.reports import long_talk

if TYPE_CHECKING:
    import pytest

    from jitchat.store.store import ColdStore

QUESTION, OTHER = "what did we settle on for the deploy window?", "who brings the hazelnut cake?"


@examples(30)
@given(st.integers(900, 9_000), st.integers(900, 9_000))
def test_removed_rows_are_shown_in_place_and_dropped_again(first: int, then: int) -> None:
    try:
        windows = tuple(long_talk(Mode.JIT, NO_CALIBRATION, limit=n) for n in (first, then))
    except WindowOverflow:
        return
    before, after = map(rows_of, windows)
    rows = with_changes(after, before, *windows)
    assert without_marks(rows) == after
    found = difference(*windows)
    changed = (
        {each.turn for each in (*found.entered, *found.moved)},
        {each.turn for each in found.left},
    )
    if not any(row.mark for row in rows):
        assert not any(changed) or sum(map(len, changed)) > MOST
        return
    turns = {mark: {row.turn for row in rows if row.mark == mark} for mark in (ENTERED, LEFT)}
    assert (turns[ENTERED], turns[LEFT]) == changed
    stable = [row.is_stable for row in rows]
    assert stable == sorted(stable, reverse=True), "the boundary parts them"


def test_a_mark_uses_a_cell_that_is_otherwise_blank(store: ColdStore) -> None:
    window = demo_session(store).preview(QUESTION, Mode.JIT)
    for row in rows_of(window):
        line = line_of(row, 1.0).plain
        assert line[MARK_AT] == " "
        marked = line_of(replace(row, mark=ENTERED), 1.0).plain
        assert marked.replace(ENTERED, " ", 1) == line


async def test_added_and_removed_rows_are_marked_for_a_moment(
    backend: TestBackend, monkeypatch: pytest.MonkeyPatch
) -> None:
    monkeypatch.setattr(inspector_module, "MARKED_SECONDS", 3_600)
    async with demo_app(backend).run_test(size=(160, 48)) as pilot:
        pilot.app.animation_level = "full"
        screen = await ready(pilot)
        await type_text(pilot, QUESTION)
        before, inspector = screen.previews.window, screen.query_one(Inspector)
        screen.query_one(Prompt).load_text("")
        await type_text(pilot, OTHER)
        after, rows = screen.previews.window, screen.query_one("#segments", OptionList)
        assert before is not None
        assert after is not None
        found = difference(before, after)
        drawn = [str(option.prompt) for option in rows.options]
        for change, mark in ((found.entered[0], ENTERED), (found.left[0], LEFT)):
            (line,) = [each for each in drawn if f"{mark} " in each and f"#{change.turn} " in each]
            assert line[MARK_AT] == mark
        inspector._settle()
        lines = [str(option.prompt) for option in rows.options]
        assert len(lines) == len(drawn) - len(found.left)
        assert not any(line[MARK_AT] in (ENTERED, LEFT) for line in lines)
        assert rows.highlighted is not None
        assert not rows.get_option_at_index(rows.highlighted).disabled

        pilot.app.animation_level = "none"
        await type_text(pilot, " and when?")
        lines = [str(option.prompt) for option in rows.options]
        assert not any(line[MARK_AT] in (ENTERED, LEFT) for line in lines)
