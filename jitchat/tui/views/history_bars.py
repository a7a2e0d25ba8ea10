"""The history chart on screen, and the mark under it that points at one send."""

from __future__ import annotations

from collections.abc import Iterable
from dataclasses import dataclass

from textual import events
from textual.content import Content
from textual.message import Message
from textual.reactive import reactive
from textual.widget import Widget

from jitchat.tui.views.history_chart import (
    Columns,
    Run,
    Series,
    bars_of,
    chart_rows,
    columns_of,
    pointer_rows,
)
from jitchat.window.window import Kind

_STYLES = {kind.value: f"$kind-{kind.value}" for kind in Kind} | {
    "full": "$foreground",
    "axis": "$text-muted",
}
"""By what is drawn."""


class _OfSeries(Widget):
    """Draws all sends in as many columns as there is room for."""

    series: reactive[Series | None] = reactive(None)

    @dataclass
    class Moved(Message):
        """The user points at a send, counted from 0."""

        place: int

    @property
    def columns(self) -> Columns | None:
        """Where the sends stand; None where there are none."""
        series = self.series
        return columns_of(series, self.size.width) if series and series.count else None

    def on_click(self, event: events.Click) -> None:
        """Go to the send under the mouse."""
        place = self.columns.place_at(event.x) if self.columns else None
        if place is not None:
            self.post_message(self.Moved(place))


class HistoryChart(_OfSeries, can_focus=True):
    """The bars, stacked by kind, and the outline of `full`."""

    sent_only: reactive[bool] = reactive(False)
    """Whether it is to the scale of what was sent."""

    def render(self) -> Content:
        """As many rows as there are; the outline needs one above the highest bar."""
        series, columns = self.series, self.columns
        if series is None or columns is None:
            return Content()
        rows = max(1, self.size.height - 1)
        scale, bars = bars_of(series, columns, rows, sent_only=self.sent_only)
        lines = chart_rows(scale, bars, columns)
        return Content("\n").join(map(self.styled, lines))

    def styled(self, line: Iterable[Run]) -> Content:
        """Write a line in the chart's colours."""
        return Content.assemble(*((text, _style(name)) for text, name in line))


class HistoryPointer(_OfSeries):
    """The lower axis. It is drawn by itself, so that the mark moves without the bars."""

    place: reactive[int] = reactive(0)
    """The send that is pointed at, from 0."""

    def render(self) -> Content:
        """The axis, then the numbers."""
        columns = self.columns
        return Content("\n".join(pointer_rows(columns, self.place)) if columns else "")


def _style(name: str) -> str:
    return " on ".join(_STYLES.get(each, "") for each in name.split(" on "))
