"""The rows of the ledger view: what each shows, in which order, and which of them. Pure."""

from collections.abc import Iterator, Mapping, Sequence
from dataclasses import dataclass, field, replace
from enum import StrEnum

from rich.cells import cell_len
from textual.content import Content
from textual.reactive import reactive
from textual.widgets.option_list import Option

from jitchat.text.figures import plural
from jitchat.text.sanitize import one_line, shorten
from jitchat.text.words import fold
from jitchat.tui.figures import (
    BESIDE,
    cut,
    identity_sentence,
    ledger_note,
    part_bar,
    part_figure,
    used_figure,
)
from jitchat.tui.palette import MUTED
from jitchat.tui.widgets.row_list import PointedList
from jitchat.why import LEAST_TOLD, Standing, Why, parts_told
from jitchat.window.compare import Change, difference
from jitchat.window.ledger import Shortlist
from jitchat.window.steering import NO_MORE, Hold, Once, Steering
from jitchat.window.window import ContextWindow, LedgerRow, Verdict


class Order(StrEnum):
    """By what rows are sorted."""

    RANK = "rank"
    TOKENS = "tokens"
    TURN = "turn"
    VERDICT = "verdict"


class Part(StrEnum):
    """Which rows are listed."""

    ALL = "all"
    IN = "in the window"
    OUT = "left out"


@dataclass(frozen=True, slots=True)
class Row:
    """What is shown of one turn."""

    turn: int
    rank: int | None
    score: float
    parts: tuple[tuple[str, float], ...]
    tokens: int | None
    """None where the ledger does not say."""
    verdict: str
    reason: str
    note: str
    """All that is known of it, in lines."""

    @property
    def is_there(self) -> bool:
        """Whether the window has it at full text."""
        return self.verdict in _AT_FULL_TEXT

    @property
    def part(self) -> Part:
        """Whether the window has anything of it."""
        return Part.IN if self.is_there or self.verdict == Verdict.INDEX else Part.OUT


@dataclass(frozen=True, slots=True)
class Rule:
    """A line across the list, where it is in order of rank."""

    text: str


@dataclass(frozen=True, slots=True)
class Wanted:
    """Which rows the user wants to see, and how."""

    order: Order = Order.RANK
    part: Part = Part.ALL
    text: str = ""

    @property
    def turn(self) -> int | None:
        """The turn that is asked for by its #id; None where the text is none."""
        digits = self.text.strip().removeprefix("#")
        is_id = digits.isascii() and digits.isdecimal() and len(digits) <= _DIGITS
        return int(digits) if is_id else None


def row_of(row: LedgerRow) -> Row:
    """Show a row of the ledger."""
    note = ledger_note(row)
    return Row(
        row.turn, row.rank, row.score, row.parts, row.tokens, row.verdict.value, row.reason, note
    )


def row_asked_for(why: Why) -> Row | None:
    """Show a turn that the ledger does not have; None where it cannot be in any window."""
    if why.row is not None or why.standing not in (Standing.NEVER, Standing.SENT):
        return None
    verdict = Verdict.RECENT.value if why.standing is Standing.SENT else "never"
    found = why.placed.candidate if why.placed is not None else None
    rank, score, parts = (found.rank, found.score, found.parts) if found else (None, 0.0, ())
    note = f"score {score:.2f} = {parts_told(parts)}" if parts_told(parts) else "score 0.00"
    is_ranked = found is not None
    reason = why.standing.value
    return Row(why.turn, rank, score, parts, None, verdict, reason, note if is_ranked else "")


def listed(rows: Sequence[Row], wanted: Wanted, lines: Mapping[int, str]) -> list[Row]:
    """Choose and sort rows; `lines` are the index lines by turn, for the text to match."""
    chosen = (row for row in rows if wanted.part in (Part.ALL, row.part))
    found = [row for row in chosen if _matches(row, wanted, lines.get(row.turn, ""))]
    return sorted(found, key=_KEYS[wanted.order])


