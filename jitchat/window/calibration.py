"""Learning how a server counts: a correction of the local counts, and its accuracy.

A report of a request of text is modelled as `slope × count + offset`: the slope is the server's
tokenizer, the offset what a template adds to each request. Calls, definitions of tools, reasoning
and pictures are written by the server in ways of its own, so each of these kinds has a factor, from
what the reports contain beyond the text. The fit is robust, because a report may be of something
else: medians of ratios and, if the counts differ enough, repeated medians (Siegel 1982), which half
of the samples cannot move. The band is that of the samples within 3.5 modified z-scores (Iglewicz
and Hoaglin 1993). What the samples do not support stays as it was counted, without a band.
"""

from bisect import bisect_right
from collections import Counter
from collections.abc import Collection, Iterable, Mapping, Sequence
from dataclasses import dataclass, field, replace
from math import ceil, floor, hypot, sqrt
from statistics import fmean, median

from jitchat.values import NO_OTHERS, Other, Others, Sample
from jitchat.writing.pieces import Part, Piece

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
"""The widest band, as a share: samples that differ by more support no correction."""
_OF_REFUSAL = 0.05
"""The width if a refusal gave the only figure."""
_SMALL = 200
"""In tokens: what templates add varies by a few tokens for requests of any size."""


@dataclass(frozen=True, slots=True)
class Report:
    """The pieces of a window that was sent, and what the server counted for it."""

    pieces: Counter[object]
    tokens: int

    @classmethod
    def of(cls, pieces: Iterable[Piece], tokens: int) -> "Report":
        return cls(_identities(pieces), tokens)


def _identities(pieces: Iterable[Piece]) -> Counter[object]:
    return Counter((piece.part, piece.role, piece.text, piece.picture) for piece in pieces)


_OTHERS = {
    Part.NAME: Other.CALLS,
    Part.ARGUMENTS: Other.CALLS,
    Part.DEFINITION: Other.DEFINITIONS,
    Part.REASONING: Other.REASONING,
    Part.OPAQUE: Other.REASONING,
    Part.PICTURE: Other.PICTURES,
}


def others_of(pieces: Iterable[Piece]) -> Others:
    """Sum up the counted tokens of what is not text."""
    found: dict[Other, int] = {}
    for piece in pieces:
        other = _OTHERS.get(piece.part)
        if other is not None:
            found[other] = found.get(other, 0) + piece.tokens
    return found


@dataclass(frozen=True, slots=True)
class Factor:
    """The correction of what is not text."""

    slope: float
    width: float
    """Half the width of the band of requests that have it; as in `Calibration`."""


