"""A straight line through samples of which some are wrong. See `calibration` for the method."""

from __future__ import annotations

from collections.abc import Sequence
from dataclasses import dataclass
from math import hypot, sqrt
from statistics import fmean, median

from jitchat.turn import Sample

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
