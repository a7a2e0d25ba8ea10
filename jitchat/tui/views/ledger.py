"""What the ledger view has done in threads: planning, looking up, pinning. They post messages."""

from collections.abc import Callable, Iterable
from dataclasses import dataclass, replace
from functools import partial

from textual import on, work
from textual.binding import Binding
from textual.content import Content
from textual.message import Message
from textual.widget import Widget
from textual.widgets import Input, OptionList, Static

from jitchat.errors import JitchatError
from jitchat.text.sanitize import for_terminal
from jitchat.tui.views.ledger_table import (
    Found,
    LedgerTable,
    Marked,
    Order,
    Part,
    Wanted,
    change_line,
    count_line,
    header,
    legend,
    listed,
    never_line,
    note_of,
    plain,
    row_asked_for,
    row_of,
    ruled,
    sums_line,
    why_empty,
)
from jitchat.tui.views.view import Another, GoTo, Outcome, Planned, Subject, View
from jitchat.why import Explained, Why, why
from jitchat.window.steering import Hold, HoldChange, Once
from jitchat.window.window import ContextWindow


class LedgerWork(View):
    """A view whose work is done off the event loop; what is outdated is for it to drop."""

    @dataclass
    class Looked(Message):
        """A window with what belongs to it, or why there is none."""

        serial: int
        outcome: Found | JitchatError

    @dataclass
    class Answered(Message):
        """Why a turn is there or not."""

        serial: int
        outcome: Why | JitchatError
        line: str = ""
        """Its index line; empty where there is none."""

    @dataclass
    class HoldMade(Message):
        """A turn was pinned or excluded, or that was taken back; or it could not be."""

        outcome: HoldChange | JitchatError | None
        """None where no finished turn is there."""

    @work(thread=True, exclusive=True, group="ledger")
    def look(self, serial: int, once: Once, window: ContextWindow | None) -> None:
        """Plan, unless a window is given, and read the index lines of its ledger."""
        subject, session = self.subject, self.subject.session
        outcome: Found | JitchatError
        try:
            planned = window or session.preview(subject.draft, subject.mode, once)
            entries = session.memory.index.entries({row.turn for row in planned.ledger})
            lines = {entry.turn: entry.summary for entry in entries}
            outcome = Found(planned, lines, Marked(session.steering, once))
        except JitchatError as error:
            outcome = error
        self.post_message(self.Looked(serial, outcome))

    @work(thread=True, exclusive=True, group="why")
    def ask(self, serial: int, turn: int, found: Found) -> None:
        """Tell why a turn is in a window, or why not."""
        subject, session = self.subject, self.subject.session
        draft = subject.sent.content if subject.sent is not None else subject.draft
        kept_out = session.keeps_out(found.marked.once) if subject.sent is None else ()
        outcome: Why | JitchatError
        try:
            explained = Explained(found.window, draft, subject.sent, kept_out)
            outcome = why(session.memory, explained, turn)
            line = "".join(entry.summary for entry in session.memory.index.entries([turn]))
        except JitchatError as error:
            outcome, line = error, ""
        self.post_message(self.Answered(serial, outcome, line))

    @work(group="hold")
    async def hold(self, turn: int, hold: Hold | None, *, undoes: bool = False) -> None:
        """Pin or exclude a turn, or undo that, in the order of the keys."""
        pins, session = self.subject.pins, self.subject.session
        outcome: HoldChange | JitchatError | None
        try:
            outcome = await pins.change(session, turn, hold, undoes=undoes)
        except JitchatError as error:
            outcome = error
        except LookupError:
            outcome = None
        self.post_message(self.HoldMade(outcome))


_SENT = "This window was sent and stays as it is. Close the view to steer the next one."


