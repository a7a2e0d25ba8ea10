"""Scores of retrieval, of windows and of answers on labelled questions."""

import statistics
from collections import Counter
from collections.abc import Callable, Iterator, Mapping, Sequence
from dataclasses import dataclass, field
from itertools import combinations
from typing import Any, TypeVar

from jitchat.bench.f1 import answer_f1
from jitchat.bench.proportions import mean_interval, wilson
from jitchat.bench.questions import Question
from jitchat.values import Mode

ALL = "all"
LEXICAL = "lexical"
"""The name of the embedder `none`."""


@dataclass(frozen=True, slots=True)
class Outcome:
    """What one method finds for a question."""

    question: Question
    ranked: tuple[int, ...]
    """Positions of turns, best first; empty for a mode without retrieval."""
    held: frozenset[int]
    """Positions of the turns that the window holds."""
    tokens: int
    full_tokens: int
    """Tokens that `full` would send."""
    retrieve_ms: float = 0.0
    """Time of the search, including the embedding of the question."""
    plan_ms: float = 0.0


@dataclass(slots=True)
class Measured:
    """The outcomes of a run, by the name of the method."""

    outcomes: dict[str, list[Outcome]] = field(default_factory=dict)
    unfit: Counter[str] = field(default_factory=Counter)
    """Questions that are left out because their window does not fit, by method."""

    def add(self, method: str, outcome: Outcome | None) -> None:
        """Add an outcome; None if the window does not fit."""
        if outcome is None:
            self.unfit[method] += 1
        else:
            self.outcomes.setdefault(method, []).append(outcome)


_Evidence = frozenset[int]
_Positions = tuple[int, ...] | frozenset[int]


def _any(evidence: _Evidence, found: _Positions) -> float:
    return not evidence.isdisjoint(found)


def _all(evidence: _Evidence, found: _Positions) -> float:
    """Return whether all evidence was found; a question without evidence is a miss."""
    return bool(evidence) and evidence.issubset(found)


def _fraction(evidence: _Evidence, found: _Positions) -> float:
    return len(evidence.intersection(found)) / len(evidence) if evidence else 0.0


Measure = Callable[[Outcome], float]


def _at(size: int, reach: Callable[[_Evidence, _Positions], float]) -> Measure:
    return lambda outcome: reach(outcome.question.evidence, outcome.ranked[:size])


def _strict_at(size: int, reach: Callable[[_Evidence, _Positions], float]) -> Measure:
    return lambda outcome: reach(outcome.question.strict or frozenset(), outcome.ranked[:size])


MEASURES: Mapping[str, Measure] = {
    **{f"any_at_{size}": _at(size, _any) for size in (1, 6, 12, 32, 50)},
    **{f"all_at_{size}": _at(size, _all) for size in (6, 12, 32, 50)},
    "fraction_at_6": _at(6, _fraction),
    "strict_any_at_6": _strict_at(6, _any),
    "strict_all_at_6": _strict_at(6, _all),
    "window_any": lambda outcome: _any(outcome.question.evidence, outcome.held),
    "window_all": lambda outcome: _all(outcome.question.evidence, outcome.held),
}
"""The measures of an outcome, 0 to 1, by name."""


Figures = dict[str, Any]
"""Figures by their names in JSON."""


def figures_of(outcomes: Sequence[Outcome]) -> Figures:
    """Return the figures of one method on the questions of one category.

    For each measure its mean, 0 to 1, and under `intervals` Wilson's 95 % interval; the mean tokens
    of a window; the mean and 95th percentile of the window's tokens divided by those of `full`.
    """
    size = len(outcomes)
    sums = {name: sum(map(measure, outcomes)) for name, measure in MEASURES.items()}
    window_share = spread([outcome.tokens / outcome.full_tokens for outcome in outcomes], "mean")
    return {
        "n": size,
        **{name: total / size for name, total in sums.items()},
        "window_tokens": statistics.fmean(outcome.tokens for outcome in outcomes),
        "window_share": window_share["mean"],
        "window_share_p95": window_share["p95"],
        "intervals": {name: wilson(total, size) for name, total in sums.items()},
    }


