"""The hot index of one conversation, in memory: query → shortlist.

A turn's score is the sum of named parts: lexical (BM25), dense (cosine, standardised over the
conversation), context (the words of the question that it shares with the turns around it),
neighbour (what those lend it of their scores), stretch (what its stretch of talk scores as a
whole), date (it was said, or speaks of, when the question asks about) and cue (what kind of
turn it is: a question, a time or a decision where one is asked for, long or empty). Where words
match no better than by chance, and there are vectors, what words find counts less.
"""

from __future__ import annotations

import threading
from bisect import bisect_left
from collections.abc import Collection, Mapping, Sequence
from contextlib import suppress
from dataclasses import replace

import numpy as np
from numpy.typing import NDArray

from jitchat.errors import EmbedderUnavailable
from jitchat.memory.embedding.embedder import Embedder, vectors_of
from jitchat.memory.index.chance import outstanding, trust_in_words
from jitchat.memory.index.lexical import Matches, Places, Postings, Scores, covered, summed
from jitchat.memory.index.neighbours import in_context, lent
from jitchat.memory.index.query import Query
from jitchat.memory.index.ranking import best, rank_of, summed_up
from jitchat.memory.index.rows import Columns, IndexRow
from jitchat.memory.index.vectors import Vectors
from jitchat.memory.index.weights import WEIGHTS, Weights
from jitchat.turn import Candidate, IndexEntry, Placed, Role

SHORTLIST = 50
_STEMS = 48
"""Of a long draft, so many of its rarest stems are looked up."""
_ECHO = 0.8
"""A question that holds this share of the query, and little else, is the query itself."""
_FEW = 2
_LEAST_CUE = -0.95
_MIDDLING = 12.0
"""A turn of so many stems is neither long nor empty."""


