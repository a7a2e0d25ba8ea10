"""What a turn owes to the turns around it, within one stretch of talk.

An answer stands next to its question, and often holds none of its words.
"""

from __future__ import annotations

from collections.abc import Iterable

import numpy as np

from jitchat.memory.index.lexical import Matches, Places, Scores
from jitchat.memory.index.weights import Steps


def lent(base: Scores, stretch_of: Places, steps: Steps) -> Scores:
    """Add up what the turns around each one lend it of their score, shape of `base`."""
    found = np.zeros_like(base)
    for step, weight in steps:
        near, far = _apart(abs(step))
        later, earlier = (near, far) if step > 0 else (far, near)
        found[later] += np.float32(weight) * base[earlier] * (stretch_of[near] == stretch_of[far])
    return found


def in_context(matches: Iterable[Matches], stretch_of: Places, steps: Steps) -> Scores:
    """Score each turn as if it said what is said around it, each stem once: shape (turns,).

    So a turn is found by the words of a question that it shares with its neighbours between
    them, where none has them all.
    """
    size = len(stretch_of)
    found, best = np.zeros(size, dtype=np.float32), np.zeros(size, dtype=np.float32)
    for match in matches:
        best[match.documents] = match.values
        for step, weight in steps:
            _spread(best, match, step, weight, stretch_of)
        found += best
        best[:] = 0
    return found


def _spread(best: Scores, match: Matches, step: int, weight: float, stretch_of: Places) -> None:
    """Let the turns `step` later hear a stem, if they have not heard it better."""
    to = match.documents + step
    within = (to >= 0) & (to < len(best))
    to, origin = to[within], match.documents[within]
    values = np.float32(weight) * match.values[within] * (stretch_of[to] == stretch_of[origin])
    best[to] = np.maximum(best[to], values)


def _apart(step: int) -> tuple[slice, slice]:
    return slice(step, None), slice(None, -step)