def embedder_name(embedder: str) -> str:
    """Return an embedder's name for `--embedder`: `lexical` if there is none."""
    return LEXICAL if embedder == "none" else embedder


def spread(values: Sequence[float], middle: str = "p50") -> dict[str, float]:
    """Summarise values by their median or mean (`middle`) and their 95th percentile."""
    central = statistics.fmean(values) if middle == "mean" else statistics.median(values)
    ordered = sorted(values)
    return {middle: central, "p95": ordered[min(len(ordered) - 1, int(len(ordered) * 0.95))]}


@dataclass(frozen=True, slots=True)
class Answer:
    question: Question
    mode: Mode
    text: str | None
    """None if the request failed."""
    correct: bool | None = None
    """The judge's verdict; None if there was no judge, or no verdict in its reply."""

    @property
    def f1(self) -> float | None:
        """LoCoMo's F1; None if there is no answer."""
        if self.text is None:
            return None
        return answer_f1(self.question.category, self.text, self.question.answer)


@dataclass(frozen=True, slots=True)
class Kept:
    """Whether the windows of `observe` and `recency` have a question's evidence text."""

    question: Question
    observe: bool
    recency: bool
    is_observed: bool
    """Whether the turn with the evidence was observed; if not, the turn itself is in the window."""


_Asked = TypeVar("_Asked", Outcome, Answer, Kept)


def by_category(asked: Sequence[_Asked]) -> dict[str, Sequence[_Asked]]:
    """Group items: all first, then by category, in order of name."""
    names = sorted({item.question.category for item in asked} - {ALL})
    return {ALL: asked} | {
        name: [item for item in asked if item.question.category == name] for name in names
    }


def answer_scores(answers: Sequence[Answer], *, judged: bool) -> dict[str, dict[str, Figures]]:
    """Return the figures by mode and category, on the questions that have a gold answer."""
    by_mode: dict[str, list[Answer]] = {}
    for answer in answers:
        by_mode.setdefault(answer.mode, []).append(answer)
    return {
        mode: {name: _answer_figures(group, judged) for name, group in by_category(own).items()}
        for mode, own in by_mode.items()
    }


def _answer_figures(answers: Sequence[Answer], judged: bool) -> Figures:
    """Return the figures of one category; a mean over nothing is None.

    Failed requests are in no mean, and answers without a readable judgement not in `correct`.
    """
    f1 = [answer.f1 for answer in answers if answer.f1 is not None]
    verdicts = [answer.correct for answer in answers if answer.correct is not None]
    figures: Figures = {
        "answered": len(f1),
        "failed": len(answers) - len(f1),
        "f1": _mean_or_none(f1),
        "f1_interval": mean_interval(f1),
    }
    if judged:
        figures["judged"] = len(verdicts)
        figures["not_judged"] = len(f1) - len(verdicts)
        figures["correct"] = _mean_or_none(verdicts)
    return figures


def _mean_or_none(values: Sequence[float]) -> float | None:
    return statistics.fmean(values) if values else None


def paired_scores(answers: Sequence[Answer]) -> Iterator[Figures]:
    """Compare every two modes on the questions that both answered; questions match by identity.

    The difference is the second mode's F1 minus the first's.
    """
    by_mode: dict[str, dict[int, float]] = {}
    for answer in answers:
        if answer.f1 is not None:
            by_mode.setdefault(answer.mode, {})[id(answer.question)] = answer.f1
    for modes in combinations(by_mode, 2):
        first, second = (by_mode[mode] for mode in modes)
        common = [question for question in first if question in second]
        if common:
            differences = [second[question] - first[question] for question in common]
            yield {
                "modes": modes,
                "n": len(common),
                "f1": [statistics.fmean(f1[each] for each in common) for f1 in (first, second)],
                "difference": statistics.fmean(differences),
                "interval": mean_interval(differences),
            }
