"""The base of views with one table: a note on the row under the cursor, and actions on that row."""

from typing import Generic

from textual import on
from textual.widgets import OptionList

from jitchat.tui.drawing import Content
from jitchat.tui.views.view import Body, Note, Subject, View
from jitchat.tui.widgets.input_lines import EditLine
from jitchat.tui.widgets.turn_table import Row, TurnTable


class TableView(View, Generic[Row]):
    def __init__(self, subject: Subject, table: TurnTable[Row], name: str) -> None:
        """`name` begins the ids of the widgets below the table."""
        super().__init__(subject)
        self.table = table
        self.edit_line = EditLine(f"{name}-edit", table.list)
        self.note = Note(f"{name}-note")

    def body(self) -> Body:
        return (self.table, self.edit_line, self.note)

    def on_mount(self) -> None:
        self.table.list.focus()
        self.read()

    def read(self) -> None:
        """Read what the table shows, and show it."""
        raise NotImplementedError

    def about(self, row: Row) -> str:
        """Write the note on a row."""
        raise NotImplementedError

    def open_row(self, row: Row) -> None:
        """Go where a row leads."""
        raise NotImplementedError

    @property
    def sum(self) -> str:
        """A line on all rows, or an empty text."""
        return ""

    @on(OptionList.OptionHighlighted)
    def _highlighted(self) -> None:
        self.show_note()

    def show_note(self) -> None:
        """Show the sum, and the note on the row under the cursor."""
        row = self.table.row
        self.frame.border_subtitle = Content(self.sum)
        self.note.update(Content(self.about(row) if row is not None else ""))

    @on(OptionList.OptionSelected)
    def _selected(self) -> None:
        self.action_on_row("open_row")
        line = self.table.line
        if line is not None and line.leads_to is not None:
            self.show_elsewhere(line.leads_to)

    def action_on_row(self, name: str) -> None:
        """Call a method of the view with the row under the cursor, if there is one."""
        if self.table.row is not None:
            getattr(self, name)(self.table.row)

    def copyable(self) -> str:
        return "\n".join([self.sum, *self.table.text()])
