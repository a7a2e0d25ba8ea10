"""The rows of a window's ledger for display: their order, columns, rules and lines."""

from collections.abc import Callable, Iterator, Mapping, Sequence
from dataclasses import dataclass, field
from enum import StrEnum
from functools import partial

from rich.cells import cell_len

from jitchat.text.figures import Mark
from jitchat.text.sanitize import one_line, shorten
from jitchat.text.words import fold
from jitchat.tui.drawing import MUTED, Content
from jitchat.tui.figures import PARTS, ledger_note, part_bar
from jitchat.tui.widgets.turn_table import Column, Line, header
from jitchat.why import LEAST_TOLD, Standing, Why, parts_told
from jitchat.window.compare import Change, difference
from jitchat.window.steering import NO_MORE, Hold, Once, Steering
from jitchat.window.window import RERANKER, ContextWindow, Kind, LedgerRow, OtherRow, Verdict

_LEAST_REASON = 20
"""Columns; with fewer, the reason is shown only in the note."""
_LINE = 120
"""Characters shown of an index line: two lines of a small terminal."""
_DIGITS = 12
_AT_FULL_TEXT = (Verdict.PINNED, Verdict.RECENT, Verdict.RETRIEVED, Verdict.REQUESTED)
_VERDICTS = [*_AT_FULL_TEXT, Verdict.INDEX, Verdict.LEFT_OUT, "never"]


class Order(StrEnum):
    RANK = "rank"
    TOKENS = "tokens"
    TURN = "turn"
    VERDICT = "verdict"


class Part(StrEnum):
    ALL = "all"
    IN = "in the window"
    OUT = "left out"


@dataclass(frozen=True, slots=True)
class Row:
    turn: int
    rank: int | None
    score: float
    parts: tuple[tuple[str, float], ...]
    tokens: int | None
    """None if the ledger does not state it."""
    verdict: str
    reason: str
    note: str
    """All its details, one per line."""

    @property
    def is_there(self) -> bool:
        """Whether the window has it at full text."""
        return self.verdict in _AT_FULL_TEXT

    @property
    def part(self) -> Part:
        """Whether the window has the turn in any form."""
        return Part.IN if self.is_there or self.verdict == Verdict.INDEX else Part.OUT


_KEYS: dict[Order, Callable[[Row], tuple[bool, int]]] = {
    Order.RANK: lambda row: (row.rank is None, row.rank or 0),
    Order.TOKENS: lambda row: (row.tokens is None, -(row.tokens or 0)),
    Order.TURN: lambda row: (False, row.turn),
    Order.VERDICT: lambda row: (False, _VERDICTS.index(row.verdict)),
}


@dataclass(frozen=True, slots=True)
class Listing:
    """Which rows to list, and in which order."""

    order: Order = Order.RANK
    part: Part = Part.ALL
    text: str = ""

    @property
    def turn(self) -> int | None:
        """The turn asked about by its #id; None if the text is not an id."""
        digits = self.text.strip().removeprefix("#")
        is_id = digits.isascii() and digits.isdecimal() and len(digits) <= _DIGITS
        return int(digits) if is_id else None

    def of(self, rows: Sequence[Row], lines: Mapping[int, str]) -> list[Row]:
        """Filter and sort rows; `lines` are index lines by turn, which the text may match."""
        text = fold(self.text.strip())

        def is_listed(row: Row) -> bool:
            if self.part not in (Part.ALL, row.part):
                return False
            if self.turn is not None:  # an id that is still being typed
                return str(row.turn).startswith(str(self.turn))
            line = lines.get(row.turn, "")
            return text in fold(f"#{row.turn} {row.verdict} {row.reason} {line}")

        return sorted(filter(is_listed, rows), key=_KEYS[self.order])


def row_of(row: LedgerRow, mark: Mark) -> Row:
    figures = row.turn, row.rank, row.score, row.parts, row.tokens
    return Row(*figures, row.verdict.value, row.reason, ledger_note(row, mark))


def row_beside_ledger(why: Why) -> Row | None:
    """Make a row for a turn that is not in the ledger; None if no window can have it."""
    if why.row is not None or why.standing not in (Standing.NEVER, Standing.SENT, Standing.IN_PART):
        return None
    verdict = Verdict.RECENT.value if why.standing is not Standing.NEVER else "never"
    reason = why.standing.value
    if why.placed is None:
        return Row(why.turn, None, 0.0, (), None, verdict, reason, "")
    found = why.placed.candidate
    parts = parts_told(found.parts)
    note = f"score {found.score:.2f} = {parts}" if parts else "score 0.00"
    return Row(why.turn, found.rank, found.score, found.parts, None, verdict, reason, note)


