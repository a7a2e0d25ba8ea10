"""Every window that was sent, as it was, and the differences between two of them."""

import asyncio
from collections.abc import Iterator, Sequence
from dataclasses import dataclass
from functools import partial
from typing import Any

from textual import events, on, work
from textual.app import ComposeResult
from textual.binding import Binding
from textual.containers import Horizontal, Vertical
from textual.reactive import reactive
from textual.widget import Widget
from textual.widgets import ContentSwitcher, Input, Static

from jitchat.errors import JitchatError, WindowOverflow
from jitchat.replay import Replay, Replayed
from jitchat.session import Session
from jitchat.store.path import parent_of
from jitchat.store.windows import Send
from jitchat.text.figures import plural
from jitchat.text.sanitize import one_line
from jitchat.tui.dialogs import exact
from jitchat.tui.dialogs.dialog import Dialog, box
from jitchat.tui.drawing import Content
from jitchat.tui.figures import PART_BARS, used_figure
from jitchat.tui.views import sent_window_page
from jitchat.tui.views.view import Body, GoTo, Note, SendAgain, Subject, View, mode_keys
from jitchat.tui.widgets.budget_bar import BudgetBar
from jitchat.tui.widgets.inspector import Inspector
from jitchat.tui.widgets.text_editor import TextEditor
from jitchat.tui.widgets.turn_table import TurnTable
from jitchat.values import Mode, Status, Turn
from jitchat.window.budget import Budget
from jitchat.window.cost import window_cost
from jitchat.window.steering import Once

FAR_STEPS = (
    Binding("home", "go(0)", show=False),
    Binding("end", "go(-1)", show=False),
    Binding("pageup", "step(-10)", show=False),
    Binding("pagedown", "step(10)", show=False),
)
"""Keys that move far among sends."""
NOTHING = "Nothing has been sent yet. Every window that is sent is kept and shown here."
_TABS = {
    "window": "inspector",
    "ledger": "send-rows",
    "diff": "send-rows",
    "messages": "send-messages",
}
"""For each tab, whose key is its first letter, the id of its pane."""
_WIDEST = 4
"""Columns of a mark and its gap if there are few."""


@dataclass(frozen=True, slots=True)
class Strip:
    """Which sends are visible, and where."""

    start: int
    """The first visible send, from 0."""
    stop: int
    step: int
    """Columns from one mark to the next."""

    @property
    def bar(self) -> int:
        """Columns of one mark, without its gap."""
        return max(1, self.step - 1)

    def column(self, place: int) -> int:
        """Return the first column of a send's mark; an arrow for more comes before the first."""
        return 1 + (place - self.start) * self.step

    def place_at(self, column: int) -> int | None:
        """Return the send whose mark is at a column; None outside the marks."""
        place = self.start + (column - 1) // self.step
        return place if column > 0 and place < self.stop else None


