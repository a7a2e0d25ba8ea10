"""What retrieval, windows and answers reached on labelled questions."""

import statistics
from collections.abc import Callable, Iterator, Sequence
from dataclasses import dataclass
from itertools import combinations
from typing import Protocol, TypeVar

from jitchat.bench.f1 import answer_f1
from jitchat.bench.means import mean_interval
from jitchat.bench.questions import Question
from jitchat.values import Mode

ALL = "all"
PICKED = 6
SHORTLISTS = (12, 32, 50)

_Evidence = frozenset[int]
_Positions = tuple[int, ...] | frozenset[int]
_Pair = tuple[_Evidence, _Positions]


@dataclass(frozen=True, slots=True)
class Outcome:
    question: Question
    ranked: tuple[int, ...]
    """The shortlist's positions, best first; empty for a mode that retrieves nothing."""
    held: frozenset[int]
    """Positions that were in the window, whole or as an excerpt."""
    share: float
    """The window's tokens by those of `full`, 0 to 1."""
    retrieve_ms: float
    plan_ms: float


@dataclass(frozen=True, slots=True)
class Scores:
    """Means over the outcomes of one category; shares of 1."""

    n: int
    any_at_6: float
    all_at_6: float
    fraction_at_6: float
    strict_any_at_6: float
    strict_all_at_6: float
    shortlist: dict[str, dict[str, float]]
    window_any: float
    window_all: float
    window_share: dict[str, float]


def scores_of(outcomes: Sequence[Outcome]) -> Scores:
    six = _first(PICKED, outcomes)
    strict = [(each.question.strict or frozenset(), each.ranked[:PICKED]) for each in outcomes]
    window = [(each.question.evidence, each.held) for each in outcomes]
    listed = {str(size): _first(size, outcomes) for size in SHORTLISTS}
    return Scores(
        n=len(outcomes),
        any_at_6=_mean(_any, six),
        all_at_6=_mean(_all, six),
        fraction_at_6=_mean(_fraction, six),
        strict_any_at_6=_mean(_any, strict),
        strict_all_at_6=_mean(_all, strict),
        shortlist={
            size: {"any": _mean(_any, pairs), "all": _mean(_all, pairs)}
            for size, pairs in listed.items()
        },
        window_any=_mean(_any, window),
        window_all=_mean(_all, window),
        window_share=spread([each.share for each in outcomes], "mean"),
    )


@dataclass(frozen=True, slots=True)
class ModeScores:
    """What one mode reached, and how long it took; times in milliseconds."""

    retrieve_ms: dict[str, float]
    """Of the search, with the embedding of the question."""
    plan_ms: dict[str, float]
    categories: dict[str, Scores]
    """All questions first, then each category that was asked."""


def mode_scores(outcomes: Sequence[Outcome]) -> ModeScores:
    groups = by_category(outcomes)
    return ModeScores(
        retrieve_ms=spread([each.retrieve_ms for each in outcomes]),
        plan_ms=spread([each.plan_ms for each in outcomes]),
        categories={name: scores_of(group) for name, group in groups.items()},
    )


class _Asked(Protocol):
    @property
    def question(self) -> Question: ...


_T = TypeVar("_T", bound=_Asked)


def by_category(asked: Sequence[_T]) -> dict[str, Sequence[_T]]:
    """Group them: all first, then each category that was asked, by name."""
    names = sorted({each.question.category for each in asked} - {ALL})
    return {ALL: asked} | {
        name: [each for each in asked if each.question.category == name] for name in names
    }


def embedder_name(embedder: str) -> str:
    """Name an embedder by its id, as `--embedder` does: without one, words alone are compared."""
    return "lexical" if embedder == "none" else embedder


def spread(values: Sequence[float], middle: str = "p50") -> dict[str, float]:
    """Summarise some values by their middle, the median or the mean, and their 95th percentile."""
    central = statistics.fmean(values) if middle == "mean" else statistics.median(values)
    ordered = sorted(values)
    return {middle: central, "p95": ordered[min(len(ordered) - 1, int(len(ordered) * 0.95))]}


