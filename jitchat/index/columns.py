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


class Columns:
    """One column a question; every answer has shape (rows,)."""

    def __init__(self) -> None:
        self._speakers: dict[str, int] = {}
        """Numbered as they come."""
        self._spoke_first = array("I")
        """By a speaker's number: the first row."""
        self._spoken_by = array("I")
        self._stretch_of = array("I")
        self._asks, self._tells_when = bytearray(), bytearray()
        self._decides, self._disclaims = bytearray(), bytearray()
        self._said_on = array("I")
        self._dated, self._first, self._last = array("I"), array("I"), array("I")
        """Of every span that a row speaks of: the row, and the days, as numbers."""
        self._last_said_at: datetime | None = None

    def add(self, row: IndexRow) -> None:
        """Take the next row."""
        for span in spans_of(row.dates.split("\n")) if row.dates else ():
            if not span.any_year:
                self._dated.append(len(self._asks))
                self._first.append(span.first)
                self._last.append(span.last)
        self._stretch_of.append(self._stretch_at(row.said_at))
        self._spoken_by.append(self._number_of(row.speaker))
        self._said_on.append(number_of(row.said_at.date()) if row.said_at else 0)
        self._asks.append(row.asks)
        self._tells_when.append(row.tells_when)
        self._decides.append(row.decision)
        self._disclaims.append(row.disclaims)
        self._last_said_at = row.said_at

    def take_back(self, size: int, last: IndexRow | None) -> None:
        """Keep the first `size` rows, up to `last`, as if no other had been added."""
        dated = bisect_left(self._dated, size)
        del self._dated[dated:], self._first[dated:], self._last[dated:]
        del self._stretch_of[size:], self._spoken_by[size:], self._said_on[size:]
        del self._asks[size:], self._tells_when[size:]
        del self._decides[size:], self._disclaims[size:]
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
        found = np.zeros(len(self._asks), dtype=np.float32)
        for span in spans:
            found[rows[_meet(span, first, last)]] = 1.0
        return found

    def asking(self) -> Scores:
        """1 for the rows that end in a question, else 0."""
        return _mask(self._asks)

    def telling_when(self) -> Scores:
        """1 for the rows that say anything about when, else 0."""
        return _mask(self._tells_when)

    def disclaiming(self) -> Scores:
        """1 for the rows whose speaker does not know, else 0."""
        return _mask(self._disclaims)

    def deciding(self) -> Scores:
        """1 for the rows that decide something, else 0."""
        return _mask(self._decides)

    def _number_of(self, speaker: str) -> int:
        if speaker not in self._speakers:
            self._speakers[speaker] = len(self._speakers)
            self._spoke_first.append(len(self._asks))
        return self._speakers[speaker]

    def _stretch_at(self, said_at: datetime | None) -> int:
        last = self._last_said_at
        pause = (said_at - last).total_seconds() if said_at and last else 0.0
        return (self._stretch_of[-1] if self._stretch_of else 0) + (pause >= GAP_SECONDS)


def _meet(span: Span, first: Places, last: Places) -> NDArray[np.bool_]:
    """Which of the spans from `first` to `last` have a day in common with `span`."""
    if span.any_year:
        first, last = first % YEAR_SIZE, last % YEAR_SIZE
    return np.asarray((first <= span.last) & (last >= span.first))


def _mask(flags: bytearray) -> Scores:
    return np.frombuffer(bytes(flags), dtype=np.uint8).astype(np.float32)
