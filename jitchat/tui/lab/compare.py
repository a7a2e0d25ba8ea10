"""Two runs side by side as lines: shares, the difference, and its confidence interval."""

from collections.abc import Iterator
from itertools import chain

from textual.app import ComposeResult
from textual.containers import VerticalScroll
from textual.widgets import Static

from jitchat.lab import compare
from jitchat.lab.change import Change, change_text, signed
from jitchat.lab.report import comparison_notes
from jitchat.lab.stats import share
from jitchat.text.sanitize import one_line
from jitchat.tui.drawing import Content
from jitchat.tui.lab.lab_screen import LabScreen
from jitchat.tui.palette import MUTED

Run = tuple[str, str]
"""A text and what it is: `mode`, `better`, `worse`, `unclear` or `axis`."""
_AHEAD, _SHARE, _CHANGE = 7, 15, 19
"""Columns of the length, of a share, and of the difference."""
_REACHES = (0.1, 0.25, 0.5, 1.0)
_LEAST, _MOST = 13, 61
"""Columns of the drawn difference; the middle means no change."""


def compared_rows(comparison: compare.Comparison, width: int) -> Iterator[list[Run]]:
    changes = {mode: list(found.named()) for mode, found in comparison.of.items()}
    ends = [abs(end) for _, change in chain(*changes.values()) for end in _ends(change)]
    reach = next(reach for reach in _REACHES if max(ends, default=0.0) <= reach)
    wide = drawing_width(width)
    low, high = signed(-reach), signed(reach)
    labels = f"{low:<{wide // 2}}0{high:>{wide // 2}}" if wide else ""
    yield [(_columns("", "before", "after", "change, points"), "axis"), (labels, "axis")]
    for mode, each in changes.items():
        yield [(mode.value, "mode")]
        for name, change in each:
            shares = share(change.before), share(change.after)
            figures = _columns(name, *shares, change_text(change))
            yield [(figures, "plain"), *_drawn(change, wide, reach)]
        yield []


def drawing_width(width: int) -> int:
    """Return the columns of the drawing: an odd number, or 0 if there are too few."""
    room = min(_MOST, width - _AHEAD - 2 * _SHARE - _CHANGE)
    return room - (room + 1) % 2 if room >= _LEAST else 0


def _ends(change: Change) -> tuple[float, float, float]:
    low, high = change.interval
    return min(low, change.points), change.points, max(high, change.points)


def _drawn(change: Change, wide: int, reach: float) -> list[Run]:
    name = change.outcome
    if not wide:
        return [(name, name)]
    half = wide // 2
    low, at, high = (half + round(end / reach * half) for end in _ends(change))
    cells = ["·" if cell == half else " " for cell in range(wide)]
    cells[low : high + 1] = "─" * (high + 1 - low)
    if low < half < high:
        cells[half] = "┼"
    cells[at] = "●" if change.is_clear else "○"
    parts = (cells[:low], "axis"), (cells[low : high + 1], name), (cells[high + 1 :], "axis")
    return [("".join(part), look) for part, look in parts]


def _columns(name: str, before: str, after: str, change: str) -> str:
    return f"  {name:<{_AHEAD - 2}}{before:<{_SHARE}}{after:<{_SHARE}}{change:<{_CHANGE}}"


_LOOKS = {
    "mode": "bold $text-primary",
    "axis": MUTED,
    "better": "bold $text-success",
    "worse": "bold $text-error",
    "unclear": MUTED,
}
_NONE = "Nothing to compare: no cell has an answer in both runs."
_DRAWN = "● excludes no change, ○ does not."


class CompareScreen(LabScreen):
    CSS_PATH = ["lab.tcss", "compare.tcss"]  # noqa: RUF012  Textual's own shape

    def __init__(self, comparison: compare.Comparison) -> None:
        super().__init__()
        self._comparison = comparison
        self._rows, self._notes = Static(id="compare-rows"), Static(id="compare-notes")

    def body(self) -> ComposeResult:
        comparison = self._comparison
        titles = (("before  ", comparison.before.title), ("after   ", comparison.after.title))
        lines = [
            Content.assemble((name, MUTED), (one_line(title), "bold")) for name, title in titles
        ]
        yield Static(Content("\n").join(lines), id="compare-which")
        with VerticalScroll(id="compare-scroll"):
            yield self._rows
            yield self._notes

    def on_mount(self) -> None:
        self.entitle("two runs compared")
        self.query_one(VerticalScroll).focus()

    def fit(self) -> None:
        room, comparison = self.room.width - 8, self._comparison
        lines = [
            Content.assemble(*((text, _LOOKS.get(name, "")) for text, name in row))
            for row in compared_rows(comparison, room)
        ]
        self._rows.update(Content("\n").join(lines) if comparison.of else Content(_NONE))
        notes = list(comparison_notes(comparison))
        if drawing_width(room):
            notes[0] += f" {_DRAWN}"
        self._notes.update(Content("\n\n".join(notes)))