def _first(size: int, outcomes: Sequence[Outcome]) -> list[_Pair]:
    return [(each.question.evidence, each.ranked[:size]) for each in outcomes]


def _mean(measure: Callable[[_Evidence, _Positions], float], pairs: Sequence[_Pair]) -> float:
    return statistics.fmean(measure(evidence, found) for evidence, found in pairs)


def _any(evidence: _Evidence, found: _Positions) -> bool:
    return not evidence.isdisjoint(found)


def _all(evidence: _Evidence, found: _Positions) -> bool:
    """A question whose evidence is not named is a miss."""
    return bool(evidence) and evidence.issubset(found)


def _fraction(evidence: _Evidence, found: _Positions) -> float:
    return len(evidence.intersection(found)) / len(evidence) if evidence else 0.0


@dataclass(frozen=True, slots=True)
class Answer:
    question: Question
    mode: Mode
    text: str | None
    """None where the request failed."""
    correct: bool | None = None
    """By the judge; None where nobody judged, or its reply does not say."""


@dataclass(frozen=True, slots=True)
class Judged:
    judged: int
    not_judged: int
    """Answers on which the judge gave no reply, or none that can be read."""
    correct: float | None
    """The share of `judged`; None where that is 0."""


@dataclass(frozen=True, slots=True)
class AnswerScores:
    """Of the questions of one category that have a gold answer."""

    answered: int
    failed: int
    """Requests that the provider did not answer; they are in no mean."""
    f1: float | None
    """LoCoMo's own, the mean over `answered`; None where that is 0."""
    judge: Judged | None
    """None where nobody was to judge."""
    f1_interval: tuple[float, float] | None = None
    """Of 95 %; None where the answers are too few to say."""


def answer_scores(
    answers: Sequence[Answer], *, judged: bool
) -> dict[Mode, dict[str, AnswerScores]]:
    return {
        mode: {
            category: _answer_scores(group, judged=judged)
            for category, group in by_category([e for e in answers if e.mode is mode]).items()
        }
        for mode in dict.fromkeys(each.mode for each in answers)
    }


def _answer_scores(answers: Sequence[Answer], *, judged: bool) -> AnswerScores:
    reached = [f1 for each in answers if (f1 := _f1(each)) is not None]
    said = [each.correct for each in answers if each.correct is not None]
    return AnswerScores(
        answered=len(reached),
        failed=len(answers) - len(reached),
        f1=_mean_or_none(reached),
        judge=Judged(len(said), len(reached) - len(said), _mean_or_none(said)) if judged else None,
        f1_interval=mean_interval(reached),
    )


def _f1(answer: Answer) -> float | None:
    asked, text = answer.question, answer.text
    return answer_f1(asked.category, text, asked.answer) if text is not None else None


@dataclass(frozen=True, slots=True)
class PairedF1:
    """Two modes, over the questions that were answered in both."""

    modes: tuple[Mode, Mode]
    n: int
    f1: tuple[float, float]
    difference: float
    """Of the second mode, minus the first."""
    interval: tuple[float, float] | None
    """Of the difference, 95 %; None where the pairs are too few to say."""


def paired_scores(answers: Sequence[Answer]) -> Iterator[PairedF1]:
    """Compare each two modes that answered a question in common; a question is one object."""
    by_mode: dict[Mode, dict[int, float]] = {}
    for each in answers:
        if (f1 := _f1(each)) is not None:
            by_mode.setdefault(each.mode, {})[id(each.question)] = f1
    for one, other in combinations(by_mode, 2):
        first, second = by_mode[one], by_mode[other]
        if common := [each for each in first if each in second]:
            means = tuple(statistics.fmean(f1[each] for each in common) for f1 in (first, second))
            differences = [second[each] - first[each] for each in common]
            yield PairedF1(
                modes=(one, other),
                n=len(common),
                f1=(means[0], means[1]),
                difference=statistics.fmean(differences),
                interval=mean_interval(differences),
            )


def _mean_or_none(values: Sequence[float]) -> float | None:
    return statistics.fmean(values) if values else None
