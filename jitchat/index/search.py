"""The hot index of one conversation, in memory: query → shortlist.

A turn's score is the sum of named parts, each shown in the ledger:

- lexical: BM25 of its own words, increased by the share of the query that they cover
- dense: cosine with the query, standardised over the conversation
- context: the query's words in the turn and the turns around it, because an answer follows its
  question and often has none of its words
- neighbour: a share of the scores of the turns around it
- stretch: the score of its stretch of talk as one document
- date: it was said on, or mentions, a day that the query names
- cue: the kind of turn, as a share of the other parts: a question, a time if the query asks for
  one, a standing wish, long or empty
- later: it may correct another turn that matches as well (`later`)

If there are vectors and no turn has several words of the query, words may match by chance and count
less. A long turn matches any query to some extent: `context`, `neighbour` and the trust in words
are normalised by length. A query by time alone is answered by days and positions instead (`said`).

The weights were chosen by hand; `python -m tests.benchmarks.tuning` measures the cost of choosing
them without the conversation that is searched.
"""

import threading
from collections.abc import Callable, Collection, Mapping, Sequence
from contextlib import suppress
from dataclasses import replace

import numpy as np
from numpy.typing import NDArray

from jitchat.errors import EmbedderUnavailable
from jitchat.index.by_time import rows_of
from jitchat.index.columns import Columns
from jitchat.index.embedder import Embedder
from jitchat.index.growing import Growing
from jitchat.index.later import PART, newest_first
from jitchat.index.lexical import (
    EITHER,
    LONGEST,
    Matches,
    Places,
    Postings,
    Scores,
    covered,
    summed,
)
from jitchat.index.narrowing import KEPT, NARROWED_FROM, Evidence, radius_of, select
from jitchat.index.packed_postings import PackedPostings
from jitchat.index.retrieve import MOST_STEMS, SHORTLIST, Query
from jitchat.index.scoring import (
    WEIGHTS,
    Weights,
    added,
    best,
    boost_outliers,
    in_context,
    lent,
    lexical_confidence,
    only,
    totals,
)
from jitchat.index.segments import Segment
from jitchat.index.spelling import Spelling
from jitchat.index.tables import IndexRow
from jitchat.index.vectors import PackedVectors, Vectors, vectors_of
from jitchat.text.dates import Span
from jitchat.values import DATE, PLACE, Candidate, IndexEntry, Placed, Role, Term

_DUPLICATE = 0.8
"""A question with this share of the query's words, and little else, is the query itself."""
_FEW = 2
_LAST_SAID = 0.5
"""The score of the last turn found by time alone; the first has 1."""
_LEAST_CUE = -0.95
_AVERAGE = 12.0
"""Stems in a turn of average length."""
_LONG = 30.0
"""Stems. A turn with more, and with more than a brief turn of the conversation, is long."""
_LENGTH_POWER = 0.7
"""Scores of a long turn are divided by its excess length raised to this power."""


EntriesOf = Callable[[Sequence[int]], Sequence[IndexEntry]]
"""Takes positions and returns the entry of the turn at each."""
_SEGMENT = 65_536
"""Maximum rows per segment. The last segment is repacked as it grows; when it is full, a new one
is started."""


