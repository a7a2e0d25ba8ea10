"""Every window that was sent, as it was, and the differences between two of them."""

import asyncio
from collections.abc import Sequence
from functools import partial
from typing import Any

from textual import on, work
from textual.app import ComposeResult
from textual.binding import Binding
from textual.containers import Horizontal, Vertical
from textual.widgets import ContentSwitcher, Input, OptionList, Static
from textual.widgets.option_list import Option

from jitchat.errors import JitchatError, WindowOverflow
from jitchat.replay import Replay, Replayed
from jitchat.session import Session
from jitchat.store.path import parent_of
from jitchat.store.windows import Send
from jitchat.text.sanitize import one_line
from jitchat.tui.dialogs import exact
from jitchat.tui.dialogs.dialog import Dialog, box
from jitchat.tui.drawing import Content
from jitchat.tui.views import sent_window_page
from jitchat.tui.views.sent_window_page import MOST_ROWS, Row, columns_of
from jitchat.tui.views.view import Body, GoTo, Note, SendAgain, Subject, View, mode_keys
from jitchat.tui.widgets.budget_bar import BudgetBar
from jitchat.tui.widgets.inspector import Inspector
from jitchat.tui.widgets.row_list import PointedList
from jitchat.tui.widgets.text_editor import TextEditor
from jitchat.tui.widgets.turn_table import Column, TurnTable
from jitchat.values import Mode, Status, Turn
from jitchat.window.budget import Budget
from jitchat.window.steering import Once

NOTHING = "Nothing has been sent yet. Every window that is sent is kept and shown here."
_TABS = {
    "window": "inspector",
    "ledger": "send-rows",
    "diff": "send-rows",
    "messages": "send-messages",
}
"""For each tab, whose key is its first letter, the id of its pane."""
_KEYS = mode_keys({Mode.RECENCY: "y"})
"""Keys of the modes. R is not available: it opened this dialog."""
_EXPLAINED = (
    "The message is answered again at its position, next to its existing reply."
    " Nothing is overwritten. /model in the chat changes the model."
)


class SizeInput(Input):
    """An input for a number, which leaves letters to the screen's bindings."""

    def check_consume_key(self, key: str, character: str | None) -> bool:
        return key not in _KEYS.values() and super().check_consume_key(key, character)


class SendAgainScreen(Dialog[SendAgain | None]):
    CSS_PATH = [*Dialog.CSS_PATH, "sent_windows.tcss"]  # noqa: RUF012  Textual's own shape
    BINDINGS = [  # noqa: RUF012  Textual's own shape
        Binding("escape", "dismiss", "Close", id="send_again_close"),
        Binding("enter", "send", "Send", priority=True, id="send_again_send"),
        *(
            Binding(key, f"mode('{mode}')", mode, show=False, priority=True)
            for mode, key in _KEYS.items()
        ),
    ]

    def __init__(self, session: Session, replayed: Replayed) -> None:
        super().__init__()
        self._session, self._message = session, replayed.said
        provider = session.provider
        is_named = provider.model != provider.name
        who = f"{provider.name} {provider.model}" if is_named else provider.name
        self._who = f"{who} answers"
        self._estimate = Note("again-who", "again-note", one_line(f"{self._who}."))
        self._refusal = Note("again-refusal")
        options = (Option(Content(f"{key.upper()} {mode}"), mode) for mode, key in _KEYS.items())
        self._choice = PointedList(*options, id="again-mode")
        self.action_mode(replayed.send.mode)
        self._most = SizeInput(
            placeholder=f"Size in tokens; {session.options.budget.most:,} if empty",
            type="integer",
            compact=True,
            id="again-size",
        )

    def compose(self) -> ComposeResult:
        keys = "↑↓ or a letter for the mode · Enter send · Esc close"
        with box(f"Send #{self._message.position} again", keys):
            yield Note(None, "again-note", _EXPLAINED)
            yield self._choice
            yield self._most
            yield self._estimate
            yield self._refusal

    def on_mount(self) -> None:
        self._most.focus()

    @property
    def _mode(self) -> Mode:
        return list(_KEYS)[self._choice.highlighted or 0]

    def action_mode(self, mode: str) -> None:
        self._choice.highlighted = self._choice.get_option_index(mode)

    @on(Input.Changed)
    @on(OptionList.OptionHighlighted)
    @work(exclusive=True)
    async def _show_cost(self) -> None:
        size, _ = self._chosen_size()
        sentence = await asyncio.to_thread(self._cost_sentence, self._mode, size)
        self._estimate.update(one_line(f"{self._who}{sentence}."))

    def _cost_sentence(self, mode: Mode, size: Budget | None) -> str:
        try:
            window = self._session.preview(self._message.content, mode, again(self._message, size))
        except WindowOverflow as overflow:
            return f"; the window does not fit: {overflow.over} tokens over the budget"
        except JitchatError as error:
            return f"; the cost is unknown: {error}"
        cost = self._session.comparison(window).cost
        priced = f": {cost}, plus the answer" if cost else ", free"
        return f"; this sends {window.used_figure} tokens{priced}"

    def _chosen_size(self) -> tuple[Budget | None, str]:
        return size_of(self._most.value, self._session.options.budget)

    @on(Input.Submitted)
    def action_send(self) -> None:
        """Close with the choice, or say why the size is invalid."""
        size, refusal = self._chosen_size()
        if refusal:
            self._refusal.update(refusal)
        else:
            once = again(self._message, size)
            self.dismiss(SendAgain(self._message, self._mode, once))


