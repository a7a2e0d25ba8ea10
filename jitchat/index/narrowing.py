"""Of a long conversation, the rows that are worth scoring in full, and their neighbours.

A score looks at a row and at the rows around it, which can be told cheaply and roughly for all of
them: by the words and the cosine of each. What is left then is scored as all rows would be.
How often the shortlist is the same, `jitchat bench scaling` tells.
"""

from collections.abc import Iterable, Sequence
from dataclasses import dataclass
from functools import lru_cache

import numpy as np
from numpy.typing import NDArray

from jitchat.index.lexical import Matches, Places, Scores

Steps = tuple[tuple[int, float], ...]
"""(offset in turns, share)."""
NARROWED_FROM = 16_384
"""Rows: of fewer, all are scored."""
KEPT = 2_048
"""Rows that are scored in full, or more where many are alike."""
_SAMPLED = 16_384
"""Rows, drawn at random, that tell about what score so many rows have."""
_MOST = 0.2
"""The share of all rows that it pays to select at the most."""


def shifted(step: int) -> tuple[slice, slice]:
    """Slice rows into those that have one so many turns earlier, and these earlier ones."""
    near, far = slice(abs(step), None), slice(None, -abs(step))
    return (near, far) if step > 0 else (far, near)


@dataclass(frozen=True, slots=True)
class Selection:
    """Rows to be scored, and where they are: what is asked of rows has this shape then."""

    rows: Places
    """Ascending."""
    size: int
    """Of the index."""
    is_whole: NDArray[np.bool_]
    """Of which of the rows all neighbours are among the rows: only these have their score."""

    def matches(self, matches: Iterable[Matches]) -> list[Matches]:
        """Leave out what matches elsewhere; documents are places in `rows` then."""
        places = np.zeros(self.size, dtype=np.int32)  # a page that is not written takes no memory
        places[self.rows] = np.arange(1, len(self.rows) + 1)
        found = []
        for match in matches:
            there = places[match.documents]
            kept = there > 0
            documents = there[kept].astype(np.int64) - 1
            found.append(Matches(documents, match.values[kept], match.share))
        return found

    def stretches(self, stretch_of: Places) -> Places:
        """Number the stretches of the rows; where rows are left out, another one begins."""
        numbers = stretch_of[self.rows]
        begins = np.diff(self.rows, prepend=-1) != 1
        begins[1:] |= numbers[1:] != numbers[:-1]
        return np.cumsum(begins, dtype=np.int64)


@dataclass(frozen=True, slots=True)
class Evidence:
    """What tells for rows as the answer to one query; every array has shape (rows,)."""

    matches: Sequence[Matches]
    words: Scores
    """What these are worth together."""
    share: Scores
    """Of the query, what a row has; less of a long row, which has it by chance."""
    length_norm: Scores
    """1, or less for a long row."""
    trust: Scores | np.float32
    """How far words are trusted."""
    deviations: Scores
    """Of the cosines, in standard deviations above their mean."""
    speaker_boost: Scores | np.float32
    """Of who speaks, 1 where nobody is preferred."""
    dates: Scores
    """What the days asked for are worth."""
    stretch_scores: Scores
    """Of the stretch of talk that a row is in."""
    stretch_of: Places
    """The number of that, ascending."""

    def rough(self, own: float, dense: float, around: Steps) -> Scores:
        """Tell about what each row scores.

        By the weights of its `own` words, of its cosine, and of the words of the turns `around`.
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


def select(rough: Scores, count: int, reach: int) -> Selection | None:
    """Select about `count` rows, or more, that score most, roughly.

    The `reach` rows on both sides of each come along. None where so many are alike that it does
    not pay.
    """
    size = len(rough)
    sample = rough[_places(size)]
    wanted = min(_SAMPLED, max(1, _SAMPLED * count // size))
    least = np.partition(sample, -wanted)[-wanted]
    best = np.flatnonzero((rough >= least) & (rough > 0))
    if len(best) > size * _MOST:
        return None
    is_near = np.zeros(size, dtype=np.bool_)
    for step in range(-reach, reach + 1):
        is_near[np.clip(best + step, 0, size - 1)] = True
    rows = np.flatnonzero(is_near)
    is_whole = np.zeros(len(rows), dtype=np.bool_)
    is_whole[np.searchsorted(rows, best)] = True
    return Selection(rows, size, is_whole)


@lru_cache(maxsize=2)
def _places(size: int) -> Places:
    """Draw places below `size`, the same ones each time."""
    return np.random.default_rng(0).integers(size, size=_SAMPLED)


def reach_of(*steps: Steps) -> int:
    """Tell how far away the farthest of the rows is that a row looks at."""
    return max((abs(step) for each in steps for step, _ in each), default=0)