class HotIndex:
    """Rows in order of position. Threads can add, remove and search at the same time.

    Rows at the start can be packed: their searchable data is kept in arrays, and their entries are
    looked up when needed.
    """

    def __init__(
        self,
        embedder: Embedder,
        weights: Weights = WEIGHTS,
        entries_of: EntriesOf = lambda _: (),
        narrowed_from: int = NARROWED_FROM,
    ) -> None:
        """`entries_of` looks up the entries of packed rows.

        With more than `narrowed_from` rows, only those that can be the best are scored in full.
        """
        self.narrowed_from = narrowed_from
        self._embedder, self._weights, self._entries_of = embedder, weights, entries_of
        self._lock = threading.Lock()
        self._starts: list[int] = []
        """The first row of each segment."""
        self._packed = 0
        """Number of rows in segments."""
        self._rows: list[IndexRow] = []
        """Rows after the segments."""
        self._positions = Growing(np.uint32)
        self._columns = Columns()
        self._postings = Postings()
        self._spelling = Spelling(self._postings)
        self._vectors = Vectors(embedder.dimension)
        self._known_cues: Scores | None = None
        self._known_length_norm: Scores | None = None

    def __len__(self) -> int:
        return len(self._positions)

    @property
    def unpacked(self) -> int:
        """The number of rows that are in no segment."""
        return len(self._rows)

    @property
    def speakers(self) -> frozenset[str]:
        with self._lock:
            return self._columns.speakers

    def add(self, rows: Sequence[IndexRow], *, begins: bool = False) -> None:
        """Append rows. `begins`: whether the first of them starts another conversation."""
        with self._lock:
            self._forget()
            for place, row in enumerate(rows):
                self._columns.add(row, begins=begins and not place)
                self._postings.add(row.stems.split())
            self._vectors.extend([row.vector for row in rows])
            self._positions.extend([row.position for row in rows])
            self._rows += [row.bare() for row in rows]

    def pack(self, settled: int) -> list[Segment]:
        """Pack the rows up to position `settled`. Returns the new segments.

        The first of them can replace a segment that was not full.
        """
        made = []
        with self._lock:
            size = self._row_at(settled + 1)
            while self._packed < size:
                start = self._packed
                if self._starts and start - self._starts[-1] < _SEGMENT:
                    start = self._starts.pop()
                stop = min(size, start + _SEGMENT)
                made.append(self._pack(start, stop, settled if stop == size else 0))
        return made

    def _pack(self, start: int, stop: int, settled: int) -> Segment:
        positions = self._positions.rows[start:stop]
        speakers, columns = self._columns.packed(start, stop)
        postings = self._postings.pack(start, stop)
        vectors = self._vectors.pack(start, stop)
        self._starts.append(start)
        del self._rows[: stop - self._packed]
        self._packed = stop
        return Segment(
            start,
            settled or int(positions[-1]),
            {"speakers": speakers, "stems": self._postings.spelled(postings)},
            {
                **{name: column.copy() for name, column in columns.items()},
                "positions": positions.copy(),
                "lengths": self._postings.lengths[start:stop].copy(),
                "ends": postings.ends,
                "documents": postings.documents,
                "counts": postings.counts,
                "vectors": vectors.rows,
                "scales": vectors.scales,
                "total": vectors.total,
            },
        )

    def add_segment(self, segment: Segment, vectors: Sequence[bytes | None] | None = None) -> None:
        """Append a segment made by `pack`. The segments before it must have been added already.

        Its own vectors are used, or those given, one for each row.
        """
        found, start = segment.arrays, segment.start
        with self._lock:
            self._forget()
            self._columns.add_packed(segment.names["speakers"], found)
            stems = self._postings.numbered(segment.names["stems"])
            postings = start, stems, found["ends"], found["documents"], found["counts"]
            self._postings.add_pack(PackedPostings(*postings).in_order(), found["lengths"])
            if vectors:
                self._vectors.extend(vectors)
            else:
                own = found["vectors"], found["scales"], found["total"]
                self._vectors.add_pack(PackedVectors(*own), start)
            self._positions.extend(found["positions"])
            self._starts.append(start)
            self._packed = len(self._positions)

    def truncate(self, after: int) -> None:
        """Remove the rows of turns after a position, as if they had never been added."""
        with self._lock:
            size = self._row_at(after + 1)
            if size < len(self._positions):
                self._forget()
                del self._rows[max(0, size - self._packed) :]
                self._packed = min(size, self._packed)
                self._starts = [start for start in self._starts if start < size]
                self._positions.cut(size)
                self._columns.truncate(size)
                self._postings.truncate(size)
                self._vectors.truncate(size)

    def _forget(self) -> None:
        """Clear values computed over all rows, because rows are being added or removed."""
        self._known_cues = self._known_length_norm = None

    def rewrite(self, lines: Mapping[int, str]) -> None:
        """Replace summaries, by position. Searches still use the turn's own words."""
        with self._lock:
            for position, line in lines.items():
                row = self._row_at(position) - self._packed
                if 0 <= row < len(self._rows) and self._rows[row].position == position:
                    entry = replace(self._rows[row].entry, summary=line)
                    self._rows[row] = replace(self._rows[row], entry=entry)

    def decisions(self, count: int, before: int) -> tuple[IndexEntry, ...]:
        """List the last `count` turns with a decision before position `before`, oldest first."""
        with self._lock:
            rows = self._columns.last_flagged("decision", self._row_at(before), count)
            return tuple(self._entries(rows))

    def decided(self, before: int) -> tuple[int, ...]:
        """List the positions of all turns with a decision before position `before`."""
        with self._lock:
            stop = self._row_at(before)
            return self._positions_of(self._columns.last_flagged("decision", stop, stop))

    def said_on(self, days: Span, before: int) -> tuple[int, ...]:
        """List the positions of the turns said on these days, before position `before`."""
        with self._lock:
            said = self._columns.said_in([days])[: self._row_at(before)]
            return self._positions_of(np.flatnonzero(said))

    def _positions_of(self, rows: Places) -> tuple[int, ...]:
        return tuple(self._positions.rows[rows].tolist())

    def search(
        self,
        query: Query,
        before: int,
        size: int = SHORTLIST,
        within: Collection[int] | None = None,
    ) -> tuple[Candidate, ...]:
        """Rank the `size` best turns before position `before`. Turns without a match are left out.

        If `within` is given, only turns at these positions are ranked.
        """
        vector = self._embedded(query)
        with self._lock:
            stop = self._row_at(before)
            if not stop:
                return ()
            query = self._spelling.expanded(query)
            rows, parts = self._scored(query, vector, stop, narrows=within is None)
            if within is not None:
                rows = np.flatnonzero(np.isin(self._positions.rows[:stop], list(within)))
                parts = only(parts, rows)
            best_rows = best(totals(parts), size)
            ranked = self._candidates(rows[best_rows], only(parts, best_rows), query)
            worths = self._postings.worths(query.weights)
        return tuple(newest_first(ranked, {query.spelled[stem]: worths[stem] for stem in worths}))

    def said(self, query: Query, before: int, size: int = SHORTLIST) -> tuple[Candidate, ...]:
        """List the turns from the time that a query asks for, best first."""
        with self._lock:
            rows = self._said(query, self._row_at(before))[:size]
            parts = self._parts_said(query, rows, len(self._positions))
            unspoken = replace(query, weights={})  # no word counts
            return self._candidates(rows, only(parts, rows), unspoken)

    def _said(self, query: Query, stop: int) -> Places:
        """Find the rows from the time that a query asks for; none if it does not ask by time."""
        if query.time_filter is None:
            return np.empty(0, dtype=np.int64)
        return rows_of(query.time_filter, self._columns, self._postings.lengths, stop)

    def _parts_said(self, query: Query, rows: Places, stop: int) -> dict[str, Scores]:
        """Score rows by their order alone, 1 for the first; shape (stop,)."""
        scores = np.zeros(stop, dtype=np.float32)
        scores[rows] = np.linspace(1.0, _LAST_SAID, len(rows))
        return {PLACE if query.time_filter and query.time_filter.places else DATE: scores}

    def spelled(self, query: Query) -> Query:
        """Replace the words of a query by the conversation's, as a search does."""
        with self._lock:
            return self._spelling.expanded(query)

    def terms(self, query: Query) -> tuple[Term, ...]:
        """Return the query's words that occur, with their weights, the rarest first."""
        with self._lock:
            query = self._spelling.expanded(query)
            worths = self._postings.worths(query.weights)
        ranked = sorted(worths, key=lambda stem: -worths[stem])
        return tuple(
            Term(each, query.spelled[stem], worths[stem])
            for stem in ranked[:MOST_STEMS]
            for each in stem.split(EITHER)
        )

    def placed(self, query: Query, before: int, turn: int) -> Placed | None:
        """Rank one turn among all before position `before`; None if it is not indexed."""
        listed = {row.turn: row for row in self.said(query, before) or self.search(query, before)}
        if turn in listed:
            with self._lock:
                return Placed(listed[turn], self._row_at(before))
        vector = self._embedded(query)
        with self._lock:
            stop, row = self._row_at(before), self._row_at(turn)
            if row >= stop or self._positions.rows[row] != turn:
                return None
            said = self._said(query, stop)
            if len(said):
                query = replace(query, weights={})  # no word counts
                parts = self._parts_said(query, said, stop)
            else:
                query = self._spelling.expanded(query)
                _, parts = self._scored(query, vector, stop, narrows=False)
            total = totals(parts)
            better = np.count_nonzero(total > total[row])
            rank = 1 + int(better + np.count_nonzero(total[:row] == total[row]))
            alone = np.array([row])
            candidate = self._candidates(alone, only(parts, alone), query)[0]
            parts_shown = (*candidate.parts, (PART, 0.0))
            rank = max(rank, 1 + len(listed))  # a search that narrows may have listed other turns
            return Placed(replace(candidate, rank=rank, parts=parts_shown), stop)

    def entries(self, turns: Collection[int]) -> tuple[IndexEntry, ...]:
        with self._lock:
            wanted = np.array(sorted(turns), dtype=np.int64)
            rows = np.searchsorted(self._positions.rows, wanted)
            within = rows < len(self._positions)
            rows, wanted = rows[within], wanted[within]
            return tuple(self._entries(rows[self._positions.rows[rows] == wanted]))

    def _entries(self, rows: Places) -> list[IndexEntry]:
        """Return the entries of rows, in the order given."""
        packed = rows[rows < self._packed]
        looked_up = iter(self._entries_of(self._positions.rows[packed].tolist()))
        places = (rows - self._packed).tolist()
        return [self._rows[place].entry if place >= 0 else next(looked_up) for place in places]

    def _embedded(self, query: Query) -> NDArray[np.float32]:
        """Embed a query, shape (dimension,); zeros, and so no dense part, if that fails."""
        if query.text:
            with suppress(EmbedderUnavailable):
                vector: NDArray[np.float32] = vectors_of(self._embedder, [query.text])[0]
                return vector
        return np.zeros(self._embedder.dimension, dtype=np.float32)

    def _row_at(self, position: int) -> int:
        return int(np.searchsorted(self._positions.rows, position))

    def _scored(
        self, query: Query, vector: NDArray[np.float32], stop: int, *, narrows: bool
    ) -> tuple[Places, dict[str, Scores]]:
        """Score the rows before row `stop`. Returns the rows, and each part in the same shape.

        With `narrows`, rows that cannot be among the best are left out if there are many rows.
        """
        evidence, weights = self._evidence(query, vector), self._weights
        chosen = None
        if narrows and len(self._positions) > self.narrowed_from:
            radius = radius_of(weights.heard, weights.lent)
            heard = ((step, weights.context * share) for step, share in weights.heard)
            own = weights.lexical + weights.context
            rough = evidence.rough(own, weights.dense, (*heard, *weights.lent))
            rough[stop:] = 0.0
            chosen = select(rough, KEPT, radius)
        if chosen is None:
            return np.arange(stop), only(self._parts(query, evidence), slice(stop))
        parts = self._parts(query, evidence.of(chosen), chosen.rows)
        whole = np.flatnonzero(chosen.is_whole & (chosen.rows < stop))
        return chosen.rows[whole], only(parts, whole)

    def _evidence(self, query: Query, vector: NDArray[np.float32]) -> Evidence:
        """Collect the evidence for each row, before it is weighted."""
        stretch_of = self._columns.stretch_of()
        sought = self._postings.rarest(query.weights, MOST_STEMS)
        every, size = self._postings.matches(sought), len(self._positions)
        share, deviations = covered(every, size), self._vectors.standardised(vector)
        matches = every
        if len(duplicates := self._duplicates(share, query)):
            is_duplicate = np.zeros(size, dtype=np.bool_)
            is_duplicate[duplicates] = True
            matches = [match.without(is_duplicate) for match in every]
            share[duplicates] = deviations[duplicates] = 0.0
        share *= self._length_norm()
        speaker_boost: Scores | np.float32 = np.float32(1.0)
        if query.speakers:
            speaker_boost = 1 + self._weights.speaker * self._columns.spoken_by(query.speakers)
        is_open = int(stretch_of[-1])  # the last stretch is unfinished and gets no score
        stretch_scores = np.append(
            self._postings.scores_of_groups(sought, stretch_of, is_open), np.float32(0.0)
        )
        return Evidence(
            matches=matches,
            words=summed(matches, size),
            share=share,
            length_norm=self._length_norm(),
            trust=self._trust(matches, share, deviations, vector),
            deviations=deviations,
            speaker_boost=speaker_boost,
            dates=self._date_scores(query),
            stretch_scores=stretch_scores[stretch_of],
            stretch_of=stretch_of,
        )

    def _parts(
        self, query: Query, found: Evidence, rows: Places | slice = slice(None)
    ) -> dict[str, Scores]:
        """Compute each part of the score of some rows from their evidence, in the same shape."""
        weights, trust, speaker_boost = self._weights, found.trust, found.speaker_boost
        lexical = trust * found.words * (1 + found.share) * speaker_boost
        dense = weights.dense * boost_outliers(found.deviations, weights) * speaker_boost
        # a long turn matches by chance, for its neighbours and with their words
        norm = np.sqrt(found.length_norm)
        weighed = [match.weighed(norm) for match in found.matches]
        around = trust * norm * in_context(weighed, found.stretch_of, weights.heard)
        lends = np.add(lexical, weights.lent_dense * dense, dtype=np.float32)
        parts = {
            "lexical": weights.lexical * lexical,
            "dense": dense,
            "context": weights.context * around * speaker_boost,
            "neighbour": lent(lends, found.stretch_of, weights.lent) * found.length_norm,
            "stretch": weights.stretch * trust * found.stretch_scores,
            DATE: found.dates,
        }
        parts = {name: values.astype(np.float32, copy=False) for name, values in parts.items()}
        parts["cue"] = self._cues(query, rows) * added(parts.values())
        return parts

    def _trust(
        self,
        matches: list[Matches],
        share: Scores,
        deviations: Scores,
        vector: NDArray[np.float32],
    ) -> Scores | np.float32:
        """Return how far words are trusted: fully for rows without a vector.

        One number if it is the same for all rows, else shape (rows,).
        """
        if not vector.any():
            return np.float32(1.0)
        trusted, known = (
            lexical_confidence(matches, share, deviations, self._weights),
            self._vectors.known(),
        )
        return trusted if known.all() else np.where(known, trusted, np.float32(1.0))

    def _duplicates(self, covered: Scores, query: Query) -> Places:
        """Find earlier rows with the same question, which do not answer it.

        If the query has few words, only the user's own questions count: the query may be about a
        question that somebody else asked.
        """
        rows = np.flatnonzero(covered >= _DUPLICATE)
        little_else = self._postings.lengths[rows] <= 1 + len(query.weights)
        rows = rows[little_else & (self._columns.flag("asks")[rows] > 0)]
        if len(query.weights) > _FEW or not len(rows):
            return rows
        return rows[self._columns.spoken_by([Role.USER.value])[rows] > 0]

    def _date_scores(self, query: Query) -> Scores:
        """Score the days named in the query, higher if fewer turns match them."""
        if not query.spans:
            return np.zeros(len(self._positions), dtype=np.float32)
        said = self._columns.said_in(query.spans)
        spoken_of = self._columns.speaking_of(query.spans)
        return np.asarray(
            self._weights.said_then * said * (1 - said.mean())
            + self._weights.speaks_of_then * spoken_of * (1 - spoken_of.mean())
        )

    def _cues(self, query: Query, rows: Places | slice) -> Scores:
        """Return each row's bonus for its kind of turn, as a share of its score; above -1."""
        weights = self._weights
        found = self._usual_cues()[rows].copy()
        if query.asks_when:
            found += weights.tells_when * self._columns.flag("tells_when")[rows]
        if not query.asks_past:
            found += weights.standing * self._columns.flag("standing")[rows]
        cues: Scores = np.maximum(found, _LEAST_CUE).astype(np.float32)
        return cues

    def _usual_cues(self) -> Scores:
        """Return the cues that do not depend on the query, cached until the rows change."""
        if self._known_cues is None:
            weights, lengths = self._weights, self._postings.lengths
            found = weights.asks * self._columns.flag("asks")
            little_else = np.clip(2 - lengths / (_AVERAGE / 2), 0.0, 1.0)
            found += weights.disclaims * self._columns.flag("disclaims") * little_else
            found += weights.says_much * (lengths / (lengths + _AVERAGE) - 0.5)
            self._known_cues = found
        return self._known_cues

    def _length_norm(self) -> Scores:
        """Return the length normalisation, shape (rows,): 1, or less for a long row."""
        if self._known_length_norm is None:
            usual = max(_LONG, self._postings.brief)
            excess = np.clip(self._postings.lengths / usual, 1.0, LONGEST)
            self._known_length_norm = (excess**-_LENGTH_POWER).astype(np.float32)
        return self._known_length_norm

    def _candidates(
        self, rows: Places, parts: Mapping[str, Scores], query: Query
    ) -> tuple[Candidate, ...]:
        """Make candidates of rows, ranked in the order given, with the parts of their scores."""
        shares = np.stack(list(parts.values()), axis=1).tolist()
        words = [
            (query.spelled[stem], self._postings.contains(stem, rows)) for stem in query.weights
        ]
        return tuple(
            Candidate(
                turn=entry.turn,
                rank=place + 1,
                score=sum(shares[place]),
                parts=tuple(zip(parts, shares[place], strict=True)),
                matched=tuple(word for word, having in words if having[place]),
                entry=entry,
            )
            for place, entry in enumerate(self._entries(rows))
        )