def size_of(typed: str, budget: Budget) -> tuple[Budget | None, str]:
    """Parse a number of tokens. Return a budget of that size, None for `budget`, and any error."""
    if not typed.strip():
        return None, ""
    try:
        wanted = int(typed)
    except ValueError:
        wanted = 0
    if 0 < wanted <= budget.budget:
        return budget.of_size(wanted), ""
    return None, f"The size must be from 1 to {budget.budget:,} tokens."


def again(message: Turn, budget: Budget | None) -> Once:
    """Locate the new reply: next to the old one or, without one, at its position."""
    if message.status is not Status.UNANSWERED:
        return Once(again=message, budget=budget)
    return Once(after=parent_of(message), budget=budget)


class Tab(Static):
    async def on_click(self) -> None:
        await self.run_action(f"screen.tab('{self.name}')")


class SentWindowsView(View):
    """Shows any send of the conversation, and can answer its message again."""

    EXPLAINED = "Every request sent, as it was. Enter goes to its parts."
    BINDINGS = [  # noqa: RUF012  Textual's own shape
        Binding("left", "step(-1)", "Earlier", priority=True, id="sends_earlier"),
        Binding("right", "step(1)", "Later", priority=True, id="sends_later"),
        *(
            Binding(tab[0], f"tab('{tab}')", tab.capitalize(), show=False, id=f"sends_{tab}")
            for tab in _TABS
        ),
        Binding("b", "base", "Base", id="sends_base"),
        Binding("r", "send_again", "Send again", id="sends_again"),
        Binding("g", "go_to", "Turn", id="sends_go_to"),
    ]

    def __init__(self, subject: Subject, window_id: int | None = None) -> None:
        """`window_id` is the archive's id of the window to open; None for the subject's."""
        super().__init__(subject)
        self._window_id = window_id
        memory = subject.session.memory
        self._reader = sent_window_page.SentWindowReader(
            Replay(memory.store, memory.conversation.id)
        )
        self._sent: Sequence[Send] = ()
        self.base: int | None = None
        """The index of the send that others are compared with; None for the previous one."""
        self.sends = TurnTable[Row](self._columns, id="sends", key=lambda row: row.number)
        self._tab = "window"
        self._summary, self._title = Note("send-summary"), Note("send-title")
        self._bar, self._inspector = BudgetBar(classes="-magnified"), Inspector()
        self._table = TurnTable[Any]((), id="send-table")
        self._messages = TextEditor(read_only=True, compact=True, id="send-messages")
        self.page: sent_window_page.Page | None = None
        """The page on screen; None if there is none."""

    def body(self) -> Body:
        yield self.sends
        yield self._summary
        yield self._bar
        with Horizontal(id="send-tabs"):
            for tab in _TABS:
                yield Tab(f" {tab[0].upper()} {tab} ", name=tab, id=f"tab-{tab}")
        with ContentSwitcher(initial="inspector"):
            yield self._inspector
            with Vertical(id="send-rows"):
                yield self._title
                yield self._table
            yield self._messages

    def on_mount(self) -> None:
        self.box.display = False
        self._mark_tab()
        self.load(self._reader.replay.sends, self._show_list, group="list")

    def _columns(self, width: int) -> Sequence[Column[Row]]:
        """Return the columns of all sends, with a mark at the base."""
        mark: Column[Row] = Column("", lambda row: "△" * (row.number - 1 == self.base), 1)
        return (mark, *columns_of(self._sent, width - 2))

    def _show_list(self, sends: list[Send]) -> None:
        self.show_nothing("" if sends else NOTHING)
        if sends:
            self._sent = sends
            self.sends.styles.height = 1 + len(sends)
            self._select(sent_window_page.first_place(sends, self.subject, self._window_id))
            self.sends.list.focus()

    def _select(self, place: int) -> None:
        """Move the cursor to a send; of thousands, list those around it."""
        numbers = [row.number for row in self.sends.rows]
        if place + 1 in numbers:
            self.sends.list.highlighted = numbers.index(place + 1)
        else:
            start = max(0, place - MOST_ROWS // 2)
            around = enumerate(self._sent[start : start + MOST_ROWS], start=start + 1)
            self.sends.show([Row(*numbered) for numbered in around][::-1], at=place + 1)

    @property
    def place(self) -> int | None:
        """The index of the selected send; None if there is none."""
        return self.sends.row.number - 1 if self.sends.row is not None else None

    @on(OptionList.OptionHighlighted, "#sends PointedList")
    def _read(self) -> None:
        """Read the requested page; earlier requests are dropped."""
        if self.place is None:
            return
        self.box.add_class("-loading")
        sent = self.subject.sent if self.subject.is_busy() else None
        answering = sent.position if sent is not None else None
        request = sent_window_page.PageRequest(self.place, self.base, self._tab, answering)
        read = partial(self._reader.page, self._sent, request)
        self.load(read, self._show, refuse=self._show_refusal, group="page")

    def _show(self, page: sent_window_page.Page) -> None:
        self.box.remove_class("-loading")
        before, self.page = self.page, page
        replayed, tab = page.replayed, page.request.tab
        if before is None or before.replayed is not replayed:
            self._summary.update(page.summary)
            self._bar.window = replayed.window
            self._inspector.show(replayed.window, sent=True, usage=replayed.send.usage)
        if tab == "messages":
            self._messages.load_text(page.messages)
        elif tab != "window":
            self._title.show(page.table.title)
            self._table.show(page.table.items, columns=page.table.columns)

    def _show_refusal(self, error: JitchatError) -> None:
        self.box.remove_class("-loading")
        self.page = None
        self._summary.update(Content(str(error)))
        self._bar.window = None
        self._inspector.clear()
        self._clear()

    def _clear(self) -> None:
        """Clear the rows and messages of the previous send."""
        self._title.show("")
        self._table.show([], columns=())
        self._messages.load_text("")

    def action_step(self, by: int) -> None:
        """Go to an earlier or later send; later ones are above."""
        if self.place is not None:
            self._select(min(max(self.place + by, 0), len(self._sent) - 1))

    @on(OptionList.OptionSelected, "#sends PointedList")
    def action_into_pane(self) -> None:
        if self._tab == "window":
            self._inspector.query_one("#segments").focus()
        elif self._tab == "messages":
            self._messages.focus()
        else:
            self._table.list.focus()

    def action_tab(self, name: str) -> None:
        self._tab = name
        self.query_one(ContentSwitcher).current = _TABS[name]
        self._mark_tab()
        self._clear()
        self._read()

    def _mark_tab(self) -> None:
        for tab in self.query(Tab):
            tab.set_class(tab.name == self._tab, "-on")

    def action_base(self) -> None:
        """Make this send the base for comparison; pressed again, use the previous send."""
        self.base = None if self.base == self.place else self.place
        self.sends.show(self.sends.rows)
        self.action_tab("diff")

    def action_go_to(self) -> None:
        if self.page is not None:
            self.dismiss(GoTo(self.page.replayed.said.position))

    def action_send_again(self) -> None:
        """Ask for mode and size before anything is sent."""
        if self.page is not None:
            self.open_over(SendAgainScreen(self.subject.session, self.page.replayed))

    @on(Inspector.RowOpened)
    def _row_opened(self, message: Inspector.RowOpened) -> None:
        memory = self.subject.session.memory
        place = memory.store, memory.conversation.id
        self.load(lambda: exact.row_screen(message, *place), self.open_over, group="row")

    def copyable(self) -> str:
        """Write the send and the visible table, or all of its messages."""
        if self.page is None:
            return ""
        window, tab = self.page.replayed.window, self.page.request.tab
        if tab == "messages":
            return self._messages.selected_text or sent_window_page.message_text(window)
        lines = [self.page.table.title, *self._table.text()]
        if tab == "window":
            lines = [*sent_window_page.window_lines(window)]
        return "\n".join([self.page.summary.plain, *filter(None, lines)])
