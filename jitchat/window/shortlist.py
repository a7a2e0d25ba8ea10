"""The shortlist as a window's ledger has it: its order, the floor, the cut, the end. Pure."""

from __future__ import annotations

from dataclasses import dataclass
from operator import itemgetter

from jitchat.window.window import ContextWindow, LedgerRow, Verdict


@dataclass(frozen=True, slots=True)
class Shortlist:
    """What was ranked for a window."""

    rows: tuple[LedgerRow, ...] = ()
    """By rank, the best first."""
    floor: float | None = None
    """The score below which nothing was picked; None where no score decided, or it is unknown."""

    @classmethod
    def of(cls, window: ContextWindow) -> Shortlist:
        """Read it from the ledger."""
        ranked = [(row.rank, row) for row in window.ledger if row.rank is not None]
        picking = window.picking
        is_heuristic = picking is None or bool(picking.fallback)
        rows = tuple(row for _, row in sorted(ranked, key=itemgetter(0)))
        return cls(rows, window.floor if is_heuristic else None)

    @property
    def cut(self) -> LedgerRow | None:
        """The last row that was picked and is there at full text; None where none is."""
        picked = (row for row in reversed(self.rows) if row.verdict is Verdict.RETRIEVED)
        return next((row for row in picked if row.score >= (self.floor or 0.0)), None)

    @property
    def end(self) -> LedgerRow | None:
        """The last row; None where nothing was found."""
        return self.rows[-1] if self.rows else None

    @property
    def above_floor(self) -> int:
        """How many rows have a score that is not below the floor."""
        return sum(row.score >= (self.floor or 0.0) for row in self.rows)
