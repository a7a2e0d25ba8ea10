"""Learning how a server counts: a correction of the local counts, and its accuracy.

A report is modelled as `slope × count + offset`: the slope is the server's tokenizer, the offset
what a template adds to each request. The fit is robust, because a report may be of something else:
medians of ratios and, if the counts differ enough, repeated medians (Siegel 1982), which half of
the samples cannot move. The band is that of the samples within 3.5 modified z-scores (Iglewicz and
Hoaglin 1993).
"""

from bisect import bisect_right
from collections.abc import Iterable, Sequence
from dataclasses import dataclass
from math import ceil, floor, hypot, sqrt
from statistics import linear_regression, median

from jitchat.values import Sample

LEAST_SAMPLES = 3
"""With fewer, nothing is corrected."""
_LATEST = 32
"""Samples that are used; older ones may be of another tokenizer and add little."""
_LEAST_SLOPE, _MOST_SLOPE, _MOST_OFFSET = 0.25, 8.0, 4_096
"""Bounds on what tokenizers and templates do. A report outside them is of something else, for
instance of the uncached rest of the prompt."""
_CHANGED = 5
"""Consecutive reports, four of five of them on one side, that indicate another tokenizer."""
_CLEAR_SHARE, _CLEAR_TOKENS, _UNSEEN_OFFSET = 0.04, 16, 64
"""A change is larger than this: as a share, in tokens, and in tokens for requests smaller than any
before."""
_FOR_OFFSET, _SPREAD = 7, 2.0
"""Samples needed to distinguish an offset from a slope, and by which factor two of them have to be
larger than two others."""
_SHIFT_WINS = 0.02
"""With fewer samples, an offset alone is used if it reduces the misfit by more than this share."""
_CUT, _FOR_CUT, _NEAR_SHARE, _NEAR_TOKENS = 3.5 * 1.4826, 4, 0.005, 12
"""Modified z-scores within which a sample is kept, the samples needed to drop any, and the share
and the tokens within which a sample is always kept."""
_WIDEST = 0.25
"""The widest band, as a share: otherwise one odd report among three would block every request."""
_OF_REFUSAL = 0.05
"""The width if a refusal gave the only figure."""
_SMALL = 200
"""In tokens: what templates add varies by a few tokens for requests of any size."""


@dataclass(frozen=True, slots=True)
class Calibration:
    """The correction for one model and counter. Monotone: a larger count stays larger."""

    slope: float = 1.0
    offset: float = 0.0
    """Tokens per request."""
    width: float = 0.0
    """Half the width of the band, roughly as a share of the reported count; see `_noise_at`."""
    samples: int = 0
    """Number of samples that it was fitted to, without outliers; 0 if it corrects nothing."""

    @classmethod
    def of(cls, samples: Iterable[Sample]) -> "Calibration":
        """Fit samples of one model and counter, oldest first.

        If the server changes its tokenizer, the samples before the change are dropped as soon as
        five reports agree on it.
        """
        usable = [each for each in samples if _is_plausible(each)][-_LATEST:]
        if len(usable) < LEAST_SAMPLES:
            return NO_CALIBRATION
        return _fitted(_since_change(usable))

    @classmethod
    def of_refusal(cls, counted: int, needed: int) -> "Calibration":
        """Use the figure of a server's refusal, until there are samples."""
        return cls(needed / max(1, counted), 0.0, _OF_REFUSAL, 1)

    def correct(self, tokens: int) -> int:
        """Return the count that the server is expected to report for `tokens` counted locally."""
        if not self.samples or tokens <= 0:
            return tokens
        return max(1, floor(self.slope * tokens + self.offset + 0.5))

    def band(self, tokens: int) -> int:
        """Return half the width, in tokens, of the 95 % band around a report; 0 if exact."""
        if not self.samples or self.is_identity:
            return 0
        return max(1, ceil(self.width * _noise_at(self.correct(tokens))))

    @property
    def is_identity(self) -> bool:
        """Whether the server always reports the local count."""
        return (self.slope, self.offset, self.width) == (1.0, 0.0, 0.0)

    def within(self, tokens: int) -> int:
        """Return the largest local count that fits in `tokens` with its band."""
        if not self.samples or tokens <= 0:
            return tokens

        def at_most(local: int) -> int:
            return self.correct(local) + self.band(local)

        beyond = floor((tokens + abs(self.offset) + 1) / self.slope) + 2
        return max(0, bisect_right(range(1, beyond), tokens, key=at_most))


NO_CALIBRATION = Calibration()
"""Counts stay as they are."""


def _is_plausible(sample: Sample) -> bool:
    if sample.counted < 1 or sample.reported < 1:
        return False
    least, most = _LEAST_SLOPE * sample.counted, _MOST_SLOPE * sample.counted + _MOST_OFFSET
    return least <= sample.reported <= most


