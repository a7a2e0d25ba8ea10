"""Baselines for retrieval: textbook methods that share no code with it.

Each ranks texts for a question, and ignores speakers, neighbours and dates. In ties, the earlier
text comes first.
"""

import math
import re
from collections import Counter, defaultdict
from collections.abc import Sequence

import numpy as np

from jitchat.index.embedder import Embedder
from jitchat.index.vectors import vectors_of

K1, B = 1.2, 0.75
RRF_K = 60
_WORD = re.compile(r"[\u3040-\u30ff\u3400-\u9fff]|[^\W\u3040-\u30ff\u3400-\u9fff]+")

Ranking = list[int]
"""Rows of the texts, best first; texts that do not match at all can be missing."""


class Bm25:
    """Okapi BM25 with k1 1.2 and b 0.75 over plain words: no stems, no stop words.

    A word is a run of letters, digits and underscores in lower case; in Chinese and Japanese, each
    character. The idf is ln(1 + (N - n + 0.5) / (n + 0.5)), as in Lucene; a word that occurs twice
    in the question counts twice. Robertson and Zaragoza, "The Probabilistic Relevance
    Framework: BM25 and Beyond" (2009).
    """

    def __init__(self, texts: Sequence[str]) -> None:
        counts = [Counter(_words(text)) for text in texts]
        lengths = [each.total() for each in counts]
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
    return _WORD.findall(text.lower())


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
