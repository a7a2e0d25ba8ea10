"""The inspector: a window as a table, with its size above.

It shows the very window object that is sent; it counts and ranks nothing itself.
"""

from dataclasses import dataclass

from textual.app import ComposeResult
from textual.binding import Binding
from textual.containers import Vertical
from textual.message import Message
from textual.style import Style
from textual.widgets import OptionList, Static

from jitchat.errors import JitchatError, WindowOverflow
from jitchat.statements import Source
from jitchat.text.sanitize import one_line
from jitchat.tui import figures
from jitchat.tui.actions import hold_bindings
from jitchat.tui.alarm import Alarm
from jitchat.tui.drawing import Content
from jitchat.tui.widgets import window_rows
from jitchat.tui.widgets.row_list import PointedList
from jitchat.values import Usage
from jitchat.window.cost import choosing_sentences
from jitchat.window.window import ContextWindow, Kind, NeverCandidates, Passage, Verdict

_SWITCHES = "screen.do('window')"
_SWITCH = Style.from_meta({"@click": _SWITCHES})
MARKED_SECONDS = 0.8
"""Seconds for which added and removed rows are marked."""


class SegmentList(PointedList):
    """The rows of the chat's window; the list has the focus, so their keys are bound here."""

    BINDINGS = [  # noqa: RUF012  Textual's own shape
        Binding("enter", "select", "text", False, "⏎", id="inspector_open"),
        Binding("left,right", _SWITCHES, "sent/next", False, "←→", id="inspector_switch"),
    ]


