"""The hot index of one conversation, in memory: query → shortlist.

A turn's score is the sum of named parts: lexical (BM25), dense (cosine, standardised over the
conversation), neighbour (what the turns beside it score, for an answer stands next to its
question), stretch (what its stretch of talk scores as a whole), and cue (the question asks
for a time or a decision, and the turn has one). Weights were chosen on LoCoMo.
"""

from __future__ import annotations

import threading
from bisect import bisect_left
from collections.abc import Sequence
from dataclasses import dataclass
from datetime import datetime

import numpy as np
from numpy.typing import NDArray

from jitchat.memory.embedder import Embedder
from jitchat.memory.lexical import Postings, Scores
from jitchat.memory.query import Query
from jitchat.turn import Candidate, IndexEntry

SHORTLIST = 50
GAP_SECONDS = 4 * 3600
"""A pause this long starts a new stretch of talk."""

_SPEAKER = 1.0
_DENSE = 0.06
_PREVIOUS, _NEXT, _TWO_AWAY = 0.6, 0.4, 0.15
_STRETCH = 0.5
_QUESTION = -0.2
_TIME = 0.3
_DECISION = 0.3


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
        """The row as the rest of the app knows it."""
        entities, dates = tuple(self.entities.split("\n")), tuple(self.dates.split("\n"))
        return IndexEntry(
            self.position,
            self.summary,
            tuple(filter(None, entities)),
            tuple(filter(None, dates)),
            self.decision,
        )


class HotIndex:
    """Rows in order of position. Threads may add and search at the same time."""

    def __init__(self, embedder: Embedder) -> None:
        self._embedder = embedder
        self._lock = threading.Lock()
        self._rows: list[IndexRow] = []
        self._turns = Postings()
        self._stretches = Postings()
        self._stretch_of: list[int] = []
        self._open_stretch: list[str] = []
        self._vectors = _Matrix(embedder.dimension)

    def __len__(self) -> int:
        return len(self._rows)

    @property
    def speakers(self) -> frozenset[str]:
        """Everybody who spoke, folded."""
        return frozenset(row.speaker for row in self._rows)

    def add(self, rows: Sequence[IndexRow]) -> None:
        """Append rows of later turns."""
        with self._lock:
            for row in rows:
                self._place(row)
                self._turns.add(row.stems.split())
                self._vectors.append(row.vector)

    def decisions(self, count: int) -> tuple[IndexEntry, ...]:
        """The latest turns that decided something, oldest first."""
        with self._lock:
            found = [row for row in self._rows if row.decision][-count:]
        return tuple(row.entry() for row in found)

    def search(self, query: Query, before: int, size: int = SHORTLIST) -> tuple[Candidate, ...]:
        """The `size` best turns ahead of position `before`; none where none has to do with it."""
        vector = self._embedder.embed([query.text])[0]
        with self._lock:
            if not self._rows:
                return ()
            parts = self._parts(query, vector)
            total = np.sum(list(parts.values()), axis=0)
            total[bisect_left(self._rows, before, key=lambda row: row.position) :] = 0
            count = min(size, int((total > 0).sum()))
            order = np.argsort(-total, kind="stable")[:count]
            return tuple(
                self._candidate(int(row), rank, parts, float(total[row]), query)
                for rank, row in enumerate(order, start=1)
            )

    def _place(self, row: IndexRow) -> None:
        """Give the row its stretch; a stretch is a document of its own, scored when it is over."""
        last = self._rows[-1].said_at if self._rows else None
        pause = (row.said_at - last).total_seconds() if row.said_at and last else 0.0
        number = self._stretch_of[-1] if self._stretch_of else 0
        if pause >= GAP_SECONDS:
            number += 1
            self._stretches.add(self._open_stretch)
            self._open_stretch = []
        self._open_stretch += row.stems.split()
        self._stretch_of.append(number)
        self._rows.append(row)

    def _parts(self, query: Query, vector: NDArray[np.float32]) -> dict[str, Scores]:
        """Each part of the score, shape (turns,)."""
        own = self._turns.scores(query.weights)
        dense = _DENSE * self._vectors.standardised(vector)
        liking = np.ones(len(own), dtype=np.float32)
        if query.speakers:
            liking += _SPEAKER * self._mask([row.speaker in query.speakers for row in self._rows])
        stretch_of = np.array(self._stretch_of)
        base = (own + dense) * liking
        parts = {
            "lexical": own * liking,
            "dense": dense * liking,
            "neighbour": _from_neighbours(base, stretch_of),
            "stretch": _STRETCH * self._stretch_scores(query)[stretch_of],
        }
        parts["cue"] = self._cues(query) * np.maximum(0, np.sum(list(parts.values()), axis=0))
        return parts

    def _stretch_scores(self, query: Query) -> Scores:
        """Shape (stretches,); the one that is still open counts as nothing."""
        scores = self._stretches.scores(query.weights)
        return np.append(scores, np.float32(0.0))

    def _cues(self, query: Query) -> Scores:
        found = _QUESTION * self._mask([row.asks for row in self._rows])
        if query.asks_when:
            found += _TIME * self._mask([bool(row.dates) for row in self._rows])
        if query.asks_decision:
            found += _DECISION * self._mask([row.decision for row in self._rows])
        return found

    def _mask(self, flags: list[bool]) -> Scores:
        return np.array(flags, dtype=np.float32)

    def _candidate(
        self, row: int, rank: int, parts: dict[str, Scores], total: float, query: Query
    ) -> Candidate:
        return Candidate(
            turn=self._rows[row].position,
            rank=rank,
            score=total,
            parts=tuple((name, float(values[row])) for name, values in parts.items()),
            matched=tuple(
                query.spelled[stem] for stem in query.weights if self._turns.holds(stem, row)
            ),
            entry=self._rows[row].entry(),
        )


def _from_neighbours(base: Scores, stretch_of: NDArray[np.int64]) -> Scores:
    """What the turns beside each one lend it, within the same stretch of talk."""
    found = np.zeros_like(base)
    steps = ((-1, _PREVIOUS), (1, _NEXT), (-2, _TWO_AWAY), (2, _TWO_AWAY))
    for step, weight in steps:
        if abs(step) >= len(base):
            continue
        here, there = (slice(-step, None), slice(None, step)) if step < 0 else (
            slice(None, -step), slice(step, None))
        same = stretch_of[here] == stretch_of[there]
        found[here] += weight * base[there] * same
    return found


class _Matrix:
    """Vectors in rows; grows by doubling, so that adding is cheap."""

    def __init__(self, dimension: int) -> None:
        self._dimension = dimension
        self._data = np.zeros((64, dimension), dtype=np.float32)
        self._size = 0

    def append(self, vector: bytes | None) -> None:
        if self._size == len(self._data):
            self._data = np.concatenate([self._data, np.zeros_like(self._data)])
        if vector is not None and len(vector) == 4 * self._dimension:
            self._data[self._size] = np.frombuffer(vector, dtype="<f4")
        self._size += 1

    def standardised(self, vector: NDArray[np.float32]) -> Scores:
        """Cosines in standard deviations above the mean of the conversation, 0 at the least."""
        cosines = self._data[: self._size] @ vector
        spread = float(cosines.std()) if self._size else 0.0
        if not self._dimension or spread == 0.0:
            return np.zeros(self._size, dtype=np.float32)
        found: Scores = np.maximum(0.0, (cosines - cosines.mean()) / spread).astype(np.float32)
        return found
