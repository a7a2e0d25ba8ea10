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

from jitchat.errors import JitchatError, WindowOverflow
from jitchat.text.safe import one_line
from jitchat.tui.figures import ledger_note, limit_sentence, part_bars, size_sentence
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
        self._never: NeverCandidates | None = None
        """The last line of the list, behind `_rows`."""

    def compose(self) -> ComposeResult:
        """Title, table, and a note: on what cannot be sent, or on the limit and who picked."""
        yield self._title
        yield self._note
        yield self._header
        yield self._list

    def show(self, window: ContextWindow, *, sent: bool) -> None:
        """The window that was sent, or the one that would be."""
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
        self._rows, self._never = _rows(window), window.never_candidates
        self._fill()

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
                self._list.highlighted = number
                self._list.focus()
                return

    def on_option_list_option_selected(self, event: OptionList.OptionSelected) -> None:
        """Open the row under the cursor."""
        event.stop()
        if event.option_index >= len(self._rows):
            self._open_sum()
            return
        kind, segments, row = self._rows[event.option_index]
        if segments:
            text = "".join(segment.text for segment in segments)
            note = ledger_note(row) if row else segments[0].reason
            self.post_message(self.RowOpened(_title(kind, segments, row), text, note))
        elif row is not None:
            self.post_message(self.LeftOutOpened(row))

    def _open_sum(self) -> None:
        if (never := self._never) is not None:
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
        self._rows, self._never = [], None
        self._list.clear_options()

    def _fill(self) -> None:
        place = (self._list.highlighted or 0) if self._list.has_focus else self._telling_row()
        rows = [row for _, _, row in self._rows if row]
        largest = max((value for row in rows for _, value in row.parts), default=0.0)
        lines = [_line(*each, largest) for each in self._rows]
        self._list.set_options(lines + ([_sum_line(self._never)] if self._never else []))
        if self._rows:
            self._list.highlighted = min(place, self._list.option_count - 1)


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
