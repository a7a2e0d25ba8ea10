"""Measures how well the app and simple baselines find the evidence of labelled questions.

The app indexes, retrieves and plans, in one mode or in several. A baseline's window is the window
of `jit` for the same question with other recalled turns: the instructions, the recent block and the
question stay, and index lines and recalled turns are replaced by the baseline's best turns, whole,
in the order of their ranks, within the tokens that `jit` spent on recall. A turn that does not fit
in the remaining tokens is skipped.

The baselines are textbook methods that share no code with the app's retrieval. Each ranks texts for
a question, and ignores speakers, neighbours and dates. In ties, the earlier text comes first.
"""

import math
import re
from collections import Counter, defaultdict
from collections.abc import Callable, Iterable, Iterator, Sequence
from dataclasses import replace
from enum import StrEnum
from functools import cache

import numpy as np
from numpy.typing import ArrayLike, NDArray

from jitchat.bench import read_data
from jitchat.bench.asking import Cases, OpenConversation, Setup, indexed, turns_held
from jitchat.bench.f1 import stem
from jitchat.bench.questions import LabelledConversation, Question
from jitchat.bench.scores import Measured, Outcome
from jitchat.errors import WindowOverflow
from jitchat.index.embedder import Embedder
from jitchat.index.vectors import vectors_of
from jitchat.memory import Memory
from jitchat.values import Mode
from jitchat.window.window import Kind

K1 = 1.2
B = 0.75
RRF_K = 60
_WORD = re.compile(r"[\u3040-\u30ff\u3400-\u9fff]|[^\W\u3040-\u30ff\u3400-\u9fff]+")

Ranking = list[int]
"""Rows of the texts, best first; texts that do not match at all can be missing."""


class Bm25:
    """Okapi BM25 with k1 1.2 and b 0.75 over Porter's stems, without English stop words.

    A word is a run of letters, digits and underscores in lower case; in Chinese and Japanese, each
    character. The idf is ln(1 + (N - n + 0.5) / (n + 0.5)), as in Lucene; a word that occurs twice
    in the question counts twice. Robertson and Zaragoza, "The Probabilistic Relevance
    Framework: BM25 and Beyond" (2009).
    """

    def __init__(self, texts: Sequence[str]) -> None:
        counts = [Counter(_words(text)) for text in texts]
        lengths = [words.total() for words in counts]
        mean = max(1.0, sum(lengths) / max(1, len(lengths)))
        self._gains: dict[str, list[tuple[int, float]]] = defaultdict(list)
        """By word: (row, gain) of the texts that contain it."""
        for row, (words, length) in enumerate(zip(counts, lengths, strict=True)):
            damping = K1 * (1 - B + B * length / mean)
            for word, count in words.items():
                self._gains[word].append((row, count * (K1 + 1) / (count + damping)))
        self._size = len(texts)

    def ranked(self, question: str) -> Ranking:
        """Rank the texts that share a word with the question."""
        scores: dict[int, float] = defaultdict(float)
        for word in _words(question):
            rows = self._gains.get(word, [])
            idf = math.log(1 + (self._size - len(rows) + 0.5) / (len(rows) + 0.5))
            for row, gain in rows:
                scores[row] += idf * gain
        return sorted(scores, key=lambda row: (-scores[row], row))


def _words(text: str) -> list[str]:
    return [stem(word) for word in _WORD.findall(text.lower()) if word not in _stop_words()]


@cache
def _stop_words() -> frozenset[str]:
    return frozenset(read_data("stop_words")["words"].split())


class Cosine:
    """The cosine similarity of the embedder's vectors for the question and each text."""

    def __init__(self, texts: Sequence[str], embedder: Embedder) -> None:
        self._embedder = embedder
        self._vectors = np.concatenate([vectors_of(embedder, [text]) for text in texts])

    def ranked(self, question: str) -> Ranking:
        cosines = self._vectors @ vectors_of(self._embedder, [question])[0]
        rows: Ranking = np.argsort(-cosines, kind="stable").tolist()
        return rows


def fused(rankings: Sequence[Ranking]) -> Ranking:
    """Fuse rankings by their reciprocal ranks: the sum of 1 / (60 + rank), ranks from 1.

    Cormack, Clarke and Büttcher, "Reciprocal rank fusion outperforms Condorcet and individual
    rank learning methods" (2009).
    """
    scores: dict[int, float] = defaultdict(float)
    for ranking in rankings:
        for rank, row in enumerate(ranking, start=1):
            scores[row] += 1 / (RRF_K + rank)
    return sorted(scores, key=lambda row: (-scores[row], row))


