"""What each sign of a turn's worth counts for.

Chosen by hand on five conversations of LoCoMo and on paraphrases. What choosing them without the
conversation that is asked about costs, `python -m tests.benchmarks.tuning` tells.
"""

from __future__ import annotations

from dataclasses import dataclass

Steps = tuple[tuple[int, float], ...]


@dataclass(frozen=True, slots=True)
class Weights:
    """Of the parts of a score, where a full lexical match is 1."""

    lexical: float = 0.8
    """Of a match that the turn makes by itself."""
    dense: float = 0.07
    """Of a cosine, for each standard deviation above the mean."""
    speaker: float = 1.5
    """How much more a turn of the person that the question names is worth."""
    context: float = 1.4
    """Of a match that a turn and the turns around it make together."""
    heard: Steps = ((1, 1.0), (2, 0.5), (-1, 0.5), (-2, 0.5))
    """For that match: so many turns later, what was said still counts so much."""
    lent: Steps = ((1, 0.3), (2, 0.15), (-1, 0.2), (-2, 0.15))
    """So many turns later, what a turn lends of its own score."""
    lent_dense: float = 0.3
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
    decides: float = 0.3
    """What a decision is worth to a question for one."""
    disclaims: float = -0.8
    """What "I don't know" is worth more than any other answer."""
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