def ruled(rows: Sequence[Row], window: ContextWindow) -> Iterator[Row | Rule]:
    """Draw the cut, the floor and the end of the shortlist between rows in order of rank."""
    rules = _rules(window)
    for row in rows:
        while rules and (row.rank is None or row.rank > rules[0][0]):
            yield rules.pop(0)[1]
        yield row
    for _, rule in rules:
        yield rule


def _rules(window: ContextWindow) -> list[tuple[int, Rule]]:
    """The rank behind which each rule is drawn."""
    shortlist = Shortlist.of(window)
    cut, end, floor = shortlist.cut, shortlist.end, shortlist.floor
    found = []
    if cut is not None and cut.rank is not None:
        said = f"cut: #{cut.turn} with {cut.score:.2f} is the last one at full text"
        found.append((cut.rank, Rule(said)))
    if floor is not None:
        found.append((shortlist.above_floor, Rule(f"floor {floor:.2f}: nothing below is picked")))
    if end is not None and end.rank is not None:
        said = f"end of the shortlist: rank {end.rank} with {end.score:.2f}"
        found.append((end.rank, Rule(said)))
    return sorted(found, key=_behind)


def _behind(rule: tuple[int, Rule]) -> int:
    return rule[0]


def _matches(row: Row, wanted: Wanted, line: str) -> bool:
    """Whether a row has the text; an #id that is being typed, whether it begins so."""
    if wanted.turn is not None:
        return str(row.turn).startswith(str(wanted.turn))
    text = fold(wanted.text.strip())
    return text in fold(f"#{row.turn} {row.verdict} {row.reason} {line}")


def _by_rank(row: Row) -> tuple[bool, int]:
    return row.rank is None, row.rank or 0


_DIGITS = 12
_AT_FULL_TEXT = (Verdict.RETRIEVED.value, Verdict.RECENT.value, Verdict.PINNED.value)
_VERDICTS = [
    *(Verdict.PINNED.value, Verdict.RECENT.value, Verdict.RETRIEVED.value),
    *(Verdict.INDEX.value, Verdict.LEFT_OUT.value, "never"),
]
_KEYS = {
    Order.RANK: _by_rank,
    Order.TOKENS: lambda row: (row.tokens is None, -(row.tokens or 0)),
    Order.TURN: lambda row: (False, row.turn),
    Order.VERDICT: lambda row: (False, _VERDICTS.index(row.verdict)),
}


PARTS = ("lexical", "dense", "context", "neighbour", "stretch", "date", "cue")
"""Of a score, in the order of its bars; a bar is headed by the first two letters."""
_LEAST_REASON = 20
"""Cells; in fewer, a reason stands in the note alone."""
_LINE = 120
"""Characters of an index line: two lines of a small terminal."""
_MARKS = {Hold.PINNED: "P", Hold.EXCLUDED: "X"}


@dataclass(frozen=True, slots=True)
class Marked:
    """What the user decided, as it is marked on rows."""

    steering: Steering = field(default_factory=Steering)
    once: Once = NO_MORE

    def mark(self, turn: int) -> str:
        """`P`: pinned, `X`: excluded; `+`: wanted for this message, `−`: kept out of it."""
        hold = self.steering.of(turn)
        lasting = _MARKS[hold] if hold is not None else " "
        return ("+" if turn in self.once.wanted else "−" if turn in self.once.dropped else " ") + (
            lasting
        )


@dataclass(frozen=True, slots=True)
class Sheet:
    """What rows are drawn on."""

    window: ContextWindow
    marked: Marked
    largest: float
    """The largest part of all scores that are shown: the bars are to its scale."""
    width: int
    """In cells."""
    parts: tuple[str, ...] = PARTS
    """Those that have a column."""


