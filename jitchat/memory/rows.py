"""The rows of the hot index, and what scoring asks of all of them at once."""

from __future__ import annotations

from array import array
from collections.abc import Collection
from dataclasses import dataclass
from datetime import datetime

import numpy as np
from numpy.typing import NDArray

from jitchat.memory.lexical import Scores
from jitchat.turn import IndexEntry

GAP_SECONDS = 4 * 3600
"""A pause this long starts a new stretch of talk."""


@dataclass(frozen=True, slots=True)
class IndexRow:
    """What the index needs of one turn."""

    position: int
    speaker: str
    """Name or role, folded."""
    asks: bool
    """Whether the turn ends in a question."""
    said_at: datetime | None
    stems: str
    """Blank-separated."""
    summary: str
    entities: str
    """Line-separated."""
    dates: str
    """Line-separated."""
    decision: bool
    vector: bytes | None
    """Little-endian float32 of the embedder in use, if the turn was embedded."""

    def entry(self) -> IndexEntry:
        """Show the row as the rest of the app knows it."""
        entities, dates = self.entities.split("\n"), self.dates.split("\n")
        return IndexEntry(
            self.position,
            self.summary,
            tuple(filter(None, entities)),
            tuple(filter(None, dates)),
            self.decision,
        )


class Columns:
    """One column a question; every answer has shape (rows,)."""

    def __init__(self) -> None:
        self._speakers: dict[str, int] = {}
        self._spoken_by = array("I")
        self._stretch_of = array("I")
        self._asks, self._dated, self._decides = bytearray(), bytearray(), bytearray()
        self._last_said_at: datetime | None = None

    def add(self, row: IndexRow) -> None:
        """Take the next row."""
        self._stretch_of.append(self._stretch_at(row.said_at))
        self._spoken_by.append(self._speakers.setdefault(row.speaker, len(self._speakers)))
        self._asks.append(row.asks)
        self._dated.append(bool(row.dates))
        self._decides.append(row.decision)
        self._last_said_at = row.said_at

    @property
    def speakers(self) -> frozenset[str]:
        """Everybody who spoke, folded."""
        return frozenset(self._speakers)

    def stretch_of(self) -> NDArray[np.int64]:
        """Number the stretch of talk of each row, from 0 and never falling."""
        return np.array(self._stretch_of, dtype=np.int64)

    def spoken_by(self, names: Collection[str]) -> Scores:
        """1 for the rows of these speakers, else 0."""
        numbers = [self._speakers[name] for name in names if name in self._speakers]
        return np.isin(np.array(self._spoken_by), numbers).astype(np.float32)

    def asking(self) -> Scores:
        """1 for the rows that end in a question, else 0."""
        return _mask(self._asks)

    def dated(self) -> Scores:
        """1 for the rows that speak of a date, else 0."""
        return _mask(self._dated)

    def deciding(self) -> Scores:
        """1 for the rows that decide something, else 0."""
        return _mask(self._decides)

    def _stretch_at(self, said_at: datetime | None) -> int:
        last = self._last_said_at
        pause = (said_at - last).total_seconds() if said_at and last else 0.0
        return (self._stretch_of[-1] if self._stretch_of else 0) + (pause >= GAP_SECONDS)


def _mask(flags: bytearray) -> Scores:
    return np.frombuffer(bytes(flags), dtype=np.uint8).astype(np.float32)