def _since_change(samples: Sequence[Sample]) -> Sequence[Sample]:
    """Drop the samples from before the server last changed how it counts."""
    place = _CHANGED
    while place <= len(samples) - _CHANGED:
        if _is_change(samples[:place], samples[place:]):
            samples, place = samples[place:], _CHANGED
        else:
            place += 1
    return samples


def _is_change(before: Sequence[Sample], after: Sequence[Sample]) -> bool:
    line, least = _fitted(before), min(each.counted for each in before)
    first, *rest = ((_side(line, each, least), each.counted >= least) for each in after)
    telling = [side for side, is_seen in (first, *rest) if side or is_seen]
    return bool(first[0]) and telling.count(first[0]) >= max(_CHANGED, 0.8 * len(telling))


def _side(line: Calibration, sample: Sample, least: int) -> int:
    """Return 1 if a report is clearly above the line, -1 if clearly below it, 0 if near it."""
    expected = line.slope * sample.counted + line.offset
    off = sample.reported - expected
    unseen = _UNSEEN_OFFSET if sample.counted < least else 0
    share = max(_CLEAR_SHARE, line.width)
    return 0 if abs(off) <= max(unseen, _CLEAR_TOKENS, share * expected) else 1 if off > 0 else -1


def _noise_at(expected: float) -> float:
    """Return the scale of noise for a report: some tokens if small, a share if large."""
    return hypot(expected, _SMALL)


def _fitted(samples: Sequence[Sample]) -> Calibration:
    """Fit a line and its band to samples of which fewer than half are wrong."""
    slope, offset = _line(samples)
    errors = [_error(slope, offset, each) for each in samples]
    kept = samples
    if len(samples) >= _FOR_CUT:
        few = len(samples) / (len(samples) - LEAST_SAMPLES)  # a line is close to its own samples
        cut = max(_NEAR_SHARE, _CUT * few * median(map(abs, errors)))
        kept = [
            sample
            for sample, error in zip(samples, errors, strict=True)
            if abs(error) <= max(cut, _NEAR_TOKENS / _noise_at(sample.reported))
        ] or samples
        slope, offset = _refined((slope, offset), kept)
    free = max(1, len(kept) - (2 if offset else 1))
    deviation = sqrt(sum(_error(slope, offset, each) ** 2 for each in kept) / free)
    student = 1.96 + 2.5 / free + 3 / free**2
    width = min(_WIDEST, student * deviation * sqrt(1 + 1 / len(kept)))
    return Calibration(slope, offset, width, len(kept))


def _error(slope: float, offset: float, sample: Sample) -> float:
    expected = slope * sample.counted + offset
    return (sample.reported - expected) / _noise_at(expected)


def _line(samples: Sequence[Sample]) -> tuple[float, float]:
    """Return slope and offset."""
    if (line := _repeated_medians(samples)) is not None:
        return line
    ratio = (median(each.reported / each.counted for each in samples), 0.0)
    shift = (1.0, float(median(each.reported - each.counted for each in samples)))
    wins = _misfit(shift, samples) + _SHIFT_WINS < _misfit(ratio, samples)
    if (wins or not _is_sane(ratio, samples)) and _is_sane(shift, samples):
        return shift
    return min(max(ratio[0], _LEAST_SLOPE), _MOST_SLOPE), 0.0


def _refined(line: tuple[float, float], samples: Sequence[Sample]) -> tuple[float, float]:
    """Fit the samples without outliers by least squares; keep `line` if the result is not sane."""
    if not line[1] or line[0] == 1.0:
        return _line(samples)
    ratios = [each.reported / each.counted for each in samples]
    offset, slope = linear_regression([1 / each.counted for each in samples], ratios)
    return (slope, offset) if _is_sane((slope, offset), samples) else line


def _repeated_medians(samples: Sequence[Sample]) -> tuple[float, float] | None:
    """Fit `report / count` over `1 / count`; None with too few samples or if it is not sane."""
    counts = sorted(each.counted for each in samples)
    if len(counts) < _FOR_OFFSET or counts[-2] < _SPREAD * counts[1]:
        return None
    points = [(1 / each.counted, each.reported / each.counted) for each in samples]
    steep = [
        median(found)
        for x, y in points
        if (found := [(other[1] - y) / (other[0] - x) for other in points if other[0] != x])
    ]
    offset = median(steep)
    line = (median(y - offset * x for x, y in points), offset)
    return line if _is_sane(line, samples) else None


def _is_sane(line: tuple[float, float], samples: Sequence[Sample]) -> bool:
    """Whether a tokenizer can have this line, down to the smallest sample."""
    slope, offset = line
    if not _LEAST_SLOPE <= slope <= _MOST_SLOPE or offset > _MOST_OFFSET:
        return False
    return all(2 * offset >= -slope * each.counted for each in samples)


def _misfit(line: tuple[float, float], samples: Sequence[Sample]) -> float:
    return median(abs(_error(*line, each)) for each in samples)
