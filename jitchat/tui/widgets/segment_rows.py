"""The rows of a window's table: what each costs, why it is there, and what is not."""

from collections.abc import Mapping, Sequence

from rich.cells import cell_len
from textual.content import Content

from jitchat.text.sanitize import one_line
from jitchat.tui.figures import part_bars
from jitchat.tui.palette import MUTED
from jitchat.window.compare import difference
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


MARK_AT = 9
"""The cell of a row between kind and turn, blank in each."""
ENTERED, LEFT = "+", "−"
"""Marks of a row, for a moment."""
MOST = 24
"""Where more turns come and go than these it is another window, not a change to one."""

_ORDER = [kind.value for kind in Kind]
_STYLES = {ENTERED: "bold $text-success", LEFT: f"{MUTED} strike"}


def with_changes(
    rows: Sequence[Row], before: Sequence[Row], windows: tuple[ContextWindow, ContextWindow]
) -> tuple[list[Row], dict[int, str]]:
    """Put the rows of turns that left back among those of the second window, in their place.

    Gives the rows, and the marks of those that changed, by index.
    """
    found = difference(*windows)
    came = {change.turn for change in (*found.entered, *found.moved)}
    gone = {change.turn for change in found.left}
    if not 0 < len(came) + len(gone) <= MOST or windows[0].mode is not windows[1].mode:
        return list(rows), {}
    left = [row for row in before if _is_turn(row) and _turn(row) in gone]
    marked = [(row, ENTERED if _is_turn(row) and _turn(row) in came else "") for row in rows]
    for row in left:
        place = next((n for n, (each, _) in enumerate(marked) if _key(each) > _key(row)), None)
        marked.insert(len(marked) if place is None else place, (row, LEFT))
    marks = {number: mark for number, (_, mark) in enumerate(marked) if mark}
    return [row for row, _ in marked], marks


def without_left(
    rows: Sequence[Row], marks: Mapping[int, str]
) -> tuple[list[Row], tuple[int, ...]]:
    """Take the rows that left out again; gives the rows and the indices that are gone."""
    gone = tuple(number for number, mark in marks.items() if mark == LEFT)
    return [row for number, row in enumerate(rows) if number not in gone], gone


def lines_of(rows: Sequence[Row], marks: Mapping[int, str], shown: Bars = None) -> list[Content]:
    """Draw every row with its mark; the bars are to scale with those of the rows that are there."""
    there = [row for number, (_, _, row) in enumerate(rows) if row and marks.get(number) != LEFT]
    largest = max((value for row in there for _, value in row.parts), default=0.0)
    return [
        marked_line(line_of(*row, largest, shown), marks.get(number, ""))
        for number, row in enumerate(rows)
    ]


def telling_row(rows: Sequence[Row], marks: Mapping[int, str]) -> int:
    """Find the best of what was retrieved: in a small terminal little else is in view."""
    ranked = [
        (row.rank, number)
        for number, (kind, _, row) in enumerate(rows)
        if kind == Kind.RETRIEVED.value and row and row.rank and marks.get(number) != LEFT
    ]
    return min(ranked)[1] if ranked else 0


def marked_line(line: Content, mark: str) -> Content:
    """Draw a row with its mark in a cell that is blank otherwise."""
    if not mark:
        return line
    plain = line.plain
    return Content.styled(f"{plain[:MARK_AT]}{mark}{plain[MARK_AT + 1 :]}", _STYLES[mark])


def _is_turn(row: Row) -> bool:
    """Whether the row is a single turn's that is in the window."""
    kind, segments, _ = row
    return len(segments) == 1 and kind not in (Kind.SYSTEM, Kind.DRAFT)


def _turn(row: Row) -> int:
    _, segments, known = row
    turn = segments[0].turn if segments else known.turn if known else None
    return -1 if turn is None else turn


def _key(row: Row) -> tuple[int, int]:
    """The place of a row in the table; what was left out comes last."""
    place = _ORDER.index(row[0]) if row[0] in _ORDER else len(_ORDER)
    return place, _turn(row)
