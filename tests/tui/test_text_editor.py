"""The editor: its cursor, deletion and selection go by what a reader sees as one character."""

from __future__ import annotations

import asyncio
from typing import TYPE_CHECKING

import pytest
import regex
from hypothesis import given
from hypothesis import strategies as st
from rich.cells import cell_len
from rich.segment import ControlType, Segment
from textual.app import App, ComposeResult
from textual.color import Color
from textual.document._document import Document
from textual.widgets.text_area import Selection

from jitchat.text.graphemes import clusters, words
from jitchat.text.sanitize import CHANGED, stand_ins
from jitchat.tui.drawing import SafeCells
from jitchat.tui.widgets.text_editor import TextDocument, TextEditor
from tests.examples import examples

if TYPE_CHECKING:
    from textual.pilot import Pilot

CLUSTERS = {
    "flags": "🇩🇪🇫🇷",
    "combining letters": "e\u0301o\u0323\u0302",
    "a family": "👩‍👩‍👧👍🏽",
    "Hangul jamo": "\u1112\u1161\u11ab\u1100\u1173\u11af",
    "Devanagari": "क्षिनि",
    "Tamil": "நிகௌ",
    "a keycap": "1️⃣❤️",
    "a flag of tags": "🏴\U000e0067\U000e0062\U000e007f",
    "plain letters": "ab日本",
    "Persian": "می\u200cخواهم",
}
EACH = pytest.mark.parametrize("text", CLUSTERS.values(), ids=CLUSTERS)


class EditorApp(App[None]):
    def __init__(self, text: str) -> None:
        super().__init__()
        self.editor = TextEditor(text)

    def compose(self) -> ComposeResult:
        yield self.editor


def boundaries(text: str) -> list[int]:
    ends = [cluster.end() for cluster in regex.finditer(r"\X", text)]
    return [0, *ends]


@EACH
async def test_the_cursor_stops_between_clusters_only(text: str) -> None:
    app = EditorApp(text)
    async with app.run_test() as pilot:
        stops = [app.editor.cursor_location[1]]
        for _ in boundaries(text)[1:]:
            await pilot.press("right")
            stops.append(app.editor.cursor_location[1])
        assert stops == boundaries(text)
        for stop in reversed(boundaries(text)):
            assert app.editor.cursor_location == (0, stop)
            await pilot.press("left")


@EACH
async def test_backspace_and_delete_take_one_cluster(text: str) -> None:
    app = EditorApp(text)
    async with app.run_test() as pilot:
        *_, last, _ = boundaries(text)
        await pilot.press("end", "backspace")
        assert app.editor.text == text[:last]
        app.editor.load_text(text)
        await pilot.press("home", "delete")
        assert app.editor.text == text[boundaries(text)[1] :]


PARTS = st.sampled_from("eक्षि\u0301\u200d\U0001f3fb👩👧🇩🇪\u1112\u1161")


@examples(60)
@given(st.text(PARTS, max_size=8), st.lists(st.tuples(st.integers(0, 9), PARTS), max_size=8))
def test_what_was_before_the_cursor_stays_there_where_clusters_form(
    text: str, edits: list[tuple[int, str]]
) -> None:
    async def type_and_delete() -> None:
        app = EditorApp(text)
        async with app.run_test():
            editor = app.editor
            for column, typed in edits:
                editor.move_cursor((0, min(column, len(editor.text))))
                ahead = editor.text[: editor.cursor_location[1]]
                editor.insert(typed)
                assert editor.cursor_location[1] in boundaries(editor.text)
                assert editor.text[: editor.cursor_location[1]].startswith(ahead + typed)
                before = editor.get_cursor_left_location()[1]
                ahead = editor.text[:before]
                editor.action_delete_left()
                assert editor.cursor_location[1] in boundaries(editor.text)
                assert editor.text[: editor.cursor_location[1]].startswith(ahead)

    asyncio.run(type_and_delete())


@EACH
async def test_a_selection_and_a_click_take_whole_clusters(text: str) -> None:
    app = EditorApp(text)
    async with app.run_test() as pilot:
        await pilot.press("home", "shift+right")
        assert app.editor.selected_text == text[: boundaries(text)[1]]
        for column in range(len(text) + 1):
            app.editor.selection = Selection((0, 0), (0, column))
            assert app.editor.cursor_location[1] in boundaries(text)


