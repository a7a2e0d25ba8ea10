"""What stands above a window's rows: which window it is, and a note on it.

It is given the very window that is sent; it counts and ranks nothing itself.
"""

from dataclasses import dataclass
from typing import Any

from textual.app import ComposeResult
from textual.binding import Binding
from textual.containers import Vertical
from textual.content import Content
from textual.message import Message
from textual.style import Style
from textual.timer import Timer
from textual.widgets import OptionList, Static

from jitchat.errors import JitchatError, WindowOverflow
from jitchat.text.sanitize import one_line
from jitchat.tui.actions import hold_bindings
from jitchat.tui.figures import (
    BESIDE,
    WORKING,
    ledger_note,
    limit_sentence,
    size_sentence,
    stable_sentence,
)
from jitchat.tui.widgets.row_list import RowList
from jitchat.tui.widgets.segment_rows import (
    HEADER,
    LEFT,
    Bars,
    Row,
    ahead_of_reason,
    bars_that_fit,
    is_stable,
    lines_of,
    reason_of,
    rows_of,
    rule,
    sum_line,
    telling_row,
    title_of,
    turn_of,
    turns_of,
    with_changes,
    without_left,
)
from jitchat.values import Usage
from jitchat.window.cost import picking_sentences
from jitchat.window.window import ContextWindow, Kind, LedgerRow, Verdict

_SWITCH = Style.from_meta({"@click": "screen.switch_window"})


class WindowTitle(Static):
    """Which window it is, and its size or why there is none."""

    def __init__(self, name: str) -> None:
        super().__init__(id=name)
        self._which = self._told = ""
        self._working = self._switches = False

    def show(self, which: str = "", told: str = "") -> None:
        """Another window; nothing for none."""
        self._which, self._told = which, told
        self._draw()

    def offer_switch(self, offered: bool) -> None:
        """Whether a click shows the other window, the one sent or the next."""
        if offered != self._switches:
            self._switches = offered
            self._draw()

    def show_working(self, working: bool) -> None:
        """Say whether another window is being worked out."""
        self._working = working
        self._draw()

    def _draw(self) -> None:
        mark = WORKING if self._working else " "
        which = (f" {self._which}{mark}", "reverse bold") if self._which else ""
        parts: list[Any] = [which]
        if self._which and self._switches:
            is_next = self._which.startswith("next")
            parts.insert(0 if is_next else 1, (" sent " if is_next else " next ", _SWITCH))
        self.update(Content.assemble(*parts, f" {self._told}"), layout=False)


class WindowNote(Static):
    """On the limit and who picked, or on why nothing can be sent; often there is none."""

    def __init__(self, name: str) -> None:
        super().__init__(id=name)
        self._noted = "", False

    def show(self, note: str, *, is_refusal: bool = False) -> None:
        """Another note, if it is another one: all of the screen is laid out for it."""
        if (note, is_refusal) != self._noted:
            self._noted = note, is_refusal
            self.update(Content(note))
            self.set_class(is_refusal, "-refusal")
            self.display = bool(note)


MARKED_SECONDS = 0.8
"""So long it is shown what came and what went."""


class SegmentList(RowList):
    """The rows of the chat's window: the list has the focus, so their keys are bound here."""

    BINDINGS = [  # noqa: RUF012  Textual's own shape
        Binding("enter", "select", "text", False, "⏎", id="inspector_open"),
        Binding(
            "left,right", "screen.switch_window", "sent/next", False, "←→", id="inspector_switch"
        ),
    ]


