"""The inspector: every segment of a window, what it costs, why it is there, and what is not.

It is given the very window that is sent; it counts and ranks nothing itself.
"""

from __future__ import annotations

from collections.abc import Sequence
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
    part_bars,
    size_sentence,
    stable_sentence,
)
from jitchat.turn import Usage
from jitchat.window.spending import picking_sentences
from jitchat.window.window import (
    ContextWindow,
    Kind,
    LedgerRow,
    NeverCandidates,
    Segment,
    Verdict,
)

SINGLY = 60
"""So many recent turns have a row each; the ones before them share one."""

_PARTS = 7
"""Bars of a score: as many as it has parts."""
_BESIDE = 3
"""Cells of a line of the list that are not its text: a margin on either side, the scrollbar."""
Row = tuple[str, Sequence[Segment], LedgerRow | None]
"""A kind or `left out`, the segments that the row stands for, and the turn's ledger row."""


class Inspector(Vertical):
    """A window as a table."""

    BINDINGS = [Binding("ctrl+home", "top", show=False)]  # noqa: RUF012  Textual's own shape

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

    def __init__(self) -> None:
        super().__init__(id="inspector")
        self._title = Static(id="inspector-title")
        self._note = Static(id="inspector-note")
        self._header = Static(Content(_HEADER), id="segments-header")
        self._list = OptionList(id="segments", compact=True)
        self._rows: list[Row] = []
        self._window: ContextWindow | None = None
        self._usage: Usage | None = None
        """What the provider reported for the window."""
        self._stable = 0
        """So many rows are of the stable prefix; in the list, its boundary comes after them."""

    def compose(self) -> ComposeResult:
        """Title, table, and a note: on what cannot be sent, or on the limit and who picked."""
        yield self._title
        yield self._note
        yield self._header
        yield self._list

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
        self._window, self._usage, self._rows = window, usage, _rows(window)
        self._stable = sum(_is_stable(segments) for _, segments, _ in self._rows)
        self._fill()

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

    def on_option_list_option_selected(self, event: OptionList.OptionSelected) -> None:
        """Open the row under the cursor."""
        event.stop()
        number = event.option_index - (event.option_index > self._stable)
        if number >= len(self._rows):
            self._open_sum()
            return
        kind, segments, row = self._rows[number]
        if segments:
            text = "".join(segment.text for segment in segments)
            note = ledger_note(row) if row else segments[0].reason
            self.post_message(self.RowOpened(_title(kind, segments, row), text, note))
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

    def _fill(self) -> None:
        here = self._list.highlighted if self._list.has_focus else None
        place = self._option_of(self._telling_row()) if here is None else here
        rows = [row for _, _, row in self._rows if row]
        largest = max((value for row in rows for _, value in row.parts), default=0.0)
        lines: list[Content | Option] = [_line(*each, largest) for each in self._rows]
        if self._window is not None:
            never = self._window.never_candidates
            lines[self._stable : self._stable] = [
                Option(self._boundary(self._window), disabled=True)
            ]
            lines += [_sum_line(never)] if never else []
        self._list.set_options(lines)
        if self._rows:
            after_boundary = place + (place == self._stable)
            self._list.highlighted = min(after_boundary, self._list.option_count - 1)

    def _draw_boundary(self, window: ContextWindow) -> None:
        self._list.replace_option_prompt_at_index(self._stable, self._boundary(window))

    def _boundary(self, window: ContextWindow) -> Content:
        told = stable_sentence(window, self._usage)
        return Content(_rule(told, self.size.width - _BESIDE))


def _rows(window: ContextWindow) -> list[Row]:
    """The segments in order, long recent blocks gathered, then what was left out by rank."""
    ledger = {row.turn: row for row in window.ledger}
    recent = [segment for segment in window.segments if segment.kind is Kind.RECENT]
    gathered = recent[:-SINGLY] if len(recent) > SINGLY + 1 else []
    last_gathered = gathered[-1].turn if gathered else None
    rows: list[Row] = []
    for segment in window.segments:
        if segment.kind is Kind.RECENT and _within(segment, last_gathered):
            if segment is gathered[0]:
                rows.append((Kind.RECENT.value, gathered, None))
            continue
        known = None if segment.turn is None else ledger.get(segment.turn)
        rows.append((segment.kind.value, (segment,), known))
    left = [row for row in window.ledger if row.verdict is Verdict.LEFT_OUT]
    return rows + [(Verdict.LEFT_OUT.value, (), row) for row in left]


def _is_stable(segments: Sequence[Segment]) -> bool:
    return bool(segments) and segments[0].kind.is_stable


def _rule(told: str, width: int) -> str:
    """A line across the list: below it is what every request has anew, in as many words as fit."""
    for rest in (" ── below: new in each request ", " ── below: new ", " "):
        line = f"── {told}{rest}"
        if len(line) < width:
            break
    return line.ljust(width, "─")


def _within(segment: Segment, last: int | None) -> bool:
    return last is not None and segment.turn is not None and segment.turn <= last


def _line(kind: str, segments: Sequence[Segment], row: LedgerRow | None, largest: float) -> Content:
    """A row of the table; nothing in it is markup."""
    tokens = sum(segment.tokens for segment in segments) if segments else (row.tokens if row else 0)
    judged = row is not None and (not segments or row.verdict is Verdict.INDEX)
    reason = row.reason if row and judged else segments[0].reason
    score = f"{row.score:.2f}" if row and row.rank else ""
    bars = part_bars(row.parts, largest) if row else ""
    ahead = _columns(kind, _turns(segments, row), f"{tokens:,}", score, bars)
    return Content.assemble((ahead + one_line(reason), "" if segments else "dim"))


def _sum_line(never: NeverCandidates) -> Content:
    """The row for all that was never considered; it has no score, so the sentence has the room."""
    ahead = _columns(Verdict.LEFT_OUT, "", f"{never.tokens:,}").rstrip()
    return Content.assemble((f"{ahead}  {never.sentence}", "dim"))


def _columns(kind: str, turn: str, tokens: str, score: str = "", parts: str = "") -> str:
    """What stands ahead of the reason."""
    return f"{kind:<10}{turn:>6}{tokens:>7}{score:>6}  {parts:<{_PARTS}} "


_HEADER = _columns("kind", "turn", "tokens", "score", "parts") + "why"


def _turns(segments: Sequence[Segment], row: LedgerRow | None) -> str:
    numbers = [s.turn for s in segments if s.turn is not None] or ([row.turn] if row else [])
    if not numbers:
        return ""
    return f"#{numbers[0]}" if len(numbers) == 1 else f"#{numbers[0]}–{numbers[-1]}"


def _title(kind: str, segments: Sequence[Segment], row: LedgerRow | None) -> str:
    tokens = sum(segment.tokens for segment in segments)
    return one_line(f"{kind} {_turns(segments, row)} · {tokens:,} tokens")
