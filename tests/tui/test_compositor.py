"""A frame is drawn from the rows that have changed, and looks as Textual would draw it."""

from __future__ import annotations

from typing import TYPE_CHECKING

from textual._compositor import Compositor
from textual.app import App
from textual.containers import VerticalScroll
from textual.geometry import Region
from textual.screen import Screen
from textual.widgets import Static

from jitchat.tui.frames import RowCompositor
from tests.tui.support import until

if TYPE_CHECKING:
    from textual.app import ComposeResult
    from textual.strip import Strip


class Noting(Static):
    """Notes how many of its rows are drawn."""

    rows = 0

    def render_lines(self, crop: Region) -> list[Strip]:
        self.rows += crop.height
        return super().render_lines(crop)


class Rows(Screen[None]):
    def __init__(self) -> None:
        super().__init__()
        self._compositor = RowCompositor()

    def compose(self) -> ComposeResult:
        with VerticalScroll():
            yield Noting("above", id="above")
            yield Noting("\n".join(f"line {line}" for line in range(10)), id="changing")
            yield Noting("below\n" * 10, id="below")
        yield Noting("overlaid", id="wide")


class Drawing(App[None]):
    CSS = """
    Noting { height: 10; width: 20; }
    Rows { layers: default top; }
    #wide { offset: 3 2; layer: top; }
    """

    def get_default_screen(self) -> Rows:
        return Rows()


async def test_a_row_that_changes_is_all_that_is_drawn():
    async with Drawing().run_test(size=(60, 24)) as pilot:
        await pilot.pause()
        compositor = pilot.app.screen._compositor
        compositor.render_full_update()
        for widget in pilot.app.query(Noting):
            widget.rows = 0
        pilot.app.query_one("#changing", Noting).refresh(Region(0, 7, 20, 1))
        await until(pilot, lambda: compositor._dirty_regions, "a change")
        compositor.render_partial_update()
        drawn = {widget.id: widget.rows for widget in pilot.app.query(Noting)}
        assert drawn == {"above": 0, "changing": 1, "below": 0, "wide": 0}


async def test_it_looks_as_textual_draws_it_wherever_widgets_are_cut_off_and_overlap():
    async with Drawing().run_test(size=(60, 24)) as pilot:
        pilot.app.query_one(VerticalScroll).scroll_to(y=3, animate=False)
        await pilot.pause()
        compositor, textual = pilot.app.screen._compositor, Compositor()
        textual.reflow(pilot.app.screen, compositor.size)
        for crop in (Region(0, 0, 60, 24), Region(0, 4, 60, 5), Region(2, 8, 3, 1)):
            chops = [each._render_chops(crop, lambda _: True) for each in (compositor, textual)]
            ours, theirs = (rows[crop.y : crop.bottom] for rows in chops)
            changed = range(*crop.column_span)
            for mine, textuals in zip(ours, theirs, strict=True):
                for x in mine:
                    if x in changed:
                        assert mine[x] == textuals[x]
