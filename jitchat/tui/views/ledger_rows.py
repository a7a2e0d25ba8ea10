"""The rows of the ledger view: what each shows, in which order, and which of them. Pure."""

from __future__ import annotations

from collections.abc import Iterator, Mapping, Sequence
from dataclasses import dataclass
from enum import StrEnum

from jitchat.text.words import folded
from jitchat.tui.figures import ledger_note
from jitchat.window.shortlist import Shortlist
from jitchat.window.why import Standing, Why, parts_told
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
    text = folded(wanted.text.strip())
    return text in folded(f"#{row.turn} {row.verdict} {row.reason} {line}")


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