class Method(StrEnum):
    JIT = "jit"
    BM25 = "bm25"
    COSINE = "cosine"
    """With the embedder in use; without one, this method and the next are left out."""
    RRF = "rrf"
    """The reciprocal rank fusion of the previous two."""


Ask = Callable[[Question], Iterable[tuple[str, Outcome | None]]]
"""Asks a question by several methods; yields the name and the outcome of each."""


def measure(
    talks: Sequence[LabelledConversation],
    embedder: Embedder,
    asking: Callable[[Memory, Embedder], Ask],
    advance: Callable[[int], object],
) -> Measured:
    """Ask every question; `advance` is called with 1 after each."""
    measured = Measured()
    for talk in talks:
        if not talk.questions:
            continue
        known = Remembering(embedder)
        with indexed(talk.found, known, talk.asked_at) as memory:
            ask = asking(memory, known)
            for question in talk.questions:
                for method, outcome in ask(question):
                    measured.add(method, outcome)
                advance(1)
    return measured


class Remembering:
    """An embedder that caches its vectors, because a baseline needs those of the index."""

    def __init__(self, embedder: Embedder) -> None:
        self._embedder = embedder
        self.id, self.dimension = embedder.id, embedder.dimension
        self._vectors: dict[str, NDArray[np.float32]] = {}

    def embed(self, texts: Sequence[str]) -> ArrayLike:
        """Shape (len(texts), dimension)."""
        fresh = [text for text in dict.fromkeys(texts) if text not in self._vectors]
        if fresh:
            rows = np.asarray(self._embedder.embed(fresh), dtype=np.float32)
            self._vectors.update(zip(fresh, rows, strict=True))
        return np.stack([self._vectors[text] for text in texts])


def in_modes(setup: Setup, cases: Cases | None) -> Callable[[Memory, Embedder], Ask]:
    """Return what `measure` needs to ask in several modes; the windows are added to `cases`."""
    modes = setup.modes

    def asking(memory: Memory, _: Embedder) -> Ask:
        conversation = OpenConversation(memory, setup.counter, setup.budget, setup.asking)
        conversation.distil(modes)
        return lambda question: [(mode, conversation.ask(question, mode, cases)) for mode in modes]

    return asking


def by_methods(setup: Setup) -> Callable[[Memory, Embedder], Ask]:
    """Return what `measure` needs to ask in `jit` and by the baselines."""
    return lambda memory, embedder: _Methods(memory, embedder, setup).ask


class _Methods:
    def __init__(self, memory: Memory, embedder: Embedder, setup: Setup) -> None:
        self._open = OpenConversation(memory, setup.counter, setup.budget, setup.asking)
        self._prices = self._open.prices
        turns = memory.turns
        self._positions = [turn.position for turn in turns]
        texts = [f"{turn.name}: {turn.content}" if turn.name else turn.content for turn in turns]
        self._bm25 = Bm25(texts)
        self._cosine = Cosine(texts, embedder) if embedder.dimension else None

    def ask(self, question: Question) -> Iterator[tuple[str, Outcome | None]]:
        """Yield the outcome of the app, then of each baseline; only None if it does not fit."""
        retrieval, _ = self._open.retrieve(question.text)
        try:
            window, _ = self._open.window(Mode.JIT, question.text, retrieval)
        except WindowOverflow:
            yield Method.JIT, None
            return
        ranked = tuple(row.turn for row in retrieval.candidates)
        jit = Outcome(question, ranked, turns_held(window), window.used, window.full_tokens)
        yield Method.JIT, jit
        kinds = window.kind_of_turns()
        recent = frozenset(turn for turn, kind in kinds.items() if kind is Kind.RECENT)
        recalled = window.used - window.stable_tokens - window.tokens_of(Kind.DRAFT)
        for method, rows in self._baselines(question.text):
            ranked = tuple(self._positions[row] for row in rows)
            held, spent = self._taken(ranked, recent, recalled)
            tokens = window.used - recalled + spent
            yield method, replace(jit, ranked=ranked, held=recent | held, tokens=tokens)

    def _baselines(self, question: str) -> Iterator[tuple[Method, Ranking]]:
        by_words = self._bm25.ranked(question)
        yield Method.BM25, by_words
        if self._cosine is not None:
            by_meaning = self._cosine.ranked(question)
            yield Method.COSINE, by_meaning
            yield Method.RRF, fused([by_words, by_meaning])

    def _taken(
        self, ranked: Sequence[int], recent: frozenset[int], room: int
    ) -> tuple[frozenset[int], int]:
        """Take the best turns in at most `room` tokens; return their positions and total tokens."""
        taken = set[int]()
        left = room
        for turn in ranked:
            price = self._prices.get(turn, left + 1)
            if turn not in recent and price <= left:
                taken.add(turn)
                left -= price
        return frozenset(taken), room - left