def ruled(rows: Sequence[Row], window: ContextWindow) -> Iterator[Row | Line]:
    """Insert rules for the cut, the floor and the end of the shortlist between ranked rows."""
    rules = sorted(_rules(window))
    for row in rows:
        while rules and (row.rank is None or row.rank > rules[0][0]):
            yield Line(f"── {rules.pop(0)[2]} ", fill="─")
        yield row
    for *_, text in rules:
        yield Line(f"── {text} ", fill="─")


def _rules(window: ContextWindow) -> Iterator[tuple[int, int, str]]:
    """List, for each rule, the rank after which it is drawn, its order there, and its text."""
    shortlist = window.shortlist
    cut, end, floor = shortlist.cut, shortlist.end, shortlist.floor
    if cut is not None and cut.rank is not None:
        yield cut.rank, 0, f"cut: #{cut.turn} with {cut.score:.2f} is the last one at full text"
    if floor is not None:
        yield shortlist.above_floor, 1, f"floor {floor:.2f}: nothing below it is picked"
    if end is not None and end.rank is not None:
        yield end.rank, 2, f"end of the shortlist: rank {end.rank} with {end.score:.2f}"


@dataclass(frozen=True, slots=True)
class Marks:
    """The user's pins and exclusions, as marked on rows."""

    steering: Steering = field(default_factory=Steering)
    once: Once = NO_MORE

    def of(self, turn: int) -> str:
        """`P`: pinned, `X`: excluded; for this message only, `+`: included, `−`: left out."""
        hold = {Hold.PINNED: "P", Hold.EXCLUDED: "X", None: " "}[self.steering.of(turn)]
        for turns, mark in ((self.once.wanted, "+"), (self.once.dropped, "−")):
            if turn in turns:
                return mark + hold
        return " " + hold


def columns_of(
    rows: Sequence[Row], window: ContextWindow, marks: Marks
) -> Callable[[int], Sequence[Column[Row]]]:
    """Return the columns for a width; unused score parts make room for long reasons."""
    largest = max((value for row in rows for _, value in row.parts), default=0.0)
    longest = max((cell_len(one_line(row.reason)) for row in rows), default=0)

    def tokens(row: Row) -> str:
        return str(window.figure(row.tokens)) if row.tokens is not None else ""

    def with_parts(parts: Sequence[str]) -> list[Column[Row]]:
        return [
            Column("", lambda row: marks.of(row.turn), 2),
            Column("turn", lambda row: f"#{row.turn}", 6, is_right=True, gap=0),
            Column(
                "rank", lambda row: f"{row.rank:,}" if row.rank else "", 6, is_right=True, gap=0
            ),
            Column(
                "score", lambda row: f"{row.score:.2f}" if row.rank else "", 6, is_right=True, gap=0
            ),
            Column("", lambda _: "", 1, gap=0),
            *(Column(name[:2], partial(_bar, name, largest), 2) for name in parts),
            Column("tokens", tokens, 7, is_right=True),
            Column("verdict", lambda row: row.verdict, 9),
        ]

    every = parts_of(window)

    def fitting(width: int) -> Sequence[Column[Row]]:
        columns = with_parts(every)
        if longest > width - len(header(columns)):
            present = {
                name for row in rows for name, value in row.parts if abs(value) >= LEAST_TOLD
            }
            fewer = with_parts([name for name in every if name in present])
            columns = fewer if width - len(header(fewer)) > _LEAST_REASON else columns
        if width - len(header(columns)) > _LEAST_REASON:
            columns.append(Column("", lambda row: row.reason))
        return columns

    return fitting


def _bar(name: str, largest: float, row: Row) -> str:
    """Draw two cells as high as the part's share of the largest; `−−` if it is negative."""
    value = dict(row.parts).get(name, 0.0)
    if value <= -LEAST_TOLD:
        return "−−"
    return part_bar(value, largest) * 2 if value >= LEAST_TOLD else ""


def parts_of(window: ContextWindow | None) -> Sequence[str]:
    """Name the parts of a score in the order of their bars, including a reranker's."""
    is_reranked = window is not None and window.reranking and not window.reranking.fallback
    return (*PARTS, RERANKER) if is_reranked else PARTS


