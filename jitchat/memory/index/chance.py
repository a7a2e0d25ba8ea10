"""What comes by chance, among words and among vectors.

In a long conversation some turn holds one word of any question, and some cosine stands out.
Several words of the question in one turn, or a cosine that stands out by far, are more.
"""

from __future__ import annotations

from collections.abc import Iterable

import numpy as np

from jitchat.memory.index.lexical import Matches, Scores
from jitchat.memory.index.weights import Weights

_TOGETHER = 2
_WHOLE = 0.95
"""A turn that holds this share of the question holds all of it, though it be one word."""
_MANY = 500
"""In so many turns a word matches by chance; in fewer, that is less likely."""


def trust_in_words(matches: Iterable[Matches], share: Scores, weights: Weights) -> np.float32:
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


def outstanding(deviations: Scores, weights: Weights) -> Scores:
    """Let a vector that stands out by far count more than in proportion."""
    beyond: Scores = np.maximum(deviations - np.float32(weights.far), np.float32(0.0))
    return deviations + np.float32(weights.beyond) * beyond
