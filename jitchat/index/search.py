"""The hot index of one conversation, in memory: query → shortlist.

A turn's score is the sum of named parts, each shown in the ledger:

- lexical: BM25 of its own words, the more the more of the query they are together
- dense: cosine with the query, standardised over the conversation
- context: the words of the query that it and the turns around it have between them, for an answer
  stands next to its question, and often holds none of its words
- neighbour: what the turns around it lend it of their scores
- stretch: what its stretch of talk scores as one document
- date: it was said on, or speaks of, a day that the query names
- cue: what kind of turn it is, as a share of the other parts: a question, a time where one is asked
  for, a standing wish, long or empty
- later: it may correct what matches as well (`later`)

Where no turn has several words of the query, and there are vectors, words may match by chance and
count less. A long turn has words of any query: `context`, `neighbour` and the trust in words are
normalised by its length. A query of time alone is answered by days and places instead (`said`).

The weights were chosen by hand; `python -m tests.benchmarks.tuning` tells what choosing them
without the conversation that is asked about costs.
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
from jitchat.index.narrowing import KEPT, NARROWED_FROM, Evidence, reach_of, select
from jitchat.index.packed_postings import PackedPostings
from jitchat.index.retrieve import MOST_STEMS, SHORTLIST, Query
from jitchat.index.scoring import (
    WEIGHTS,
    Weights,
    added,
    best_of,
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

_ECHO = 0.8
"""A question that holds this share of the query, and little else, is the query itself."""
_FEW = 2
_LAST_SAID = 0.5
"""The score of the last turn of an occasion, of which the first has 1."""
_LEAST_CUE = -0.95
_MIDDLING = 12.0
"""A turn of so many stems is neither long nor empty."""
_LONG = 30.0
"""A turn of more stems, and of more than a brief turn of the conversation, is long."""
_LENGTH_POWER = 0.7
"""What is shared with a long turn is divided by this power of how many times too long it is."""


EntriesOf = Callable[[Sequence[int]], Sequence[IndexEntry]]
"""Takes positions, and gives the entry of the turn at each."""
_SEGMENT = 65_536
"""Rows. The last segment is packed anew as it grows, up to so many; then another is begun."""


class HotIndex:
    """Rows in order of position. Threads may add, take back and search at the same time.

    Rows at the start can be packed: what is searched of them is in arrays, and what is shown is
    looked up as it is needed.
    """

    def __init__(
        self,
        embedder: Embedder,
        weights: Weights = WEIGHTS,
        entries_of: EntriesOf = lambda _: (),
        narrowed_from: int = NARROWED_FROM,
    ) -> None:
        """`entries_of` is asked for the entries of packed rows.

        With more than `narrowed_from` rows, only those are scored in full that can be the best.
        """
        self.narrowed_from = narrowed_from
        self._embedder, self._weights, self._entries_of = embedder, weights, entries_of
        self._lock = threading.Lock()
        self._starts: list[int] = []
        """The first row of each segment."""
        self._packed = 0
        """Rows of the segments."""
        self._rows: list[IndexRow] = []
        """Behind the segments."""
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
        """How many rows are in no segment."""
        return len(self._rows)

    @property
    def speakers(self) -> frozenset[str]:
        with self._lock:
            return self._columns.speakers

    def add(self, rows: Sequence[IndexRow], *, begins: bool = False) -> None:
        """Add rows behind those that there are; they may begin another conversation."""
        with self._lock:
            self._forget()
            for place, row in enumerate(rows):
                self._columns.add(row, begins=begins and not place)
                self._postings.add(row.stems.split())
            self._vectors.extend([row.vector for row in rows])
            self._positions.extend([row.position for row in rows])
            self._rows += [row.bare() for row in rows]

    def pack(self, settled: int) -> list[Segment]:
        """Pack the rows up to position `settled`; gives the segments that this made.

        The first of them may take the place of one that was not full.
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

    def add_segment(self, segment: Segment) -> None:
        """Add what `pack` made, behind the segments that lay ahead of it."""
        found, start = segment.arrays, segment.start
        with self._lock:
            self._forget()
            self._columns.add_packed(segment.names["speakers"], found)
            stems = self._postings.numbered(segment.names["stems"])
            postings = start, stems, found["ends"], found["documents"], found["counts"]
            self._postings.add_pack(PackedPostings(*postings), found["lengths"])
            vectors = found["vectors"], found["scales"], found["total"]
            self._vectors.add_pack(PackedVectors(*vectors), start)
            self._positions.extend(found["positions"])
            self._starts.append(start)
            self._packed = len(self._positions)

    def take_back(self, behind: int) -> None:
        """Take back the rows of the turns behind a position, as if they had never been added."""
        with self._lock:
            size = self._row_at(behind + 1)
            if size < len(self._positions):
                self._forget()
                del self._rows[max(0, size - self._packed) :]
                self._packed = min(size, self._packed)
                self._starts = [start for start in self._starts if start < size]
                self._positions.cut(size)
                self._columns.take_back(size)
                self._postings.take_back(size)
                self._vectors.take_back(size)

    def _forget(self) -> None:
        """Drop what was computed of all rows: rows come or go."""
        self._known_cues = self._known_length_norm = None

    def rewrite(self, lines: Mapping[int, str]) -> None:
        """Put other summaries in place, by position; what is searched stays the turn's words."""
        with self._lock:
            for position, line in lines.items():
                row = self._row_at(position) - self._packed
                if 0 <= row < len(self._rows) and self._rows[row].position == position:
                    self._rows[row] = replace(self._rows[row], summary=line)

    def decisions(self, count: int, before: int) -> tuple[IndexEntry, ...]:
        """List the last `count` turns ahead of position `before` that decide, oldest first."""
        with self._lock:
            deciding = self._columns.last_flagged("decision", self._row_at(before), count)
            return tuple(self._entries(deciding))

    def decided(self, before: int) -> tuple[int, ...]:
        """List the positions of all turns ahead of position `before` that decide."""
        with self._lock:
            stop = self._row_at(before)
            return self._positions_of(self._columns.last_flagged("decision", stop, stop))

    def said_on(self, days: Span, before: int) -> tuple[int, ...]:
        """List the positions of turns that were said on some days, ahead of position `before`."""
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
        """Rank the `size` best turns ahead of position `before`; none where none fits.

        Only turns at the positions `within` are ranked, where these are told.
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
            best_rows = best_of(parts, size)
            ranked = self._candidates(rows[best_rows], only(parts, best_rows), query)
            worths = self._postings.worths(query.weights)
        return tuple(newest_first(ranked, {query.spelled[stem]: worths[stem] for stem in worths}))

    def said(self, query: Query, before: int, size: int = SHORTLIST) -> tuple[Candidate, ...]:
        """List the turns of the occasion that a query asks for, the best first."""
        with self._lock:
            rows = self._said(query, self._row_at(before))[:size]
            parts = self._parts_said(query, rows, len(self._positions))
            unspoken = replace(query, weights={})  # no word counts
            return self._candidates(rows, only(parts, rows), unspoken)

    def _said(self, query: Query, stop: int) -> Places:
        """Find the rows of the occasion that a query asks for; none where it asks for none."""
        if query.occasion is None:
            return np.empty(0, dtype=np.int64)
        return rows_of(query.occasion, self._columns, self._postings.lengths, stop)

    def _parts_said(self, query: Query, rows: Places, stop: int) -> dict[str, Scores]:
        """Score rows by their order alone, 1 for the first; shape (stop,)."""
        scores = np.zeros(stop, dtype=np.float32)
        scores[rows] = np.linspace(1.0, _LAST_SAID, len(rows))
        return {PLACE if query.occasion and query.occasion.places else DATE: scores}

    def terms(self, query: Query) -> tuple[Term, ...]:
        """Weigh the words of a query that occur, the rarest first."""
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
        """Rank one turn among all ahead of position `before`; None where it is not indexed."""
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
            told = (*candidate.parts, (PART, 0.0))
            # a search that narrows may have listed others
            return Placed(replace(candidate, rank=max(rank, 1 + len(listed)), parts=told), stop)

    def entries(self, turns: Collection[int]) -> tuple[IndexEntry, ...]:
        with self._lock:
            wanted = np.array(sorted(turns), dtype=np.int64)
            rows = np.searchsorted(self._positions.rows, wanted)
            within = rows < len(self._positions)
            rows, wanted = rows[within], wanted[within]
            return tuple(self._entries(rows[self._positions.rows[rows] == wanted]))

    def _entries(self, rows: Places) -> list[IndexEntry]:
        """Describe rows, in the order given."""
        packed = rows[rows < self._packed]
        looked_up = iter(self._entries_of(self._positions.rows[packed].tolist()))
        places = (rows - self._packed).tolist()
        return [self._rows[place].entry() if place >= 0 else next(looked_up) for place in places]

    def _embedded(self, query: Query) -> NDArray[np.float32]:
        """Embed a query, shape (dimension,); zeros, and so no dense part, where that fails."""
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
        """Score the rows ahead of row `stop`: which they are, and each part, of the same shape.

        Of many rows, one that `narrows` leaves out those that cannot be among the best.
        """
        evidence, weights = self._evidence(query, vector), self._weights
        chosen = None
        if narrows and len(self._positions) > self.narrowed_from:
            reach = reach_of(weights.heard, weights.lent)
            heard = ((step, weights.context * share) for step, share in weights.heard)
            own = weights.lexical + weights.context
            rough = evidence.rough(own, weights.dense, (*heard, *weights.lent))
            rough[stop:] = 0.0
            chosen = select(rough, KEPT, reach)
        if chosen is None:
            return np.arange(stop), only(self._parts(query, evidence), slice(stop))
        parts = self._parts(query, evidence.of(chosen), chosen.rows)
        whole = np.flatnonzero(chosen.is_whole & (chosen.rows < stop))
        return chosen.rows[whole], only(parts, whole)

    def _evidence(self, query: Query, vector: NDArray[np.float32]) -> Evidence:
        """Find what tells for each row, whatever it is worth."""
        stretch_of = self._columns.stretch_of()
        sought = self._postings.rarest(query.weights, MOST_STEMS)
        every, size = self._postings.matches(sought), len(self._positions)
        share, deviations = covered(every, size), self._vectors.standardised(vector)
        matches = every
        if len(echoes := self._echoes(share, query)):
            is_echo = np.zeros(size, dtype=np.bool_)
            is_echo[echoes] = True
            matches = [match.without(is_echo) for match in every]
            share[echoes] = deviations[echoes] = 0.0
        share *= self._length_norm()
        speaker_boost: Scores | np.float32 = np.float32(1.0)
        if query.speakers:
            speaker_boost = 1 + self._weights.speaker * self._columns.spoken_by(query.speakers)
        is_open = int(stretch_of[-1])  # the last stretch: it lends nothing yet
        stretch_scores = np.append(
            self._postings.scores_of_groups(sought, stretch_of, is_open), np.float32(0.0)
        )
        return Evidence(
            matches=matches,
            words=summed(matches, size),
            share=share,
            length_norm=self._length_norm(),
            trust=self._trust(matches, share, vector),
            deviations=deviations,
            speaker_boost=speaker_boost,
            dates=self._date_scores(query),
            stretch_scores=stretch_scores[stretch_of],
            stretch_of=stretch_of,
        )

    def _parts(
        self, query: Query, found: Evidence, rows: Places | slice = slice(None)
    ) -> dict[str, Scores]:
        """Each part of the score of some rows, by what was `found` of them, of that shape."""
        weights, trust, speaker_boost = self._weights, found.trust, found.speaker_boost
        lexical = trust * found.words * (1 + found.share) * speaker_boost
        dense = weights.dense * boost_outliers(found.deviations, weights) * speaker_boost
        # a long turn has words for its neighbours, and they for it
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
        self, matches: list[Matches], share: Scores, vector: NDArray[np.float32]
    ) -> Scores | np.float32:
        """How far words are trusted: fully where there is no vector beside them.

        One number where it is the same for all rows, else of shape (rows,).
        """
        if not vector.any():
            return np.float32(1.0)
        trusted, known = lexical_confidence(matches, share, self._weights), self._vectors.known()
        return trusted if known.all() else np.where(known, trusted, np.float32(1.0))

    def _echoes(self, covered: Scores, query: Query) -> Places:
        """Find the rows that asked the same: a question is no answer to itself.

        Of few words, only the user's own: somebody else's may be what the question is about.
        """
        rows = np.flatnonzero(covered >= _ECHO)
        little_else = self._postings.lengths[rows] <= 1 + len(query.weights)
        rows = rows[little_else & (self._columns.flag("asks")[rows] > 0)]
        if len(query.weights) > _FEW or not len(rows):
            return rows
        return rows[self._columns.spoken_by([Role.USER.value])[rows] > 0]

    def _date_scores(self, query: Query) -> Scores:
        """Prefer the days that are asked about, the more the fewer turns are of them."""
        if not query.spans:
            return np.zeros(len(self._positions), dtype=np.float32)
        said = self._columns.said_in(query.spans)
        spoken_of = self._columns.speaking_of(query.spans)
        return np.asarray(
            self._weights.said_then * said * (1 - said.mean())
            + self._weights.speaks_of_then * spoken_of * (1 - spoken_of.mean())
        )

    def _cues(self, query: Query, rows: Places | slice) -> Scores:
        """What kind of turn each of some rows is, as a share of its score; above -1."""
        weights = self._weights
        found = self._usual_cues()[rows].copy()
        if query.asks_when:
            found += weights.tells_when * self._columns.flag("tells_when")[rows]
        if not query.asks_past:
            found += weights.standing * self._columns.flag("standing")[rows]
        cues: Scores = np.maximum(found, _LEAST_CUE).astype(np.float32)
        return cues

    def _usual_cues(self) -> Scores:
        """The cues that are the same for any query, computed once until rows come or go."""
        if self._known_cues is None:
            weights, lengths = self._weights, self._postings.lengths
            found = weights.asks * self._columns.flag("asks")
            little_else = np.clip(2 - lengths / (_MIDDLING / 2), 0.0, 1.0)
            found += weights.disclaims * self._columns.flag("disclaims") * little_else
            found += weights.says_much * (lengths / (lengths + _MIDDLING) - 0.5)
            self._known_cues = found
        return self._known_cues

    def _length_norm(self) -> Scores:
        """Normalise by length, shape (rows,): 1, or less for a row longer than most."""
        if self._known_length_norm is None:
            usual = max(_LONG, self._postings.brief)
            excess = np.clip(self._postings.lengths / usual, 1.0, LONGEST)
            self._known_length_norm = (excess**-_LENGTH_POWER).astype(np.float32)
        return self._known_length_norm

    def _candidates(
        self, rows: Places, parts: Mapping[str, Scores], query: Query
    ) -> tuple[Candidate, ...]:
        """Describe rows, ranked as they come, with the parts of their scores."""
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
