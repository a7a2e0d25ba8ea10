"""Two runs beside each other in lines: shares, the difference, and how sure it is. Pure."""

from __future__ import annotations

from collections.abc import Iterable, Iterator, Sequence
from dataclasses import dataclass

from textual.containers import VerticalScroll
from textual.content import Content
from textual.widget import Widget
from textual.widgets import Static

from jitchat.lab.compare import Change, Comparison, change_text, interval_note, left_out, signed
from jitchat.lab.report import READER_CAVEAT
from jitchat.lab.run_file import short
from jitchat.lab.stats import share, total
from jitchat.text.sanitize import one_line
from jitchat.tui.lab.frame import LabFrame
from jitchat.tui.palette import MUTED
from jitchat.values import Mode

Run = tuple[str, str]
"""Characters, and the name of what they are: `mode`, `better`, `worse`, `unclear`, `axis`."""
_AHEAD, _SHARE, _CHANGE = 9, 16, 20
"""Cells of the length, of a share, and of the difference in figures."""
_REACHES = (0.1, 0.25, 0.5, 1.0)
_LEAST, _MOST = 13, 61
"""Cells of the difference drawn, with no change in the middle."""


def compared_rows(compared: Comparison, width: int) -> Iterator[list[Run]]:
    """Draw a block a mode, a line a length, and one for all of them."""
    line = _Line(_wide(width), _reach(list(compared.at.values())))
    yield [(_columns("", "before", "after", "change, points"), "axis"), (line.labels, "axis")]
    for mode, whole in compared.of.items():
        yield [(mode.value, "mode")]
        for length in _lengths(compared, mode):
            yield _row(short(length), compared.at[mode, length], line)
        yield _row_of_all(whole)
        yield []


def is_drawn(width: int) -> bool:
    """Whether there is room to draw the difference."""
    return bool(_wide(width))


def _lengths(compared: Comparison, mode: Mode) -> list[int]:
    return sorted(length for of, length in compared.at if of is mode)


def _wide(width: int) -> int:
    """Tell how many cells the drawing has; an odd number, or none where they are too few."""
    room = min(_MOST, width - _AHEAD - 2 * _SHARE - _CHANGE - 2)
    return room - (room + 1) % 2 if room >= _LEAST else 0


def _row(name: str, change: Change, line: _Line) -> list[Run]:
    figures = _columns(name, share(change.before), share(change.after), change_text(change))
    return [(figures, "plain"), *line.drawn(change, change.outcome)]


def _row_of_all(change: Change) -> list[Run]:
    before, after = total(change.before), total(change.after)
    return [(_columns("all", before, after, signed(change.points)), "plain")]


def _reach(changes: Sequence[Change]) -> float:
    """Choose a round scale that holds every interval."""
    most = max((abs(end) for change in changes for end in _ends(change)), default=0.0)
    return next(reach for reach in _REACHES if most <= reach)


def _ends(change: Change) -> tuple[float, float, float]:
    low, high = change.interval
    return min(low, change.points), change.points, max(high, change.points)


@dataclass(frozen=True, slots=True)
class _Line:
    """What differences are drawn on, with no change in the middle."""

    wide: int
    """Cells, an odd number; 0 where they are too few."""
    reach: float
    """The difference at either end."""

    @property
    def labels(self) -> str:
        """Write what is at the left, in the middle and at the right."""
        half = self.wide // 2
        low, high = signed(-self.reach), signed(self.reach)
        return f"{low:<{half}}0{high:>{half}}" if self.wide else ""

    def drawn(self, change: Change, name: str) -> list[Run]:
        """Draw an interval; where there is no room, say what it means."""
        if not self.wide:
            return [(name, name)]
        half = self.wide // 2
        low, at, high = (half + round(each / self.reach * half) for each in _ends(change))
        cells = ["·" if place == half else " " for place in range(self.wide)]
        cells[low : high + 1] = "─" * (high + 1 - low)
        if low < half < high:
            cells[half] = "┼"
        cells[at] = "●" if change.is_clear else "○"
        parts = (cells[:low], "axis"), (cells[low : high + 1], name), (cells[high + 1 :], "axis")
        return [("".join(each), look) for each, look in parts]


def _columns(name: str, before: str, after: str, change: str) -> str:
    return f"  {name:<{_AHEAD - 2}}{before:<{_SHARE}}{after:<{_SHARE}}{change:<{_CHANGE}}  "


_LOOKS = {
    "mode": "bold $text-primary",
    "axis": MUTED,
    "better": "bold $text-success",
    "worse": "bold $text-error",
    "unclear": MUTED,
}
_NONE = "No cell has an answer in both runs: there is nothing to compare."
_READ = (
    "In brackets the 95 % interval, {}. Unclear: with so few cells the difference may be chance."
)
_DRAWN = "Drawn, too: ● is clear of no change, ○ is not."


class CompareScreen(LabFrame):
    """An earlier run and a later one."""

    CSS_PATH = ["lab.tcss", "compare.tcss"]  # noqa: RUF012  Textual's own shape

    def __init__(self, comparison: Comparison) -> None:
        super().__init__()
        self._compared = comparison
        self._rows, self._notes = Static(id="compare-rows"), Static(id="compare-notes")

    def body(self) -> Iterable[Widget]:
        """Make which they are, the rows, and what may make them differ."""
        compared = self._compared
        titles = (("before  ", compared.before.title), ("after   ", compared.after.title))
        lines = [Content.assemble((name, MUTED), (one_line(told), "bold")) for name, told in titles]
        yield Static(Content("\n").join(lines), id="compare-which")
        with VerticalScroll(id="compare-scroll"):
            yield self._rows
            yield self._notes

    def on_mount(self) -> None:
        """So that the arrows scroll."""
        self.entitle("two runs compared")
        self.query_one(VerticalScroll).focus()

    def fit(self) -> None:
        """The drawing is as wide as there is room."""
        room = self.room.width - 8
        rows = compared_rows(self._compared, room)
        lines = [
            Content.assemble(*((text, _LOOKS.get(name, "")) for text, name in row)) for row in rows
        ]
        self._rows.update(Content("\n").join(lines) if self._compared.of else Content(_NONE))
        self._notes.update(Content("\n".join(self._told(is_drawn=is_drawn(room)))))

    def _told(self, *, is_drawn: bool) -> list[str]:
        compared = self._compared
        read = _READ.format(interval_note(compared))
        told = [f"{read} {_DRAWN}" if is_drawn else read, "", left_out(compared)]
        told += compared.differences or ("The settings are the same.",)
        if compared.before.is_reader or compared.after.is_reader:
            told += ["", READER_CAVEAT]
        return [one_line(each) for each in told]
