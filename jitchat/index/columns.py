"""Columns of the hot index: for each property that scoring uses, its values for all rows."""

from collections.abc import Collection, Iterable, Mapping
from datetime import UTC, datetime, timedelta
from typing import Any

import numpy as np
from numpy.typing import NDArray

from jitchat.index.growing import Growing
from jitchat.index.lexical import Places, Scores
from jitchat.index.tables import IndexRow
from jitchat.text.dates import YEAR_SIZE, Span, number_of, spans_of
from jitchat.text.figures import local

GAP_SECONDS = 4 * 3600
"""A pause this long starts a new stretch of talk."""
FLAGS = ("asks", "tells_when", "decision", "disclaims", "standing")
"""The Boolean fields of an `IndexEntry`."""
Arrays = Mapping[str, NDArray[Any]]
"""Columns by name."""
_EPOCH, _MICROSECOND = datetime(1970, 1, 1, tzinfo=UTC), timedelta(microseconds=1)
_UNKNOWN = -(2**63)
_QUARTER_HOUR = 15 * 60 * 1_000_000
"""Microseconds."""


class Columns:
    """One column per property. Unless stated otherwise, results have shape (rows,)."""

    def __init__(self) -> None:
        self._speakers: dict[str, int] = {}
        """The number of each speaker, in order of first appearance."""
        self._spoke_first = list[int]()
        """Each speaker's first row, by the speaker's number."""
        self._spoken_by = Growing(np.uint32)
        self._stretch_of = Growing(np.uint32)
        self._flags = {name: Growing(np.uint8) for name in FLAGS}
        self._said_at = Growing(np.int64)
        """Microseconds since 1970, or `_UNKNOWN`."""
        self._said_on = Growing(np.uint32)
        self._dated, self._first, self._last = (Growing(np.uint32) for _ in range(3))
        """For each span of days that a row mentions: the row, and the first and last day."""

    def add(self, row: IndexRow, *, begins: bool = False) -> None:
        """Add a row. If it `begins` a conversation, it also starts a new stretch of talk."""
        number = len(self._said_on)
        for span in spans_of(row.entry.dates):
            if not span.any_year:
                self._dated.append(number)
                self._first.append(span.first)
                self._last.append(span.last)
        moment, last = _UNKNOWN, int(self._said_at.rows[-1]) if number else _UNKNOWN
        if row.said_at is not None:
            moment = (row.said_at - _EPOCH) // _MICROSECOND
        pauses = moment != _UNKNOWN != last and moment - last >= GAP_SECONDS * 1_000_000
        stretch = int(self._stretch_of.rows[-1]) if number else 0
        self._stretch_of.append(stretch + (pauses or (begins and number > 0)))
        if row.speaker not in self._speakers:
            self._speakers[row.speaker] = len(self._speakers)
            self._spoke_first.append(number)
        self._spoken_by.append(self._speakers[row.speaker])
        self._said_at.append(moment)
        self._said_on.append(number_of(row.said_at.date()) if row.said_at else 0)
        for name, column in self._flags.items():
            column.append(getattr(row.entry, name))

    def packed(self, start: int, stop: int) -> tuple[list[str], Arrays]:
        """Return the speakers who first appear in the rows [start, stop), and their columns."""
        speakers = [
            speaker
            for speaker, first in zip(self._speakers, self._spoke_first, strict=True)
            if start <= first < stop
        ]
        first = [first for first in self._spoke_first if start <= first < stop]
        dated = slice(*np.searchsorted(self._dated.rows, (start, stop)).tolist())
        columns = {name: column.rows[start:stop] for name, column in self._by_row().items()}
        days = {name: column.rows[dated] for name, column in self._by_span().items()}
        return speakers, {**columns, **days, "spoke_first": np.array(first, dtype=np.uint32)}

    def add_packed(self, speakers: Iterable[str], columns: Arrays) -> None:
        """Append rows returned by `packed`. The rows before them must have been added already."""
        for speaker, first in zip(speakers, columns["spoke_first"].tolist(), strict=True):
            self._speakers[speaker] = len(self._speakers)
            self._spoke_first.append(first)
        for name, column in {**self._by_row(), **self._by_span()}.items():
            column.extend(columns[name])

    def _by_row(self) -> dict[str, Growing[Any]]:
        by_row = {"spoken_by": self._spoken_by, "stretch_of": self._stretch_of}
        return {**by_row, "said_at": self._said_at, "said_on": self._said_on, **self._flags}

    def _by_span(self) -> dict[str, Growing[Any]]:
        return {"dated": self._dated, "first": self._first, "last": self._last}

    def truncate(self, size: int) -> None:
        """Keep the first `size` rows, as if no others had been added."""
        dated = int(np.searchsorted(self._dated.rows, size))
        for column in self._by_span().values():
            column.cut(dated)
        for column in self._by_row().values():
            column.cut(size)
        while self._spoke_first and self._spoke_first[-1] >= size:
            self._spoke_first.pop()
            self._speakers.popitem()

    @property
    def speakers(self) -> frozenset[str]:
        """The names or roles of all speakers, folded."""
        return frozenset(self._speakers)

    def stretch_of(self) -> Places:
        """Return the number of each row's stretch of talk: from 0, ascending."""
        return self._stretch_of.rows.astype(np.int64)

    def spoken_by(self, names: Collection[str]) -> Scores:
        """Return 1 for the rows of these speakers, else 0."""
        is_one = np.zeros(len(self._speakers), dtype=np.float32)
        is_one[[self._speakers[name] for name in names if name in self._speakers]] = 1.0
        return is_one[self._spoken_by.rows]

    def said_in(self, spans: Iterable[Span]) -> Scores:
        """Return 1 for the rows that were said on one of these days, else 0."""
        days = self._said_on.rows.astype(np.int64)
        found = np.zeros(len(days), dtype=bool)
        for span in spans:
            found |= _meet(span, days, days)
        return (found & (days > 0)).astype(np.float32)

    def said_at_hours(self, rows: Places, hours: tuple[int, int]) -> Places:
        """Keep the `rows` said between two hours, the second excluded, in the user's time zone."""
        first, last = hours
        rows = rows[self._said_at.rows[rows] != _UNKNOWN]
        # time zones differ by quarters of an hour, so one conversion per quarter is enough
        quarters, place = np.unique(self._said_at.rows[rows] // _QUARTER_HOUR, return_inverse=True)
        moments = (_EPOCH + quarter * _QUARTER_HOUR * _MICROSECOND for quarter in quarters.tolist())
        is_within = np.array([first <= local(at).hour < last for at in moments], dtype=np.bool_)
        return rows[is_within[place]]

    def speaking_of(self, spans: Iterable[Span]) -> Scores:
        """Return 1 for the rows that mention one of these days, else 0."""
        rows = self._dated.rows
        first, last = (days.rows.astype(np.int64) for days in (self._first, self._last))
        found = np.zeros(len(self._said_on), dtype=np.float32)
        for span in spans:
            found[rows[_meet(span, first, last)]] = 1.0
        return found

    def last_flagged(self, name: str, stop: int, count: int) -> Places:
        """Find the last `count` rows before row `stop` that have a flag, ascending."""
        return np.flatnonzero(self._flags[name].rows[:stop])[-count:]

    def flag(self, name: str) -> Scores:
        return self._flags[name].rows.astype(np.float32)


def _meet(span: Span, first: Places, last: Places) -> NDArray[np.bool_]:
    """Return which of the spans from `first` to `last` have a day in common with `span`."""
    if span.any_year:
        first, last = first % YEAR_SIZE, last % YEAR_SIZE
    return np.asarray((first <= span.last) & (last >= span.first))
