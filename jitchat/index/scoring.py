"""The weights of the parts of a score, and their arithmetic. Pure: arrays in, arrays out."""

from collections.abc import Iterable, Mapping
from dataclasses import dataclass

import numpy as np
from numpy.typing import NDArray

from jitchat.index.lexical import Matches, Places, Scores
from jitchat.index.narrowing import Steps, shifted


@dataclass(frozen=True, slots=True)
class Weights:
    """Weights of the parts of a score, where a full lexical match is 1."""

    lexical: float = 0.8
    """Lexical match of the turn itself."""
    dense: float = 0.076
    """Cosine, per standard deviation above the mean."""
    speaker: float = 1.5
    """Added to 1 as the factor for turns by a speaker whom the question names."""
    context: float = 1.4
    """Lexical match of a turn together with the turns around it."""
    heard: Steps = ((1, 1.0), (2, 0.5), (-1, 0.5), (-2, 0.5))
    """How much a turn's words count for the turns at these offsets, in that match."""
    lent: Steps = ((1, 0.3), (2, 0.15), (-1, 0.2), (-2, 0.15))
    """The share of its score that a turn lends to the turns at these offsets."""
    lent_dense: float = 0.4
    """The share of the dense part that is lent."""
    stretch: float = 0.25
    """Match of the stretch of talk as a whole."""
    said_then: float = 0.4
    """For a turn said on a day that the question names."""
    speaks_of_then: float = 0.3
    """For a turn that mentions such a day."""
    asks: float = -0.2
    """For a question, as a share of its score, like the cues below."""
    tells_when: float = 0.5
    """For a turn that states a time, if the question asks when."""
    standing: float = 0.8
    """For a standing wish of the user, if the draft asks for something new."""
    disclaims: float = -0.8
    """For a turn that says little more than "I don't know"."""
    alone: float = 0.6
    """Counts a match of one word among several, in computing the trust in words."""
    doubted: float = 0.4
    """A turn that matches up to this share of the question does so by chance."""
    believed: float = 0.8
    """A turn that matches at least this share does not match by chance."""
    least_trust: float = 0.3
    """Trust in words that match by chance, when there are many turns."""
    clear: float = 5.5
    """Standard deviations. If the highest cosine is beyond, words that match by chance count for
    nothing: the question says in other words what was said."""
    far: float = 4.0
    """Standard deviations up to which a high cosine occurs by chance."""
    beyond: float = 3.0
    """Extra weight per standard deviation beyond that."""
    says_much: float = 0.4
    """For a long turn compared with an empty one."""


WEIGHTS = Weights()


def only(parts: Mapping[str, Scores], rows: Places | slice) -> dict[str, Scores]:
    return {name: values[rows] for name, values in parts.items()}


def lent(base: Scores, stretch_of: Places, steps: Steps) -> Scores:
    """Add up the shares that each turn receives from the turns around it, in `base`'s shape."""
    found = np.zeros_like(base)
    for step, weight in steps:
        later, earlier = shifted(step)
        shares = np.float32(weight) * base[earlier]
        shares[stretch_of[later] != stretch_of[earlier]] = 0.0
        found[later] += shares
    return found


def in_context(matches: Iterable[Matches], stretch_of: Places, steps: Steps) -> Scores:
    """Score each turn as if it also had its neighbours' words, each stem once, shape (turns,).

    This finds a turn when the question's words are spread over it and its neighbours.
    """
    size = len(stretch_of)
    same_stretch = {
        step: stretch_of[step:] == stretch_of[: size - step] for step in {abs(s) for s, _ in steps}
    }
    found, best = np.zeros(size, dtype=np.float32), np.zeros(size, dtype=np.float32)
    for match in matches:
        best[match.documents] = match.values
        reached = [match.documents]
        for step, weight in steps:
            to = match.documents + step
            first, last = np.searchsorted(to, (0, size)).tolist()
            to, origin = to[first:last], match.documents[first:last]
            heard = same_stretch[abs(step)][np.minimum(to, origin)]
            values = np.float32(weight) * match.values[first:last] * heard
            best[to] = np.maximum(best[to], values)
            reached.append(to)
        for places in reached:  # a place that occurs twice is 0 the second time
            found[places] += best[places]
            best[places] = 0
    return found


_TOGETHER = 2
_WHOLE = 0.95
"""A turn that matches this share of the question matches all of it, even if it is one word."""
_MANY = 500
"""Turns. With fewer, a word is less likely to match by chance."""


def lexical_confidence(
    matches: Iterable[Matches], share: Scores, deviations: Scores, weights: Weights
) -> np.float32:
    """Return how far the question's words can be trusted to find the answer, at most 1.

    `share` is the share of the question that each turn matches, shape (turns,). If there are many
    turns and none has two of the words together, the answer is probably phrased in other words.
    """
    count = np.zeros(len(share), dtype=np.uint8)
    for match in matches:
        count[match.documents] += 1
    together = float(share[count >= _TOGETHER].max(initial=0.0))
    most = float(share.max(initial=0.0))
    found = max(together, most if most >= _WHOLE else weights.alone * most)
    sure = (found - weights.doubted) / (weights.believed - weights.doubted)
    doubt = (1 - min(1.0, max(0.0, sure))) * min(1.0, len(share) / _MANY)
    is_clear = float(deviations.max(initial=0.0)) > weights.clear
    return np.float32(1 - (1 - (0.0 if is_clear else weights.least_trust)) * doubt)


def boost_outliers(deviations: Scores, weights: Weights) -> Scores:
    """Give extra weight to vectors that stand out clearly."""
    beyond: Scores = np.maximum(deviations - np.float32(weights.far), np.float32(0.0))
    return deviations + np.float32(weights.beyond) * beyond


def added(parts: Iterable[Scores]) -> Scores:
    first, *others = parts
    found = first.copy()
    for values in others:
        found += values
    return found


def totals(parts: Mapping[str, Scores]) -> NDArray[np.float64]:
    return np.asarray(np.sum(list(parts.values()), axis=0, dtype=np.float64))


def best(total: NDArray[np.float64], size: int) -> Places:
    """Return the indices of the `size` highest scores above 0, best first, ties by index."""
    found = np.flatnonzero(total > 0)
    if len(found) > size:
        least = np.partition(total[found], -size)[-size]
        found = found[total[found] >= least]
    return found[np.argsort(-total[found], kind="stable")][:size]
