"""The difference of two windows as rows: one per turn, one per kind of segment without a turn."""

from collections.abc import Sequence
from dataclasses import dataclass

from jitchat.text.figures import plural
from jitchat.tui.drawing import MUTED
from jitchat.tui.widgets.turn_table import Column, Line
from jitchat.window.compare import Change, difference
from jitchat.window.window import ContextWindow, Kind

SHOWN = 200
"""Rows shown of one kind of difference; the rest is summed up."""
_LEAST_KIND = 10
"""Least columns for names of kinds."""
_NO_KIND = "—"


@dataclass(frozen=True, slots=True)
class DiffRow:
    change: Change
    figure_before: str
    """Its tokens in the first window; empty if it was not there."""
    figure_after: str
    why: str

    @property
    def kind_before(self) -> str:
        return self.change.kind_before or _NO_KIND

    @property
    def kind_after(self) -> str:
        return self.change.kind_after or _NO_KIND


def diff_columns(items: Sequence[DiffRow | Line]) -> Sequence[Column[DiffRow]]:
    """Return the columns for these rows: some kinds have long names."""
    rows = [item for item in items if isinstance(item, DiffRow)]
    was = max((len(row.kind_before) for row in rows), default=0)
    now = max((len(row.kind_after) for row in rows), default=0)
    return (
        Column("", lambda row: row.change.name, 8),
        Column("turn", _turn, 6, is_right=True, gap=0),
        Column("was", lambda row: row.kind_before, max(_LEAST_KIND, was + 1), gap=2),
        Column("is", lambda row: row.kind_after, max(_LEAST_KIND, now + 1), gap=0),
        Column("before", lambda row: row.figure_before, 7, is_right=True, gap=0),
        Column("after", lambda row: row.figure_after, 7, is_right=True, gap=0),
        Column("change", lambda row: growth([row.change]), 8, is_right=True, gap=0),
        Column("why", lambda row: row.why, gap=2),
    )


def _turn(row: DiffRow) -> str:
    return f"#{row.change.turn}" if row.change.turn else ""


def diff_rows(before: ContextWindow, after: ContextWindow) -> list[DiffRow | Line]:
    """List the differences, up to `SHOWN` of a kind; empty if both windows have the same turns."""
    differences = difference(before, after)
    reasons = _reasons(before, after)

    def row_of(change: Change) -> DiffRow:
        was = str(before.figure(change.tokens_before)) if change.kind_before else ""
        now = str(after.figure(change.tokens_after)) if change.kind_after else ""
        kind = change.kind_after
        if not change.turn:
            kind = kind or change.kind_before
        return DiffRow(change, was, now, reasons.get((change.turn, kind), ""))

    rows: list[DiffRow | Line] = []
    for name, changes in differences.by_name.items():
        rows += [row_of(change) for change in changes[:SHOWN]]
        rest = changes[SHOWN:]
        if rest:
            text = f"{plural(len(rest), 'more turn')} {name}, {growth(rest)} tokens"
            rows.append(Line(f"  … {text}", MUTED, can_be_chosen=True))
    return rows + [row_of(part) for part in differences.parts]


def _reasons(before: ContextWindow, after: ContextWindow) -> dict[tuple[int, Kind | None], str]:
    """Return the reasons by turn and kind; a turn that left has the ledger's, without a kind."""
    reasons: dict[tuple[int, Kind | None], str] = {}
    gone = [segment for segment in before.segments if segment.turn is None]
    for segment in reversed((*after.segments, *gone)):  # of several, the first one says why
        reasons[segment.turn or 0, segment.kind] = segment.reason
    return reasons | {(row.turn, None): row.reason for row in after.ledger}


def growth(changes: Sequence[Change]) -> str:
    """Write how many tokens more the second window has: `+31`, `−12`."""
    return signed(sum(change.tokens_after - change.tokens_before for change in changes))


def signed(count: int) -> str:
    return f"{count:+,}".replace("-", "−")
