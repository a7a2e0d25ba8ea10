"""What scoring asks of all rows of the hot index at once: one column a question."""

from array import array
from bisect import bisect_left
from collections.abc import Collection, Iterable
from datetime import datetime

import numpy as np
from numpy.typing import NDArray

from jitchat.index.lexical import Places, Scores
from jitchat.index.tables import IndexRow
from jitchat.text.dates import YEAR_SIZE, Span, number_of, spans_of

GAP_SECONDS = 4 * 3600
"""A pause this long starts a new stretch of talk."""
FLAGS = ("asks", "tells_when", "decision", "disclaims")
"""Of an `IndexRow`."""


class Columns:
    """One column a question; every answer has shape (rows,)."""

    def __init__(self) -> None:
        self._speakers: dict[str, int] = {}
        """Numbered as they come."""
        self._spoke_first = array("I")
        """By a speaker's number: the first row."""
        self._spoken_by = array("I")
        self._stretch_of = array("I")
        self._flags = {name: bytearray() for name in FLAGS}
        self._said_on = array("I")
        self._dated, self._first, self._last = array("I"), array("I"), array("I")
        """Of every span that a row speaks of: the row, and the days, as numbers."""
        self._last_said_at: datetime | None = None

    def add(self, row: IndexRow) -> None:
        for span in spans_of(row.dates.split("\n")) if row.dates else ():
            if not span.any_year:
                self._dated.append(len(self._said_on))
                self._first.append(span.first)
                self._last.append(span.last)
        last = self._last_said_at
        pause = (row.said_at - last).total_seconds() if row.said_at and last else 0.0
        stretch = self._stretch_of[-1] if self._stretch_of else 0
        self._stretch_of.append(stretch + (pause >= GAP_SECONDS))
        if row.speaker not in self._speakers:
            self._speakers[row.speaker] = len(self._speakers)
            self._spoke_first.append(len(self._said_on))
        self._spoken_by.append(self._speakers[row.speaker])
        self._said_on.append(number_of(row.said_at.date()) if row.said_at else 0)
        for name, column in self._flags.items():
            column.append(getattr(row, name))
        self._last_said_at = row.said_at

    def take_back(self, size: int, last: IndexRow | None) -> None:
        """Keep the first `size` rows, up to `last`, as if no other had been added."""
        dated = bisect_left(self._dated, size)
        del self._dated[dated:], self._first[dated:], self._last[dated:]
        del self._stretch_of[size:], self._spoken_by[size:], self._said_on[size:]
        for column in self._flags.values():
            del column[size:]
        while self._spoke_first and self._spoke_first[-1] >= size:
            self._spoke_first.pop()
            self._speakers.popitem()
        self._last_said_at = last.said_at if last else None

    @property
    def speakers(self) -> frozenset[str]:
        """Everybody who spoke, folded."""
        return frozenset(self._speakers)

    def stretch_of(self) -> Places:
        """Number the stretch of talk of each row, from 0 and never falling."""
        return np.array(self._stretch_of, dtype=np.int64)

    def spoken_by(self, names: Collection[str]) -> Scores:
        """1 for the rows of these speakers, else 0."""
        numbers = [self._speakers[name] for name in names if name in self._speakers]
        return np.isin(np.array(self._spoken_by), numbers).astype(np.float32)

    def said_in(self, spans: Iterable[Span]) -> Scores:
        """1 for the rows that were said on one of these days, else 0."""
        days = np.array(self._said_on, dtype=np.int64)
        found = np.zeros(len(days), dtype=bool)
        for span in spans:
            found |= _meet(span, days, days)
        return (found & (days > 0)).astype(np.float32)

    def speaking_of(self, spans: Iterable[Span]) -> Scores:
        """1 for the rows that mention one of these days, else 0."""
        rows = np.array(self._dated, dtype=np.int64)
        first, last = (np.array(days, dtype=np.int64) for days in (self._first, self._last))
        found = np.zeros(len(self._said_on), dtype=np.float32)
        for span in spans:
            found[rows[_meet(span, first, last)]] = 1.0
        return found

    def flag(self, name: str) -> Scores:
        return np.frombuffer(bytes(self._flags[name]), dtype=np.uint8).astype(np.float32)


def _meet(span: Span, first: Places, last: Places) -> NDArray[np.bool_]:
    """Which of the spans from `first` to `last` have a day in common with `span`."""
    if span.any_year:
        first, last = first % YEAR_SIZE, last % YEAR_SIZE
    return np.asarray((first <= span.last) & (last >= span.first))