class HotIndex:
    """Rows in order of position. Threads may add, take back and search at the same time."""

    def __init__(self, embedder: Embedder, weights: Weights = WEIGHTS) -> None:
        self._embedder, self._weights = embedder, weights
        self._lock = threading.Lock()
        self._rows: list[IndexRow] = []
        self._columns = Columns()
        self._postings = Postings()
        self._vectors = Vectors(embedder.dimension)

    def __len__(self) -> int:
        return len(self._rows)

    @property
    def speakers(self) -> frozenset[str]:
        """Everybody who spoke, folded."""
        with self._lock:
            return self._columns.speakers

    def add(self, rows: Sequence[IndexRow]) -> None:
        """Append rows of later turns."""
        with self._lock:
            for row in rows:
                self._columns.add(row)
                self._postings.add(row.stems.split())
            self._vectors.extend([row.vector for row in rows])
            self._rows += [row.bare() for row in rows]

    def take_back(self, behind: int) -> None:
        """Take back the rows of the turns behind a position, as if they had never been added."""
        with self._lock:
            size = self._row_at(behind + 1)
            if size < len(self._rows):
                del self._rows[size:]
                self._columns.take_back(size, self._rows[-1] if size else None)
                self._postings.take_back(size)
                self._vectors.take_back(size)

    def rewrite(self, lines: Mapping[int, str]) -> None:
        """Put other summaries in place, by position; what is searched stays the turn's words."""
        with self._lock:
            for position, line in lines.items():
                row = self._row_at(position)
                if row < len(self._rows) and self._rows[row].position == position:
                    self._rows[row] = replace(self._rows[row], summary=line)

    def decisions(self, count: int, before: int) -> tuple[IndexEntry, ...]:
        """List the last `count` turns ahead of position `before` that decide, oldest first."""
        with self._lock:
            deciding = np.flatnonzero(self._columns.deciding()[: self._row_at(before)])
            found = [self._rows[row] for row in deciding[-count:]]
        return tuple(row.entry() for row in found)

    def search(self, query: Query, before: int, size: int = SHORTLIST) -> tuple[Candidate, ...]:
        """Rank the `size` best turns ahead of position `before`; none where none fits."""
        vector = self._embedded(query)
        with self._lock:
            stop = self._row_at(before)
            if not stop:
                return ()
            parts = self._parts(query, vector, stop)
            return self._candidates(best(summed_up(parts), size), parts, query)

    def placed(self, query: Query, before: int, turn: int) -> Placed | None:
        """Rank one turn among all ahead of position `before`; None where it is not indexed."""
        vector = self._embedded(query)
        with self._lock:
            stop, row = self._row_at(before), self._row_at(turn)
            if row >= stop or self._rows[row].position != turn:
                return None
            parts = self._parts(query, vector, stop)
            found = self._candidates(np.array([row]), parts, query)[0]
            return Placed(replace(found, rank=rank_of(summed_up(parts), row)), stop)

    def entries(self, turns: Collection[int]) -> tuple[IndexEntry, ...]:
        """List what is known of the turns at these positions; nothing of those not indexed."""
        with self._lock:
            places = [(turn, self._row_at(turn)) for turn in sorted(turns)]
            rows = [(turn, self._rows[row]) for turn, row in places if row < len(self._rows)]
        return tuple(row.entry() for turn, row in rows if row.position == turn)

    def _embedded(self, query: Query) -> NDArray[np.float32]:
        """Embed a query, shape (dimension,); zeros, and so no dense part, where that fails."""
        if query.text:
            with suppress(EmbedderUnavailable):
                vector: NDArray[np.float32] = vectors_of(self._embedder, [query.text])[0]
                return vector
        return np.zeros(self._embedder.dimension, dtype=np.float32)

    def _row_at(self, position: int) -> int:
        return bisect_left(self._rows, position, key=lambda row: row.position)

    def _parts(self, query: Query, vector: NDArray[np.float32], stop: int) -> dict[str, Scores]:
        """Each part of the score of the turns ahead of row `stop`, shape (stop,)."""
        weights, stretch_of = self._weights, self._columns.stretch_of()
        sought = self._postings.rarest(query.weights, _STEMS)
        every, size = self._postings.matches(sought), len(self._rows)
        share = covered(every, size)
        echoes = self._echoes(share, query)
        matches, share = [match.without(echoes) for match in every], share * ~echoes
        trust = self._trust(matches, share, vector)
        liking = 1 + weights.speaker * self._columns.spoken_by(query.speakers)
        lexical = trust * summed(matches, size) * (1 + share) * liking
        cosines = outstanding(self._vectors.standardised(vector), weights)
        dense = weights.dense * cosines * ~echoes * liking
        around = trust * in_context(matches, stretch_of, weights.heard)
        lends = np.add(lexical, weights.lent_dense * dense, dtype=np.float32)
        parts = {
            "lexical": weights.lexical * lexical,
            "dense": dense,
            "context": weights.context * around * liking,
            "neighbour": lent(lends, stretch_of, weights.lent),
            "stretch": weights.stretch * trust * self._stretch_scores(sought, stretch_of),
            "date": self._date_scores(query),
        }
        parts = {name: values[:stop].astype(np.float32) for name, values in parts.items()}
        parts["cue"] = self._cues(query)[:stop] * np.sum(list(parts.values()), axis=0)
        return parts

    def _trust(self, matches: list[Matches], share: Scores, vector: NDArray[np.float32]) -> Scores:
        """How far words are trusted, shape (rows,): fully where there is no vector beside them."""
        if not vector.any():
            return np.ones(len(self._rows), dtype=np.float32)
        trusted = trust_in_words(matches, share, self._weights)
        return np.where(self._vectors.known(), trusted, np.float32(1.0))

    def _echoes(self, covered: Scores, query: Query) -> NDArray[np.bool_]:
        """Which rows asked the same: a question is no answer to itself, shape (rows,).

        Of few words, only the user's own: somebody else's may be what the question is about.
        """
        little_else = self._postings.lengths <= 1 + len(query.weights)
        asked = (covered >= _ECHO) & little_else & (self._columns.asking() > 0)
        own = self._columns.spoken_by([Role.USER.value]) > 0
        return np.asarray(asked & ((len(query.weights) > _FEW) | own))

    def _stretch_scores(self, sought: Mapping[str, float], stretch_of: Places) -> Scores:
        """What each turn's stretch lends it; nothing while the stretch is still open."""
        closed = int(stretch_of[-1])
        scores = self._postings.scores_of_groups(sought, stretch_of, closed)
        return np.append(scores, np.float32(0.0))[stretch_of]

    def _date_scores(self, query: Query) -> Scores:
        """Prefer the days that are asked about, the more the fewer turns are of them."""
        if not query.spans:
            return np.zeros(len(self._rows), dtype=np.float32)
        said = self._columns.said_in(query.spans)
        spoken_of = self._columns.speaking_of(query.spans)
        return np.asarray(
            self._weights.said_then * said * (1 - said.mean())
            + self._weights.speaks_of_then * spoken_of * (1 - spoken_of.mean())
        )

    def _cues(self, query: Query) -> Scores:
        """What kind of turn each one is, as a share of its score; above -1."""
        weights, lengths = self._weights, self._postings.lengths
        found = weights.asks * self._columns.asking()
        found += weights.disclaims * self._columns.disclaiming()
        found += weights.says_much * (lengths / (lengths + _MIDDLING) - 0.5)
        if query.asks_when:
            found += weights.tells_when * self._columns.telling_when()
        if query.asks_decision:
            found += weights.decides * self._columns.deciding()
        cues: Scores = np.maximum(found, _LEAST_CUE).astype(np.float32)
        return cues

    def _candidates(
        self, rows: Places, parts: Mapping[str, Scores], query: Query
    ) -> tuple[Candidate, ...]:
        """Describe rows, ranked as they come."""
        shares = np.stack([values[rows] for values in parts.values()], axis=1).tolist()
        held = [(query.spelled[stem], self._postings.holding(stem, rows)) for stem in query.weights]
        return tuple(
            Candidate(
                turn=self._rows[row].position,
                rank=place + 1,
                score=sum(shares[place]),
                parts=tuple(zip(parts, shares[place], strict=True)),
                matched=tuple(word for word, having in held if having[place]),
                entry=self._rows[row].entry(),
            )
            for place, row in enumerate(rows.tolist())
        )