class LedgerView(LedgerWork):
    """What was considered, what it scored, and what became of it."""

    CSS_PATH = ["view.tcss", "ledger.tcss"]  # noqa: RUF012  Textual's own shape
    NAME = "Ledger"
    EXPLAINED = "Every turn that was considered: its score, its price, why it is in or out."
    BINDINGS = [  # noqa: RUF012  Textual's own shape
        Binding("slash", "find", "Why", id="ledger_find", key_display="/"),
        Binding("s", "sort", "Sort", id="ledger_sort"),
        Binding("i", "part('in the window')", "In", id="ledger_in"),
        Binding("o", "part('left out')", "Out", id="ledger_out"),
        Binding("space", "toggle_once", "Once", id="ledger_once", key_display="␣"),
        Binding("p", "hold('pinned')", "Pin", id="ledger_pin"),
        Binding("x", "hold('excluded')", "Exclude", id="ledger_exclude"),
        Binding("u", "undo", "Undo", id="ledger_undo"),
    ]

    def __init__(self, subject: Subject) -> None:
        super().__init__(subject)
        self._once, self._is_steered = subject.once, False
        self._holds = 0
        """Pins and exclusions of which it is not known yet what came of them."""
        self._leaves: Callable[[], None] | None = None
        """What is to be done when that is known."""
        marked, window = Marked(once=subject.once), subject.window
        self._found = Found(window, marked=marked) if window is not None else None
        self._serial = self._asked = 0
        self._wanted = Wanted()
        self._given: str | None = None
        """The text that the view was opened with; None without one."""
        self._why: Why | None = None
        """The answer for the turn that is asked for."""
        self._sums, self._change = Static(id="ledger-sums"), Static(id="ledger-change")
        self._answer, self._note = Static(id="ledger-answer"), Static(id="ledger-note")
        self._header, self._table = Static(Content(header()), id="ledger-header"), LedgerTable()
        self._input = Input(placeholder="text, or #id: why, or why not?", id="ledger-text")

    def body(self) -> Iterable[Widget]:
        """Sums, what is looked for and the answer, the table, all that is known of one row."""
        yield self._sums
        yield self._change
        yield self._input
        yield self._answer
        yield Static(legend(), id="ledger-legend")
        yield self._header
        yield self._table
        yield self._note

    def on_mount(self) -> None:
        """What is on the chat's screen is shown at once."""
        self.watch(self._table, "parts", self._name_columns)
        self._table.focus()
        sent = self.subject.sent
        which = f"the window sent for #{sent.position}" if sent is not None else "the next window"
        self.query_one("#view-frame").border_title = f"{self.NAME} of {which}"
        if self._found is not None:
            self._show(self._found)
        self._look_now(self.subject.window)
        if self.subject.explained:
            self.call_after_refresh(self.ask_about, f"#{self.subject.explained}")

    def _name_columns(self, parts: tuple[str, ...]) -> None:
        self._header.update(Content(header(parts)))

    def copyable(self) -> str:
        """Write the table, and the note on the row under the cursor."""
        told = (self._sums, self._answer, self._header)
        lines = [str(each.content) for each in told if each.display]
        return plain([*lines, *self._table.text(), "", str(self._note.content)])

    def action_close(self) -> None:
        """Leave a text that was typed first, then the view.

        What was steered is planned by the chat, too.
        """
        if self._input.has_focus and self._input.value != self._given:
            self._input.value = ""
            self._leave_text()
        else:
            self._leave(lambda planned: planned)

    def action_another(self, name: str) -> None:
        """On to another view, which shows what was steered here."""
        self._leave(lambda planned: Another(name, planned))

    def action_find(self) -> None:
        """Type a text or a turn's #id."""
        self._input.display = True
        self._input.focus()

    def ask_about(self, text: str) -> None:
        """Look for a text, or ask for a turn by its #id."""
        self.action_find()
        self._input.value = self._given = text

    def action_sort(self) -> None:
        """By the next column."""
        orders = list(Order)
        after = orders[(orders.index(self._wanted.order) + 1) % len(orders)]
        self._want(replace(self._wanted, order=after))

    def action_part(self, part: str) -> None:
        """One part of the rows; again, all of them."""
        wanted = Part(part)
        part_now = Part.ALL if self._wanted.part is wanted else wanted
        self._want(replace(self._wanted, part=part_now))

    def action_toggle_once(self) -> None:
        """Out of this message or into it, and no further."""
        row, found = self._table.row, self._found
        if found is None or row is None or not self._may_steer():
            return
        if row.turn in found.marked.steering.excluded:
            self.notify(f"#{row.turn} is excluded: X takes that back.", markup=False)
            return
        self._once = self._once.toggled(row.turn, is_there=row.is_there)
        self._is_steered = True
        self._look_now()

    def action_hold(self, hold: str) -> None:
        """Pin or exclude the turn until that is taken back; a second time takes it back."""
        if self._table.row is not None and self._may_steer():
            self._hold(self._table.row.turn, Hold(hold))

    def action_undo(self) -> None:
        """Take the last pin or exclusion back, made here or in the chat."""
        if not self._may_steer():
            return
        if not self.subject.pins.changes:
            self.notify("Nothing was pinned or excluded since this was opened.", markup=False)
        else:
            last = self.subject.pins.changes.pop()
            self._hold(last.turn, last.before, undoes=True)

    @on(Input.Changed)
    def _text_changed(self, event: Input.Changed) -> None:
        self._asked += 1
        self._why = None
        self._answer.display = False
        self._want(replace(self._wanted, text=event.value))
        self._ask_now()

    @on(Input.Submitted)
    def _leave_text(self) -> None:
        """Back to the table, which keeps to the text."""
        self._input.display = bool(self._input.value)
        self._table.focus()

    @on(OptionList.OptionSelected)
    def _go_to(self) -> None:
        row = self._table.row
        if row is not None:
            self._leave(lambda planned: GoTo(row.turn, planned))

    @on(OptionList.OptionHighlighted)
    def _show_note(self) -> None:
        """All of the row under the cursor."""
        if self._found is None:
            return
        row, found = self._table.row, self._found
        never = never_line(found.window)
        line = found.lines.get(row.turn, "") if row is not None else ""
        self._note.update(Content(note_of(row, line, found.marked) if row is not None else never))

    @on(LedgerWork.Looked)
    def _looked(self, message: LedgerWork.Looked) -> None:
        """Show what was planned, unless it was asked for anew."""
        if message.serial != self._serial:
            return
        if isinstance(message.outcome, JitchatError):
            self._found = None
            self._table.clear_options()
            self._note.update(Content())
            self.show_nothing(str(message.outcome))
            return
        before, self._found = self._found, message.outcome
        if before is not None and self._is_steered and before.window != message.outcome.window:
            self._tell_change(before.window, message.outcome.window)
        self._show(message.outcome)
        self._ask_now()

    @on(LedgerWork.Answered)
    def _answered(self, message: LedgerWork.Answered) -> None:
        if message.serial != self._asked:
            return
        outcome = message.outcome
        self._answer.update(Content(for_terminal(str(outcome))))
        self._answer.display = True
        self._why = outcome if isinstance(outcome, Why) else None
        if self._why is not None and self._found is not None:
            lines = {**self._found.lines, self._why.turn: message.line}
            self._found = replace(self._found, lines=lines)
        self._fill()

    @on(LedgerWork.HoldMade)
    def _hold_made(self, message: LedgerWork.HoldMade) -> None:
        self._holds -= 1
        if isinstance(message.outcome, JitchatError):
            self.tell(message.outcome)
        elif message.outcome is not None:
            self._look_now()
        if self._leaves is not None:
            self._leaves()

    def _hold(self, turn: int, hold: Hold | None, *, undoes: bool = False) -> None:
        self._is_steered = True
        self._holds += 1
        self.hold(turn, hold, undoes=undoes)

    def _leave(self, outcome: Callable[[Planned | None], Outcome | None]) -> None:
        """Leave once it is known what came of a pin, for the chat plans with it."""
        if self._holds:
            self._leaves = partial(self._leave, outcome)
        else:
            self.dismiss(outcome(Planned(self._once) if self._is_steered else None))

    def _may_steer(self) -> bool:
        if self.subject.sent is not None:
            self.notify(_SENT, markup=False)
        return self.subject.sent is None

    def _show(self, found: Found) -> None:
        self.show_nothing(why_empty(found.window))
        self._sums.update(Content(sums_line(found.window)))
        self._fill()

    def _tell_change(self, before: ContextWindow, after: ContextWindow) -> None:
        self._change.update(Content(change_line(before, after)))
        self._change.display = True

    def _want(self, wanted: Wanted) -> None:
        self._wanted = wanted
        self._fill()

    def _fill(self) -> None:
        """Rows as they are wanted; a turn that was asked for stands among them."""
        found, wanted = self._found, self._wanted
        if found is None:
            return
        rows = [row_of(row) for row in found.window.ledger]
        extra = row_asked_for(self._why) if self._why is not None else None
        shown = listed([*rows, *([extra] if extra else [])], wanted, found.lines)
        is_ruled = wanted.order is Order.RANK and bool(shown) and not wanted.text
        items = ruled(shown, found.window) if is_ruled else shown
        is_whole = wanted.part is not Part.IN and not wanted.text
        self._table.fill(list(items), found, with_sum=is_whole, at=wanted.turn)
        count = count_line(len(shown), len(rows))
        frame = self.query_one("#view-frame")
        frame.border_subtitle = f"by {wanted.order} · {wanted.part} · {count}"
        self._show_note()

    def _look_now(self, window: ContextWindow | None = None) -> None:
        self._serial += 1
        self.look(self._serial, self._once, window)

    def _ask_now(self) -> None:
        turn = self._wanted.turn
        if turn is not None and self._found is not None:
            self._asked += 1
            self.ask(self._asked, turn, self._found)
