"""Scrolling in which what is in view stays where it is while something changes above it."""

from __future__ import annotations

from textual.containers import VerticalScroll
from textual.geometry import Size
from textual.layout import DockArrangeResult
from textual.widget import Widget


class SteadyScroll(VerticalScroll):
    """Keeps the child at the top of the screen in its place, from each layout to the next."""

    def __init__(self, identity: str) -> None:
        super().__init__(id=identity)
        self._top: tuple[Widget, int] | None = None
        """That child, and its line as last laid out."""

    def page(self, pages: int) -> None:
        """Scroll by pages, down for 1.

        At once: after the next layout the line that is meant can be another one.
        """
        goal = self.scroll_target_y + pages * self.scrollable_content_region.height
        self.scroll_to(y=goal, immediate=True)

    def action_page_up(self) -> None:
        """Back by a page."""
        self.page(-1)

    def action_page_down(self) -> None:
        """On by a page."""
        self.page(1)

    def arrange(self, size: Size, optimal: bool = False) -> DockArrangeResult:
        """Lay the children out, and scroll by as much as the one at the top has moved."""
        arranged = super().arrange(size, optimal)
        regions = {each.widget: each.region for each in arranged.placements}
        if self._top is not None and self._top[0] in regions:
            child, before = self._top
            moved = regions[child].y - before
            self._top = child, regions[child].y
            if moved:
                self._shift(moved)
        in_view = (each for each, region in regions.items() if region.bottom > self.scroll_y)
        top = next(in_view, None)
        self._top = None if top is None else (top, regions[top].y)
        return arranged

    def _shift(self, lines: int) -> None:
        """Scroll within the layout that is being made, so that no frame shows another place."""
        self.app.animator.force_stop_animation(self, "scroll_y")  # its goal has moved too
        y = max(0.0, self.scroll_y + lines)
        self.set_reactive(SteadyScroll.scroll_y, y)
        self.set_reactive(SteadyScroll.scroll_target_y, y)
        self.vertical_scrollbar.position = y