class Inspector(Vertical):
    BINDINGS = [  # noqa: RUF012  Textual's own shape
        Binding("space", "toggle_turn", "toggle once", False, "␣", id="inspector_once"),
        *hold_bindings(),
    ]

    @dataclass
    class RowOpened(Message):
        title: str
        note: str
        """The ledger's explanation; empty if there is none."""
        text: str = ""
        turn: int | None = None
        """The turn whose text is shown instead: it is not in the window, or only in passages."""
        passages: tuple[Passage, ...] = ()
        """The passages in the window."""
        source: Source | None = None
        """The source turns in another conversation, if any."""

    @dataclass
    class RowToggled(Message):
        turn: int | None
        """None if the row does not represent a single stored turn."""
        is_there: bool
        """Whether its text is in the window, beyond an index line."""

    def __init__(self, *, in_chat: bool = False) -> None:
        """With `in_chat`, the list can switch between the sent window and the next one."""
        super().__init__(id="inspector")
        self._title = Static(id="inspector-title")
        self._note = Static(id="inspector-note")
        """The limit and the picker, or why nothing can be sent."""
        self._header = Static(id="segments-header")
        self._list = (SegmentList if in_chat else PointedList)(id="segments", compact=True)
        self._reason = Static(id="row-reason")
        """The full reason of the row under the cursor, if its line cuts it off."""
        self._heading: tuple[str, tuple[str, ...]] = "", ("",)
        """The window's name, and variants of its size, the longest first, or why it is missing."""
        self._is_sent = self._can_switch = self._is_working = False
        self._bars: window_rows.Bars = None
        self._rows: list[window_rows.WindowRow] = []
        self._settling = Alarm()
        """Runs while rows are marked."""
        self._window: ContextWindow | None = None
        self._usage: Usage | None = None
        """The usage that the provider reported for the window."""
        self._stable = 0
        """Number of rows in the stable prefix; in the list, its boundary line follows them."""

    def compose(self) -> ComposeResult:
        yield self._title
        yield self._note
        yield self._header
        yield self._list
        yield self._reason

    def on_mount(self) -> None:
        self._reason.display = False
        self._header.update(Content(f"{window_rows.titles_before_reason(None)}why"))

    def show(self, window: ContextWindow, *, sent: bool, usage: Usage | None = None) -> None:
        which = "sent window" if sent else "next window"
        self._show_heading(which, *figures.size_sentences(window, usage))
        size = figures.budget_sentence(window.budget, window.mode)
        self._show_note("\n".join([size, *choosing_sentences(window)]))
        chosen = self.chosen
        self._take_rows(window, sent=sent)
        self._window, self._usage, self._is_sent = window, usage, sent
        self._fill(chosen)

    def _take_rows(self, window: ContextWindow, *, sent: bool) -> None:
        """Show another window's rows, marking those that were added or removed by the draft."""
        self._settling.stop()
        before, rows = window_rows.without_marks(self._rows), window_rows.rows_of(window)
        follows = not sent and not self._is_sent and self.app.animation_level != "none"
        if follows and self._window is not None:
            rows = window_rows.with_changes(rows, before, self._window, window)
        self._rows = rows
        if any(row.mark for row in rows):
            self._settling.set(self.set_timer(MARKED_SECONDS, self._settle))

    def _settle(self) -> None:
        """Remove the marks and the rows marked as removed."""
        self._settling.stop()
        here, chosen = self._list.highlighted or 0, self.chosen
        above = self._rows[: here - (here > self._stable)]
        gone = sum(row.mark == window_rows.LEFT for row in above)
        self._rows = window_rows.without_marks(self._rows)
        self._fill(chosen, here - gone)

    def report(self, usage: Usage) -> None:
        """Show the usage reported for the sent window, if that window is on screen."""
        if self._window is not None and usage != self._usage:
            self._usage = usage
            which, _ = self._heading
            self._show_heading(which, *figures.size_sentences(self._window, usage))
            self._list.draw_one(self._stable, self._boundary(self._window))

    def on_resize(self) -> None:
        """Fit the lines to the list's width, and show bars only if they cut off no reason."""
        self._draw_title()
        if self._window is None:
            return
        self._fill(self.chosen)

    def refuse(self, error: JitchatError) -> None:
        why = "does not fit" if isinstance(error, WindowOverflow) else "cannot be planned"
        self.clear("next window", why, str(error))

    def clear(self, which: str = "", why: str = "", note: str = "") -> None:
        """Show no window, but which one is missing and why."""
        self._show_heading(which, why)
        self._show_note(note, is_refusal=bool(note))
        self._settling.stop()
        self._rows, self._window = [], None
        self._list.draw((), None)

    def offer_switch(self, offered: bool) -> None:
        """Offer to switch to the other window, if there is one."""
        if offered != self._can_switch:
            self._can_switch = offered
            self._draw_title()

    def show_working(self, working: bool) -> None:
        self._is_working = working
        self._draw_title()

    def _show_heading(self, which: str, *forms: str) -> None:
        self._heading = which, forms
        self._draw_title()

    def _draw_title(self) -> None:
        which, forms = self._heading
        parts: list[tuple[str, str | Style]] = []
        if which:
            mark = figures.WORKING if self._is_working else " "
            parts.append((f" {which}{mark}", "reverse bold"))
        if which and self._can_switch:
            is_next = which.startswith("next")
            parts.insert(0 if is_next else 1, (" sent " if is_next else " next ", _SWITCH))
        made = [Content.assemble(*parts, f" {form}") for form in forms]
        room = self._title.content_size.width or made[0].cell_length
        fits = next((each for each in made if each.cell_length <= room), made[-1])
        self._title.update(fits, layout=False)

    def _show_note(self, note: str, *, is_refusal: bool = False) -> None:
        """Show a note if it has changed: an update lays out the whole screen."""
        if note != str(self._note.content) or is_refusal != self._note.has_class("-refusal"):
            self._note.update(Content(note))
            self._note.set_class(is_refusal, "-refusal")
            self._note.display = bool(note)

    def point_at(self, what: str | int) -> bool:
        """Move the cursor to the first row of a kind or turn; return False if there is none."""
        for number, row in enumerate(self._rows):
            if (what == row.kind or what in row.turns) and row.mark != window_rows.LEFT:
                self._list.highlighted = self._option_of(number)
                self._list.focus()
                return True
        return False

    def _row_at(self, place: int | None) -> window_rows.WindowRow | None:
        """Return the row at an index of the list; None for the sum of turns not considered."""
        number = len(self._rows) if place is None else place - (place > self._stable)
        return self._rows[number] if number < len(self._rows) else None

    @property
    def chosen(self) -> int | None:
        """The turn of the row under the cursor; None if the row is not of a single turn."""
        row = self._row_at(self._list.highlighted)
        return row.turn if row is not None else None

    def offers(self, binding: Binding) -> bool:
        if binding.action == _SWITCHES:
            return self._can_switch
        return self.chosen is not None or binding.id not in ("turn_pin", "turn_exclude")

    def question_of(self, binding: Binding) -> str:
        return binding.tooltip.format(turn=self.chosen)

    def choices_of(self, binding: Binding) -> dict[str, str]:  # noqa: ARG002  as of the transcript
        return {}

    def action_toggle_turn(self) -> None:
        """Exclude the turn under the cursor from the next message, or include it."""
        kinds = self._window.kind_of_turns() if self._window is not None else {}
        turn = self.chosen
        is_there = turn in kinds and kinds[turn] is not Kind.INDEX
        self.post_message(self.RowToggled(turn, is_there))

    def on_option_list_option_highlighted(self, event: OptionList.OptionHighlighted) -> None:
        event.stop()
        self._show_reason()

    def on_descendant_focus(self) -> None:
        self._show_reason()

    def on_descendant_blur(self) -> None:
        self._reason.display = False

    @property
    def _room(self) -> int:
        """Width of a line of the list; 0 or less before the first layout."""
        return self.content_size.width - figures.BESIDE

    def _show_reason(self) -> None:
        """Show the full reason of the row under the cursor, if its line cuts it off."""
        reason, place = "", self._list.highlighted
        if place is not None and place != self._stable and self._list.has_focus:
            row, never = self._row_at(place), self._never
            reason = row.reason if row is not None else never.sentence if never else ""
        line = Content(one_line(reason))
        self._reason.update(line)
        before = window_rows.titles_before_reason(self._bars)
        self._reason.display = bool(reason) and line.cell_length > self._room - len(before)

    @property
    def _never(self) -> NeverCandidates | None:
        return self._window.never_candidates if self._window is not None else None

    def on_option_list_option_selected(self, event: OptionList.OptionSelected) -> None:
        event.stop()
        row, never, window = self._row_at(event.option_index), self._never, self._window
        if row is not None:
            self.post_message(self._opened(row))
        elif never is not None and window is not None:
            title = f"{Verdict.LEFT_OUT} · {window.figure(never.tokens)} tokens in total"
            self.post_message(self.RowOpened(title, "", never.sentence))

    def _opened(self, row: window_rows.WindowRow) -> RowOpened:
        note = figures.ledger_note(row.ledger, row.counted) if row.ledger else row.reason
        if not row.segments:
            return self.RowOpened(f"{row.kind} {row.numbers_text}", note, turn=row.turn)
        excerpt, source = row.segments[0].excerpt, row.source
        elsewhere = source if source is not None and source.conversation else None
        passages = excerpt.passages if excerpt is not None else ()
        if row.kind == Kind.RETRIEVED and elsewhere is not None:
            return self.RowOpened(row.title, note, "", elsewhere.first, passages, elsewhere)
        if not row.segments[0].is_whole and row.turn is not None:
            if excerpt is not None:
                note = f"{note}\n{figures.passages_sentence(excerpt, row.counted)}"
            return self.RowOpened(row.title, note, "", row.turn, passages)
        text = "".join(segment.text for segment in row.segments)
        return self.RowOpened(row.title, note, text, source=elsewhere)

    def _option_of(self, row: int) -> int:
        """Return the index of a row in the list."""
        return row + (row >= self._stable)

    def _fill(self, chosen: int | None, here: int | None = None) -> None:
        """Fill the list, keeping the cursor on the turn `chosen` or at its index."""
        self._stable = sum(row.is_stable for row in self._rows)
        if self._list.has_focus:
            here = self._list.highlighted if here is None else here
            turns = [row.turn for row in self._rows]
            if chosen is not None and chosen in turns:
                here = self._option_of(turns.index(chosen))
        place = self._option_of(window_rows.best_row(self._rows)) if here is None else here
        self._list.draw(self._lines(), self._stable if self._window is not None else None)
        if self._rows:
            after_boundary = place + (place == self._stable)
            self._list.highlighted = min(after_boundary, self._list.option_count - 1)

    def _lines(self) -> list[Content]:
        """Draw the rows, the boundary of the stable prefix, and the sum of turns not considered."""
        self._bars = window_rows.bars_that_fit(self._rows, self._room)
        self._header.update(Content(f"{window_rows.titles_before_reason(self._bars)}why"))
        rows = window_rows.lines_of(self._rows, self._bars)
        lines = [_cut_line(row, self._room) for row in rows]
        if self._window is not None:
            lines.insert(self._stable, self._boundary(self._window))
            if self._never is not None:
                lines.append(window_rows.sum_line(self._never, self._window.mark))
        return lines

    def _boundary(self, window: ContextWindow) -> Content:
        carried = f"carried since #{window.since}, " if window.since is not None else ""
        sentence = f"{carried}{figures.stable_sentence(window, self._usage)}"
        return Content(window_rows.boundary_line(sentence, self.size.width - figures.BESIDE))


def _cut_line(line: Content, room: int) -> Content:
    """Shorten a line as `cut` does; before the first layout, with a room of 0, not at all."""
    short = figures.cut(line.plain, room) if room > 0 else line.plain
    return line if short == line.plain else Content.assemble(line[: len(short) - 1], "…")
