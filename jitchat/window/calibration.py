"""Learning how a server counts: a correction of one's own counts, and how sure it is.

A report is taken to be `slope × count + offset`: a tokenizer of its own, and what a template adds
to each request. Noise grows with the count, so what is fitted is the ratio `report / count` over
`1 / count`: by repeated medians (Siegel 1982, Robust regression using repeated medians), which
half of the samples cannot move; then, without what is far off by the modified z-score (Iglewicz
and Hoaglin 1993, How to detect and handle outliers), by least squares.
"""

from __future__ import annotations

from bisect import bisect_right
from dataclasses import dataclass
from math import ceil, floor, hypot, sqrt
from operator import sub, truediv
from statistics import fmean, median
from typing import TYPE_CHECKING

if TYPE_CHECKING:
    from collections.abc import Iterable, Sequence

    from jitchat.values import Sample


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


_FOR_OFFSET, _SPREAD = 7, 2.0
"""An offset is told from a slope with so many samples, two of them so many times larger than two
others."""
_SHIFT_WINS = 0.02
"""With fewer samples the ratio is taken; an offset alone where it explains so much better, as a
share of the report."""
_SIGMAS, _MAD = 3.5, 1.4826
"""Iglewicz and Hoaglin's cut; what makes of a median deviation a standard deviation."""
_NEAR_SHARE, _NEAR_TOKENS = 0.005, 12.0
"""Never cut for less: where most samples agree to the token the deviation is none."""
_FITTED = 3
"""A line is nearer to the samples that it was fitted to than to others, as if they were so many
fewer."""
_FOR_CUT = 4
"""With fewer samples nobody can say which of them is wrong."""
_WIDEST = 0.25
"""As a share: else one odd report among three would keep everything from being sent."""
_USUAL_OFFSET = 60.0
"""In tokens: templates seldom add more."""
_SMALL = 200.0
"""In tokens: what templates add varies by some tokens, whatever the size."""
_LEAST_SLOPE, _MOST_SLOPE, _MOST_OFFSET = 0.25, 8.0, 4_096.0


@dataclass(frozen=True, slots=True)
class Line:
    """`slope × count + offset`, and how far from it reports are."""

    slope: float
    offset: float = 0.0
    width: float = 0.0
    """Half the width of the band that holds about 95 % of later reports, in units of `noise_at`."""
    least: int = 0
    """The smallest count among the samples."""
    samples: int = 0

    def at(self, counted: int) -> float:
        """Tell the report that is expected."""
        return self.slope * counted + self.offset

    def off(self, sample: Sample) -> float:
        """Tell how far a report is from it, in units of `noise_at`."""
        expected = self.at(sample.counted)
        return (sample.reported - expected) / noise_at(expected)


def noise_at(expected: float) -> float:
    """Say how noise grows with the report: some tokens for small ones, a share of large ones."""
    return hypot(expected, _SMALL)


def robust_line(samples: Sequence[Sample]) -> Line:
    """Fit a line through samples of which fewer than half are wrong; there is one at least."""
    rough = _rough(samples)
    kept = _near(rough, samples)
    line = _least_squares(kept, rough) if len(samples) >= _FOR_CUT else rough
    least = min(sample.counted for sample in kept)
    return Line(line.slope, line.offset, _width(line, kept), least, len(kept))


def _ratio_of(samples: Sequence[Sample]) -> float:
    """Tell the middle of the ratios of report to count."""
    return median(sample.reported / sample.counted for sample in samples)


def _rough(samples: Sequence[Sample]) -> Line:
    """Find the line that half of the samples cannot move."""
    if _is_spread(samples) and (line := _repeated_medians(samples)) is not None:
        return line
    ratio = Line(_ratio_of(samples))
    shift = Line(1.0, median(each.reported - each.counted for each in samples))
    wins = _misfit(shift, samples) + _SHIFT_WINS < _misfit(ratio, samples)
    if (wins or not _is_sane(ratio, samples)) and _is_sane(shift, samples):
        return shift
    return Line(min(max(ratio.slope, _LEAST_SLOPE), _MOST_SLOPE))


def _is_spread(samples: Sequence[Sample]) -> bool:
    counts = sorted(sample.counted for sample in samples)
    return len(counts) >= _FOR_OFFSET and counts[-2] >= _SPREAD * counts[1]


def _repeated_medians(samples: Sequence[Sample]) -> Line | None:
    """Fit `ratio = slope + offset / count`; None where what comes of it cannot be."""
    points = [(1 / each.counted, each.reported / each.counted) for each in samples]
    steep = [
        median(found)
        for x, y in points
        if (found := [(other[1] - y) / (other[0] - x) for other in points if other[0] != x])
    ]
    offset = median(steep)
    line = Line(median(y - offset * x for x, y in points), offset)
    return line if _is_sane(line, samples) else None


def _least_squares(samples: Sequence[Sample], rough: Line) -> Line:
    """Fit the ratio through samples that are all right; `rough` where what comes of it cannot be.

    The offset is drawn towards none as far as the noise lets it be a few tokens or none as well.
    """
    points = [(1 / each.counted, each.reported / each.counted) for each in samples]
    weights = [(each.counted / noise_at(rough.at(each.counted))) ** 2 for each in samples]
    x_mean, y_mean = (fmean(values, weights) for values in zip(*points, strict=True))
    if not rough.offset:
        return Line(min(max(y_mean, _LEAST_SLOPE), _MOST_SLOPE))
    noise = (_MAD * _misfit(rough, samples) / _USUAL_OFFSET) ** 2
    weighted = list(zip(weights, points, strict=True))
    spread = sum(w * (x - x_mean) ** 2 for w, (x, _) in weighted) + noise
    if not spread:
        return rough
    offset = sum(w * (x - x_mean) * (y - y_mean) for w, (x, y) in weighted) / spread
    line = Line(y_mean - offset * x_mean, offset)
    return line if _is_sane(line, samples) else rough


def _is_sane(line: Line, samples: Sequence[Sample]) -> bool:
    """Whether a tokenizer can be like that, down to the smallest sample."""
    if not _LEAST_SLOPE <= line.slope <= _MOST_SLOPE or line.offset > _MOST_OFFSET:
        return False
    return all(line.at(each.counted) >= line.slope * each.counted / 2 for each in samples)


def _misfit(line: Line, samples: Sequence[Sample]) -> float:
    return median(abs(line.off(sample)) for sample in samples)


def _near(line: Line, samples: Sequence[Sample]) -> Sequence[Sample]:
    """Leave out what is far from the line; more than half of the samples stay."""
    if len(samples) < _FOR_CUT:
        return samples
    few = len(samples) / (len(samples) - _FITTED)
    cut = max(_NEAR_SHARE, _SIGMAS * _MAD * few * _misfit(line, samples))
    near = [
        sample
        for sample in samples
        if abs(line.off(sample)) <= max(cut, _NEAR_TOKENS / noise_at(line.at(sample.counted)))
    ]
    return near or samples


def _width(line: Line, samples: Sequence[Sample]) -> float:
    """Reckon the band of a single later report, with Student's factor for few samples."""
    free = max(1, len(samples) - (2 if line.offset else 1))
    deviation = sqrt(sum(line.off(sample) ** 2 for sample in samples) / free)
    student = 1.96 + 2.5 / free + 3 / free**2
    return min(_WIDEST, student * deviation * sqrt(1 + 1 / len(samples)))