def legend(window: ContextWindow | None = None) -> Content:
    names = [Content.assemble((name[:2], "bold underline"), name[2:]) for name in parts_of(window)]
    return Content("parts of the score: ") + Content(" ").join(names)


def never_line(window: ContextWindow) -> str:
    """Sum up the turns that were never candidates; empty if there are none."""
    never = window.never_candidates
    if never is None:
        return ""
    return f"{never.sentence} ({window.figure(never.tokens)} tokens)"


_OTHERS = {
    Kind.RETRIEVED: "turns of other conversations",
    Kind.FILES: "files",
    Kind.DOCUMENTS: "parts of files",
    Kind.STANDING: "standing instructions",
    Kind.FACTS: "facts",
    Kind.TOOLS: "tools",
    Kind.RECENT: "turns that no window shows",
}


def lines_of(window: ContextWindow, listing: Listing) -> Iterator[Line]:
    """List everything but the turns of the ledger, with the verdicts and the reasons."""
    text = fold(listing.text.strip())
    for kind, what in _OTHERS.items():
        rows = [*_sent_only(window, kind), *window.others_of(kind)]
        parts = {Part.IN: [row for row in rows if row.is_sent]}
        parts[Part.OUT] = [row for row in rows if not row.is_sent]
        wanted = rows if listing.part is Part.ALL else parts[listing.part]
        lines = [_line_of(window, row) for row in wanted]
        shown = [line for line in lines if text in fold(line.text)]
        if shown:
            sums = (sum(row.tokens for row in part) for part in parts.values())
            sent, out = (window.figure(tokens) for tokens in sums)
            yield Line(f"── {what}: {sent} tokens sent, {out} left out ", fill="─")
        yield from shown


def _sent_only(window: ContextWindow, kind: Kind) -> Iterator[OtherRow]:
    """Make rows of segments of which only those left out are in the window's list."""
    if kind in (Kind.STANDING, Kind.FACTS, Kind.TOOLS):
        for segment in window.segments:
            if segment.kind is kind:
                figures = segment.tokens, segment.reason, Verdict.SENT
                yield OtherRow(kind, "", *figures, source=segment.source)


def _line_of(window: ContextWindow, row: OtherRow) -> Line:
    tokens = window.figure(row.tokens)
    leads_to = row.source if row.source is not None and row.source.conversation else None
    place = f"{'↗' if leads_to is not None else ''}{row.name}"
    if row.file is not None:
        place = f"#{row.file.turn} {row.name}"
    score = f" {row.score:.2f}" if row.score else ""
    told = f"{place}{score}: {row.reason}" if row.name else row.reason
    style = "" if row.is_sent else MUTED
    text = f"{tokens:>7} {row.verdict:9} {one_line(told)}"
    return Line(text, style, can_be_chosen=True, leads_to=leads_to)


def change_line(before: ContextWindow, after: ContextWindow) -> str:
    """State which turns were added and which were displaced."""

    def turns(changes: Sequence[Change]) -> str:
        sizes = ((turn.turn, abs(turn.tokens_after - turn.tokens_before)) for turn in changes)
        return ", ".join(f"#{turn} ({after.figure(tokens)})" for turn, tokens in sizes)

    found = difference(before, after)
    if not found.gained and not found.lost:
        return "No turn was added or displaced."
    parts = [f"added: {turns(found.gained)}"] if found.gained else []
    parts += [f"displaced: {turns(found.lost)}"] if found.lost else []
    return " · ".join([*parts, f"used {before.used_figure} → {after.used_figure}"])


def note_of(row: Row, line: str, marks: Marks) -> str:
    """Write a row's details; `line` is its index line, empty if there is none."""
    head = f"#{row.turn}: {shorten(line, _LINE)}" if line else f"#{row.turn}"
    hold = marks.steering.of(row.turn)
    decided = f"{hold} by you" if hold is not None else ""
    return "\n".join(filter(None, (head, "" if decided in row.note else decided, row.note)))


def why_empty(window: ContextWindow) -> str:
    """State why there are no rows, and how to get some; empty if there are rows."""
    if window.ledger or window.others:
        return ""
    never = window.never_candidates
    if never is not None:
        return "No turn was considered: " + never.reason + ". Ask about something older."
    return "Every turn is in the window, so none had to be chosen."
