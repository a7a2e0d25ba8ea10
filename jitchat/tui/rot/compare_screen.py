"""Two runs beside each other: shares by mode and length, the difference, what else differs."""

from __future__ import annotations

from collections.abc import Iterable

from textual.containers import VerticalScroll
from textual.content import Content
from textual.widget import Widget
from textual.widgets import Static

from jitchat.rot.caveat import READER_CAVEAT
from jitchat.rot.compare import Comparison, interval_told, left_out
from jitchat.text.safe import one_line
from jitchat.tui.palette import MUTED
from jitchat.tui.rot.compare_rows import compared_rows, is_drawn
from jitchat.tui.rot.lab_frame import LabFrame

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
        read = _READ.format(interval_told(compared))
        told = [f"{read} {_DRAWN}" if is_drawn else read, "", left_out(compared)]
        told += compared.differences or ("The settings are the same.",)
        if compared.before.is_reader or compared.after.is_reader:
            told += ["", READER_CAVEAT]
        return [one_line(each) for each in told]
