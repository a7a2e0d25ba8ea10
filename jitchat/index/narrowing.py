"""Narrow a long conversation down to the rows worth scoring in full, and their neighbours.

A row's score depends on the row and on the rows around it. It can be estimated cheaply for all
rows from their words and cosines; only the best rows by this estimate are scored in full.
`jitchat bench scaling` measures how often the shortlist is the same as without narrowing.
"""

from collections.abc import Iterable, Sequence
from dataclasses import dataclass

import numpy as np
from numpy.typing import NDArray

from jitchat.index.lexical import Matches, Places, Scores

Steps = tuple[tuple[int, float], ...]
"""(offset in turns, share)."""
NARROWED_FROM = 16_384
"""Rows. If there are fewer, all rows are scored."""
KEPT = 2_048
"""Rows scored in full; more if many have equal estimates."""
_MOST = 0.2
"""Maximum share of all rows to select; beyond this, narrowing saves no time."""


def shifted(step: int) -> tuple[slice, slice]:
    """Return a slice of the rows with a row `step` turns earlier, and a slice of those rows."""
    near, far = slice(abs(step), None), slice(None, -abs(step))
    return (near, far) if step > 0 else (far, near)


@dataclass(frozen=True, slots=True)
class Selection:
    """The rows to be scored. Arrays of rows then have the shape of `rows`."""

    rows: Places
    """Ascending."""
    size: int
    """Number of rows in the index."""
    is_whole: NDArray[np.bool_]
    """Whether all neighbours of a row are selected, too; only such a row's score is complete."""

    def matches(self, matches: Iterable[Matches]) -> list[Matches]:
        """Keep the matches in `rows`. Document numbers become indices into `rows`."""
        places = np.zeros(self.size, dtype=np.int32)  # a page that is not written takes no memory
        places[self.rows] = np.arange(1, len(self.rows) + 1)
        found = []
        for match in matches:
            selected = places[match.documents]
            kept = selected > 0
            documents = selected[kept].astype(np.int64) - 1
            found.append(Matches(documents, match.values[kept], match.share))
        return found

    def stretches(self, stretch_of: Places) -> Places:
        """Number the stretches of the rows. A gap between rows starts a new stretch."""
        numbers = stretch_of[self.rows]
        begins = np.diff(self.rows, prepend=-1) != 1
        begins[1:] |= numbers[1:] != numbers[:-1]
        return np.cumsum(begins, dtype=np.int64)


@dataclass(frozen=True, slots=True)
class Evidence:
    """The evidence that each row answers one query; every array has shape (rows,)."""

    matches: Sequence[Matches]
    words: Scores
    """The summed values of `matches`."""
    share: Scores
    """The share of the query that a row matches, reduced for long rows, which match by chance."""
    length_norm: Scores
    """1, or less for a long row."""
    trust: Scores | np.float32
    """How far lexical matches are trusted, 0 to 1."""
    deviations: Scores
    """The cosines, in standard deviations above their mean."""
    speaker_boost: Scores | np.float32
    """A factor for the preferred speaker's rows; 1 if no speaker is preferred."""
    dates: Scores
    """Scores for the days named in the query."""
    stretch_scores: Scores
    """The score of the stretch of talk that a row is in."""
    stretch_of: Places
    """The number of that stretch, ascending."""

    def rough(self, own: float, dense: float, around: Steps) -> Scores:
        """Estimate the score of each row.

        `own`, `dense` and `around` are the weights of the row's words, of its cosine, and of the
        words of the turns around it.
        """
        words = self.words * self.trust
        found = np.float32(own) * words
        found += np.float32(dense) * self.deviations
        found *= self.speaker_boost
        found += self.dates
        for step, weight in around:
            later, earlier = shifted(step)
            found[later] += np.float32(weight) * words[earlier]
        return found

    def of(self, chosen: Selection) -> "Evidence":
        rows = chosen.rows
        return Evidence(
            matches=chosen.matches(self.matches),
            words=self.words[rows],
            share=self.share[rows],
            length_norm=self.length_norm[rows],
            trust=_at(self.trust, rows),
            deviations=self.deviations[rows],
            speaker_boost=_at(self.speaker_boost, rows),
            dates=self.dates[rows],
            stretch_scores=self.stretch_scores[rows],
            stretch_of=chosen.stretches(self.stretch_of),
        )


def _at(values: Scores | np.float32, rows: Places) -> Scores | np.float32:
    return values[rows] if isinstance(values, np.ndarray) else values


def select(rough: Scores, count: int, radius: int) -> Selection | None:
    """Select the `count` rows with the highest estimates, and `radius` rows on each side.

    None if so many rows have equal estimates that narrowing saves no time.
    """
    size = len(rough)
    count = min(count, size)
    least = np.partition(rough, -count)[-count]  # of a million rows in 2 ms
    best = np.flatnonzero((rough >= least) & (rough > 0))
    if len(best) > size * _MOST:
        return None
    is_near = np.zeros(size, dtype=np.bool_)
    for step in range(-radius, radius + 1):
        is_near[np.clip(best + step, 0, size - 1)] = True
    rows = np.flatnonzero(is_near)
    is_whole = np.zeros(len(rows), dtype=np.bool_)
    is_whole[np.searchsorted(rows, best)] = True
    return Selection(rows, size, is_whole)


def radius_of(*steps: Steps) -> int:
    """Return the distance to the farthest row that a row's score depends on."""
    return max((abs(step) for each in steps for step, _ in each), default=0)
