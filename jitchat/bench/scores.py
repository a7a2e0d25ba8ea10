"""Scores of retrieval, windows and answers on labelled questions."""

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
    """The shortlist's positions, best first; empty for a mode without retrieval."""
    held: frozenset[int]
    """Positions of turns in the window, whole or as an excerpt."""
    share: float
    """The window's tokens divided by those of `full`, 0 to 1."""
    retrieve_ms: float
    plan_ms: float


@dataclass(frozen=True, slots=True)
class Scores:
    """Means over the outcomes of one category, 0 to 1."""

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
    """The scores and times of one mode; times are in milliseconds."""

    retrieve_ms: dict[str, float]
    """Time of the search, including the embedding of the question."""
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
    """Group items: all first, then by category, in order of name."""
    names = sorted({each.question.category for each in asked} - {ALL})
    return {ALL: asked} | {
        name: [each for each in asked if each.question.category == name] for name in names
    }


def embedder_name(embedder: str) -> str:
    """Return an embedder's name for `--embedder`: `lexical` if there is none."""
    return "lexical" if embedder == "none" else embedder


def spread(values: Sequence[float], middle: str = "p50") -> dict[str, float]:
    """Summarise values by their median or mean (`middle`) and their 95th percentile."""
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
    """Whether all evidence was found; a question without evidence is a miss."""
    return bool(evidence) and evidence.issubset(found)


def _fraction(evidence: _Evidence, found: _Positions) -> float:
    return len(evidence.intersection(found)) / len(evidence) if evidence else 0.0


@dataclass(frozen=True, slots=True)
class Answer:
    question: Question
    mode: Mode
    text: str | None
    """None if the request failed."""
    correct: bool | None = None
    """The judge's verdict; None if there was no judge, or no verdict in its reply."""


@dataclass(frozen=True, slots=True)
class Judged:
    judged: int
    not_judged: int
    """Answers without a readable reply of the judge."""
    correct: float | None
    """The share of correct answers among `judged`; None if that is 0."""


@dataclass(frozen=True, slots=True)
class AnswerScores:
    """Scores on the questions of one category that have a gold answer."""

    answered: int
    failed: int
    """Requests that the provider did not answer; they are not included in any mean."""
    f1: float | None
    """LoCoMo's F1, the mean over `answered`; None if that is 0."""
    judge: Judged | None
    """None if there was no judge."""
    f1_interval: tuple[float, float] | None = None
    """The 95 % interval; None if there are too few answers."""


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
    """The second mode's F1 minus the first's."""
    interval: tuple[float, float] | None
    """The 95 % interval of the difference; None if there are too few pairs."""


def paired_scores(answers: Sequence[Answer]) -> Iterator[PairedF1]:
    """Compare every two modes with common answered questions, which are matched by identity."""
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