class Inspector(Vertical):
    """A window as a table."""

    BINDINGS = [  # noqa: RUF012  Textual's own shape
        Binding("space", "toggle_turn", "in or out, once", False, "␣", id="inspector_once"),
        *hold_bindings(),
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

    def __init__(self, *, in_chat: bool = False) -> None:
        """`in_chat` has the list switch between the window that was sent and the next."""
        super().__init__(id="inspector")
        self._title = WindowTitle("inspector-title")
        self._note = WindowNote("inspector-note")
        self._header = Static(Content(HEADER), id="segments-header")
        self._list = SegmentList("segments") if in_chat else RowList("segments")
        self._whole = Static(id="row-reason")
        self._is_sent = self._switches = False
        self._bars: Bars = None
        self._rows: list[Row] = []
        self._marks: dict[int, str] = {}
        """Of rows that came or went just now, by index."""
        self._settling: Timer | None = None
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
        self._title.show(which, size_sentence(window))
        limit = [limit_sentence(window)] if window.limit_source else []
        self._note.show("\n".join([*limit, *picking_sentences(window)]))
        chosen = self.chosen
        self._take_rows(window, sent=sent)
        self._window, self._usage, self._is_sent = window, usage, sent
        self._fill(chosen)

    def _take_rows(self, window: ContextWindow, *, sent: bool) -> None:
        """Another window's rows; what came and went by the draft is marked for a moment."""
        self._stop_settling()
        before, _ = without_left(self._rows, self._marks)
        self._rows, self._marks = rows_of(window), {}
        follows = self._window is not None and not sent and not self._is_sent
        if follows and self._window is not None and self.app.animation_level != "none":
            windows = self._window, window
            self._rows, self._marks = with_changes(self._rows, before, windows)
        if self._marks:
            self._settling = self.set_timer(MARKED_SECONDS, self._settle)

    def _settle(self) -> None:
        """The marks go, and with them the rows of what left."""
        self._stop_settling()
        here, chosen = self._list.highlighted or 0, self.chosen
        self._rows, gone = without_left(self._rows, self._marks)
        above = sum(self._option_of(number) < here for number in gone)
        self._marks = {}
        self._fill(chosen, here - above)

    def _stop_settling(self) -> None:
        if self._settling is not None:
            self._settling.stop()
            self._settling = None

    def report(self, usage: Usage) -> None:
        """What the provider says of the window that was sent, as far as it is on screen."""
        if self._window is not None and usage != self._usage:
            self._usage = usage
            self._draw_boundary(self._window)

    def on_resize(self) -> None:
        """The boundary is as wide as the list, and bars are where they cut no reason."""
        if self._window is None:
            return
        if bars_that_fit(self._rows, self._room) != self._bars:
            self._fill(self.chosen)
        self._draw_boundary(self._window)

    def refuse(self, error: JitchatError) -> None:
        """Why nothing can be sent as it stands."""
        why = "does not fit" if isinstance(error, WindowOverflow) else "cannot be planned"
        self._title.show("next window", why)
        self._note.show(str(error), is_refusal=True)
        self._empty()

    def clear(self) -> None:
        """No window is known yet."""
        self._title.show()
        self._note.show("")
        self._empty()

    def offer_switch(self, offered: bool) -> None:
        """Whether there is another window to switch to, the one sent or the next."""
        self._switches = offered
        self._title.offer_switch(offered)

    def show_working(self, working: bool) -> None:
        """Say in the title whether another window is being worked out."""
        self._title.show_working(working)

    def show_faded(self, faded: bool) -> None:
        """Whether that takes long."""
        self._title.set_class(faded, "-faded")

    def point_at(self, what: str | int) -> bool:
        """Move the cursor to the first row of a kind, or of a turn; False where there is none."""
        for number, row in enumerate(self._rows):
            if (what == row[0] or what in turns_of(row)) and self._marks.get(number) != LEFT:
                self._list.highlighted = self._option_of(number)
                self._list.focus()
                return True
        return False

    @property
    def chosen(self) -> int | None:
        """The turn of the row under the cursor; None where that is not of one turn."""
        place = self._list.highlighted
        number = len(self._rows) if place is None else self._row_of(place)
        return turn_of(self._rows[number]) if number < len(self._rows) else None

    def offers(self, binding: Binding) -> bool:
        """Whether a key applies to the row under the cursor."""
        if binding.action == "screen.switch_window":
            return self._switches
        return self.chosen is not None or binding.id not in ("turn_pin", "turn_exclude")

    def question_of(self, binding: Binding) -> str:
        """What a letter asks first."""
        return binding.tooltip.format(turn=self.chosen)

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

    @property
    def _room(self) -> int:
        """Cells of a line of the list; at most 0 before there is a layout."""
        return self.content_size.width - BESIDE

    def _tell_whole(self) -> None:
        reason, place = "", self._list.highlighted
        if place is not None and place != self._stable and self._list.has_focus:
            number = self._row_of(place)
            is_row = number < len(self._rows)
            reason = reason_of(*self._rows[number][1:]) if is_row else self._never()
        told = Content(one_line(reason))
        ahead = ahead_of_reason(self._bars)
        self._whole.update(told)
        self._whole.display = told.cell_length > self._room - len(ahead)

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

    def _empty(self) -> None:
        self._stop_settling()
        self._rows, self._window, self._marks = [], None, {}
        self._list.draw((), None)

    def _option_of(self, row: int) -> int:
        """The place of a row in the list."""
        return row + (row >= self._stable)

    def _row_of(self, place: int) -> int:
        """The row at a place in the list, which is not the boundary."""
        return place - (place > self._stable)

    def _fill(self, chosen: int | None, here: int | None = None) -> None:
        """Write the list; the cursor stays on the turn that was chosen, or where it is."""
        self._stable = sum(is_stable(row[1]) for row in self._rows)
        if self._list.has_focus:
            here = self._list.highlighted if here is None else here
            turns = enumerate(map(turn_of, self._rows) if chosen is not None else ())
            here = next((self._option_of(row) for row, each in turns if each == chosen), here)
        place = self._option_of(telling_row(self._rows, self._marks)) if here is None else here
        self._list.draw(self._lines(), self._stable if self._window is not None else None)
        if self._rows:
            after_boundary = place + (place == self._stable)
            self._list.highlighted = min(after_boundary, self._list.option_count - 1)

    def _lines(self) -> list[Content]:
        """Every row, the boundary of the stable prefix, and the sum of what was not considered."""
        self._bars = bars_that_fit(self._rows, self._room)
        ahead = ahead_of_reason(self._bars)
        self._header.update(Content(f"{ahead}why"))
        lines = lines_of(self._rows, self._marks, self._bars)
        if self._window is not None:
            never = self._window.never_candidates
            lines.insert(self._stable, self._boundary(self._window))
            lines += [sum_line(never)] if never else []
        return lines

    def _draw_boundary(self, window: ContextWindow) -> None:
        self._list.draw_one(self._stable, self._boundary(window))

    def _boundary(self, window: ContextWindow) -> Content:
        told = stable_sentence(window, self._usage)
        return Content(rule(told, self.size.width - BESIDE))
