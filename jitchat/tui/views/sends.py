"""Time travel: every request that left, its window as it was, and what differs between two."""

from collections.abc import Iterable
from dataclasses import dataclass

from textual import on, work
from textual.binding import Binding
from textual.containers import Horizontal, Vertical
from textual.content import Content
from textual.message import Message
from textual.widget import Widget
from textual.widgets import ContentSwitcher, OptionList, Static, TextArea

from jitchat.errors import JitchatError
from jitchat.replay import Replay
from jitchat.store.windows import Send
from jitchat.text.sanitize import visible
from jitchat.tui.dialogs.exact import ExactScreen
from jitchat.tui.figures import ledger_note
from jitchat.tui.views.send_again import SendAgainScreen
from jitchat.tui.views.sends_shown import (
    Scrubber,
    SendReader,
    Shown,
    Table,
    Wanted,
    first_place,
    message_text,
    window_lines,
)
from jitchat.tui.views.view import GoTo, SendAgain, Subject, View
from jitchat.tui.widgets.budget_bar import BudgetBar
from jitchat.tui.widgets.inspector import Inspector
from jitchat.tui.widgets.row_list import PointedList

NOTHING = "Nothing was sent here yet. Enter sends; every window is then kept."
TABS = {
    "inspector": "W window",
    "send-ledger": "L ledger",
    "send-diff": "D diff",
    "send-messages": "M messages",
}
"""By the id of what it shows: a tab's name, its key first."""


class Tab(Static):
    """A name to click on."""

    def on_click(self) -> None:
        """Show it."""
        self.post_message(SendsView.TabChosen((self.id or "").removeprefix("tab-")))