@EACH
async def test_the_cursor_is_drawn_over_the_whole_cluster_and_where_it_is(text: str) -> None:
    app = EditorApp(text)
    async with app.run_test() as pilot:
        for start, end in zip(boundaries(text), boundaries(text)[1:], strict=False):
            line = app.editor.get_line(0)
            line.stylize("reverse", start, start + 1)  # as Textual draws the cursor
            assert [(span.start, span.end) for span in line.spans] == [(start, end)]
            origin = app.editor.content_region.x
            drawn = stand_ins(text[:start])
            assert app.editor.cursor_screen_offset.x == origin + cell_len(drawn)
            await pilot.press("right")


async def test_unsafe_characters_are_drawn_as_stand_ins_and_stay_in_the_text() -> None:
    text = "a\u202eb\u200bc\u00add\ufeffe\x1bf\x85g\u2028h"
    app = EditorApp(text)
    async with app.run_test(size=(40, 5)) as pilot:
        await pilot.pause()
        strips = app.screen._compositor.render_strips(app.size)
        assert "a�b·c·d·e␛f␤g␤h" in "".join(strip.text for strip in strips)
        for column in range(len(text)):
            origin = app.editor.content_region.x
            assert app.editor.cursor_screen_offset.x == origin + column
            await pilot.press("right")
        await pilot.press("x", "left", "left", "backspace")
        assert app.editor.text == text.replace("\u2028", "") + "x"


def test_each_stand_in_is_one_visible_character_for_one() -> None:
    for code in CHANGED:
        drawn = stand_ins(chr(code))
        assert (len(drawn), cell_len(drawn)) == (1, 1)
        assert drawn.isprintable()


ANY = st.text(st.characters(exclude_categories=["Cs"]), max_size=30)


@examples(100)
@given(ANY, ANY, st.data())
def test_a_document_keeps_every_character(before: str, inserted: str, data: st.DataObject) -> None:
    document = TextDocument(before)
    assert document.text == before
    assert document.line_count == before.count("\n") + 1
    ends = sorted(data.draw(st.tuples(*[st.integers(0, len(before))] * 2)))
    start, end = map(document.get_location_from_index, ends)
    result = document.replace_range(end, start, inserted)
    assert document.text == before[: ends[0]] + inserted + before[ends[1] :]
    assert result.replaced_text == before[ends[0] : ends[1]]
    assert document.get_index_from_location(result.end_location) == ends[0] + len(inserted)
    assert document.drawn.lines == [stand_ins(line) for line in document.lines]


@examples(50)
@given(
    st.text(st.characters(codec="ascii", exclude_characters="\x0b\x0c\x1c\x1d\x1e\r"), max_size=60)
)
def test_a_document_of_plain_text_is_textuals_own(text: str) -> None:
    assert TextDocument(text).lines == Document(text).lines


def test_words_keep_their_marks_and_joiners() -> None:
    line = "café नमस्ते می\u200cخواهم don't x_1"
    assert [line[start:end] for start, end in words(line)] == [
        "café", "नमस्ते", "می\u200cخواهم", "don", "t", "x_1",
    ]  # fmt: skip
    assert clusters("plain text") == ()


async def press(pilot: Pilot[None], key: str, times: int) -> None:
    for _ in range(times):
        await pilot.press(key)


async def test_motions_by_word_do_not_stop_within_a_word() -> None:
    text = "cafe\u0301 नमस्ते दुनिया می\u200cخواهم"
    app = EditorApp(text)
    async with app.run_test() as pilot:
        stops = set()
        for _ in range(20):
            await pilot.press("ctrl+right")
            stops.add(app.editor.cursor_location[1])
        edges = {edge for word in words(text) for edge in word}
        assert stops <= edges
        assert len(text) in stops
        await press(pilot, "ctrl+left", 20)
        assert app.editor.cursor_location == (0, 0)


def test_what_guards_the_cells_keeps_the_width_of_a_line() -> None:
    for code in CHANGED - set(range(0xD800, 0xE000)):
        (segment,) = SafeCells().apply([Segment(f"a{chr(code)}b")], Color(0, 0, 0))
        assert segment.text.isprintable()
        assert cell_len(segment.text) == 2 + cell_len(chr(code))
    sequence = Segment("\x1b[2J", None, [(ControlType.CLEAR,)])
    assert SafeCells().apply([sequence], Color(0, 0, 0)) == [sequence]
