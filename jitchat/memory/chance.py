"""What comes by chance, among words and among vectors.

In a long conversation some turn holds one word of any question, and some cosine stands out.
Several words of the question in one turn, or a cosine that stands out by far, are more.
"""

from __future__ import annotations

from collections.abc import Iterable

import numpy as np

from jitchat.memory.lexical import Matches, Scores

_TOGETHER = 2
_ALONE = 0.6
"""What a match of one word among several is worth of a match of many."""
_WHOLE = 0.95
"""A turn that holds this share of the question holds all of it, though it be one word."""
_DOUBTED, _BELIEVED = 0.4, 0.8
"""Of the question in one turn: what is no better than chance, and what is surely not."""
_LEAST_TRUST = 0.3
_MANY = 500
"""In so many turns a word matches by chance; in fewer, that is less likely."""
_FAR, _BEYOND = np.float32(4.0), np.float32(3.0)
"""Cosines of so many standard deviations come by chance, and what those beyond count more."""


def trust_in_words(matches: Iterable[Matches], share: Scores) -> np.float32:
    """Say how far the words of a question can be trusted to find its answer, 0.3 to 1.

    `share` is what each turn holds of the question, shape (turns,). Where none of many turns
    holds two of its words together, the answer may well be put in others.
    """
    count = np.zeros(len(share), dtype=np.uint8)
    for match in matches:
        count[match.documents] += 1
    together = float(share[count >= _TOGETHER].max(initial=0.0))
    most = float(share.max(initial=0.0))
    found = max(together, most if most >= _WHOLE else _ALONE * most)
    sure = min(1.0, max(0.0, (found - _DOUBTED) / (_BELIEVED - _DOUBTED)))
    doubt = (1 - sure) * min(1.0, len(share) / _MANY)
    return np.float32(1 - (1 - _LEAST_TRUST) * doubt)


def outstanding(deviations: Scores) -> Scores:
    """Let a vector that stands out by far count fourfold for what is beyond chance."""
    beyond: Scores = np.maximum(deviations - _FAR, np.float32(0.0))
    return deviations + _BEYOND * beyond
