"""The rows of a window's table: segments with tokens and reasons, then what was left out."""

from collections.abc import Sequence
from dataclasses import dataclass, replace

from rich.cells import cell_len

from jitchat.statements import Source
from jitchat.text.figures import Figure, Mark
from jitchat.text.sanitize import one_line
from jitchat.tui.drawing import MUTED, Content
from jitchat.tui.figures import PARTS, part_bars
from jitchat.window.compare import difference
from jitchat.window.window import (
    RERANKER,
    ContextWindow,
    FileRef,
    Kind,
    LedgerRow,
    NeverCandidates,
    Segment,
    Verdict,
)

SINGLY = 60
"""Number of recent turns with a row each; all earlier ones share one row."""
ENTERED, LEFT = "+", "−"
"""Marks of a row that was just added or removed."""
MARK_AT = 9
"""The column of the mark, between kind and turn."""
MOST = 24
"""Maximum number of added and removed turns that are marked; more make a different window."""

_KIND, _KIND_AND_TURN = 10, 16
"""Minimum width of the kind, and width of kind and turn together, which a long kind may use."""
_ORDER = [kind.value for kind in Kind]
_STYLES = {ENTERED: "bold $text-success", LEFT: f"{MUTED} strike"}

Bars = frozenset[str] | None
"""The names of the score parts that have a bar; None for all except a reranker's."""


@dataclass(frozen=True, slots=True)
class WindowRow:
    kind: str
    """A kind of segment, or `left out`."""
    segments: tuple[Segment, ...]
    """The segments in this row; empty for a turn that is left out."""
    ledger: LedgerRow | None
    mark: str = ""
    counted: Mark = Mark.COUNTED
    """How its tokens are known."""
    is_stable: bool = False
    """Whether it is in the stable prefix."""

    @property
    def numbers(self) -> list[int]:
        of_segments = [segment.turn for segment in self.segments if segment.turn is not None]
        return of_segments or ([self.ledger.turn] if self.ledger else [])

    @property
    def turns(self) -> list[int]:
        """The stored turns that the row represents; none for the draft."""
        return [] if self.kind == Kind.DRAFT else self.numbers

    @property
    def turn(self) -> int | None:
        """The row's turn; None for several turns, for the draft and for instructions."""
        return self.turns[0] if len(self.segments) <= 1 and self.turns else None

    @property
    def tokens(self) -> int:
        if self.segments:
            return sum(segment.tokens for segment in self.segments)
        return self.ledger.tokens if self.ledger else 0

    @property
    def figure(self) -> Figure:
        return Figure(self.tokens, self.counted)

    @property
    def reason(self) -> str:
        """Why the row's turn is or is not in the window."""
        row = self.ledger
        if row and (not self.segments or row.verdict is Verdict.INDEX):
            return row.reason
        return self.segments[0].reason

    @property
    def numbers_text(self) -> str:
        if self.source is not None:
            return f"{'↗' if self.source.conversation else ''}#{self.source.first}"
        if self.file is not None:
            return f"#{self.file.turn}"
        if not (numbers := self.numbers):
            return ""
        return f"#{numbers[0]}" if len(numbers) == 1 else f"#{numbers[0]}–{numbers[-1]}"

    @property
    def source(self) -> Source | None:
        """The source of a text that is not a turn of this conversation; None for anything else."""
        return self.segments[0].source if len(self.segments) == 1 else None

    @property
    def file(self) -> FileRef | None:
        """The row's file, whole or in part; None if it is not of a file."""
        return self.segments[0].file if self.segments else None

    @property
    def title(self) -> str:
        name = self.source.name if self.source is not None else self.numbers_text
        name = self.file.place if self.file is not None else name
        return one_line(f"{self.kind} {name} · {self.figure} tokens")


def rows_of(window: ContextWindow) -> list[WindowRow]:
    """List the segments in order, then turns left out by rank; old whole turns share one row."""
    ledger = {row.turn: row for row in window.ledger}
    of_kind = (segment for segment in window.segments if segment.kind is Kind.RECENT)
    recent = [segment for segment in of_kind if segment.is_whole]
    gathered = tuple(recent[:-SINGLY]) if len(recent) > SINGLY + 1 else ()
    together, stable = set(map(id, gathered)), len(window.stable)
    rows: list[WindowRow] = []
    for number, segment in enumerate(window.segments):
        mark = "", window.mark, number < stable
        if id(segment) not in together:
            known = None if segment.turn is None else ledger.get(segment.turn)
            rows.append(WindowRow(segment.kind.value, (segment,), known, *mark))
        elif segment is gathered[0]:
            rows.append(WindowRow(Kind.RECENT.value, gathered, None, *mark))
    left = [row for row in window.ledger if row.verdict is Verdict.LEFT_OUT]
    return rows + [WindowRow(Verdict.LEFT_OUT.value, (), row, counted=window.mark) for row in left]