def strip_of(count: int, place: int, width: int) -> Strip:
    """Fit `count` marks around the one at `place` into `width` columns, two of them for arrows."""
    room = max(1, width - 2)
    step = max(1, min(_WIDEST, room // max(1, count)))
    fitting = room // step
    start = min(max(0, place - fitting // 2), max(0, count - fitting))
    return Strip(start, min(count, start + fitting), step)


def bar_lines(sizes: Sequence[int], largest: int, strip: Strip, height: int) -> list[str]:
    """Draw marks in `height` lines, scaled to the `largest`; the smallest has one eighth."""
    steps = len(PART_BARS)
    levels = [
        max(1, size * height * steps // max(1, largest)) for size in sizes[strip.start : strip.stop]
    ]
    gap = " " * (strip.step - strip.bar)
    lines: list[str] = []
    for row in range(height - 1, -1, -1):
        cells = (max(0, min(steps, level - row * steps)) for level in levels)
        lines.append(
            "".join((PART_BARS[cell - 1] if cell else " ") * strip.bar + gap for cell in cells)
        )
    return lines


class Scrubber(Widget, can_focus=True):
    """Every send as a bar, for moving between them."""

    COMPONENT_CLASSES = {"scrubber--bar", "scrubber--here", "scrubber--base"}  # noqa: RUF012  Textual's own shape

    sends: reactive[tuple[Send, ...]] = reactive(())
    place: reactive[int] = reactive(0)
    """The selected send, from 0."""
    base: reactive[int | None] = reactive(None)
    """The send that it is compared with; None if there is none."""

    def __init__(self) -> None:
        super().__init__(id="scrubber")
        self._sizes: list[int] = []
        self._largest = 0

    def watch_sends(self) -> None:
        """Sum up the windows once: there can be thousands."""
        self._sizes = [send.used for send in self.sends]
        self._largest = max(self._sizes, default=0)

    def render(self) -> Content:
        if not self.sends:
            return Content()
        strip = strip_of(len(self.sends), self.place, self.size.width)
        height = max(1, self.size.height - 2)
        bars = bar_lines(self._sizes, self._largest, strip, height)
        shown = self.sends[strip.start : strip.stop]
        letters = "".join(send.mode[0].ljust(strip.step) for send in shown)
        pointers = [" "] * strip.column(strip.stop)
        for _, sign, column in self._marked(strip):
            pointers[column : column + strip.bar] = sign * strip.bar
        lines = [
            *(self._line(line, strip, "scrubber--bar") for line in bars),
            self._line(letters, strip, ""),
            Content("".join(pointers).rstrip()),
        ]
        return Content("\n").join(lines)

    def _marked(self, strip: Strip) -> Iterator[tuple[str, str, int]]:
        """List name, sign and first column of the base send and of the selected one."""
        for name, sign, place in (("base", "△", self.base), ("here", "▲", self.place)):
            if place is not None and strip.start <= place < strip.stop:
                yield name, sign, strip.column(place)

    def _line(self, text: str, strip: Strip, name: str) -> Content:
        """Add arrows at the ends if there are more, and colour the selected and the base send."""
        before = "‹" if strip.start > 0 else " "
        after = "›" if strip.stop < len(self.sends) else ""
        line = Content(f"{before}{text[: strip.column(strip.stop) - 1]}{after}")
        line = line.stylize(self.get_visual_style(name)) if name else line
        for marked, _, column in self._marked(strip):
            style = self.get_visual_style(f"scrubber--{marked}")
            line = line.stylize(style, column, column + strip.bar)
        return line

    async def on_click(self, event: events.Click) -> None:
        place = strip_of(len(self.sends), self.place, self.size.width).place_at(event.x)
        if place is not None:
            await self.run_action(f"screen.go({place})")


_KEYS = mode_keys({Mode.RECENCY: "y"})
"""Keys of the modes. R is not available: it opened this dialog."""
_MODES = list(Mode)
_EXPLAINED = (
    "The message is answered again at its position, next to its existing reply."
    " Nothing is overwritten. /model in the chat changes the model."
)


class ModeChoice(Static):
    """One line per mode; the selected one has a dot."""

    mode: reactive[Mode] = reactive(Mode.JIT)

    def render(self) -> Content:
        signs = {mode: "●" if mode is self.mode else "○" for mode in Mode}
        lines = (f"{signs[mode]} {key.upper()} {mode}" for mode, key in _KEYS.items())
        return Content("\n".join(lines))

    def on_click(self, event: events.Click) -> None:
        if event.y < len(_MODES):
            self.mode = _MODES[event.y]


class BudgetInput(Input):
    """An input for a number, which leaves letters to the screen's bindings."""

    def check_consume_key(self, key: str, character: str | None) -> bool:
        return key not in _KEYS.values() and super().check_consume_key(key, character)


class SendAgainScreen(Dialog[SendAgain | None]):
    CSS_PATH = [*Dialog.CSS_PATH, "sent_windows.tcss"]  # noqa: RUF012  Textual's own shape
    BINDINGS = [  # noqa: RUF012  Textual's own shape
        Binding("escape", "dismiss", "Close", id="send_again_close"),
        Binding("enter", "send", "Send", priority=True, id="send_again_send"),
        Binding("down", "step(1)", show=False),
        Binding("up", "step(-1)", show=False),
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
        self._choice = ModeChoice()
        self._choice.mode = replayed.send.mode
        self._budget = BudgetInput(
            placeholder=f"Budget in tokens; {session.options.budget.budget:,} if empty",
            type="integer",
            compact=True,
            id="again-budget",
        )

    def compose(self) -> ComposeResult:
        keys = " · ".join(f"{key.upper()} {mode}" for mode, key in _KEYS.items())
        with box(f"Send #{self._message.position} again", f"{keys} · Enter send · Esc close"):
            yield Note(None, "again-note", _EXPLAINED)
            yield self._choice
            yield self._budget
            yield self._estimate
            yield self._refusal

    def on_mount(self) -> None:
        self._budget.focus()
        self.watch(self._choice, "mode", self._estimate_cost)

    def action_mode(self, mode: str) -> None:
        self._choice.mode = Mode(mode)

    @on(Input.Changed)
    def _estimate_cost(self) -> None:
        self._show_cost()

    @work(exclusive=True)
    async def _show_cost(self) -> None:
        size, _ = self._chosen_size()
        sentence = await asyncio.to_thread(self._cost_sentence, self._choice.mode, size)
        self._estimate.update(one_line(f"{self._who}{sentence}."))

    def _cost_sentence(self, mode: Mode, size: Budget | None) -> str:
        prices = self._session.options.prices
        try:
            window = self._session.preview(self._message.content, mode, again(self._message, size))
        except WindowOverflow as overflow:
            over = plural(overflow.overshoot, "token")
            return f"; the window does not fit: {over} over the budget"
        except JitchatError as error:
            return f"; the cost is unknown: {error}"
        cost = window_cost(window, prices.of_input if prices is not None else lambda _: None)
        answer = "" if cost == "free" else ", plus the answer"
        return f"; this sends {used_figure(window)} tokens: {cost}{answer}"

    def _chosen_size(self) -> tuple[Budget | None, str]:
        budget = self._session.options.budget
        most = max(budget.limit, self._session.model_limit) - budget.reserve
        return budget_of(self._budget.value, budget, most)

    def action_step(self, by: int) -> None:
        at = _MODES.index(self._choice.mode)
        self._choice.mode = _MODES[(at + by) % len(_MODES)]

    @on(Input.Submitted)
    def action_send(self) -> None:
        """Close with the choice, or say why the budget is invalid."""
        size, refusal = self._chosen_size()
        if refusal:
            self._refusal.update(refusal)
        else:
            once = again(self._message, size)
            self.dismiss(SendAgain(self._message, self._choice.mode, once))


def budget_of(typed: str, budget: Budget, most: int) -> tuple[Budget | None, str]:
    """Parse a number of tokens. Return the budget, None for the session's own, and any error.

    `most` is the model's limit less the reserve, even if the user has set a smaller limit.
    """
    if not typed.strip():
        return None, ""
    try:
        wanted = int(typed)
    except ValueError:
        wanted = 0
    if 0 < wanted <= most:
        return budget.of_size(wanted), ""
    return None, f"The budget must be from 1 to {most:,} tokens."


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

    NAME = "Sent windows"
    EXPLAINED = "Every request sent: the height is its size, the letter its mode."
    BINDINGS = [  # noqa: RUF012  Textual's own shape
        Binding("left", "step(-1)", "Earlier", priority=True, id="sends_earlier"),
        Binding("right", "step(1)", "Later", priority=True, id="sends_later"),
        Binding("down,enter", "into_pane", show=False),
        *(
            Binding(tab[0], f"tab('{tab}')", tab.capitalize(), show=False, id=f"sends_{tab}")
            for tab in _TABS
        ),
        Binding("b", "base", "Base", id="sends_base"),
        Binding("r", "send_again", "Send again", id="sends_again"),
        Binding("g", "go_to", "Turn", id="sends_go_to"),
        *FAR_STEPS,
    ]

    def __init__(self, subject: Subject, window_id: int | None = None) -> None:
        """`window_id` is the archive's id of the window to open; None for the subject's."""
        super().__init__(subject)
        self._window_id = window_id
        memory = subject.session.memory
        self._reader = sent_window_page.SentWindowReader(
            Replay(memory.store, memory.conversation.id)
        )
        self._scrubber = Scrubber()
        self._tab = "window"
        self._summary, self._title = Note("send-summary"), Note("send-title")
        self._bar, self._inspector = BudgetBar(), Inspector()
        self._table = TurnTable[Any]((), id="send-table")
        self._messages = TextEditor(read_only=True, compact=True, id="send-messages")
        self.page: sent_window_page.Page | None = None
        """The page on screen; None if there is none."""

    def body(self) -> Body:
        yield self._scrubber
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

    def _show_list(self, sends: list[Send]) -> None:
        self.show_nothing("" if sends else NOTHING)
        if sends:
            self._scrubber.sends = tuple(sends)
            self._scrubber.focus()
            self.action_go(sent_window_page.first_place(sends, self.subject, self._window_id))

    def _read(self) -> None:
        """Read the requested page; earlier requests are dropped."""
        scrubber = self._scrubber
        if not scrubber.sends:
            return
        self.box.add_class("-loading")
        sent = self.subject.sent if self.subject.is_busy() else None
        answering = sent.position if sent is not None else None
        request = sent_window_page.PageRequest(scrubber.place, scrubber.base, self._tab, answering)
        read = partial(self._reader.page, scrubber.sends, request)
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
        scrubber = self._scrubber
        if scrubber.sends:
            self.action_go(max(0, min(len(scrubber.sends) - 1, scrubber.place + by)))

    def action_go(self, place: int) -> None:
        """Select a send; -1 is the last."""
        if self._scrubber.sends:
            self._scrubber.place = place % len(self._scrubber.sends)
            self._read()

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
        scrubber = self._scrubber
        scrubber.base = None if scrubber.base == scrubber.place else scrubber.place
        self.action_tab("diff")

    def action_go_to(self) -> None:
        if self.page is not None:
            self.dismiss(GoTo(self.page.replayed.said.position))

    def action_send_again(self) -> None:
        """Ask for mode and budget before anything is sent."""
        if self.page is not None:
            self.open_over(SendAgainScreen(self.subject.session, self.page.replayed))

    @on(Inspector.RowOpened)
    def _row_opened(self, message: Inspector.RowOpened) -> None:
        text, note = message.text, message.note
        self.open_over(exact.ExactScreen(message.title, text, note, leads_to=message.source))

    @on(Inspector.TurnOpened)
    def _whole_turn_opened(self, message: Inspector.TurnOpened) -> None:
        memory = self.subject.session.memory
        self.open_over(exact.turn_screen(message, memory.store, memory.conversation.id))

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
