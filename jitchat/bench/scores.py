"""What is measured of a synthetic talk of one size. Times are in milliseconds."""

from __future__ import annotations

import statistics
import time
from collections.abc import Callable, Sequence
from dataclasses import dataclass
from functools import partial
from typing import TYPE_CHECKING

from jitchat.bench.questions import CATEGORIES, Question
from jitchat.index.search import SHORTLIST
from jitchat.store.database import Database
from jitchat.text.words import content_words

if TYPE_CHECKING:
    import sqlite3


QUESTIONS = 40
"""Asked of every talk; the ways to ask for the needle are the first of them."""


def embedder_name(embedder: str) -> str:
    """Name an embedder by its id, as `--embedder` does: without one, words alone are compared."""
    return "lexical" if embedder == "none" else embedder


@dataclass(frozen=True, slots=True)
class Built:
    """How long a turn took to be stored and indexed, on average over the talk."""

    store_turn_ms: float
    index_turn_ms: float
    """Without embedding."""
    embed_turn_ms: float
    embedder: str


@dataclass(frozen=True, slots=True)
class Sent:
    """What one mode made of the questions."""

    tokens: int
    """Of the window for a question about the needle, the mean over its phrasings."""
    saved: float
    """The share of `full`'s tokens that is not sent, 0 to 1; the mean likewise."""
    least_saved: float
    """The least of any question."""
    found: int
    """For how many of the phrasings the needle's turn is in the window at full text."""


@dataclass(frozen=True, slots=True)
class Asked:
    """What the questions took, in milliseconds, and what came of them."""

    counter: str
    full_tokens: int
    """What `full` would send, whether it fits or not; the mean over the phrasings."""
    modes: dict[str, Sent | None]
    """None for one that refuses a question, for it does not fit."""
    open_ms: float
    """Until a question can be asked: turns read and counted, the index loaded."""
    embed_ms: dict[str, float]
    """Of one question."""
    retrieve_ms: dict[str, float]
    """Without embedding the question."""
    plan_ms: dict[str, float]
    """In `jit`."""
    both_ms: dict[str, float]
    """Retrieving so and planning."""
    matrix_ms: float
    """A bound: numpy reads the matrix of the turns' vectors once."""
    fts5_ms: float
    """A bound: SQLite's full-text search for the same words."""
    times_bounds: float
    """`both_ms` by the sum of the bounds, by medians."""
    resident_mb: float | None
    """After the last question."""
    peak_mb: float | None


@dataclass(frozen=True, slots=True)
class Measured:
    """One size."""

    turns: int
    needle: int
    """The position of the turn that states the fact."""
    built: Built
    asked: Asked


_READS = 15
_BY_WORDS = "SELECT rowid FROM turns_fts WHERE turns_fts MATCH ? ORDER BY turns_fts.rank LIMIT ?"


def matrix_ms(turns: int, dimension: int) -> float:
    """Time numpy reading a matrix of that shape once, for its product with a vector.

    The best of some times: other programs can only add to it.
    """
    import numpy as np  # noqa: PLC0415  100 ms

    rows = np.full((turns, dimension), 0.5, dtype=np.float32)
    return min(_timed(lambda: rows @ rows[0]) for _ in range(_READS))


def fts5_ms(database: Database, questions: Sequence[str]) -> float:
    """Time SQLite's full-text search for the words of each question; median.

    The database holds the one conversation; the turns that have any of the words are ranked.
    """
    asked = [" OR ".join(f'"{word}"' for word in content_words(each)) for each in questions]
    with database.read() as connection:
        return statistics.median(_timed(partial(_ranked, connection, words)) for words in asked)


def _ranked(connection: sqlite3.Connection, words: str) -> list[tuple[int]]:
    return connection.execute(_BY_WORDS, (words, SHORTLIST)).fetchall()


def _timed(work: Callable[[], object]) -> float:
    begun = time.perf_counter()
    work()
    return (time.perf_counter() - begun) * 1000


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
    six = [(each.question.evidence, each.ranked[:PICKED]) for each in outcomes]
    strict = [(each.question.strict or frozenset(), each.ranked[:PICKED]) for each in outcomes]
    window = [(each.question.evidence, each.held) for each in outcomes]
    listed = {
        str(size): [(each.question.evidence, each.ranked[:size]) for each in outcomes]
        for size in SHORTLISTS
    }
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


def spread(values: Sequence[float], middle: str = "p50") -> dict[str, float]:
    """Summarise some values by their middle, the median or the mean, and their 95th percentile."""
    central = statistics.fmean(values) if middle == "mean" else statistics.median(values)
    ordered = sorted(values)
    return {middle: central, "p95": ordered[min(len(ordered) - 1, int(len(ordered) * 0.95))]}


def _mean(measure: Callable[[_Evidence, _Positions], float], pairs: Sequence[_Pair]) -> float:
    return statistics.fmean(measure(evidence, found) for evidence, found in pairs)


def _any(evidence: _Evidence, found: _Positions) -> bool:
    return not evidence.isdisjoint(found)


def _all(evidence: _Evidence, found: _Positions) -> bool:
    """A question whose evidence is not named is a miss."""
    return bool(evidence) and evidence.issubset(found)


def _fraction(evidence: _Evidence, found: _Positions) -> float:
    return len(evidence.intersection(found)) / len(evidence) if evidence else 0.0
