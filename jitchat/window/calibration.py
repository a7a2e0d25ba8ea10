"""Learning how a server counts: a correction of one's own counts, and how sure it is.

A report is taken to be `slope × count + offset`: a tokenizer of its own, and what a template adds
to each request. Noise grows with the count, so what is fitted is the ratio `report / count` over
`1 / count`: by repeated medians (Siegel 1982, Robust regression using repeated medians), which
half of the samples cannot move; then, without what is far off by the modified z-score (Iglewicz
and Hoaglin 1993, How to detect and handle outliers), by least squares.
"""

from __future__ import annotations

from bisect import bisect_right
from collections.abc import Iterable, Sequence
from dataclasses import dataclass
from math import ceil, floor
from operator import sub, truediv
from statistics import median

from jitchat.turn import Sample
from jitchat.window.fitting import Line, noise_at, robust_line

LEAST_SAMPLES = 3
"""With fewer nothing is corrected."""
_LATEST = 32
"""Samples that count; older ones may be of another tokenizer, and tell little that is new."""
_FEWER, _MORE, _HIDDEN = 4, 8, 4_096
"""No tokenizer makes so many times fewer or more of a text, no template adds so many tokens: such a
report is of something else, the uncached rest of the prompt for instance."""
_LEAST_BREAK, _LEAST_BEFORE = 5, 5
"""Samples on either side of a break."""
_AGREE = 0.8
"""So much of what follows a break has to differ from what was before, and to one side."""
_CLEAR_SHARE, _CLEAR_TOKENS = 0.04, 16
"""A break is larger than this, as a share and in tokens."""
_ALIKE = 0.06
"""Changed reports are alike that are so many times off, give or take so much."""
_OF_REFUSAL = 0.05
"""The width where one figure is all there is."""
_UNSEEN_OFFSET = 64
"""In tokens: what a template adds is hardly seen in large requests, and no break in small ones."""


@dataclass(frozen=True, slots=True)
class Calibration:
    """The correction for one model and counter. Monotone: what counts more stays more."""

    slope: float = 1.0
    offset: float = 0.0
    """In tokens, once a request."""
    width: float = 0.0
    """Half the width of the band, about as a share of what is reported; see `noise_at`."""
    samples: int = 0
    """So many it stems from, those that were left out not counted; 0: it corrects nothing."""

    @classmethod
    def of(cls, samples: Iterable[Sample]) -> Calibration:
        """Learn from samples of one model and counter, the oldest first.

        Of a server that changes its tokenizer, what was before the break is forgotten as soon as
        five reports agree on it.
        """
        usable = _since_break([each for each in samples if _is_plausible(each)][-_LATEST:])
        if len(usable) < LEAST_SAMPLES:
            return NO_CALIBRATION
        line = robust_line(usable)
        return cls(line.slope, line.offset, line.width, line.samples)

    @classmethod
    def of_refusal(cls, counted: int, needed: int) -> Calibration:
        """Learn from the one figure of a server that refused a window: until there are samples."""
        return cls(needed / max(1, counted), 0.0, _OF_REFUSAL, 1)

    def correct(self, tokens: int) -> int:
        """Tell what the server is expected to report for `tokens` of one's own."""
        if not self.samples or tokens <= 0:
            return tokens
        return max(1, floor(self.slope * tokens + self.offset + 0.5))

    def band(self, tokens: int) -> int:
        """Half the width, in tokens, of what holds about 95 % of reports for `tokens`; 0: exact."""
        if not self.samples or self.is_identity:
            return 0
        return max(1, ceil(self.width * noise_at(self.correct(tokens))))

    @property
    def is_identity(self) -> bool:
        """Whether the own count is what is reported, each time."""
        return (self.slope, self.offset, self.width) == (1.0, 0.0, 0.0)

    def within(self, tokens: int) -> int:
        """Tell the most of one's own tokens that surely fit in `tokens`: with their band."""
        if not self.samples or tokens <= 0:
            return tokens

        def told(own: int) -> int:
            return self.correct(own) + self.band(own)

        beyond = floor((tokens + abs(self.offset) + 1) / self.slope) + 2
        return max(0, bisect_right(range(1, beyond), tokens, key=told))


NO_CALIBRATION = Calibration()
"""Nothing is known: counts stay as they are."""


def _is_plausible(sample: Sample) -> bool:
    if sample.counted < 1 or sample.reported < 1:
        return False
    most = _MORE * sample.counted + _HIDDEN
    return sample.counted <= _FEWER * sample.reported and sample.reported <= most


def _since_break(samples: Sequence[Sample]) -> Sequence[Sample]:
    """Leave out what was before the server last changed the way in which it counts."""
    place = _LEAST_BEFORE
    while place <= len(samples) - _LEAST_BREAK:
        if _is_break(samples[:place], samples[place:]):
            samples, place = samples[place:], _LEAST_BEFORE
        else:
            place += 1
    return samples


def _is_break(before: Sequence[Sample], after: Sequence[Sample]) -> bool:
    """Whether those after differ clearly from those before, and all in one way."""
    line = robust_line(before)
    if not (side := _side(line, after[0])):
        return False
    telling = [sample for sample in after if _side(line, sample) or sample.counted >= line.least]
    changed = [sample for sample in telling if _side(line, sample) == side]
    if len(changed) < max(_LEAST_BREAK, _AGREE * len(telling)):
        return False
    return max(_agreeing(line, changed)) >= _AGREE * len(changed)


def _agreeing(line: Line, changed: Sequence[Sample]) -> tuple[int, int]:
    """Count those that are as many times off as most are, and those that are so many tokens off."""
    expected = [line.at(sample.counted) for sample in changed]
    told = [sample.reported for sample in changed]
    times = median(map(truediv, told, expected))
    more = median(map(sub, told, expected))
    pairs = list(zip(told, expected, strict=True))
    return (
        sum(abs(report / wanted / times - 1) < _ALIKE for report, wanted in pairs),
        sum(abs(report - wanted - more) < _clear(wanted) for report, wanted in pairs),
    )


def _side(line: Line, sample: Sample) -> int:
    """Tell where a report is, clearly: above the line 1, below it -1, near it 0."""
    expected = line.at(sample.counted)
    unseen = _UNSEEN_OFFSET if sample.counted < line.least else 0
    off = sample.reported - expected
    if abs(off) <= max(unseen, _clear(expected), line.width * expected):
        return 0
    return 1 if off > 0 else -1


def _clear(expected: float) -> float:
    return max(_CLEAR_TOKENS, _CLEAR_SHARE * expected)
