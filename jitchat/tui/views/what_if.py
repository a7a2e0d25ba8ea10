"""The what-if view: the same message in every mode, side by side, and nothing is requested."""

from __future__ import annotations

from collections.abc import Iterable
from dataclasses import dataclass

from textual import events, on
from textual.binding import Binding
from textual.content import Content
from textual.message import Message
from textual.reactive import reactive
from textual.widget import Widget
from textual.widgets import OptionList, Static
from textual.widgets.option_list import Option

from jitchat.tui.views.comparing import ComparingView
from jitchat.tui.views.subject import GoTo, Outcome, Planned, Subject, asked_of
from jitchat.tui.views.what_if_drawing import (
    TABLE_HEADER,
    draw_sides,
    heading,
    mode_at,
    plain,
    row_line,
    scale_sentence,
    sections,
)
from jitchat.tui.views.what_if_rows import Comparison
from jitchat.tui.widgets.pointed_list import PointedList
from jitchat.turn import Mode
from jitchat.window.aligned import AlignedRow

_NO_QUESTION = (
    "Nothing is asked yet: these are the windows for no question, so nothing is recalled."
)


class Sides(Widget):
    """Figures and bars, a line a mode each."""

    comparison: reactive[Comparison | None] = reactive(None, layout=True)

    @dataclass
    class Clicked(Message):
        """The user points at a mode."""

        mode: Mode

    def __init__(self, mode: Mode) -> None:
        super().__init__(id="what-if-sides")
        self._mode = mode

    def render(self) -> Content:
        """For the present width."""
        if self.comparison is None:
            return Content("planning…")
        return draw_sides(self.comparison, self._mode, self.size.width)

    def on_click(self, event: events.Click) -> None:
        """Say whose line was clicked."""
        mode = mode_at(self.comparison, event.y) if self.comparison is not None else None
        if mode is not None:
            self.post_message(self.Clicked(mode))


class WhatIfView(ComparingView):
    """The windows of all modes for one message."""

    CSS_PATH = ["view.tcss", "what_if.tcss"]  # noqa: RUF012  Textual's own shape
    NAME = "What if"
    EXPLAINED = "The same message in each mode, planned side by side: nothing is requested."
    BINDINGS = [  # noqa: RUF012  Textual's own shape
        Binding("enter", "go_to", "Go to turn", id="what_if_go_to", priority=True),
        Binding("1,f", "use('full')", "Full", id="what_if_full"),
        Binding("2,r", "use('recency')", "Recency", id="what_if_recency"),
        Binding("3,j", "use('jit')", "Jit", id="what_if_jit"),
        Binding("a", "ask_all", "Ask all", id="what_if_ask_all"),
    ]

    def __init__(self, subject: Subject) -> None:
        super().__init__(subject)
        self._sides, self._note = Sides(subject.mode), Static(id="what-if-note")
        self._list = PointedList(id="what-if-rows", compact=True)
        self._rows: list[AlignedRow | None] = []
        """Of each line of the list; None for a heading."""

    def body(self) -> Iterable[Widget]:
        """Figures and bars, a note, and a row a turn."""
        yield self._sides
        yield self._note
        yield Static(Content(TABLE_HEADER), id="what-if-header")
        yield self._list

    def on_mount(self) -> None:
        """The frame is there at once; the windows follow."""
        draft, _ = asked_of(self.subject)
        sent = self.subject.sent
        self.name_message(draft)
        told = f"Planned anew for #{sent.position}, as the conversation is now." if sent else ""
        told = told or ("" if draft.strip() else _NO_QUESTION)
        self._note.update(Content(told))
        self._note.display = bool(told)
        self._list.focus()
        self.compare()

    def show_comparison(self, comparison: Comparison) -> None:
        """Draw figures, bars and rows."""
        self._sides.comparison = comparison
        self.query_one("#view-frame").border_subtitle = scale_sentence(comparison)
        self._fill(comparison)

    def show_nothing(self, why: str) -> None:
        """Say why; no window is being planned then."""
        self._sides.display = False
        super().show_nothing(why)

    def _fill(self, comparison: Comparison) -> None:
        lines: list[Content | Option] = []
        for told, rows in sections(comparison):
            lines.append(Option(heading(told), disabled=True))
            lines += [row_line(row, comparison) for row in rows]
            self._rows += [None, *rows]
        self._list.set_options(lines)
        self._list.action_first()

    def copyable(self) -> str:
        """Write figures, bars and rows."""
        comparison = self._sides.comparison
        return plain(comparison, self.subject.mode) if comparison is not None else ""

    def action_go_to(self) -> None:
        """Show the turn of the row in the transcript."""
        place = self._list.highlighted
        row = self._rows[place] if place is not None and place < len(self._rows) else None
        position = row.turns[0] if row is not None else None
        if position is not None and self.subject.session.memory.turn_at(position) is not None:
            self.dismiss(GoTo(position))
        elif row is not None:
            self.notify("That is no turn of the conversation yet.", markup=False)

    @on(OptionList.OptionSelected)
    def _row_clicked(self) -> None:
        self.action_go_to()

    @on(Sides.Clicked)
    def _side_clicked(self, message: Sides.Clicked) -> None:
        self.action_use(message.mode.value)

    def action_use(self, mode: str) -> None:
        """Use a mode from now on."""
        self.dismiss(Planned(mode=Mode(mode)))

    def action_ask_all(self) -> None:
        """Have the message answered in all modes."""
        from jitchat.tui.views.ask_all import AskAllView  # noqa: PLC0415  not for a look at windows

        if self.subject.is_busy():
            self.notify("A reply is on its way. Ask when it is there.", markup=False)
            return
        self.app.push_screen(AskAllView(self.subject), self._asked)

    def _asked(self, outcome: Outcome | None) -> None:
        if outcome is not None:
            self.dismiss(outcome)
