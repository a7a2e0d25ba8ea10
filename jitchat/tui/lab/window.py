"""The window that was sent for a cell: its segments, their tokens, and their exact text."""

import asyncio
from collections.abc import Iterable
from itertools import cycle

from textual import on, work
from textual.binding import Binding
from textual.containers import Vertical
from textual.content import Content
from textual.widget import Widget
from textual.widgets import Static

from jitchat.errors import JitchatError
from jitchat.lab.experiment import Result
from jitchat.lab.run_file import RunFile
from jitchat.lab.stats import percent
from jitchat.text.sanitize import visible
from jitchat.tui.figures import ledger_note
from jitchat.tui.lab.cells import detail
from jitchat.tui.lab.lab_screen import SHORT, LabScreen
from jitchat.tui.screens.exact import ExactScreen
from jitchat.tui.telling import telling
from jitchat.tui.widgets.budget_bar import BudgetBar
from jitchat.tui.widgets.inspector import Inspector

_GONE = "The window of this cell is not in the file of its run."


class WindowScreen(LabScreen):
    CSS_PATH = ["lab.tcss", "window.tcss"]  # noqa: RUF012  Textual's own shape

    BINDINGS = [Binding("n", "needed", "Needed turn", id="rot_needed")]  # noqa: RUF012

    def __init__(self, file: RunFile, result: Result) -> None:
        super().__init__()
        self._file, self._result = file, result
        self._needed = cycle(result.needed)
        self._about = Static(id="window-cell")

    def body(self) -> Iterable[Widget]:
        yield self._about
        with Vertical(id="window-of-cell"):
            yield BudgetBar()
            yield Inspector()

    def on_mount(self) -> None:
        cell = self._result.cell
        self.entitle(
            f"window · {cell.kind} in {cell.mode} · {cell.length:,} tokens"
            f" · {percent(cell.depth)} deep"
        )
        self._load()

    def fit(self) -> None:
        is_brief = self.room.height < SHORT
        self._about.update(detail(self._result, self.room.width - 6, is_brief=is_brief))

    @work(exclusive=True)
    async def _load(self) -> None:
        try:
            window = await asyncio.to_thread(self._file.window, self._result)
        except JitchatError as error:
            self._about.update(Content(visible(str(error))))
            return
        if window is None:
            self._about.update(_GONE)
            return
        self.query_one(BudgetBar).window = window
        self.query_one(Inspector).show(window, sent=True, usage=self._result.usage)
        self.query_one("#segments").focus()
        if self._result.needed:
            self.action_needed()

    def action_needed(self) -> None:
        """Go to the next of the turns that the answer needs."""
        turn = next(self._needed, None)
        if turn is None:
            self.notify("The answer needs no turn: it was never said.", markup=False)
        elif not self.query_one(Inspector).point_at(turn):
            self.notify(f"#{turn} is needed, and was never a candidate.", markup=False)

    @on(Inspector.RowOpened)
    def _row_opened(self, message: Inspector.RowOpened) -> None:
        message.stop()
        self.app.push_screen(ExactScreen(message.title, message.text, message.note))

    @on(Inspector.LeftOutOpened)
    def _left_out_opened(self, message: Inspector.LeftOutOpened) -> None:
        message.stop()
        self._read_left_out(message)

    @work(exclusive=True)
    @telling
    async def _read_left_out(self, message: Inspector.LeftOutOpened) -> None:
        row, conversation = message.row, self._result.conversation
        turn = await asyncio.to_thread(self._file.store.turn, conversation, row.turn)
        text = turn.content if turn is not None else ""
        self.app.push_screen(ExactScreen(f"left out #{row.turn}", text, ledger_note(row)))
