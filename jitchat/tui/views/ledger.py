"""The ledger of a window: every candidate, its scores, its verdict and the reason."""

from collections.abc import Callable, Mapping
from contextlib import suppress
from dataclasses import dataclass, replace
from functools import partial

from textual import on, work
from textual.binding import Binding
from textual.widgets import Input, Static
from textual.worker import Worker

from jitchat.errors import JitchatError
from jitchat.text.figures import plural
from jitchat.tui.drawing import MUTED
from jitchat.tui.figures import identity_sentence
from jitchat.tui.views import ledger_rows
from jitchat.tui.views.table_view import TableView
from jitchat.tui.views.view import Another, Body, GoTo, Note, Outcome, Planned, Subject
from jitchat.tui.widgets.turn_table import Line, TurnTable
from jitchat.why import Explained, Why, why
from jitchat.window.steering import Hold, Once
from jitchat.window.window import ContextWindow

_SENT = "This window was already sent. Close the view to steer the next one."


@dataclass(frozen=True, slots=True)
class Ledger:
    """A window with the index lines and marks of its ledger."""

    window: ContextWindow
    lines: Mapping[int, str]
    """Index lines, by turn."""
    marks: ledger_rows.Marks


class LedgerView(TableView[ledger_rows.Row]):
    EXPLAINED = "Every turn considered: its score, its tokens, and why it is in or out."
    BINDINGS = [  # noqa: RUF012  Textual's own shape
        Binding("slash", "find", "Why", id="ledger_find", key_display="/"),
        Binding("s", "sort", "Sort", id="ledger_sort"),
        Binding("i", "part('in the window')", "In", id="ledger_in"),
        Binding("o", "part('left out')", "Out", id="ledger_out"),
        Binding("space", "on_row('toggle_once')", "Once", id="ledger_once", key_display="␣"),
        Binding("p", "on_row('pin')", "Pin", id="ledger_pin"),
        Binding("x", "on_row('exclude')", "Exclude", id="ledger_exclude"),
        Binding("u", "undo", "Undo", id="ledger_undo"),
    ]

    def __init__(self, subject: Subject) -> None:
        table = TurnTable[ledger_rows.Row](
            (),
            id="ledger-table",
            key=lambda row: row.turn,
            style=lambda row: "" if row.is_there else MUTED,
        )
        super().__init__(subject, table, "ledger")
        self._once, self._is_steered = subject.once, False
        self._holds: list[Worker[None]] = []
        """Pending writes of pins and exclusions."""
        window = subject.window
        self._ledger: Ledger | None = None
        if window is not None:
            self._ledger = Ledger(window, {}, ledger_rows.Marks(once=subject.once))
        self._listing = ledger_rows.Listing()
        self._given: str | None = None
        """The text that the view was opened with; None if there was none."""
        self._why: Why | None = None
        """The explanation of the turn asked about."""
        self._sums, self._change = Note("ledger-sums"), Note("ledger-change")
        self._legend = Static(ledger_rows.legend(window), id="ledger-legend")
        self._answer = Note("ledger-answer")
        self._input = Input(placeholder="text to find, or #12 for why or why not", id="ledger-text")

    def body(self) -> Body:
        return (
            self._sums,
            self._change,
            self._input,
            self._answer,
            self._legend,
            self.table,
            self.note,
        )

    def read(self) -> None:
        """Show the chat's window at once; its index lines follow."""
        sent = self.subject.sent
        which = f"the window sent for #{sent.position}" if sent is not None else "the next window"
        self.frame.border_title = f"{self.NAME} of {which}"
        if self._ledger is not None:
            self._show(self._ledger)
        self._plan(self.subject.window)
        if self.subject.explained:
            self.call_after_refresh(self.ask_about, f"#{self.subject.explained}")

    def copyable(self) -> str:
        head = [str(part.content) for part in (self._sums, self._answer) if part.display]
        lines = [*head, *self.table.text(), str(self.note.content)]
        return "\n".join(line.rstrip() for line in lines if line.strip())

    def action_close(self) -> None:
        """Clear a typed text first, then close the view."""
        if self._input.has_focus and self._input.value != self._given:
            self._input.value = ""
            self._leave_text()
        else:
            self._leave(lambda planned: planned)

    def action_another(self, name: str) -> None:
        self._leave(lambda planned: Another(name, planned))

    @work(group="leave")
    async def _leave(self, outcome: Callable[[Planned | None], Outcome | None]) -> None:
        """Close once all pins are written, since the chat re-plans with them."""
        for writing in self._holds:
            await writing.wait()
        self.dismiss(outcome(Planned(self._once) if self._is_steered else None))

    def action_find(self) -> None:
        self._input.display = True
        self._input.focus()

    def ask_about(self, text: str) -> None:
        """Find a text, or explain a turn by its #id."""
        self.action_find()
        self._input.value = self._given = text

    def action_sort(self) -> None:
        orders = list(ledger_rows.Order)
        after = orders[(orders.index(self._listing.order) + 1) % len(orders)]
        self._fill(replace(self._listing, order=after))

    def action_part(self, name: str) -> None:
        """List one part of the rows; pressed again, all."""
        part = ledger_rows.Part.ALL if self._listing.part == name else ledger_rows.Part(name)
        self._fill(replace(self._listing, part=part))

    def toggle_once(self, row: ledger_rows.Row) -> None:
        """Exclude the turn from this message only, or include it."""
        if not self._may_steer():
            return
        if row.turn in self.subject.session.steering.excluded:
            self.say(f"#{row.turn} is excluded; X undoes that.")
        else:
            self._once = self._once.toggled(row.turn, is_there=row.is_there)
            self._is_steered = True
            self._plan()

    def pin(self, row: ledger_rows.Row) -> None:
        """Pin the turn; pressed again, unpin it."""
        if self._may_steer():
            self._hold(row.turn, Hold.PINNED)

    def exclude(self, row: ledger_rows.Row) -> None:
        """Exclude the turn; pressed again, include it."""
        if self._may_steer():
            self._hold(row.turn, Hold.EXCLUDED)

    def action_undo(self) -> None:
        """Undo the last pin or exclusion, made here or in the chat."""
        changes = self.subject.pins.changes
        if not self._may_steer():
            return
        if changes:
            last = changes.pop()
            self._hold(last.turn, last.before, undoes=True)
        else:
            self.say("Nothing to undo: no turn was pinned or excluded.")

    def _may_steer(self) -> bool:
        if self.subject.sent is not None:
            self.say(_SENT)
        return self.subject.sent is None

    def _hold(self, turn: int, hold: Hold | None, *, undoes: bool = False) -> None:
        def change() -> None:
            with suppress(LookupError):  # the turn is gone
                self.subject.pins.make(self.subject.session, turn, hold, undoes=undoes)

        self._is_steered = True
        self._holds.append(self.write(change, lambda _: self._plan()))

    @on(Input.Changed)
    def _look_for_text(self, event: Input.Changed) -> None:
        self._why = None
        self._answer.display = False
        self._fill(replace(self._listing, text=event.value))
        self._explain()

    @on(Input.Submitted)
    def _leave_text(self) -> None:
        """Return to the table, still filtered by the text."""
        self._input.display = bool(self._input.value)
        self.table.list.focus()

    def open_row(self, row: ledger_rows.Row) -> None:
        self._leave(lambda planned: GoTo(row.turn, planned))

    def show_note(self) -> None:
        row, ledger = self.table.row, self._ledger
        if ledger is not None:
            line = self.table.line
            note = line.text if line is not None else ledger_rows.never_line(ledger.window)
            if row is not None:
                note = ledger_rows.note_of(row, ledger.lines.get(row.turn, ""), ledger.marks)
            self.note.update(note)

    def _plan(self, window: ContextWindow | None = None) -> None:
        """Plan a window unless one is given, and read the index lines of its ledger."""
        read = partial(self._planned, self._once, window)
        self.load(read, self._show_planned, refuse=self._show_refusal)

    def _planned(self, once: Once, window: ContextWindow | None) -> Ledger:
        subject, session = self.subject, self.subject.session
        planned = window or session.preview(subject.draft, subject.mode, once)
        entries = session.memory.index.entries({row.turn for row in planned.ledger})
        lines = {entry.turn: entry.summary for entry in entries}
        return Ledger(planned, lines, ledger_rows.Marks(session.steering, once))

    def _show_planned(self, ledger: Ledger) -> None:
        before, self._ledger = self._ledger, ledger
        is_other = before is not None and before.window != ledger.window
        if before is not None and is_other and self._is_steered:
            self._change.show(ledger_rows.change_line(before.window, ledger.window))
        self._show(ledger)
        self._explain()

    def _show_refusal(self, error: JitchatError) -> None:
        self._ledger = None
        self.table.show([])
        self.note.update()
        self.show_nothing(str(error), hides=False)

    def _explain(self) -> None:
        """Explain the turn asked about by its #id."""
        if self._listing.turn is not None and self._ledger is not None:
            read = partial(self._explained, self._listing.turn, self._ledger)
            self.load(read, self._show_why, refuse=self._show_answer, group="why")

    def _explained(self, turn: int, ledger: Ledger) -> tuple[Why, str]:
        subject, session = self.subject, self.subject.session
        draft, kept_out = subject.draft, session.keeps_out(ledger.marks.once)
        if subject.sent is not None:
            draft, kept_out = subject.sent.content, frozenset()
        answer = why(session.memory, Explained(ledger.window, draft, subject.sent, kept_out), turn)
        return answer, "".join(entry.summary for entry in session.memory.index.entries([turn]))

    def _show_why(self, result: tuple[Why, str]) -> None:
        answer, line = result
        if self._ledger is None or answer.turn != self._listing.turn:
            return
        self._why = answer
        self._ledger = replace(self._ledger, lines={**self._ledger.lines, answer.turn: line})
        self._show_answer(answer)
        self._fill()

    def _show_answer(self, answer: Why | JitchatError) -> None:
        self._answer.show(str(answer))

    def _show(self, ledger: Ledger) -> None:
        self.show_nothing(ledger_rows.why_empty(ledger.window), hides=False)
        self._legend.update(ledger_rows.legend(ledger.window))
        self._sums.update(f"{ledger.window.mode}: {identity_sentence(ledger.window)}")
        self._fill()

    def _fill(self, listing: ledger_rows.Listing | None = None) -> None:
        """Show the rows of the listing, including the turn asked about."""
        self._listing = listing = listing or self._listing
        ledger = self._ledger
        if ledger is None:
            return
        window, rows = (
            ledger.window,
            [ledger_rows.row_of(row, ledger.window.mark) for row in ledger.window.ledger],
        )
        extra = ledger_rows.row_beside_ledger(self._why) if self._why is not None else None
        shown = listing.of([*rows, *([extra] if extra else [])], ledger.lines)
        is_ruled = listing.order is ledger_rows.Order.RANK and shown and not listing.text
        items: list[ledger_rows.Row | Line] = [*shown]
        if is_ruled:
            items = [*ledger_rows.ruled(shown, window)]
        never = ledger_rows.never_line(window)
        if never and listing.part is not ledger_rows.Part.IN and not listing.text:
            items.append(Line(never, can_be_chosen=True))
        items += ledger_rows.lines_of(window, listing)
        columns = ledger_rows.columns_of(shown, window, ledger.marks)
        self.table.show(items, at=listing.turn, columns=columns)
        of = f"{len(shown):,} of " if len(shown) != len(rows) else ""
        count = f"{of}{plural(len(rows), 'turn')}"
        self.frame.border_subtitle = f"by {listing.order} · {listing.part} · {count}"
        self.show_note()
