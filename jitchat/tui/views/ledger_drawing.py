"""How the ledger view draws: columns, bars, rules, sums and the note on a row. Pure."""

from __future__ import annotations

from collections.abc import Sequence
from dataclasses import dataclass, field

from rich.cells import cell_len
from textual.content import Content

from jitchat.text.counts import counted
from jitchat.text.safe import one_line, shortened
from jitchat.tui.cells import cut
from jitchat.tui.figures import identity_sentence, part_bar, part_figure, used_figure
from jitchat.tui.palette import MUTED
from jitchat.tui.views.ledger_rows import Row, Rule
from jitchat.window.difference import Change, difference
from jitchat.window.steering import NO_MORE, Hold, Once, Steering
from jitchat.window.why import LEAST_TOLD
from jitchat.window.window import ContextWindow

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
    said = f"#{row.turn}: {shortened(line, _LINE)}" if line else f"#{row.turn}"
    hold = marked.steering.of(row.turn)
    decided = f"{hold} by you" if hold is not None else ""
    return "\n".join(filter(None, (said, "" if decided in row.note else decided, row.note)))


def plain(lines: Sequence[str]) -> str:
    """Write what is on screen, for the clipboard."""
    return "\n".join(line.rstrip() for line in lines if line.strip())


def count_line(shown: int, known: int) -> str:
    """`12 of 19 turns`."""
    return f"{shown:,} of {counted(known, 'turn')}" if shown != known else counted(known, "turn")


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