class SendsView(View):
    """Looks at any send of the conversation, and can answer its message once more."""

    CSS_PATH = ["view.tcss", "sends.tcss"]  # noqa: RUF012  Textual's own shape
    NAME = "Sends"
    EXPLAINED = "Every request that left: height is its size, the letter its mode."
    BINDINGS = [  # noqa: RUF012  Textual's own shape
        Binding("left", "step(-1)", "Earlier", priority=True, id="sends_earlier"),
        Binding("right", "step(1)", "Later", priority=True, id="sends_later"),
        Binding("down,enter", "into_table", show=False),
        Binding("w", "tab('inspector')", "Window", show=False, id="sends_window"),
        Binding("l", "tab('send-ledger')", "Ledger", show=False, id="sends_ledger"),
        Binding("d", "tab('send-diff')", "Diff", show=False, id="sends_diff"),
        Binding("m", "tab('send-messages')", "Messages", show=False, id="sends_messages"),
        Binding("b", "base", "Base", id="sends_base"),
        Binding("r", "send_again", "Send again", id="sends_again"),
        Binding("g", "go_to", "Turn", id="sends_go_to"),
    ]

    @dataclass
    class Listed(Message):
        """All sends were read, or could not be."""

        outcome: list[Send] | JitchatError

    @dataclass
    class Opened(Message):
        """The send of request `serial` was read, or could not be."""

        serial: int
        outcome: Shown | JitchatError

    @dataclass
    class TabChosen(Message):
        """The user clicked on a tab."""

        name: str

    def __init__(self, subject: Subject, window_id: int | None = None) -> None:
        """`window_id` is the archive's key of the window to open; None for that of the subject."""
        super().__init__(subject)
        self._window_id = window_id
        memory = subject.session.memory
        self._reader = SendReader(Replay(memory.store, memory.conversation.id))
        self._scrubber = Scrubber()
        self._serial = 0
        self.shown: Shown | None = None
        """What is on screen; None while nothing is."""

    def body(self) -> Iterable[Widget]:
        """The scrubber, what is told of a send, its bar, and one of four tables."""
        with Vertical(id="sends") as sends:
            sends.display = False
            yield self._scrubber
            yield Static(id="send-told")
            yield BudgetBar()
            with Horizontal(id="send-tabs"):
                for name, label in TABS.items():
                    yield Tab(Content(f" {label} "), id=f"tab-{name}")
            with ContentSwitcher(initial="inspector"):
                yield Inspector()
                yield from _table("send-ledger")
                yield from _table("send-diff")
                yield TextArea(read_only=True, compact=True, id="send-messages")

    def on_mount(self) -> None:
        """Read the list while the frame is drawn."""
        self._scrubber.focus()
        self._mark_tab()
        self._list()

    @work(thread=True, exclusive=True, group="list")
    def _list(self) -> None:
        outcome: list[Send] | JitchatError
        try:
            outcome = self._reader.sends()
        except JitchatError as error:
            outcome = error
        self.post_message(self.Listed(outcome))

    @on(Listed)
    def _listed(self, message: Listed) -> None:
        if isinstance(message.outcome, JitchatError):
            self.show_nothing(str(message.outcome))
        elif not message.outcome:
            self.show_nothing(NOTHING)
        else:
            self.query_one("#sends").display = True
            self._scrubber.sends = tuple(message.outcome)
            self._scrubber.focus()
            self._move(first_place(message.outcome, self.subject, self._window_id))

    @on(Scrubber.Moved)
    def _moved(self, message: Scrubber.Moved) -> None:
        self._move(message.place)

    def _move(self, place: int) -> None:
        self._scrubber.place = place
        self._read()

    def _read(self) -> None:
        """Have what is wanted read, and whatever was wanted before forgotten."""
        scrubber = self._scrubber
        if not scrubber.sends:
            return
        self._serial += 1
        self.query_one("#sends").set_class(True, "-loading")
        tab = self.query_one(ContentSwitcher).current or ""
        sent = self.subject.sent if self.subject.is_busy() else None
        answering = sent.position if sent is not None else None
        wanted = Wanted(scrubber.place, scrubber.base, tab, answering)
        self._open(self._serial, scrubber.sends, wanted)

    @work(thread=True, exclusive=True, group="open")
    def _open(self, serial: int, sends: tuple[Send, ...], wanted: Wanted) -> None:
        outcome: Shown | JitchatError
        try:
            outcome = self._reader.show(sends, wanted)
        except JitchatError as error:
            outcome = error
        self.post_message(self.Opened(serial, outcome))

    @on(Opened)
    def _opened(self, message: Opened) -> None:
        """Show it, unless the user has moved on."""
        if message.serial != self._serial:
            return
        self.query_one("#sends").set_class(False, "-loading")
        if isinstance(message.outcome, JitchatError):
            self._show_refusal(message.outcome)
            return
        before, self.shown = self.shown, message.outcome
        if before is None or before.replayed is not self.shown.replayed:
            self._show_window(self.shown)
        self._fill(self.shown)

    def _show_window(self, shown: Shown) -> None:
        window, usage = shown.replayed.window, shown.replayed.send.usage
        self.query_one("#send-told", Static).update(shown.told)
        self.query_one(BudgetBar).window = window
        self.query_one(Inspector).show(window, sent=True, usage=usage)

    def _show_refusal(self, error: JitchatError) -> None:
        self.shown = None
        self.query_one("#send-told", Static).update(Content(visible(str(error))))
        self.query_one(BudgetBar).window = None
        self.query_one(Inspector).clear()
        self._clear_tables()

    def _clear_tables(self) -> None:
        """What is in them is of another send, or of none."""
        for name in ("send-ledger", "send-diff"):
            self.query_one(f"#{name}-header", Static).update(Content())
            self.query_one(f"#{name}-rows", OptionList).clear_options()
        self.query_one(TextArea).load_text("")

    def _fill(self, shown: Shown) -> None:
        """Fill the table that is in view."""
        if shown.wanted.tab == "send-messages":
            self.query_one(TextArea).load_text(shown.messages)
        elif shown.wanted.tab != "inspector":
            self._fill_table(shown.wanted.tab, shown.table)

    def _fill_table(self, name: str, table: Table) -> None:
        self.query_one(f"#{name}-header", Static).update(Content(table.header))
        rows = self.query_one(f"#{name}-rows", OptionList)
        rows.set_options(table.lines)
        rows.highlighted = 0

    def action_step(self, by: int) -> None:
        """Go some sends on, or back."""
        self._scrubber.action_step(by)

    def action_into_table(self) -> None:
        """Put the cursor into the table."""
        name = self.query_one(ContentSwitcher).current
        inside = {"inspector": "segments", "send-messages": "send-messages"}.get(
            name or "", f"{name}-rows"
        )
        self.query_one(f"#{inside}").focus()

    def action_tab(self, name: str) -> None:
        """Show another table of this send."""
        self.query_one(ContentSwitcher).current = name
        self._mark_tab()
        self._clear_tables()
        self._read()

    @on(TabChosen)
    def _tab_chosen(self, message: TabChosen) -> None:
        self.action_tab(message.name)

    def _mark_tab(self) -> None:
        for tab in self.query(Tab):
            tab.set_class(tab.id == f"tab-{self.query_one(ContentSwitcher).current}", "-on")

    def action_base(self) -> None:
        """Compare with this send from now on; once more, with the one before."""
        scrubber = self._scrubber
        scrubber.base = None if scrubber.base == scrubber.place else scrubber.place
        self.action_tab("send-diff")

    def action_go_to(self) -> None:
        """Show the message of this send in the transcript."""
        if self.shown is not None:
            self.dismiss(GoTo(self.shown.replayed.said.position))

    def action_send_again(self) -> None:
        """Ask in which mode and within which budget; nothing is sent before that."""
        if self.shown is not None:
            asked = SendAgainScreen(self.subject.session, self.shown.replayed)
            self.app.push_screen(asked, self._answered)

    def _answered(self, outcome: SendAgain | None) -> None:
        if outcome is not None:
            self.dismiss(outcome)

    @on(Inspector.RowOpened)
    def _row_opened(self, message: Inspector.RowOpened) -> None:
        message.stop()
        self.app.push_screen(ExactScreen(message.title, message.text, message.note))

    @on(Inspector.LeftOutOpened)
    def _left_out_opened(self, message: Inspector.LeftOutOpened) -> None:
        message.stop()
        memory, row = self.subject.session.memory, message.row
        turn = memory.store.turn(memory.conversation.id, row.turn)
        text = turn.content if turn is not None else ""
        self.app.push_screen(ExactScreen(f"left out #{row.turn}", text, ledger_note(row)))

    def copyable(self) -> str:
        """Write the send and the table that is in view; of the messages, all of them."""
        if self.shown is None:
            return ""
        window = self.shown.replayed.window
        match self.shown.wanted.tab:
            case "send-messages":
                return self.query_one(TextArea).selected_text or message_text(window)
            case "inspector":
                rows = "\n".join(window_lines(window))
            case _:
                rows = self.shown.table.plain
        return f"{self.shown.told.plain}\n{rows}"


def _table(name: str) -> Iterable[Widget]:
    with Vertical(id=name):
        yield Static(id=f"{name}-header", classes="sends-header")
        yield PointedList(id=f"{name}-rows", compact=True)
