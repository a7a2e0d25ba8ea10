"""The turns that a reply may have lacked: which are listed, and how a row is drawn. Pure."""

from __future__ import annotations

from collections.abc import Mapping, Sequence
from dataclasses import dataclass

from rich.cells import cell_len, set_cell_size
from textual.content import Content

from jitchat.memory.cold.cases import Case, CaseKind
from jitchat.text.safe import one_line, shortened
from jitchat.tui.cells import cut
from jitchat.tui.views.replied import Replied
from jitchat.turn import Turn
from jitchat.window.why import Standing
from jitchat.window.window import ContextWindow, Kind

MOST = 50
"""Rows; a text finds the others."""
_EXCERPT = 300
_MARKS = {CaseKind.MISS: "!", CaseKind.KEPT: "K"}
_SPEAKER = 10


@dataclass(frozen=True, slots=True)
class Row:
    """A turn ahead of the message."""

    turn: Turn
    standing: str
    """What it was in the window that was sent, in one or two words."""
    is_there: bool
    """Whether that is at full text."""
    text: str
    """Of the turn, in one line; where it was searched for, around what was found."""
    noted: Case | None = None


def suggested(turns: Sequence[Turn], replied: Replied, noted: Mapping[int, Case]) -> list[int]:
    """List what is shown before anything is typed: noted turns, the ledger's, then the latest."""
    known = {turn.position for turn in turns if turn.position < replied.said.position}
    ledger = replied.window.ledger if replied.window is not None else ()
    wanted = [*noted, *(row.turn for row in ledger), *sorted(known, reverse=True)]
    return [position for position in dict.fromkeys(wanted) if position in known][:MOST]


def row_of(turn: Turn, replied: Replied, noted: Case | None, text: str = "") -> Row:
    """Make the row of a turn."""
    kind, standing = _standing(turn.position, replied.window)
    is_there = kind not in (None, Kind.INDEX)
    return Row(turn, standing, is_there, text or shortened(turn.content, _EXCERPT), noted)


def row_line(row: Row, width: int) -> Content:
    """`! #20   never        user       We moved it to …`: at most `width` cells."""
    mark = _MARKS[row.noted.kind] if row.noted is not None else " "
    speaker = set_cell_size(one_line(row.turn.speaker), _SPEAKER)
    line = f"{mark} {f'#{row.turn.position}':<6} {row.standing:<10} {speaker} "
    text = cut(one_line(row.text), max(0, width - cell_len(line)))
    return Content.assemble((line + text, "bold" if row.noted is not None else ""))


def header() -> str:
    """Name the columns."""
    return f"  {'turn':<6} {'in window':<10} {'speaker':<{_SPEAKER}} what it says"


def noted_line(case: Case) -> str:
    """Say what was noted."""
    what = "was missing" if case.kind is CaseKind.MISS else "was rightly there"
    return f"Noted: #{case.wanted.position} {what}."


def heading(replied: Replied, width: int) -> str:
    """Write the message and the reply, a line each."""
    told = (("message", replied.said), ("reply", replied.reply))
    lines = (f"{name} #{turn.position}: {one_line(turn.content[:width])}" for name, turn in told)
    return "\n".join(shortened(line, max(20, width)) for line in lines)


def _standing(position: int, window: ContextWindow | None) -> tuple[Kind | None, str]:
    if window is None:
        return None, "unknown"
    kind = window.kind_of_turns().get(position)
    if kind is not None:
        return kind, "index line" if kind is Kind.INDEX else kind.value
    considered = any(row.turn == position for row in window.ledger)
    return None, Standing.LEFT_OUT.value if considered else "never"
