"""What the parts of a score are worth, and the arithmetic of them. Pure: arrays in, arrays out."""

from collections.abc import Iterable, Mapping
from dataclasses import dataclass

import numpy as np
from numpy.typing import NDArray

from jitchat.index.lexical import Matches, Places, Scores
from jitchat.index.narrowing import Steps, shifted


@dataclass(frozen=True, slots=True)
class Weights:
    """Of the parts of a score, where a full lexical match is 1."""

    lexical: float = 0.8
    """Of a match that the turn makes by itself."""
    dense: float = 0.076
    """Of a cosine, for each standard deviation above the mean."""
    speaker: float = 1.5
    """How much more a turn of the person that the question names is worth."""
    context: float = 1.4
    """Of a match that a turn and the turns around it make together."""
    heard: Steps = ((1, 1.0), (2, 0.5), (-1, 0.5), (-2, 0.5))
    """For that match: so many turns later, what was said still counts so much."""
    lent: Steps = ((1, 0.3), (2, 0.15), (-1, 0.2), (-2, 0.15))
    """So many turns later, what a turn lends of its own score."""
    lent_dense: float = 0.4
    """Of the dense part, so much is lent."""
    stretch: float = 0.25
    """Of the match of the stretch of talk as a whole."""
    said_then: float = 0.4
    """Of a turn that was said on a day that the question names."""
    speaks_of_then: float = 0.3
    """Of a turn that mentions such a day."""
    asks: float = -0.2
    """What a question is worth more than a statement; a share of the score, as all below."""
    tells_when: float = 0.5
    """What a time is worth to a question for one."""
    standing: float = 0.8
    """What a standing wish of the user is worth to a draft that asks for something new."""
    disclaims: float = -0.8
    """What "I don't know" is worth more than any other answer, where a turn says nothing else."""
    alone: float = 0.6
    """Of a match of one word among several, towards trust in words."""
    doubted: float = 0.4
    """A turn that has so much of the question has it by chance."""
    believed: float = 0.8
    """One that has so much of it surely has not."""
    least_trust: float = 0.3
    """Of words that match by chance, when many turns could."""
    far: float = 4.0
    """Cosines of so many standard deviations come by chance."""
    beyond: float = 3.0
    """What a cosine counts more for each deviation beyond."""
    says_much: float = 0.4
    """What a long turn is worth more than an empty one."""


WEIGHTS = Weights()


def only(parts: Mapping[str, Scores], rows: Places | slice) -> dict[str, Scores]:
    return {name: values[rows] for name, values in parts.items()}


def lent(base: Scores, stretch_of: Places, steps: Steps) -> Scores:
    """Add up what the turns around each one lend it of their score, shape of `base`."""
    found = np.zeros_like(base)
    for step, weight in steps:
        later, earlier = shifted(step)
        shares = np.float32(weight) * base[earlier]
        shares[stretch_of[later] != stretch_of[earlier]] = 0.0
        found[later] += shares
    return found


def in_context(matches: Iterable[Matches], stretch_of: Places, steps: Steps) -> Scores:
    """Score each turn as if it said what is said around it, each stem once: shape (turns,).

    So a turn is found by the words of a question that it shares with its neighbours between
    them, where none has them all.
    """
    size = len(stretch_of)
    goes_on = {
        step: stretch_of[step:] == stretch_of[: size - step] for step in {abs(s) for s, _ in steps}
    }
    found, best = np.zeros(size, dtype=np.float32), np.zeros(size, dtype=np.float32)
    for match in matches:
        best[match.documents] = match.values
        reached = [match.documents]
        for step, weight in steps:  # so many turns later, the stem is still heard
            to = match.documents + step
            first, last = np.searchsorted(to, (0, size)).tolist()
            to, origin = to[first:last], match.documents[first:last]
            heard = goes_on[abs(step)][np.minimum(to, origin)]
            values = np.float32(weight) * match.values[first:last] * heard
            best[to] = np.maximum(best[to], values)
            reached.append(to)
        for places in reached:  # a place that comes twice is 0 by then
            found[places] += best[places]
            best[places] = 0
    return found


_TOGETHER = 2
_WHOLE = 0.95
"""A turn that holds this share of the question holds all of it, though it be one word."""
_MANY = 500
"""In so many turns a word matches by chance; in fewer, that is less likely."""


def lexical_confidence(matches: Iterable[Matches], share: Scores, weights: Weights) -> np.float32:
    """Say how far the words of a question can be trusted to find its answer, up to 1.

    `share` is what each turn holds of the question, shape (turns,). Where none of many turns
    holds two of its words together, the answer may well be put in others.
    """
    count = np.zeros(len(share), dtype=np.uint8)
    for match in matches:
        count[match.documents] += 1
    together = float(share[count >= _TOGETHER].max(initial=0.0))
    most = float(share.max(initial=0.0))
    found = max(together, most if most >= _WHOLE else weights.alone * most)
    sure = (found - weights.doubted) / (weights.believed - weights.doubted)
    doubt = (1 - min(1.0, max(0.0, sure))) * min(1.0, len(share) / _MANY)
    return np.float32(1 - (1 - weights.least_trust) * doubt)


def boost_outliers(deviations: Scores, weights: Weights) -> Scores:
    """Let a vector that stands out by far count more than in proportion."""
    beyond: Scores = np.maximum(deviations - np.float32(weights.far), np.float32(0.0))
    return deviations + np.float32(weights.beyond) * beyond


def added(parts: Iterable[Scores]) -> Scores:
    first, *others = parts
    found = first.copy()
    for values in others:
        found += values
    return found


def totals(parts: Mapping[str, Scores], rows: Places | slice = slice(None)) -> NDArray[np.float64]:
    shares = [values[rows] for values in parts.values()]
    return np.asarray(np.sum(shares, axis=0, dtype=np.float64))


_GROUP = 256
_ROUNDING = 1e-4
"""More than adding up in single precision is off by, as a share of the sums."""


def best_of(parts: Mapping[str, Scores], size: int) -> Places:
    """Give the rows with the `size` highest totals, as `best` does.

    Only those are added up exactly that can be among them: the best of each group of rows say how
    much that takes.
    """
    rough = added(parts.values())
    groups = len(rough) // _GROUP
    if groups <= size:
        return best(totals(parts), size)
    highest = rough[: groups * _GROUP].reshape(groups, _GROUP).max(axis=1)
    least = np.partition(highest, -size)[-size]
    off = _ROUNDING * added(np.abs(values).max(keepdims=True) for values in parts.values())
    rows = np.flatnonzero(rough >= least - off)
    return rows[best(totals(parts, rows), size)]


def best(total: NDArray[np.float64], size: int) -> Places:
    """The places of the `size` highest scores above 0, best first; of equals the earlier first."""
    found = np.flatnonzero(total > 0)
    if len(found) > size:
        least = np.partition(total[found], -size)[-size]
        found = found[total[found] >= least]
    return found[np.argsort(-total[found], kind="stable")][:size]
