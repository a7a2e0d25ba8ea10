"""A wrong reply: the user points at the turn that was missing, and that becomes a case."""

from __future__ import annotations

from collections.abc import Iterable
from dataclasses import replace

from textual import on
from textual.binding import Binding
from textual.content import Content
from textual.widget import Widget
from textual.widgets import Input, OptionList, Static

from jitchat.errors import JitchatError
from jitchat.memory.cold.cases import Case, CaseKind
from jitchat.tui.cells import BESIDE
from jitchat.tui.views.miss_rows import Row, header, heading, row_line
from jitchat.tui.views.miss_work import Asked, MissWork
from jitchat.tui.views.replied import why_none
from jitchat.tui.views.subject import Subject
from jitchat.tui.widgets.pointed_list import PointedList

_FIRST = "Nothing is ahead of this message that could have been missing."
_NO_HIT = "No turn ahead of this message holds that."
_ASKS = "Which turn was missing? Enter notes it; Alt+K tries all that is noted again."


class MissView(MissWork):
    """What the reply should have had before it."""

    CSS_PATH = ["view.tcss", "miss.tcss"]  # noqa: RUF012  Textual's own shape
    NAME = "Wrong reply"
    EXPLAINED = "Enter notes the turn that this reply lacked, to be checked later (Alt+K)."
    BINDINGS = [  # noqa: RUF012  Textual's own shape
        Binding("k", "kept", "Rightly there", id="miss_kept"),
        Binding("delete", "forget", "Take back", id="miss_forget"),
        Binding("u", "undo", "Undo", id="miss_undo"),
        Binding("slash", "find", "Search", id="miss_find", key_display="/"),
        Binding("down", "to_list", show=False),
    ]

    def __init__(self, subject: Subject) -> None:
        super().__init__(subject)
        self._asked = Asked(None)
        self._forgotten: list[Case] = []
        """Cases that were taken back here, the last one last."""
        self._serial = 0
        self._heading, self._note = Static(id="miss-heading"), Static(id="miss-note")
        self._header = Static(Content(header()), id="miss-header")
        self._input = Input(placeholder="search: words of the turn, or its #id", id="miss-text")
        self._list = PointedList(id="miss-list", compact=True)

    def body(self) -> Iterable[Widget]:
        """Message and reply, the search, the turns, what is known of the one that was noted."""
        yield self._heading
        yield self._input
        yield self._header
        yield self._list
        yield self._note

    def on_mount(self) -> None:
        """What the ledger considered is listed at first."""
        self._input.focus()
        self._look_now()

    def on_resize(self) -> None:
        """Rows are cut where the list ends."""
        self._fill()

    @property
    def row(self) -> Row | None:
        """The row under the cursor; None without rows."""
        place, rows = self._list.highlighted, self._asked.rows
        return rows[place] if place is not None and place < len(rows) else None

    def copyable(self) -> str:
        """Write message and reply, the turns, and the note."""
        lines = [str(self._heading.content), header()]
        lines += [str(row_line(row, 200)) for row in self._asked.rows]
        return "\n".join(line.rstrip() for line in [*lines, str(self._note.content)])

    def action_find(self) -> None:
        """Type words or a #id."""
        self._input.focus()

    def action_to_list(self) -> None:
        """From the text to the turns."""
        self._list.focus()

    def action_kept(self) -> None:
        """The turn was there, and rightly."""
        row = self.row
        if row is None:
            return
        if row.is_there:
            self._note_row(row, CaseKind.KEPT)
        else:
            told = f"#{row.turn.position} was not in the window: Enter notes that it was missing."
            self.notify(told, markup=False)

    @on(Input.Submitted)
    @on(OptionList.OptionSelected)
    def action_miss(self) -> None:
        """The turn under the cursor was missing, unless the window had all of it."""
        row = self.row
        if row is None:
            return
        if row.is_there:
            told = f"#{row.turn.position} was in the window at full text ({row.standing}), so it"
            self.notify(f"{told} was not missing: K notes that it was rightly there.", markup=False)
        else:
            self._note_row(row, CaseKind.MISS)

    def action_forget(self) -> None:
        """Take back what was noted about the turn."""
        row, replied = self.row, self._asked.replied
        if row is None or row.noted is None or replied is None:
            self.notify("Nothing is noted about this turn.", markup=False)
        else:
            self.note(row.noted, replied, is_wanted=False)

    def action_undo(self) -> None:
        """Note again what was taken back last."""
        if self._forgotten and self._asked.replied is not None:
            self.note(self._forgotten.pop(), self._asked.replied, is_wanted=True)
        else:
            self.notify("Nothing was taken back here.", markup=False)

    @on(Input.Changed)
    def _look_now(self) -> None:
        self._serial += 1
        self.look(self._serial, self._input.value)

    @on(MissWork.Looked)
    def _looked(self, message: MissWork.Looked) -> None:
        """Show what was found, unless something else was asked for since."""
        if message.serial != self._serial:
            return
        if isinstance(message.outcome, JitchatError):
            self.tell(message.outcome)
            return
        self._asked = message.outcome
        replied = self._asked.replied
        for part in (self._input, self._header, self._list, self._note):
            part.display = replied is not None
        empty = "" if self._asked.rows else _NO_HIT if self._input.value.strip() else _FIRST
        self.show_nothing(empty if replied is not None else why_none(self.subject))
        if replied is not None:
            name = f"{self.NAME}: #{replied.reply.position}"
            self.query_one("#view-frame").border_title = name
        if not str(self._note.content):
            self._note.update(Content(_ASKS))
        self._fill(at=0)

    @on(MissWork.Noted)
    def _noted(self, message: MissWork.Noted) -> None:
        case, noted = message.case, dict(self._asked.noted)
        if message.is_there:
            noted[case.wanted.position] = case
        else:
            noted.pop(case.wanted.position, None)
            self._forgotten.append(case)
        told = message.told or f"Taken back: #{case.wanted.position}. U notes it again."
        self._note.update(Content(told))
        rows = (replace(row, noted=noted.get(row.turn.position)) for row in self._asked.rows)
        self._asked = replace(self._asked, rows=tuple(rows), noted=noted)
        self._fill()

    def _note_row(self, row: Row, kind: CaseKind) -> None:
        replied = self._asked.replied
        if replied is not None:
            moment = self.subject.session.memory.store.now()
            case = Case(replied.said, row.turn, kind, replied.window_id, moment)
            self.note(case, replied, is_wanted=True)

    def _fill(self, at: int | None = None) -> None:
        """Draw the rows; the cursor stays where it is if it is not put `at` another one."""
        if self._asked.replied is not None:
            width = max(20, self._heading.content_size.width)
            self._heading.update(Content(heading(self._asked.replied, width)))
        here, width = self._list.highlighted, max(20, self._list.size.width - BESIDE)
        self._list.set_options([row_line(each, width) for each in self._asked.rows])
        self._list.highlighted = (here if at is None else at) if self._asked.rows else None
