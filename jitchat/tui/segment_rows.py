"""The rows of a window's table: what each costs, why it is there, and what is not."""

from __future__ import annotations

from collections.abc import Sequence

from rich.cells import cell_len
from textual.content import Content

from jitchat.text.safe import one_line
from jitchat.tui.figures import part_bars
from jitchat.tui.palette import MUTED
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
Bars = frozenset[str] | None
"""The parts of a score that have a bar, by name; None for all of them."""
Row = tuple[str, Sequence[Segment], LedgerRow | None]
"""A kind or `left out`, the segments that the row stands for, and the turn's ledger row."""


def rows_of(window: ContextWindow) -> list[Row]:
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


def turn_of(row: Row) -> int | None:
    """Tell the turn that a row is of; None for several, for the draft and for instructions."""
    kind, segments, judged = row
    if len(segments) > 1 or kind == Kind.DRAFT.value:
        return None
    return segments[0].turn if segments else (judged.turn if judged else None)


def turns_of(row: Row) -> list[int]:
    """List the turns that a row stands for."""
    kind, segments, judged = row
    if kind == Kind.DRAFT.value:
        return []
    return _numbers(segments, judged)


def is_stable(segments: Sequence[Segment]) -> bool:
    """Whether a row is of the stable prefix."""
    return bool(segments) and segments[0].kind.is_stable


def _within(segment: Segment, last: int | None) -> bool:
    return last is not None and segment.turn is not None and segment.turn <= last


def bars_that_fit(rows: Sequence[Row], width: int) -> Bars:
    """Choose the parts that have a bar, so that no reason of a retrieved turn is cut.

    In so many cells: all of them, else those that are in any score, else none.
    """
    found = [row for row in rows if row[0] == Kind.RETRIEVED.value]
    longest = max((cell_len(one_line(reason_of(*each[1:]))) for each in found), default=0)
    if width <= 0 or len(ahead_of_reason(None)) + longest <= width:
        return None
    drawn = frozenset(name for *_, row in rows if row for name, value in row.parts if value > 0)
    return drawn if len(ahead_of_reason(drawn)) + longest <= width else frozenset()


def line_of(
    kind: str,
    segments: Sequence[Segment],
    row: LedgerRow | None,
    largest: float,
    shown: Bars = None,
) -> Content:
    """A row of the table; nothing in it is markup."""
    tokens = sum(segment.tokens for segment in segments) if segments else (row.tokens if row else 0)
    score = f"{row.score:.2f}" if row and row.rank else ""
    parts = tuple(part for part in row.parts if shown is None or part[0] in shown) if row else ()
    cells = f"{part_bars(parts, largest):<{_cells(shown)}}"
    ahead = _columns(kind, _turns(segments, row), f"{tokens:,}", score, cells)
    told = ahead + one_line(reason_of(segments, row))
    return Content.assemble((told, "" if segments else MUTED))


def reason_of(segments: Sequence[Segment], row: LedgerRow | None) -> str:
    """Why it is there, or is not."""
    is_judged = row is not None and (not segments or row.verdict is Verdict.INDEX)
    return row.reason if row and is_judged else segments[0].reason


def sum_line(never: NeverCandidates) -> Content:
    """The row for all that was never considered; it has no score, so the sentence has the room."""
    ahead = _columns(Verdict.LEFT_OUT, "", f"{never.tokens:,}").rstrip()
    return Content.assemble((f"{ahead}  {never.sentence}", MUTED))


def _columns(kind: str, turn: str, tokens: str, score: str = "", bars: str = "") -> str:
    """What stands ahead of the reason."""
    return f"{kind:<10}{turn:>6}{tokens:>7}{score:>6} " + (f" {bars} " if bars else "")


def _cells(shown: Bars) -> int:
    return _PARTS if shown is None else len(shown)


def ahead_of_reason(shown: Bars) -> str:
    """What stands ahead of the reason in the header."""
    width = _cells(shown)
    return _columns("kind", "turn", "tokens", "score", f"{'parts':<{width}}"[:width])


HEADER = f"{ahead_of_reason(None)}why"


def _turns(segments: Sequence[Segment], row: LedgerRow | None) -> str:
    numbers = _numbers(segments, row)
    if not numbers:
        return ""
    return f"#{numbers[0]}" if len(numbers) == 1 else f"#{numbers[0]}–{numbers[-1]}"


def _numbers(segments: Sequence[Segment], row: LedgerRow | None) -> list[int]:
    return [s.turn for s in segments if s.turn is not None] or ([row.turn] if row else [])


def title_of(kind: str, segments: Sequence[Segment], row: LedgerRow | None) -> str:
    """What stands above a row's exact text."""
    tokens = sum(segment.tokens for segment in segments)
    return one_line(f"{kind} {_turns(segments, row)} · {tokens:,} tokens")


def rule(told: str, width: int) -> str:
    """A line across the list: below it is what every request has anew, in as many words as fit."""
    for rest in (" ── below: new in each request ", " ── below: new ", " "):
        line = f"── {told}{rest}"
        if len(line) < width:
            break
    return line.ljust(width, "─")
