"""What retrieval and windows reached on labelled questions."""

import statistics
from collections.abc import Callable, Sequence
from dataclasses import dataclass

from jitchat.bench.questions import CATEGORIES, Question

ALL = "all"
PICKED = 6
SHORTLISTS = (12, 32, 50)

_Evidence = frozenset[int]
_Positions = tuple[int, ...] | frozenset[int]
_Pair = tuple[_Evidence, _Positions]


@dataclass(frozen=True, slots=True)
class Outcome:
    """What was found for one question, and what the window held."""

    question: Question
    ranked: tuple[int, ...]
    """The shortlist's positions, best first; empty for a mode that retrieves nothing."""
    held: frozenset[int]
    """Positions that were in the window at full text."""
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
    """Score some outcomes, at least one."""
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
    """Score the outcomes of one mode, at least one."""
    groups = {ALL: list(outcomes)} | {name: [] for name in CATEGORIES.values()}
    for each in outcomes:
        groups[each.question.category].append(each)
    return ModeScores(
        retrieve_ms=spread([each.retrieve_ms for each in outcomes]),
        plan_ms=spread([each.plan_ms for each in outcomes]),
        categories={name: scores_of(group) for name, group in groups.items() if group},
    )


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
