"""Measures how well the app and simple baselines find the evidence of labelled questions.

The app is run as in `bench locomo`: index, retrieve, plan in `jit`. A baseline's window is the
app's window for the same question with other recalled turns: the instructions, the recent block and
the question stay, and index lines and recalled turns are replaced by the baseline's best turns,
whole, in the order of their ranks, within the tokens that `jit` spent on recall. A turn that does
not fit in the remaining tokens is skipped.
"""

from collections.abc import Callable, Iterator, Sequence
from dataclasses import dataclass
from enum import StrEnum

import numpy as np
from numpy.typing import ArrayLike, NDArray

from jitchat.bench.asking import OpenConversation, indexed, turns_held
from jitchat.bench.baselines import Bm25, Cosine, fused
from jitchat.bench.proportions import Interval, wilson
from jitchat.bench.questions import LabelledConversation, Question
from jitchat.bench.scores import by_category
from jitchat.errors import WindowOverflow
from jitchat.index.embedder import Embedder
from jitchat.memory import Memory
from jitchat.values import Mode
from jitchat.window.budget import Budget
from jitchat.window.tokens import TokenCounter
from jitchat.window.window import Kind


class Method(StrEnum):
    JIT = "jit"
    BM25 = "bm25"
    COSINE = "cosine"
    """With the embedder in use; without one, this method and the next are left out."""
    RRF = "rrf"
    """The reciprocal rank fusion of the previous two."""


@dataclass(frozen=True, slots=True)
class Found:
    """The result of one method for a question."""

    question: Question
    ranked: tuple[int, ...]
    """Positions, best first."""
    held: frozenset[int]
    """Positions of turns in the window, whole or as excerpts."""
    tokens: int
    full_tokens: int
    """Tokens that `full` would send."""


ByMethod = dict[Method, list[Found]]


@dataclass(slots=True)
class Recall:
    """The results for one file's questions with one embedder."""

    found: ByMethod
    unfit: int = 0
    """Questions left out for all methods because their window does not fit."""


def measure(
    talks: Sequence[LabelledConversation],
    embedder: Embedder,
    counter: TokenCounter,
    budget: Budget,
    advance: Callable[[int], object],
) -> Recall:
    """Ask every question; `advance` is called with 1 after each."""
    recall = Recall({})
    for talk in talks:
        if not talk.questions:
            continue
        known = Remembering(embedder)
        with indexed(talk.found, known, talk.asked_at) as memory:
            asked = _Conversation(memory, known, counter, budget)
            for question in talk.questions:
                try:
                    for method, found in asked.ask(question):
                        recall.found.setdefault(method, []).append(found)
                except WindowOverflow:
                    recall.unfit += 1
                advance(1)
    return recall


class Remembering:
    """An embedder that caches its vectors: a baseline needs those of the index, too."""

    def __init__(self, embedder: Embedder) -> None:
        self._embedder = embedder
        self.id, self.dimension = embedder.id, embedder.dimension
        self._made: dict[str, NDArray[np.float32]] = {}

    def embed(self, texts: Sequence[str]) -> ArrayLike:
        """Shape (len(texts), dimension)."""
        fresh = [text for text in dict.fromkeys(texts) if text not in self._made]
        if fresh:
            rows = np.asarray(self._embedder.embed(fresh), dtype=np.float32)
            self._made.update(zip(fresh, rows, strict=True))
        return np.stack([self._made[text] for text in texts])


class _Conversation:
    def __init__(
        self, memory: Memory, embedder: Embedder, counter: TokenCounter, budget: Budget
    ) -> None:
        self._open = OpenConversation(memory, counter, budget)
        self._prices = self._open.prices
        turns = memory.turns
        self._positions = [turn.position for turn in turns]
        texts = [f"{turn.name}: {turn.content}" if turn.name else turn.content for turn in turns]
        self._bm25 = Bm25(texts)
        self._cosine = Cosine(texts, embedder) if embedder.dimension else None

    def ask(self, question: Question) -> Iterator[tuple[Method, Found]]:
        """Yield the results of the app, then of each baseline.

        Raises:
            WindowOverflow: The window does not fit.

        """
        retrieval, _ = self._open.retrieve(question.text)
        window, _ = self._open.window(Mode.JIT, question.text, retrieval)
        ranked = tuple(row.turn for row in retrieval.candidates)
        full = window.full_tokens
        yield Method.JIT, Found(question, ranked, turns_held(window), window.used, full)
        recent = frozenset(
            turn for turn, kind in window.kind_of_turns().items() if kind is Kind.RECENT
        )
        recalled = window.used - window.stable_tokens - window.tokens_of(Kind.DRAFT)
        for method, ranked in self._baselines(question.text):
            held, spent = self._taken(ranked, recent, recalled)
            tokens = window.used - recalled + spent
            yield method, Found(question, ranked, recent | held, tokens, full)

    def _baselines(self, question: str) -> Iterator[tuple[Method, tuple[int, ...]]]:
        rankings = {Method.BM25: self._bm25.ranked(question)}
        if self._cosine is not None:
            rankings[Method.COSINE] = self._cosine.ranked(question)
            rankings[Method.RRF] = fused(list(rankings.values()))
        for method, rows in rankings.items():
            yield method, tuple(self._positions[row] for row in rows)

    def _taken(
        self, ranked: Sequence[int], recent: frozenset[int], room: int
    ) -> tuple[frozenset[int], int]:
        """Take the best turns in at most `room` tokens; return their positions and total tokens."""
        taken, left = set[int](), room
        for turn in ranked:
            if turn not in recent and (price := self._prices.get(turn, left + 1)) <= left:
                taken.add(turn)
                left -= price
        return frozenset(taken), room - left


@dataclass(frozen=True, slots=True)
class Share:
    """A share of questions, 0 to 1."""

    value: float
    interval: Interval
    """Wilson's 95 % interval."""


@dataclass(frozen=True, slots=True)
class MethodScores:
    """The scores of one method on the questions of one category."""

    n: int
    shares: dict[str, Share]
    """By the names of `MEASURES`."""
    window_tokens: float
    """The mean tokens of a window."""
    window_share: float
    """The mean of the window's tokens divided by those of `full`, 0 to 1."""


def _any_at(size: int) -> Callable[[Found], bool]:
    return lambda each: not each.question.evidence.isdisjoint(each.ranked[:size])


MEASURES: dict[str, Callable[[Found], bool]] = {
    "any_at_1": _any_at(1),
    "any_at_6": _any_at(6),
    "any_at_12": _any_at(12),
    "all_at_6": lambda each: each.question.evidence.issubset(each.ranked[:6]),
    "window_any": lambda each: not each.question.evidence.isdisjoint(each.held),
    "window_all": lambda each: each.question.evidence <= each.held,
}
"""The measures by name; they require that every question has evidence."""


def scores_of(found: Sequence[Found]) -> MethodScores:
    size = len(found)
    return MethodScores(
        n=size,
        shares={name: _share(sum(map(is_met, found)), size) for name, is_met in MEASURES.items()},
        window_tokens=sum(each.tokens for each in found) / size,
        window_share=sum(each.tokens / each.full_tokens for each in found) / size,
    )


def _share(right: int, of: int) -> Share:
    return Share(right / of, wilson(right, of))


ByCategory = dict[str, dict[Method, MethodScores]]


def recall_scores(recall: Recall) -> ByCategory:
    """Score each method: on all questions first, then by category."""
    reached: ByCategory = {}
    for method, found in recall.found.items():
        for category, group in by_category(found).items():
            reached.setdefault(category, {})[method] = scores_of(group)
    return reached