def parts_that_fit(rows: Sequence[Row], sheet: Sheet) -> tuple[str, ...]:
    """Choose the parts that have a column: those that are nowhere go if a reason lacks the room."""
    room = sheet.width - cell_len(header())
    longest = max((cell_len(one_line(row.reason)) for row in rows), default=0)
    if longest <= room:
        return PARTS
    scores = [dict(row.parts) for row in rows]
    there = tuple(
        name for name in PARTS if any(abs(each.get(name, 0)) >= LEAST_TOLD for each in scores)
    )
    return there if sheet.width - cell_len(header(there)) > _LEAST_REASON else PARTS


def header(parts: Sequence[str] = PARTS) -> str:
    """Name the columns."""
    heads = [name[:2] for name in parts]
    return _columns(("", "turn", "rank", "score"), heads, ("tokens", "verdict"))


def legend() -> Content:
    """Say which bar is which part of the score."""
    told: list[tuple[str, str]] = [("parts of the score: ", "")]
    for name in PARTS:
        told += [(name[:2], "bold underline"), (f"{name[2:]} ", "")]
    return Content.assemble(*told[:-1], (told[-1][0].rstrip(), ""))


def row_line(row: Row, sheet: Sheet) -> Content:
    """Draw a row."""
    is_ranked = row.rank is not None
    rank, score = (f"{row.rank:,}", f"{row.score:.2f}") if is_ranked else ("", "")
    tokens = part_figure(sheet.window, row.tokens) if row.tokens is not None else ""
    ahead = (sheet.marked.mark(row.turn), f"#{row.turn}", rank, score)
    line = _columns(ahead, _bars(row.parts, sheet), (tokens, row.verdict))
    room = sheet.width - cell_len(line) - 1
    if room >= _LEAST_REASON:
        line = f"{line} {cut(one_line(row.reason), room)}"
    return Content.assemble((line, "" if row.is_there else MUTED))


def rule_line(rule: Rule, width: int) -> Content:
    """Draw a line across."""
    return Content(f"── {rule.text} ".ljust(width, "─"))


def never_line(window: ContextWindow) -> str:
    """Sum up what was never considered; empty where nothing was not."""
    never = window.never_candidates
    if never is None:
        return ""
    return f"{never.sentence} ({part_figure(window, never.tokens)} tokens)"


def sums_line(window: ContextWindow) -> str:
    """`jit: ~1,187 used + ~29,533 free + 2,048 reserve = 32,768 limit`."""
    return f"{window.mode}: {identity_sentence(window)}"


def change_line(before: ContextWindow, after: ContextWindow) -> str:
    """Say who came in and who lost their place."""
    told = difference(before, after)
    parts = [
        f"{what} {_turns(changes)}"
        for what, changes in (("came in:", told.gained), ("lost their place:", told.lost))
        if changes
    ]
    sizes = f"used {used_figure(before)} → {used_figure(after)}"
    return " · ".join([*parts, sizes]) if parts else "Nothing came in or lost its place."


def note_of(row: Row, line: str, marked: Marked) -> str:
    """Say all that is known of a row; `line` is its index line, empty where none is known."""
    said = f"#{row.turn}: {shorten(line, _LINE)}" if line else f"#{row.turn}"
    hold = marked.steering.of(row.turn)
    decided = f"{hold} by you" if hold is not None else ""
    return "\n".join(filter(None, (said, "" if decided in row.note else decided, row.note)))


def plain(lines: Sequence[str]) -> str:
    """Write what is on screen, for the clipboard."""
    return "\n".join(line.rstrip() for line in lines if line.strip())


def count_line(shown: int, known: int) -> str:
    """`12 of 19 turns`."""
    return f"{shown:,} of {plural(known, 'turn')}" if shown != known else plural(known, "turn")


def _columns(ahead: tuple[str, str, str, str], bars: Sequence[str], behind: tuple[str, str]) -> str:
    """Mark, turn, rank and score; the bars; tokens and verdict. The reason comes after them."""
    (mark, turn, rank, score), (tokens, verdict) = ahead, behind
    cells = "".join(f"{bar:<3}" for bar in bars)
    return f"{mark:<2}{turn:>6}{rank:>6}{score:>6}  {cells}{tokens:>7} {verdict:<9}"