@dataclass(frozen=True, slots=True)
class Calibration:
    """The correction for one model and counter. Monotone: a larger count stays larger."""

    slope: float = 1.0
    offset: float = 0.0
    """Tokens per request, at least 0."""
    width: float = 0.0
    """Half the width of the band, roughly as a share of the reported count; see `_noise_at`."""
    samples: int = 0
    """Number of samples that it was fitted to, without outliers; 0 if it corrects nothing."""
    least: int = 0
    """Tokens of text in the smallest sample: less text is not corrected."""
    factors: Mapping[Other, Factor] = field(default_factory=dict)
    """Those that are known; the rest is not corrected."""
    reports: tuple[Report, ...] = field(default=(), compare=False, repr=False)
    """Windows that were reported: one that contains all of such a window is not smaller."""

    @classmethod
    def of(cls, samples: Iterable[Sample]) -> "Calibration":
        """Fit samples of one model and counter, oldest first.

        If the server changes its tokenizer, the samples before the change are dropped as soon as
        five reports agree on it.
        """
        plausible = [sample for sample in samples if _is_plausible(sample)]
        texts = [sample for sample in plausible if not sample.others][-_LATEST:]
        if len(texts) < LEAST_SAMPLES:
            return NO_CALIBRATION
        fitted = _fitted(_since_change(texts))
        rest = [sample for sample in plausible if sample.others][-_LATEST:]
        for other in Other if fitted.samples else ():
            fitted = fitted.with_factor(other, rest)
        return fitted

    def with_factor(self, other: Other, samples: Iterable[Sample]) -> "Calibration":
        """Learn the factor of a kind from the samples in which all else is known.

        Samples that have more of the kind say more about it.
        """
        own = [sample for sample in samples if other in sample.others]
        usable = [sample for sample in own if self.knows(sample.others.keys() - {other})]
        if len(usable) < LEAST_SAMPLES:
            return self
        found = _weighted_median((self._ratio(other, each), each.others[other]) for each in usable)
        slope = min(max(found, _LEAST_SLOPE), _MOST_SLOPE)
        learnt = replace(self, factors={**self.factors, other: Factor(slope, 0.0)})
        errors = [learnt.error(sample) for sample in usable]
        kept = _kept(usable, errors)
        width = _width([learnt.error(sample) for sample in kept], 1)
        share = sqrt(sum((each.others[other] / _noise_at(each.reported)) ** 2 for each in kept))
        is_supported = len(kept) >= LEAST_SAMPLES and width <= min(_WIDEST, _WIDEST * slope * share)
        if not is_supported:
            return self
        return replace(self, factors={**self.factors, other: Factor(slope, width)})

    def _ratio(self, other: Other, sample: Sample) -> float:
        """Return what was reported for a kind in a sample, per token that was counted for it."""
        tokens = sample.others[other]
        rest = {kind: count for kind, count in sample.others.items() if kind is not other}
        return (sample.reported - self.expected(sample.counted - tokens, rest)) / max(1, tokens)

    @classmethod
    def of_refusal(cls, counted: int, needed: int) -> "Calibration":
        """Use the figure of a server's refusal, until there are samples."""
        slope = needed / max(1, counted)
        factors = dict.fromkeys(Other, Factor(slope, _OF_REFUSAL))
        return cls(slope, 0.0, _OF_REFUSAL, 1, factors=factors)

    def expected(self, tokens: int, others: Others = NO_OTHERS) -> float:
        text = max(0, tokens - sum(others.values()))
        apart = sum(count * self._slope(other) for other, count in others.items())
        line = self.slope * text + self.offset
        if text < self.least:
            line = min(text, self.slope * self.least + self.offset)
        return line + apart

    def error(self, sample: Sample) -> float:
        """Return by how much a report differs from what is expected, in units of the noise."""
        expected = self.expected(sample.counted, sample.others)
        return (sample.reported - expected) / _noise_at(expected)

    def correct(self, tokens: int, others: Others = NO_OTHERS) -> int:
        """Return the count that the server is expected to report for `tokens` counted locally.

        `others` says how many of the tokens are not of text.
        """
        if not self.samples or tokens <= 0:
            return tokens
        return max(1, floor(self.expected(tokens, others) + 0.5))

    def weight(self, pieces: Iterable[Piece]) -> int:
        """Return the counted tokens of pieces, those of other kinds as tokens of text."""
        weight = 0.0
        for piece in pieces:
            factor = 1.0
            other = _OTHERS.get(piece.part)
            if other is not None:
                factor = self._slope(other) / self.slope
            weight += factor * piece.tokens
        return round(weight)

    def _slope(self, other: Other) -> float:
        return self.factors[other].slope if other in self.factors else 1.0

    def least_for(self, pieces: Iterable[Piece]) -> int:
        """Return the largest count that was reported for a window whose pieces these contain."""
        if not self.reports:
            return 0
        now = _identities(pieces)
        return max((each.tokens for each in self.reports if each.pieces <= now), default=0)

    def band(self, tokens: int, others: Others = NO_OTHERS) -> int:
        """Return half the width, in tokens, of the 95 % band around a report.

        0 if the count is exact, or if the samples say nothing of such a request.
        """
        is_small = tokens - sum(others.values()) < self.least
        if not self.samples or self.is_identity or is_small or not self.knows(others):
            return 0
        width = max((self.width, *(self.factors[other].width for other in others)))
        return max(1, ceil(width * _noise_at(self.correct(tokens, others))))

    def knows(self, others: Collection[Other]) -> bool:
        """Whether the factors of all these kinds are known."""
        return all(other in self.factors for other in others)

    @property
    def is_identity(self) -> bool:
        """Whether the server always reports the local count."""
        line = self.slope, self.offset, self.width
        factors = self.factors.values()
        return line == (1.0, 0.0, 0.0) and all(factor == Factor(1.0, 0.0) for factor in factors)

    def within(self, tokens: int, others: Others = NO_OTHERS) -> int:
        """Return the largest local count, with its `others`, that fits in `tokens` with a band."""
        if not self.samples or tokens <= 0:
            return tokens

        def at_most(local: int) -> int:
            return self.correct(local, others) + self.band(local, others)

        beyond = max(floor(tokens / self.slope), self.least, tokens) + sum(others.values()) + 2
        return max(0, bisect_right(range(1, beyond), tokens, key=at_most))


