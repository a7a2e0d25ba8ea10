"""The rows of the hot index, and what scoring asks of all of them at once.

A row is what an embedder made, unless it is not one: a blob of another length, or numbers
that no unit vector has, count as a turn without a vector.
"""

from __future__ import annotations

from array import array
from bisect import bisect_left
from collections.abc import Collection, Iterable, Sequence
from dataclasses import dataclass, replace
from datetime import datetime
from typing import TYPE_CHECKING, TypeVar

import numpy as np

from jitchat.index.lexical import Places, Scores
from jitchat.text.dates import YEAR_SIZE, Span, number_of, spans_of
from jitchat.values import IndexEntry

if TYPE_CHECKING:
    from numpy.typing import NDArray


GAP_SECONDS = 4 * 3600
"""A pause this long starts a new stretch of talk."""


@dataclass(frozen=True, slots=True)
class IndexRow:
    """What the index needs of one turn."""

    position: int
    speaker: str
    """Name or role, folded."""
    said_at: datetime | None
    stems: str
    """Blank-separated."""
    summary: str
    entities: str
    """Line-separated."""
    dates: str
    """Line-separated."""
    decision: bool
    asks: bool
    tells_when: bool
    disclaims: bool
    vector: bytes | None
    """Little-endian float32 of the embedder in use, if the turn was embedded."""

    def bare(self) -> IndexRow:
        """Leave out what is searched, for whoever has it in another form."""
        return replace(self, stems="", vector=None)

    def entry(self) -> IndexEntry:
        """Show the row as the rest of the app knows it."""
        entities, dates = self.entities.split("\n"), self.dates.split("\n")
        return IndexEntry(
            self.position,
            self.summary,
            tuple(filter(None, entities)),
            tuple(filter(None, dates)),
            self.decision,
            self.asks,
            self.tells_when,
            self.disclaims,
        )


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


_Number = TypeVar("_Number", np.float32, np.bool_)
_TOLERANCE = 0.01
_LEAST = 1e-6
_PARTS = 2.0**40
"""Sums are of whole parts of 1, so that a row that is taken back leaves nothing behind."""


class Vectors:
    """Rows of `dimension` numbers; grows by doubling, so that adding is cheap."""

    def __init__(self, dimension: int) -> None:
        self._dimension = dimension
        self._data = np.zeros((64, dimension), dtype=np.float32)
        self._is_there = np.zeros(64, dtype=bool)
        self._sum = np.zeros(dimension, dtype=np.int64)
        self._size = 0

    def extend(self, blobs: Sequence[bytes | None]) -> None:
        """Add a row for each; None for a turn that has none."""
        size = self._size + len(blobs)
        while size > len(self._data):
            self._data, self._is_there = _doubled(self._data), _doubled(self._is_there)
        if self._dimension:
            made = self._unpacked(blobs)
            fits = _are_units(made)
            kept = np.where(fits[:, None], made, np.float32(0.0))
            self._data[self._size : size] = kept
            self._is_there[self._size : size] = fits
            self._sum += _whole(kept)
        self._size = size

    def take_back(self, size: int) -> None:
        """Keep the first `size` rows, as if no other had been added."""
        self._sum -= _whole(self._data[size : self._size])
        self._size = size

    def known(self) -> NDArray[np.bool_]:
        """Which rows have a vector, shape (rows,)."""
        return self._is_there[: self._size].copy()

    def standardised(self, vector: NDArray[np.float32]) -> Scores:
        """Cosines in standard deviations above their mean, 0 at the least, shape (rows,).

        They are of what sets each row, and the query, apart from the mean of all rows: what
        they have in common says nothing.
        """
        found = np.zeros(self._size, dtype=np.float32)
        rows = self._is_there[: self._size]
        if not rows.any() or not vector.any():
            return found
        mean = (self._sum / (_PARTS * rows.sum())).astype(np.float32)
        # not `@`: it would wake other threads, for which a busy machine waits ten times as long
        products = np.einsum("ij,kj->ki", self._data[: self._size], np.stack([vector, mean]))
        along, common, own = products[0], products[1], float(mean @ mean)
        apart = np.sqrt(np.maximum(1.0 - 2.0 * common + own, _LEAST))
        cosines = ((along - common - vector @ mean + own) / apart)[rows]
        spread = float(cosines.std())
        if spread > _LEAST:
            found[rows] = np.maximum(0.0, (cosines - cosines.mean()) / spread)
        return found

    def _unpacked(self, blobs: Sequence[bytes | None]) -> NDArray[np.float32]:
        width = 4 * self._dimension
        whole = [
            blob if isinstance(blob, bytes) and len(blob) == width else bytes(width)
            for blob in blobs
        ]
        return np.frombuffer(b"".join(whole), dtype="<f4").reshape(len(blobs), self._dimension)


def _doubled(values: NDArray[_Number]) -> NDArray[_Number]:
    """Make room for as many rows again; memory that is never written to is never taken."""
    grown = np.zeros((2 * len(values), *values.shape[1:]), dtype=values.dtype)
    grown[: len(values)] = values
    return grown


def _whole(rows: NDArray[np.float32]) -> NDArray[np.int64]:
    """Add up rows in parts of 1, shape (dimension,)."""
    parts = np.rint(rows.astype(np.float64) * _PARTS).astype(np.int64)
    return np.asarray(parts.sum(axis=0))


def _are_units(rows: NDArray[np.float32]) -> NDArray[np.bool_]:
    """Which rows have length 1, shape (rows,); NaN and infinity have not."""
    with np.errstate(all="ignore"):
        lengths = np.einsum("ij,ij->i", rows, rows, dtype=np.float64)
        return np.asarray(np.abs(lengths - 1.0) < _TOLERANCE)