def _bars(parts: tuple[tuple[str, float], ...], sheet: Sheet) -> list[str]:
    """Two cells a part, as high as its share of the largest; `−` for one that takes away."""
    known = dict(parts)
    return [_bar(known.get(name, 0.0), sheet.largest) * 2 for name in sheet.parts]


def _bar(value: float, largest: float) -> str:
    if value <= -LEAST_TOLD:
        return "−"
    return part_bar(value, largest) if value >= LEAST_TOLD else " "


def _turns(changes: Sequence[Change]) -> str:
    return ", ".join(
        f"#{each.turn} ({abs(each.tokens_after - each.tokens_before):,})" for each in changes
    )


def why_empty(window: ContextWindow) -> str:
    """Say why there are no rows, and what makes some; empty where there are rows."""
    if window.ledger:
        return ""
    never = window.never_candidates
    if never is not None:
        return "No turn was considered: " + never.reason + ". Type a message that asks for one."
    return "Every turn is in the window, so that none had to be chosen. A longer talk fills this."


@dataclass(frozen=True, slots=True)
class Found:
    """What is known of a window."""

    window: ContextWindow
    lines: Mapping[int, str] = field(default_factory=dict)
    """Index lines, by turn."""
    marked: Marked = field(default_factory=Marked)


class LedgerTable(PointedList):
    """Draws rows; a rule cannot be chosen, the sum of the never-candidates is the last row."""

    parts: reactive[tuple[str, ...]] = reactive(PARTS)
    """Of the score: those that have a column."""

    def __init__(self) -> None:
        super().__init__(id="ledger-table", compact=True)
        self._items: list[Row | Rule] = []
        self._found: Found | None = None

    @property
    def row(self) -> Row | None:
        """The row under the cursor; None on the sum of the never-candidates, or without rows."""
        place = self.highlighted
        item = self._items[place] if place is not None and place < len(self._items) else None
        return item if isinstance(item, Row) else None

    @property
    def rows(self) -> list[Row]:
        """All rows, in order."""
        return [item for item in self._items if isinstance(item, Row)]

    def fill(
        self, items: Sequence[Row | Rule], found: Found, *, with_sum: bool, at: int | None
    ) -> None:
        """Show rows, with the cursor on the turn `at`; else on its turn, else on the first row."""
        here = self.row.turn if at is None and self.row is not None else at
        self._items, self._found = list(items), found
        never = never_line(found.window) if with_sum else ""
        options = [Option(line, disabled=isinstance(item, Rule)) for item, line in self._drawn()]
        self.set_options([*options, *([Option(Content(never))] if never else [])])
        self.highlighted = self._place_of(here) if self.option_count else None

    def text(self) -> list[str]:
        """Write every line, as drawn."""
        return [str(self.get_option_at_index(place).prompt) for place in range(self.option_count)]

    def on_resize(self) -> None:
        """A reason is cut where the list ends."""
        for place, (_, line) in enumerate(self._drawn()):
            self.replace_option_prompt_at_index(place, line)

    def _drawn(self) -> list[tuple[Row | Rule, Content]]:
        if self._found is None:
            return []
        width = max(0, self.size.width - BESIDE)
        largest = max((value for row in self.rows for _, value in row.parts), default=0.0)
        sheet = Sheet(self._found.window, self._found.marked, largest, width)
        self.parts = parts_that_fit(self.rows, sheet)
        sheet = replace(sheet, parts=self.parts)
        return [(item, _line(item, sheet)) for item in self._items]

    def _place_of(self, turn: int | None) -> int | None:
        rows = [(at, item) for at, item in enumerate(self._items) if isinstance(item, Row)]
        same = (at for at, row in rows if row.turn == turn)
        return next(same, rows[0][0] if rows else self.option_count - 1)


def _line(item: Row | Rule, sheet: Sheet) -> Content:
    return rule_line(item, sheet.width) if isinstance(item, Rule) else row_line(item, sheet)