def with_changes(
    rows: Sequence[WindowRow], before: Sequence[WindowRow], old: ContextWindow, new: ContextWindow
) -> list[WindowRow]:
    """Mark the added rows of `new`, and put removed rows back in their places, also marked."""
    changes = difference(old, new)
    came = {change.turn for change in (*changes.entered, *changes.moved)}
    gone = {change.turn for change in changes.left}
    if not 0 < len(came) + len(gone) <= MOST or old.mode is not new.mode:
        return list(rows)
    marked = [replace(row, mark=ENTERED) if _changed(row, came) else row for row in rows]
    for row in before:
        if _changed(row, gone):
            key = _place(row)
            at = next((n for n, other in enumerate(marked) if _place(other) > key), len(marked))
            marked.insert(at, replace(row, mark=LEFT))
    return marked


def without_marks(rows: Sequence[WindowRow]) -> list[WindowRow]:
    """Drop the rows marked as removed, and the marks of the others."""
    return [replace(row, mark="") for row in rows if row.mark != LEFT]


def _changed(row: WindowRow, turns: set[int]) -> bool:
    return len(row.segments) == 1 and row.turn in turns


def _place(row: WindowRow) -> tuple[bool, int, int]:
    """Return the sort key of a row; turns left out come last."""
    place = _ORDER.index(row.kind) if row.kind in _ORDER else len(_ORDER)
    return not row.is_stable, place, row.numbers[0] if row.numbers else -1


def best_row(rows: Sequence[WindowRow]) -> int:
    """Return the index of the best retrieved row, to show it first in a small terminal."""
    ranked = [
        (row.ledger.rank, number)
        for number, row in enumerate(rows)
        if row.kind == Kind.RETRIEVED and row.ledger and row.ledger.rank and row.mark != LEFT
    ]
    return min(ranked)[1] if ranked else 0


def bars_that_fit(rows: Sequence[WindowRow], width: int) -> Bars:
    """Choose the score parts that have a bar, so that no retrieved turn's reason is cut off.

    For a `width` in cells: all parts if they fit, else those above zero in any score, else none.
    """
    reasons = [one_line(row.reason) for row in rows if row.kind == Kind.RETRIEVED]
    longest = max(map(cell_len, reasons), default=0)
    parts = [part for row in rows if row.ledger for part in row.ledger.parts]
    if width <= 0 or len(titles_before_reason(None)) + longest <= width:
        names = frozenset(name for name, _ in parts)
        return names if RERANKER in names else None
    drawn = frozenset(name for name, value in parts if value > 0)
    return drawn if len(titles_before_reason(drawn)) + longest <= width else frozenset()


def lines_of(rows: Sequence[WindowRow], shown: Bars = None) -> list[Content]:
    """Draw every row; the bars are scaled to the largest part, ignoring rows marked as removed."""
    present = [row.ledger for row in rows if row.ledger and row.mark != LEFT]
    largest = max((value for row in present for _, value in row.parts), default=0.0)
    return [line_of(row, largest, shown) for row in rows]


def line_of(row: WindowRow, largest: float, shown: Bars = None) -> Content:
    ledger = row.ledger
    score = f"{ledger.score:.2f}" if ledger and ledger.rank else ""
    all_parts = ledger.parts if ledger else ()
    parts = tuple(part for part in all_parts if shown is None or part[0] in shown)
    bars = f"{part_bars(parts, largest):<{_width(shown)}}"
    line = _columns(row.kind, row.numbers_text, str(row.figure), score, bars)
    line += one_line(row.reason)
    if row.mark:
        line = f"{line[:MARK_AT]}{row.mark}{line[MARK_AT + 1 :]}"
    return Content.styled(line, _STYLES.get(row.mark, "" if row.segments else MUTED))


def sum_line(never: NeverCandidates, mark: Mark) -> Content:
    columns = _columns(Verdict.LEFT_OUT, "", str(Figure(never.tokens, mark))).rstrip()
    return Content.styled(f"{columns}  {never.sentence}", MUTED)


def titles_before_reason(shown: Bars) -> str:
    width = _width(shown)
    return _columns("kind", "turn", "tokens", "score", f"{'parts':<{width}}"[:width])


def _columns(kind: str, turn: str, tokens: str, score: str = "", bars: str = "") -> str:
    room = max(0, _KIND_AND_TURN - max(_KIND, len(kind)))
    return f"{kind:<{_KIND}}{turn:>{room}}{tokens:>7}{score:>6} " + (f" {bars} " if bars else "")


def _width(shown: Bars) -> int:
    return len(PARTS) if shown is None else len(shown)


def boundary_line(sentence: str, width: int) -> str:
    """Draw a line across the list; if it fits, it says that the rows below change every time."""
    for rest in (" ── below: new in each request ", " ── below: new ", " "):
        line = f"── {sentence}{rest}"
        if len(line) < width:
            break
    return line.ljust(width, "─")
