"""The inspector: every segment of a window, what it costs, why it is there, and what is not.

It is given the very window that is sent; it counts and ranks nothing itself.
"""

from __future__ import annotations

from dataclasses import dataclass

from textual.app import ComposeResult
from textual.binding import Binding
from textual.containers import Vertical
from textual.content import Content
from textual.message import Message
from textual.widgets import OptionList, Static
from textual.widgets.option_list import Option

from jitchat.errors import JitchatError, WindowOverflow
from jitchat.text.safe import one_line
from jitchat.tui.figures import (
    ledger_note,
    limit_sentence,
    size_sentence,
    stable_sentence,
)
from jitchat.tui.keys import HOLD_ACTIONS
from jitchat.tui.segment_rows import (
    AHEAD,
    HEADER,
    Row,
    is_stable,
    line_of,
    reason_of,
    rows_of,
    rule,
    sum_line,
    title_of,
    turn_of,
)
from jitchat.turn import Usage
from jitchat.window.spending import picking_sentences
from jitchat.window.window import (
    ContextWindow,
    Kind,
    LedgerRow,
    Verdict,
)

_BESIDE = 3
"""Cells of a line of the list that are not its text: a margin on either side, the scrollbar."""


class Inspector(Vertical):
    """A window as a table."""

    BINDINGS = [  # noqa: RUF012  Textual's own shape
        Binding("space", "toggle_turn", show=False),
        *(Binding(keys, method, id=name, show=False) for name, keys, method in HOLD_ACTIONS),
    ]

    @dataclass
    class RowOpened(Message):
        """The user wants to see a row's exact text."""

        title: str
        text: str
        note: str = ""
        """What the ledger says of it."""

    @dataclass
    class LeftOutOpened(Message):
        """The user wants to see a turn that is not in the window."""

        row: LedgerRow

    @dataclass
    class RowToggled(Message):
        """The user wants a row's turn out of the next message, or in it."""

        turn: int | None
        """None where the row is not of one turn that was said."""
        is_there: bool
        """Whether it is in the window at full text."""

    def __init__(self) -> None:
        super().__init__(id="inspector")
        self._title = Static(id="inspector-title")
        self._note = Static(id="inspector-note")
        self._header = Static(Content(HEADER), id="segments-header")
        self._list = OptionList(id="segments", compact=True)
        self._whole = Static(id="row-reason")
        self._rows: list[Row] = []
        self._window: ContextWindow | None = None
        self._usage: Usage | None = None
        """What the provider reported for the window."""
        self._stable = 0
        """So many rows are of the stable prefix; in the list, its boundary comes after them."""

    def compose(self) -> ComposeResult:
        """Title, a note, table, and of the row under the cursor what its line has no room for.

        The note is on what cannot be sent, or on the limit and who picked.
        """
        yield self._title
        yield self._note
        yield self._header
        yield self._list
        yield self._whole

    def on_mount(self) -> None:
        """No row is pointed at."""
        self._whole.display = False

    def show(self, window: ContextWindow, *, sent: bool, usage: Usage | None = None) -> None:
        """The window that was sent, with what was reported for it, or the one that would be."""
        which = "sent window" if sent else "next window"
        self._title.update(
            Content.assemble((f" {which} ", "reverse bold"), f" {size_sentence(window)}"),
            layout=False,
        )
        limit = [limit_sentence(window)] if window.limit_source else []
        told = [*limit, *picking_sentences(window)]
        self._note.update(Content("\n".join(told)))
        self._note.set_class(False, "-refusal")
        self._note.display = bool(told)
        chosen = self.chosen
        self._window, self._usage, self._rows = window, usage, rows_of(window)
        self._stable = sum(is_stable(segments) for _, segments, _ in self._rows)
        self._fill(chosen)

    def report(self, usage: Usage) -> None:
        """What the provider says of the window that was sent, as far as it is on screen."""
        if self._window is not None and usage != self._usage:
            self._usage = usage
            self._draw_boundary(self._window)

    def on_resize(self) -> None:
        """The boundary is as wide as the list."""
        if self._window is not None:
            self._draw_boundary(self._window)

    def refuse(self, error: JitchatError) -> None:
        """Why nothing can be sent as it stands."""
        why = "does not fit" if isinstance(error, WindowOverflow) else "cannot be planned"
        self._title.update(Content.assemble((" next window ", "reverse bold"), f" {why}"))
        self._note.update(Content(str(error)))
        self._note.set_class(True, "-refusal")
        self._note.display = True
        self._empty()

    def clear(self) -> None:
        """No window is known yet."""
        self._title.update(Content())
        self._note.display = False
        self._empty()

    def point_at(self, kind: str) -> None:
        """Move the cursor to the first row of a kind."""
        for number, (name, _, _) in enumerate(self._rows):
            if name == kind:
                self._list.highlighted = self._option_of(number)
                self._list.focus()
                return

    @property
    def chosen(self) -> int | None:
        """The turn of the row under the cursor; None where that is not of one turn."""
        place = self._list.highlighted
        number = len(self._rows) if place is None else self._row_of(place)
        return turn_of(self._rows[number]) if number < len(self._rows) else None

    def action_toggle_turn(self) -> None:
        """Take the turn under the cursor out of the next message, or bring it in."""
        kinds = self._window.kind_of_turns() if self._window is not None else {}
        turn = self.chosen
        is_there = turn in kinds and kinds[turn] is not Kind.INDEX
        self.post_message(self.RowToggled(turn, is_there))

    def on_option_list_option_highlighted(self, event: OptionList.OptionHighlighted) -> None:
        """Tell all of the reason of the row under the cursor."""
        event.stop()
        self._tell_whole()

    def on_descendant_focus(self) -> None:
        """The cursor can be seen now."""
        self._tell_whole()

    def on_descendant_blur(self) -> None:
        """Nobody looks at a row any more."""
        self._whole.display = False

    def _tell_whole(self) -> None:
        reason, place = "", self._list.highlighted
        if place is not None and place != self._stable and self._list.has_focus:
            number = self._row_of(place)
            is_row = number < len(self._rows)
            reason = reason_of(*self._rows[number][1:]) if is_row else self._never()
        told = Content(one_line(reason))
        room = self._list.size.width - _BESIDE - len(AHEAD)
        self._whole.update(told)
        self._whole.display = told.cell_length > room

    def _never(self) -> str:
        never = self._window.never_candidates if self._window is not None else None
        return never.sentence if never is not None else ""

    def on_option_list_option_selected(self, event: OptionList.OptionSelected) -> None:
        """Open the row under the cursor."""
        event.stop()
        number = self._row_of(event.option_index)
        if number >= len(self._rows):
            self._open_sum()
            return
        kind, segments, row = self._rows[number]
        if segments:
            text = "".join(segment.text for segment in segments)
            note = ledger_note(row) if row else segments[0].reason
            self.post_message(self.RowOpened(title_of(kind, segments, row), text, note))
        elif row is not None:
            self.post_message(self.LeftOutOpened(row))

    def _open_sum(self) -> None:
        never = self._window.never_candidates if self._window is not None else None
        if never is not None:
            title = f"{Verdict.LEFT_OUT} · {never.tokens:,} tokens together"
            self.post_message(self.RowOpened(title, never.sentence))

    def _telling_row(self) -> int:
        """The best of what was retrieved: in a small terminal little else is in view."""
        ranked = [
            (row.rank, number)
            for number, (kind, _, row) in enumerate(self._rows)
            if kind == Kind.RETRIEVED.value and row is not None and row.rank is not None
        ]
        return min(ranked)[1] if ranked else 0

    def _empty(self) -> None:
        self._rows, self._window = [], None
        self._list.clear_options()

    def _option_of(self, row: int) -> int:
        """The place of a row in the list."""
        return row + (row >= self._stable)

    def _row_of(self, place: int) -> int:
        """The row at a place in the list, which is not the boundary."""
        return place - (place > self._stable)

    def _fill(self, chosen: int | None) -> None:
        """Write the list; the cursor stays on the turn that was chosen."""
        here = self._list.highlighted if self._list.has_focus else None
        if here is not None and chosen is not None:
            turns = enumerate(map(turn_of, self._rows))
            here = next((self._option_of(row) for row, each in turns if each == chosen), here)
        place = self._option_of(self._telling_row()) if here is None else here
        rows = [row for _, _, row in self._rows if row]
        largest = max((value for row in rows for _, value in row.parts), default=0.0)
        lines: list[Content | Option] = [line_of(*each, largest) for each in self._rows]
        if self._window is not None:
            never = self._window.never_candidates
            lines[self._stable : self._stable] = [
                Option(self._boundary(self._window), disabled=True)
            ]
            lines += [sum_line(never)] if never else []
        self._list.set_options(lines)
        if self._rows:
            after_boundary = place + (place == self._stable)
            self._list.highlighted = min(after_boundary, self._list.option_count - 1)

    def _draw_boundary(self, window: ContextWindow) -> None:
        self._list.replace_option_prompt_at_index(self._stable, self._boundary(window))

    def _boundary(self, window: ContextWindow) -> Content:
        told = stable_sentence(window, self._usage)
        return Content(rule(told, self.size.width - _BESIDE))