NO_CALIBRATION = Calibration()
"""Counts stay as they are."""


def _is_plausible(sample: Sample) -> bool:
    if sample.counted < 1 or sample.reported < 1 or 0 in sample.others.values():
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
    if not line.samples:
        return False
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
    """Fit a line and its band to samples of text of which fewer than half are wrong.

    Nothing is corrected if they differ too much.
    """
    line = _line(samples)
    kept = _kept(samples, [line.error(sample) for sample in samples])
    line = _line(kept)
    width = _width([line.error(sample) for sample in kept], 2 if line.offset else 1)
    if width > _WIDEST:
        return NO_CALIBRATION
    least = min(sample.counted for sample in kept)
    return replace(line, width=width, samples=len(kept), least=least)


def _kept(samples: Sequence[Sample], errors: Sequence[float]) -> Sequence[Sample]:
    """Drop the samples that are of something else."""
    if len(samples) < _FOR_CUT:
        return samples
    few = len(samples) / (len(samples) - LEAST_SAMPLES)  # a line is close to its own samples
    cut = max(_NEAR_SHARE, _CUT * few * median(abs(error) for error in errors))
    pairs = zip(samples, errors, strict=True)
    return [
        sample
        for sample, error in pairs
        if abs(error) <= max(cut, _NEAR_TOKENS / _noise_at(sample.reported))
    ] or samples


def _width(errors: Sequence[float], parameters: int) -> float:
    """Return half the width of the band of the next error, by Student's t."""
    free = max(1, len(errors) - parameters)
    deviation = sqrt(fmean(error**2 for error in errors) * len(errors) / free)
    student = 1.96 + 2.5 / free + 3 / free**2
    return student * deviation * sqrt(1 + 1 / len(errors))


def _line(samples: Sequence[Sample]) -> Calibration:
    line = _repeated_medians(samples)
    if line is not None:
        return line
    found = median(sample.reported / sample.counted for sample in samples)
    ratio = Calibration(min(max(found, _LEAST_SLOPE), _MOST_SLOPE))
    added = median(sample.reported - sample.counted for sample in samples)
    shift = Calibration(1.0, float(min(max(added, 0), _MOST_OFFSET)))
    return shift if _misfit(shift, samples) + _SHIFT_WINS < _misfit(ratio, samples) else ratio


def _repeated_medians(samples: Sequence[Sample]) -> Calibration | None:
    """Fit `report / count` over `1 / count`; None with too few samples or out of the bounds."""
    counts = sorted(each.counted for each in samples)
    if len(counts) < _FOR_OFFSET or counts[-2] < _SPREAD * counts[1]:
        return None
    points = [(1 / each.counted, each.reported / each.counted) for each in samples]
    steep: list[float] = []
    for x, y in points:
        found = [(other[1] - y) / (other[0] - x) for other in points if other[0] != x]
        if found:
            steep.append(median(found))
    offset = median(steep)
    slope = median(y - offset * x for x, y in points)
    is_sane = _LEAST_SLOPE <= slope <= _MOST_SLOPE and 0 <= offset <= _MOST_OFFSET
    return Calibration(slope, offset) if is_sane else None


def _misfit(line: Calibration, samples: Sequence[Sample]) -> float:
    return median(abs(line.error(sample)) for sample in samples)


def _weighted_median(pairs: Iterable[tuple[float, float]]) -> float:
    """Return the median of values, each given with its weight."""
    ordered = sorted(pairs)
    half = sum(weight for _, weight in ordered) / 2
    for value, weight in ordered:
        half -= weight
        if half <= 0:
            return value
    return ordered[-1][0]
