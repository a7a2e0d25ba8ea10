"""The window that was sent for a cell: its segments, their tokens, and their exact text."""

from collections.abc import Iterable
from dataclasses import dataclass
from itertools import cycle

from textual import on, work
from textual.binding import Binding
from textual.containers import Vertical
from textual.content import Content
from textual.message import Message
from textual.widget import Widget
from textual.widgets import Static

from jitchat.errors import JitchatError
from jitchat.lab.experiment import Result
from jitchat.lab.run_file import RunFile
from jitchat.lab.stats import percent
from jitchat.text.sanitize import for_terminal
from jitchat.tui.dialogs.exact import ExactScreen
from jitchat.tui.figures import ledger_note
from jitchat.tui.lab.cells import detail
from jitchat.tui.lab.frame import LabFrame
from jitchat.tui.lab.setup import SHORT
from jitchat.tui.widgets.budget_bar import BudgetBar
from jitchat.tui.widgets.inspector import Inspector
from jitchat.values import Turn
from jitchat.window.window import ContextWindow, LedgerRow

_GONE = "The window of this cell is not in the file of its run."


class CellWindow(LabFrame):
    """Looks into what the model was given."""

    CSS_PATH = ["lab.tcss", "cell_window.tcss"]  # noqa: RUF012  Textual's own shape

    BINDINGS = [Binding("n", "needed", "Needed turn", id="rot_needed")]  # noqa: RUF012

    @dataclass
    class Loaded(Message):
        """It was read, or could not be; None where it is not kept."""

        outcome: ContextWindow | JitchatError | None

    @dataclass
    class TurnRead(Message):
        """A turn that is not in the window was read."""

        row: LedgerRow
        outcome: Turn | JitchatError | None

    def __init__(self, file: RunFile, result: Result) -> None:
        super().__init__()
        self._file, self._result = file, result
        self._needed = cycle(result.needed)

    def body(self) -> Iterable[Widget]:
        """Make what is told of the cell, the bar, and the segments."""
        yield Static(id="window-told")
        with Vertical(id="window-of-cell"):
            yield BudgetBar()
            yield Inspector()

    def on_mount(self) -> None:
        """Read it while the frame is drawn."""
        cell = self._result.cell
        self.entitle(
            f"window · {cell.kind} in {cell.mode} · {cell.length:,} tokens"
            f" · {percent(cell.depth)} deep"
        )
        self._load()

    def fit(self) -> None:
        """Lines break where the frame ends."""
        is_brief = self.room.height < SHORT
        told = detail(self._result, self.room.width - 6, is_brief=is_brief)
        self.query_one("#window-told", Static).update(told)

    @work(thread=True, exclusive=True)
    def _load(self) -> None:
        outcome: ContextWindow | JitchatError | None
        try:
            outcome = self._file.window(self._result)
        except JitchatError as error:
            outcome = error
        self.post_message(self.Loaded(outcome))

    @on(Loaded)
    def _loaded(self, message: Loaded) -> None:
        match message.outcome:
            case ContextWindow() as window:
                self.query_one(BudgetBar).window = window
                inspector = self.query_one(Inspector)
                inspector.show(window, sent=True, usage=self._result.usage)
                self.query_one("#segments").focus()
                if self._result.needed:
                    self.action_needed()
            case JitchatError() as error:
                self.query_one("#window-told", Static).update(Content(for_terminal(str(error))))
            case None:
                self.query_one("#window-told", Static).update(_GONE)

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
        self._read(message.row)

    @work(thread=True, exclusive=True)
    def _read(self, row: LedgerRow) -> None:
        outcome: Turn | JitchatError | None
        try:
            outcome = self._file.store.turn(self._result.conversation, row.turn)
        except JitchatError as error:
            outcome = error
        self.post_message(self.TurnRead(row, outcome))

    @on(TurnRead)
    def _turn_read(self, message: TurnRead) -> None:
        if isinstance(message.outcome, JitchatError):
            self.tell(message.outcome)
            return
        text = message.outcome.content if message.outcome is not None else ""
        title = f"left out #{message.row.turn}"
        self.app.push_screen(ExactScreen(title, text, ledger_note(message.row)))
